#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The playbook on torch lines: which of them it answers, whether rightly, and how fast.

  lines.py CUDAL1 FILE.cu... [--device cuda:0] [--pytorch] [--markdown FILE] [--only NAME,NAME] [--out DIR] [-- OPTION OF OPTIMIZE...]

FILE is lines/seen.cu and its like, with many tasks, or holds one task only (../../examples/*.cu). On the simulator the
times are predictions, and --small makes the workloads small. --pytorch times the same lines in PyTorch afterwards, with
torch_times.py; --torch takes what it printed earlier. Seconds are those of the whole run, to a verdict confirmed in fresh
processes. Exits with 0 when every line is answered and no variant was wrong.
"""
import argparse
import concurrent.futures
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
    if "error" in result:
        return row | {"verdict": "ERROR", "note": [str(result["error"])]}
    row["reference_ms"] = result["reference_time_ms"]
    row["tried"] = [v["judgement"]["verdict"] for v in result["variants"] if v["judgement"]]
    best = result["best"]
    if not best:
        return row | {"verdict": "UNANSWERED" if not row["tried"] else "WRONG", "note": run.stderr.strip().splitlines()[-1:]}
    row["steps"] = {}
    for judgement in [v[each] for v in result["variants"] for each in ("judgement", "confirmation") if v[each]]:
        for step, seconds in judgement["step_seconds"].items():
            row["steps"][step] = row["steps"].get(step, 0) + seconds
    # Of every variant which candidate it is and how fast it was, to replay the playbook's choices on.
    variants = pathlib.Path(task.parent / result["run"]) / "variants"
    row["candidates"] = [[re.search("// playbook: (.*)|$", (variants / f"{v['id']}.cu").read_text())[1],
                          (v["judgement"].get("speedup") or v["judgement"].get("predicted_speedup") or {}).get("value", 0)]
                         for v in result["variants"] if v["judgement"] and (variants / f"{v['id']}.cu").exists()]
    winner = [v for v in result["variants"] if v["id"] == best["id"]][0]
    judgement = winner["confirmation"] or winner["judgement"]
    work = judgement["workloads"][0]
    row |= {f"{each['name']}_ms": each["time_ms"] for each in judgement.get("baselines", []) if each.get("time_ms")}   # PyTorch beside it
    return row | {"verdict": best["verdict"], "level": best["level"], "speedup": best.get("speedup") or best["predicted_speedup"],
                  "ms": work["time_ms"], "share": work["share_of_limit"],
                  "id": re.search("// playbook: (.*)|$", (task.parent / best["file"]).read_text() if best["file"] else "")[1]}


def pytorch_times(files, out):
    """Lines of JSON by torch_times.py, compiled side by side first, since compiling takes longer than timing."""
    script = [sys.executable, str(pathlib.Path(__file__).with_name("torch_times.py"))]
    with concurrent.futures.ThreadPoolExecutor(8) as side_by_side:
        list(side_by_side.map(lambda file: subprocess.run([*script, "--warm", file], capture_output=True), files))
    out.write_text(subprocess.run([*script, *files], capture_output=True, text=True).stdout)
    return out


def read_times(path, pytorch):
    for line in path.read_text().splitlines():
        taken = json.loads(line)
        row = pytorch.setdefault(taken["task"], {})
        if "eager" in taken:
            row["tf32_ms" if path.stem.endswith("tf32") else "eager_ms"] = taken["eager"]["ms"]
        if "compile" in taken:
            row["compile_ms"] = taken["compile"]["ms"]


def number(value, form):
    return format(value, form) if value else "-"


def ratio(row, key):
    return number(row.get("ms") and row.get(key) and row[key] / row["ms"], ".2f")


COLUMNS = ["line", "verdict", "speed-up", "ms", "limit", "eager", "compile", "tf32", "s"]


def cells(name, row):
    return [name, row["verdict"] + (" (screening)" if row.get("level") == "screening" else ""), number(row.get("speedup"), ".2f"),
            number(row.get("ms"), ".4f"), number(row.get("share"), ".0%"), ratio(row, "eager_ms"), ratio(row, "compile_ms"),
            ratio(row, "tf32_ms"), f"{row['seconds']:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cudal1")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--device", default="sim")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--torch", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--pytorch", action="store_true")
    parser.add_argument("--write", action="store_true", help="write a file for each task into --out, for candidate_times.py, and stop")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--small", action="store_true", help="the workload has the check sizes: right or wrong only")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once; they take turns on a GPU, and seconds mean less")
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
    tasks = {}
    for path in options.files:
        for name, text in split(path).items():
            if options.only and name not in options.only:
                continue
            if options.small:
                check = dict(re.findall(r"(\w+) = (\d+)", re.search("^//@ check (.*)$", text, re.M)[1]))
                text = re.sub(r"^//@ size .*$", lambda line: re.sub(r"(\w+) = (\d+)", lambda m: f"{m[1]} = {check.get(m[1], m[2])}", line[0]),
                              text, count=1, flags=re.M)
            tasks[name] = folder / f"{name}.cu"
            tasks[name].write_text(text)
    if options.write:
        return 0
    rows = {}
    show = lambda texts, note="": print(f"{texts[0]:40} {texts[1]:20} " + " ".join(f"{text:>9}" for text in texts[2:]) + f" {note}", flush=True)
    show(COLUMNS)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as runs:
        under_way = {runs.submit(optimise, cudal1, task, ["--device", options.device, *there], options.limit): name
                     for name, task in tasks.items()}
        for done in concurrent.futures.as_completed(under_way):
            name = under_way[done]
            rows[name] = done.result()
            show(cells(name, rows[name]), rows[name].get("note", ""))
            (folder / "table.json").write_text(json.dumps(rows, indent=1))
    rows = {name: rows[name] for name in tasks}
    pytorch = {}
    if options.pytorch:
        options.torch.append(pytorch_times([str(folder / f"{name}.cu") for name in rows], folder / "pytorch.txt"))
    for path in options.torch:
        read_times(path, pytorch)
    if pytorch:
        show(COLUMNS)
    for name, row in rows.items():
        row |= pytorch.get(name, {})
        if pytorch:
            show(cells(name, row))
    (folder / "table.json").write_text(json.dumps(rows, indent=1))
    if options.markdown:
        table = [COLUMNS, ["---"] * 2 + ["---:"] * 7, *(cells(name, row) for name, row in rows.items())]
        options.markdown.write_text("".join(f"| {' | '.join(line)} |\n" for line in table))
    right = [name for name, row in rows.items() if "speedup" in row]
    sound = ("FASTER", "EQUIVALENT", "INCONCLUSIVE", "SLOWER", "DROP", "UNSUPPORTED")
    wrong = [name for name, row in rows.items() if any(not v.endswith(sound) for v in row.get("tried", []))]
    print(f"{len(rows)} lines, {len(right)} answered and right; some variant wrong: {', '.join(wrong) or 'none'}")
    confirmed = [row["seconds"] for row in rows.values() if row["verdict"].endswith("FASTER") and row["level"] == "final"]
    if confirmed:
        print(f"confirmed as faster: {len(confirmed)}, after a median of {statistics.median(confirmed):.1f} s")
    for column in ("eager_ms", "compile_ms", "tf32_ms"):
        ratios = [row[column] / row["ms"] for row in rows.values() if row.get(column) and row.get("ms")]
        if ratios:
            print(f"{column[:-3]}: geometric mean {statistics.geometric_mean(ratios):.2f}x over {len(ratios)}, "
                  f"faster than it on {sum(ratio > 1 for ratio in ratios)}")
    return 0 if len(right) == len(rows) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())