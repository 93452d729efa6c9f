# SPDX-License-Identifier: Apache-2.0
"""The tables about Hopper's tensor cores in one command, in two steps: the first needs no GPU, the second an H200.

  hopper_figures.py --prepare FOLDER --build build/gate   # tasks, candidates, programs; what the second needs
  hopper_figures.py FOLDER > figures.jsonl                # on the GPU, 400 s at most: one JSON object for each figure, then a table on stderr
  hopper_figures.py --table figures.jsonl

Each step of the second part runs in a process of its own with a limit of seconds, and all of them together have 400 s; what was stopped says so. --only NAME
runs one step; --list prints them with their limits. The parts are the programs of this folder: candidate_times.py, product_errors.py,
hopper_products.cu and products_on_gpu.cpp; their heads say what they measure."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import lines

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOTAL = 400
# name: (names that are taken of the tasks' files, options of playbook_candidates, options of candidate_times.py, seconds)
TIMED = {
    "products_float32": ({"warpgroups": ("product_2048", "product_4096", "product_8192")}, (), ("--no-compile", "--calls", "10", "--picks", "1", "--label", "warpgroups"), 50),
    "products_tf32": ({"warpgroups": ("product_4096",)}, ("--tf32",), ("--no-compile", "--calls", "10", "--picks", "1", "--label", "warpgroups", "--tf32"), 40),
    "products_bf16": ({"warpgroups": ("product_bf16",)}, (), ("--no-compile", "--calls", "10", "--picks", "1", "--label", "warpgroups"), 40),
    "convolutions_float32": ({"convolutions": ("conv",), "seen": ("conv2d_square", "conv1d_dilated_strided"), "set_aside": ("pointwise_conv2d",)}, (), ("--no-compile", "--calls", "8", "--picks", "1", "--label", "warpgroups", "--channels-last"), 70),
    "convolutions_tf32": ({"convolutions": ("conv",), "seen": ("conv2d_square", "conv1d_dilated_strided"), "set_aside": ("pointwise_conv2d",)}, ("--tf32",), ("--no-compile", "--calls", "8", "--picks", "1", "--label", "warpgroups", "--channels-last", "--tf32",
                                                                   "--single-truth"), 60),
    "transposed": ({"transposed": ("transposed",)}, ("--tf32",), ("--calls", "6", "--picks", "1", "--label", "warpgroups", "--tf32", "--single-truth"), 80),
    "attention": ({"attention_half": ("attention", "causal", "scaled")}, ("--half",), ("--no-compile", "--calls", "8", "--picks", "2"), 30),
}
OTHERS = {"sums": 40, "errors": 30}


def program(build, name):
    return next(path for path in (ROOT / build).rglob(name) if path.is_file())


def prepare(folder, build, only):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "products_on_gpu").write_bytes(program(build, "products_on_gpu").read_bytes())
    (folder / "products_on_gpu").chmod(0o755)
    for name, (sources, classes, _, _) in TIMED.items():
        if only and only != name:
            continue
        at = folder / name
        at.mkdir(exist_ok=True)
        for source, taken in sources.items():
            for task, text in lines.split(HERE / "lines" / f"{source}.cu").items():
                if task.startswith(taken):
                    (at / f"{task}.cu").write_text(text)
        with open(at / "candidates.json", "w") as out:
            subprocess.run([program(build, "playbook_candidates"), *classes, *sorted(at.glob("*.cu"))], stdout=out, check=True)
        members = [json.loads(line) for line in (at / "candidates.json").read_text().splitlines()]
        print(f"{name}: {len(list(at.glob('*.cu')))} tasks, {len(members)} members, {sum('wgmma' in row['source'] for row in members)} with wgmma", file=sys.stderr)


def run(command, seconds):
    """What it wrote, line by line, and what went wrong."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=seconds)
        return done.stdout.splitlines(), "" if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-300:]}"
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode().splitlines(), f"stopped after {seconds:.0f} s"


def measure(folder, only):
    end = time.monotonic() + TOTAL

    def left(seconds):
        return max(1, min(seconds, end - time.monotonic()))

    for name, (_, _, options, seconds) in TIMED.items():
        if not only or only == name:
            yield name, *run([sys.executable, HERE / "candidate_times.py", folder / name, *options], left(seconds))
    if not only or only == "errors":
        yield "errors", *run([sys.executable, HERE / "product_errors.py", folder / "products_float32", "product_4096"], left(OTHERS["errors"]))
    if not only or only == "sums":
        yield "sums", *run([folder / "products_on_gpu", "--tiles", "96"], left(OTHERS["sums"]))


def ratio_of(row):
    """The best of PyTorch's ways that was timed to the best right member; None where nothing was right."""
    right = [member["ms"] for member in row["members"] if member.get("right")]
    theirs = [row[key] for key in ("eager_ms", "compile_ms", "channels_last_ms") if key in row]
    return min(theirs) / min(right) if right and theirs else None


def order_of(row):
    """Pairs of one task's wgmma members whose times differ more than 1.2-fold, and those that were expected in that order."""
    members = [member for member in row["members"] if member.get("right") and "warpgroups" in member["id"]]
    pairs = [(a, b) for index, a in enumerate(members) for b in members[index + 1:] if max(a["ms"], b["ms"]) > 1.2 * min(a["ms"], b["ms"])]
    return len(pairs), sum((a["ms"] < b["ms"]) == (a["expected_ms"] < b["expected_ms"]) for a, b in pairs)


def table(lines):
    print("| figure | tasks | right | PyTorch's best / ours, geometric mean | worst | pairs in the expected order |\n| --- | ---: | ---: | ---: | ---: | ---: |", file=sys.stderr)
    steps = [json.loads(line) for line in lines]
    for step in steps:
        rows = [row for row in step.get("rows", []) if "task" in row]
        ratios = [ratio for row in rows if (ratio := ratio_of(row))]
        orders = [order_of(row) for row in rows]
        pairs, right = (sum(column) for column in zip(*orders)) if orders else (0, 0)
        if rows:
            mean = f"{statistics.geometric_mean(ratios):.2f}x | {min(ratios):.2f}x" if ratios else "- | -"
            print(f"| {step['step']} | {len(rows)} | {len(ratios)} | {mean} | {right} of {pairs} |", file=sys.stderr)
    for step in steps:
        if step["problem"]:
            print(f"{step['step']}: {step['problem']}", file=sys.stderr)
        for line in step.get("text", []):
            print(line, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="of --prepare, or the file to tabulate")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--build", default="build/gate")
    parser.add_argument("--only", metavar="NAME", help="one step")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.list:
        for name, seconds in [*((name, step[3]) for name, step in TIMED.items()), *OTHERS.items()]:
            print(f"{name:22} {seconds:4} s")
        return
    if options.prepare:
        return prepare(options.folder, options.build, options.only)
    if options.table:
        return table(options.folder.read_text().splitlines())
    kept = []
    for name, lines, problem in measure(options.folder, options.only):
        whole = [line for line in lines if line.startswith("{") and line.endswith("}")]   # the last one may be cut where a step was stopped
        step = {"step": name, "problem": problem, "at": round(time.time()), "rows": [json.loads(line) for line in whole], "text": [line for line in lines if not line.startswith("{")]}
        kept.append(json.dumps(step))
        print(kept[-1], flush=True)
    table(kept)


if __name__ == "__main__":
    main()
