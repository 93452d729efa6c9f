# SPDX-License-Identifier: Apache-2.0
"""The tables about Hopper's tensor cores in one command, in two steps: the first needs no GPU, the second an H200.

  hopper_figures.py --prepare FOLDER --build build/gate   # tasks, candidates, programs; what the second needs
  hopper_figures.py FOLDER > figures.jsonl                # on the GPU, 400 s at most: one JSON object for each step
  hopper_figures.py --table figures.jsonl

Each step of the second part runs in a process of its own with a limit of seconds, and all of them together have 400 s; what was stopped says so. A kernel
that hangs or fails costs itself alone. --only NAME runs one step; --list prints them with their limits. The parts are the programs of this folder: candidate_times.py, product_errors.py,
hopper_products.cu and products_on_gpu.cpp; their heads say what they measure. The simulator's order of kernels is time_model's figure
(time_model/README.md, kernels_warpgroups), and 10^6 products are products_on_gpu --tiles 1563."""
import argparse
import collections
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import candidate_times
import lines

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOTAL = 400
CONVOLUTIONS = {"convolutions": ("conv",), "seen": ("conv2d_square", "conv1d_dilated_strided"), "set_aside": ("pointwise_conv2d",)}
COMMON = ("--label", "warpgroups", "--still", "8")
# name: (files of lines/ and what their tasks' names begin with, options of playbook_candidates, first ids of each task, options of candidate_times.py, seconds)
TIMED = {
    "products_float32": ({"warpgroups": ("product_2048", "product_4096", "product_8192")}, (), 1, ("--no-compile", "--calls", "10"), 60),
    "products_tf32": ({"warpgroups": ("product_4096",)}, ("--tf32",), 1, ("--no-compile", "--calls", "10", "--tf32"), 40),
    "products_bf16": ({"warpgroups": ("product_bf16",)}, (), 1, ("--no-compile", "--calls", "10"), 40),
    "attention": ({"attention_half": ("attention", "causal", "scaled")}, ("--half",), 1, ("--no-compile", "--calls", "8"), 40),
    "convolutions_tf32": (CONVOLUTIONS, ("--tf32",), 2, ("--no-compile", "--calls", "8", "--channels-last", "--tf32", "--single-truth"), 110),
    "transposed": ({"transposed": ("transposed",)}, ("--tf32",), 2, ("--calls", "6", "--tf32", "--single-truth"), 110),
    "convolutions_float32": (CONVOLUTIONS, (), 2, ("--no-compile", "--calls", "8", "--channels-last"), 110),
}
OTHERS = {"sums": 30, "errors": 30}   # between attention and convolutions


def program(build, name):
    return next(path for path in (ROOT / build).rglob(name) if path.is_file())


def prepare(folder, build, only):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "products_on_gpu").write_bytes(program(build, "products_on_gpu").read_bytes())
    (folder / "products_on_gpu").chmod(0o755)
    for name, (sources, classes, picks, _, _) in TIMED.items():
        if only and only != name:
            continue
        at = folder / name
        at.mkdir(exist_ok=True)
        for source, taken in sources.items():
            for task, text in lines.split(HERE / "lines" / f"{source}.cu").items():
                if task.startswith(taken):
                    (at / f"{task}.cu").write_text(text)
        made = subprocess.run([program(build, "playbook_candidates"), *classes, *sorted(at.glob("*.cu"))], stdout=subprocess.PIPE, text=True, check=True).stdout
        members = list(some_of(candidate_times.first_picks([json.loads(line) for line in made.splitlines()], picks, "warpgroups")))
        (at / "candidates.json").write_text("".join(json.dumps(row) + "\n" for row in members))
        print(f"{name}: {len(list(at.glob('*.cu')))} tasks, {len(members)} members, {sum('wgmma' in row['source'] for row in members)} with wgmma", file=sys.stderr)


def some_of(rows):
    """All members by warpgroups, and four of each other kernel file."""
    seen = collections.Counter()
    for row in rows:
        seen[row["task"], row["id"]] += 1
        if row["id"].endswith("warpgroups") or seen[row["task"], row["id"]] <= 4:
            yield row


