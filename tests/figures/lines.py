#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The playbook on torch lines: which of them it answers, whether rightly, and how fast.

  lines.py CUDAL1 lines/seen.cu [--device cuda:0] [--only NAME,NAME] [--torch FILE...] [--out DIR] [-- OPTION OF OPTIMIZE...]

On the simulator the times are predictions, and --small makes the workloads small. --torch names output of torch_times.py
for the same lines, --write writes their files for it and stops. Files that hold one task only (examples) are taken as
well. Exits with 0 when every line is answered and no variant was wrong.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time


def split(path):
    """The tasks of a file by name; the naive kernels go in front of the code of each."""
    text = path.read_text()
    parts = re.split(r"^(?=//@ task )", text, flags=re.M)[1:]
    shared = path.parent / "naive.cuh"
    naive = shared.read_text() if len(parts) > 1 else ""
    tasks = {}
    for part in parts:
        head = "".join(line + "\n" for line in part.splitlines() if line.startswith("//@"))
        code = "".join(line + "\n" for line in part.splitlines() if not line.startswith("//@"))
        tasks[part.split()[2]] = head + naive + code if naive else text
    return tasks


def optimise(cudal1, task, options, limit):
    begin = time.time()
    try:
        run = subprocess.run([cudal1, "optimize", task.name, "--model", "builtin", "--json", "--again",
                              "--allow-no-improvement", *options],
                             cwd=task.parent, capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return {"verdict": "TIME LIMIT", "seconds": limit}
    row = {"seconds": time.time() - begin}
    try:
        result = json.loads(run.stdout)
    except ValueError:
        return row | {"verdict": "NO RESULT", "note": run.stderr.strip().splitlines()[-1:]}
    task.with_suffix(".json").write_text(run.stdout)
    row["reference_ms"] = result["reference_time_ms"]
    row["tried"] = [v["judgement"]["verdict"] for v in result["variants"] if v["judgement"]]
    best = result["best"]
    if not best:
        return row | {"verdict": "UNANSWERED" if not row["tried"] else "WRONG", "note": run.stderr.strip().splitlines()[-1:]}
    winner = [v for v in result["variants"] if v["id"] == best["id"]][0]
    judgement = winner["confirmation"] or winner["judgement"]
    work = judgement["workloads"][0]
    return row | {"verdict": best["verdict"], "speedup": best.get("speedup") or best["predicted_speedup"],
                  "ms": work["time_ms"], "share": work["share_of_limit"],
                  "id": re.search("// playbook: (.*)|$", (task.parent / best["file"]).read_text() if best["file"] else "")[1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cudal1")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--device", default="sim")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--torch", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--small", action="store_true", help="the workload has the check sizes: right or wrong only")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one task")
    parser.add_argument("--out", type=pathlib.Path)
    here, there = sys.argv[1:], []
    if "--" in here:
        here, there = here[: here.index("--")], here[here.index("--") + 1 :]
    options = parser.parse_args(here)
    cudal1 = str(pathlib.Path(options.cudal1).resolve())
    passing = None if options.out else tempfile.TemporaryDirectory()
    folder = options.out or pathlib.Path(passing.name)
    folder.mkdir(parents=True, exist_ok=True)
    pytorch = {}
    for path in options.torch:
        for line in path.read_text().splitlines():
            taken = json.loads(line)
            kind = "tf32" if path.stem.endswith("tf32") else "eager"
            row = pytorch.setdefault(taken["task"], {})
            if "eager" in taken:
                row[f"{kind}_ms"] = taken["eager"]["ms"]
            if "compile" in taken:
                row["compile_ms"] = taken["compile"]["ms"]
    rows = {}
    print(f"{'line':40} {'verdict':20} {'speed-up':>9} {'ms':>9} {'limit':>6} {'eager':>7} {'compile':>8} {'tf32':>7} {'s':>5}")
    for path in options.files:
        for name, text in split(path).items():
            if options.only and name not in options.only:
                continue
            if options.small:
                check = dict(re.findall(r"(\w+) = (\d+)", re.search("^//@ check (.*)$", text, re.M)[1]))
                text = re.sub(r"^//@ size .*$", lambda line: re.sub(r"(\w+) = (\d+)", lambda m: f"{m[1]} = {check.get(m[1], m[2])}", line[0]),
                              text, count=1, flags=re.M)
            task = folder / f"{name}.cu"
            task.write_text(text)
            if options.write:
                continue
            row = optimise(cudal1, task, ["--device", options.device, *there], options.limit)
            row |= pytorch.get(name, {})
            rows[name] = row
            ms = row.get("ms")
            ratio = lambda key: number(ms and row.get(key) and row[key] / ms, "7.2f")
            number = lambda value, form: format(value, form) if value else "-"
            print(f"{name:40} {row['verdict']:20} {number(row.get('speedup'), '9.2f'):>9} {number(ms, '9.4f'):>9} "
                  f"{number(row.get('share'), '6.0%'):>6} {ratio('eager_ms'):>7} {ratio('compile_ms'):>8} {ratio('tf32_ms'):>7} {row['seconds']:5.1f} {row.get('note', '')}",
                  flush=True)
            (folder / "table.json").write_text(json.dumps(rows, indent=1))
    right = [name for name, row in rows.items() if "speedup" in row]
    wrong = [name for name, row in rows.items() if any(v in ("WRONG_RESULT", "RUNTIME_FAILED", "COMPILE_FAILED", "INVALID_PLAN", "TAMPERED")
                                                       for v in row.get("tried", []))]
    print(f"{len(rows)} lines, {len(right)} answered and right; some variant wrong: {', '.join(wrong) or 'none'}")
    for column in ("eager_ms", "compile_ms", "tf32_ms"):
        ratios = [row[column] / row["ms"] for row in rows.values() if row.get(column) and row.get("ms")]
        if ratios:
            print(f"{column[:-3]}: geometric mean {statistics.geometric_mean(ratios):.2f}x over {len(ratios)}, "
                  f"faster than it on {sum(ratio > 1 for ratio in ratios)}")
    return 0 if len(right) == len(rows) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())