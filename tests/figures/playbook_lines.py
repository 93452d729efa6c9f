# SPDX-License-Identifier: Apache-2.0
"""playbook_lines.py TREE [since|before]: lines of the built-in model, device code included, of each of its six parts, and how many of them
are in files whose coverage came after the goal of 10,000 lines was set (on 2026-11-22, before the model became six parts).
What serves both counts as coverage of that day, as what has only been moved or split since does: those files alone are listed here
of which no earlier text is the origin (`git log --follow -M40%`), and which nothing that was covered that day needs.
With `since` or `before` it lists those files instead."""
import pathlib
import sys

PARTS = ["algebra", "cuda_code", "families", "playbook", "rewriter", "schedule"]

SINCE = {
    "products, convolutions and attention by warpgroups": """
        families/place_tile.cpp families/straight_product.cpp families/warpgroup_attention.cpp
        families/warpgroup_convolution.cpp families/warpgroup_factors.cpp families/warpgroup_factors.hpp families/warpgroup_product.cpp
        cuda_code/device/round_inputs.cuh cuda_code/device/split_across.cuh cuda_code/device/split_along.cuh cuda_code/device/split_halves.cuh
        cuda_code/device/split_inputs.cuh cuda_code/device/split_weights.cuh cuda_code/device/straight_left.cuh cuda_code/device/straight_product.cuh
        cuda_code/device/tf32_rounding.cuh cuda_code/device/warpgroup_attention.cuh cuda_code/device/warpgroup_convolution.cuh
        cuda_code/device/warpgroup_product.cuh cuda_code/device/warpgroup_results.cuh""",
    "products of 16 bits as they are": "cuda_code/device/half_tiles.cuh",
    "products of float64": "cuda_code/device/double_tiles.cuh",
    "whole networks": "families/shared_kernels.cpp families/shared_kernels.hpp",
    "recurrent layers": "families/recurrence.cpp cuda_code/device/recurrence.cuh",
}


def lines_of(path):
    return len(path.read_text().splitlines())


def main():
    lib = pathlib.Path(sys.argv[1]) / "lib"
    counts = {path.relative_to(lib).as_posix(): lines_of(path) for part in PARTS for path in sorted((lib / part).rglob("*")) if path.is_file()}
    since = {name: why for why, names in SINCE.items() for name in names.split()}
    missing = sorted(since.keys() - counts.keys())
    if missing:
        sys.exit(f"{', '.join(missing)}: not there; take it out of SINCE, or write its new name")
    if sys.argv[2:]:
        wanted = sys.argv[2] == "since"
        print("\n".join(f"{counts[name]:6} {name}" for name in counts if (name in since) == wanted))
        return
    print(f"{'part':12} {'before':>7} {'since':>6} {'all':>6}")
    for part in [*PARTS, ""]:
        of_part = [name for name in counts if name.startswith(part)]
        new = sum(counts[name] for name in of_part if name in since)
        every = sum(counts[name] for name in of_part)
        print(f"{part or 'together':12} {every - new:7} {new:6} {every:6}")
    for why in SINCE:
        print(f"since: {sum(counts[name] for name in since if since[name] == why):5} {why}")


if __name__ == "__main__":
    main()