def run(command, seconds):
    """What it wrote, line by line, and what went wrong. Its own processes end with it: one that hangs would keep the GPU."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, said = process.communicate(timeout=seconds)
        problem = "" if process.returncode == 0 else f"exit {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        (out, said), problem = process.communicate(), f"stopped after {seconds:.0f} s"
    return out.splitlines(), "; ".join([*filter(None, [problem]), *[line for line in said.splitlines() if problem.startswith("exit") or "kernel file" in line or "PyTorch" in line][-12:]])


def measure(folder, only, seconds):
    end = time.monotonic() + seconds

    def left(seconds):
        return max(1, min(seconds, end - time.monotonic()))

    def others():
        yield "errors", *run([sys.executable, HERE / "product_errors.py", folder / "products_float32", "product_4096", "--cubins", folder / "cubins"], left(OTHERS["errors"]))
        yield "sums", *run([folder / "products_on_gpu", "--tiles", "12"], left(OTHERS["sums"]))

    # What later steps need is compiled while the first ones are timed.
    compiler = subprocess.Popen([sys.executable, HERE / "cubins.py", folder / "cubins", *[folder / name for name in TIMED if not only or only == name]])
    for name, (_, _, _, options, seconds) in TIMED.items():
        if name == "convolutions_tf32" and not only:
            yield from others()
        if not only or only == name:
            yield name, *run([sys.executable, HERE / "candidate_times.py", folder / name, *COMMON, *options, "--cubins", folder / "cubins"], left(seconds))
    if only in OTHERS:
        yield from (step for step in others() if step[0] == only)
    compiler.kill()


def best_of(row, step):
    """The fastest right member, and the best of PyTorch's ways that were timed in the same precision; None where there is none."""
    right = [member for member in row["members"] if member.get("right")]
    tf32 = "--tf32" in TIMED[step["step"]][3]
    theirs = [row[key] for key in ("eager_ms", "compile_ms", "channels_last_tf32_ms" if tf32 else "channels_last_ms") if key in row]
    return min(right, key=lambda member: member["ms"], default=None), min(theirs, default=None)


def rate_of(row, milliseconds):
    """TFLOP/s of attention or of a product of squares."""
    size = row.get("sizes", {})
    if {"B", "N", "T", "H"} <= size.keys():
        return 4 * size["B"] * size["N"] * size["T"] ** 2 * size["H"] / (2 if "causal" in row["task"] else 1) / milliseconds / 1e9
    extents = [size[name] for name in ("M", "N", "K") if name in size]
    return 2 * extents[0] * extents[1 % len(extents)] * extents[-1] / milliseconds / 1e9 if "product" in row["task"] and extents else None


def tasks_of(step):
    """One step's table, task by task."""
    print(f"\n{step['step']}\n\n| task | kind | ours, ms | PyTorch, ms | ratio | TFLOP/s | error | PyTorch's |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in step["rows"]:
        if "task" not in row:
            continue
        best, theirs = best_of(row, step)
        wrong = [f"{member['id'].split('/')[-1]}: {member.get('problem') or 'error %.1e' % max(member.get('error') or [0])}" for member in row["members"] if not member.get("right")]
        if best:
            rate = rate_of(row, best["ms"])
            print(f"| {row['task']} | {best['id'].split('/')[-1]} | {best['ms']:.4f} | {theirs:.4f} | {theirs / best['ms']:.2f} | {f'{rate:.0f}' if rate else ''} | {best['error'][0]:.1e} | {row['eager_error'][0]:.1e} |")
        if wrong or not best:
            print(f"| {row['task']}, not right | {'; '.join(sorted(set(wrong)))} | | | | | | |")


def table(steps):
    print("| figure | tasks | right | PyTorch's best / ours, geometric mean | worst |\n| --- | ---: | ---: | ---: | ---: |")
    for step in steps:
        rows = [row for row in step.get("rows", []) if "task" in row]
        ratios = [theirs / best["ms"] for best, theirs in (best_of(row, step) for row in rows) if best and theirs]
        if rows:
            mean = f"{statistics.geometric_mean(ratios):.2f}x | {min(ratios):.2f}x" if ratios else "- | -"
            print(f"| {step['step']} | {len(rows)} | {len(ratios)} | {mean} |")
    for step in steps:
        if step["rows"]:
            tasks_of(step)
        for line in [*filter(None, [step["problem"] and f"\n{step['step']}: {step['problem']}"]), *step.get("text", [])]:
            print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="of --prepare, or the file to tabulate")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--build", default="build/gate")
    parser.add_argument("--only", metavar="NAME", help="one step")
    parser.add_argument("--seconds", type=float, default=TOTAL, help="for all steps together")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.list:
        for name, seconds in [*((name, step[-1]) for name, step in TIMED.items()), *OTHERS.items()]:
            print(f"{name:22} {seconds:4} s")
        return
    if options.prepare:
        return prepare(options.folder, options.build, options.only)
    if options.table:
        return table([json.loads(line) for line in options.folder.read_text().splitlines()])
    for name, lines, problem in measure(options.folder, options.only, options.seconds):
        whole = [line for line in lines if line.startswith("{") and line.endswith("}")]   # the last one may be cut where a step was stopped
        step = {"step": name, "problem": problem, "at": round(time.time()), "rows": [json.loads(line) for line in whole], "text": [line for line in lines if not line.startswith("{")]}
        print(json.dumps(step), flush=True)


if __name__ == "__main__":
    main()
