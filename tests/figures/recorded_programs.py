#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many programs of other people give a task: each is recorded and its task verified against its own kernel.

    recorded_programs.py BINARY LIST --sources FOLDER [--device sim] [--jobs N] [--only NAME,…] [--out FOLDER]
    recorded_programs.py BINARY LIST --sources FOLDER --build BUILT      # with nvcc, every second one with a static runtime
    recorded_programs.py BINARY LIST --sources FOLDER --built BUILT --device cuda:0     # these, unchanged

LIST has a line for each program: repository | folder | sources | arguments | further words for `cudal1 record`. The
repositories lie as OWNER+NAME in FOLDER, checked out or as git directories. Nothing is edited by hand: the kernel with
most time is taken. Prints a Markdown table; a program that gives no task has the one line that says why.

--cost instead: seconds of the program by itself, as `cudal1 record -- PROGRAM`, and as `cudal1 record -o TASK`, of which what
it says the program waited while memory was copied is taken off. The first two also with half the last number among the arguments:
the difference is what further launches take. A LIST of commands (`! python3 …`) is run as it stands.
"""
import argparse
import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys
import time


def read_list(path):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("! "):
            yield {"folder": line[2:], "sources": "", "options": "", "command": shlex.split(line[2:])}
        elif line.strip() and not line.startswith("#"):
            parts = [part.strip() for part in line.split("|")]
            yield dict(zip(("repository", "folder", "sources", "arguments", "options"), parts + [""] * (5 - len(parts))))


def check_out(sources, row, into):
    """The program's folder, and what lies beside it that it includes."""
    home = sources / row["repository"].replace("/", "+")
    if not (home / "repo").exists() and not (home / "HEAD").exists():
        return home
    git = home / "repo" if (home / "repo").exists() else home
    target = into / row["repository"].replace("/", "+")
    target.mkdir(parents=True, exist_ok=True)
    for folder in [row["folder"]] + [word[10:] for word in row["options"].split() if word.startswith("--include=")]:
        if (target / folder).exists():
            continue
        archive = subprocess.run(["git", "--git-dir", str(git), "archive", "HEAD", folder], capture_output=True)
        subprocess.run(["tar", "x", "-C", str(target)], input=archive.stdout, stderr=subprocess.DEVNULL)
    return target


def name_of(row):
    name = pathlib.PurePath(row["folder"]).name
    if len(row["sources"].split()) == 1 and pathlib.PurePath(row["sources"]).stem not in ("main", name):
        name += "/" + pathlib.PurePath(row["sources"]).stem
    return name


def file_of(row):
    return name_of(row).replace("/", "_").replace("-", "_")


def options_of(row, home):
    """The words for `cudal1 record`; folders to include lie in the repository."""
    words = []
    for word in shlex.split(row["options"]):
        words += ["--include", str(home / word[10:])] if word.startswith("--include=") else [word]
    return words


def build(arguments, row, number, checkouts):
    """The program as its authors would build it for this GPU, with the runtime shared or, every second one, static."""
    home = check_out(arguments.sources, row, checkouts)
    words = ["nvcc", "-arch=" + arguments.arch, "-O2", "-w", "-std=c++17", "--extended-lambda", "--expt-relaxed-constexpr", "-cudart", "static" if number % 2 else "shared"]
    options = iter(options_of(row, home))
    for word in options:
        words += ["-I" if word == "--include" else "-D", next(options)] if word in ("--include", "--define") else []
    built = subprocess.run([*words, *row["sources"].split(), "-Xlinker", "-s", "-o", str(arguments.build / file_of(row))], cwd=home / row["folder"], capture_output=True, text=True)
    return "" if built.returncode == 0 else last_line(built.stderr)


def seconds(command, folder, limit):
    began = time.time()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=limit)
    return time.time() - began


def kept_seconds(command, folder, limit):
    """Of the program's run, without what it waited for its memory."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=limit)
    said = re.search(r"the program ran for ([0-9.e+-]+) s(?:, ([0-9.e+-]+) s of them)?", done.stderr)
    return float(said.group(1)) - float(said.group(2) or 0) if said else float("nan")


def cost(arguments, row, checkouts, out):
    """Seconds by how it is run and of how many repetitions: the best of two, in turns."""
    if "command" in row:
        home, program, sources = pathlib.Path.cwd(), row["command"], ["extension.cu"]
    else:
        home = check_out(arguments.sources, row, checkouts) / row["folder"]
        program, sources = [str(arguments.built / file_of(row)), *shlex.split(row["arguments"])], row["sources"].split()
    record = [arguments.binary, "record", "--device", arguments.device]
    commands = {}
    for times in (1, 2):
        words = program[:-1] + [str(int(program[-1]) * times)]
        commands["alone", times] = words
        commands["table", times] = [*record, "-q", "--", *words]
    commands["kept", 2] = [*record, "--overwrite", "--source", ",".join(sources), "-o", str(out / "cost.cu"), "--", *words]
    taken = {key: float("inf") for key in commands}
    for _ in range(2):
        for key, command in commands.items():
            taken[key] = min(taken[key], (kept_seconds if key[0] == "kept" else seconds)(command, home, arguments.limit))
    return taken


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    no_task = [line for line in lines if "no task:" in line or "nvcc does not build" in line]
    return (no_task or lines or ["(said nothing)"])[-1][:200]


def measure(arguments, row, checkouts, out):
    home = check_out(arguments.sources, row, checkouts)
    name = name_of(row)
    task = out / (file_of(row) + ".cu")
    task.unlink(missing_ok=True)
    record = [arguments.binary, "record", *options_of(row, home), "-o", str(task), "--device", arguments.device]
    if arguments.built:
        if not (arguments.built / file_of(row)).exists():
            return {"name": name, "repository": row["repository"], "record": False, "verify": False, "why": "(not built)"}
        record += ["--source", ",".join(row["sources"].split()), "--", str(arguments.built / file_of(row)), *shlex.split(row["arguments"])]
    else:
        record += [*row["sources"].split(), "--", *shlex.split(row["arguments"])]
    began = time.time()
    result = {"name": name, "repository": row["repository"], "record": False, "verify": False, "why": ""}
    try:
        recorded = subprocess.run(record, cwd=home / row["folder"], capture_output=True, text=True, errors="replace", timeout=arguments.limit, stdin=subprocess.DEVNULL)
        (out / (task.stem + ".log")).write_text(shlex.join(record) + "\n" + recorded.stdout + recorded.stderr)
        result["record"] = task.exists()
        result["replayed"] = "same" if "gives the recorded bytes" in recorded.stderr else "rounded" if "up to rounding" in recorded.stderr else ""
        result["record_seconds"] = time.time() - began
        if not result["record"]:
            result["why"] = last_line(recorded.stderr)
            return result
        began = time.time()
        verify = [arguments.binary, "verify", *(["--quick", "--no-counters", "--no-sanitizer"] if arguments.quick else []), "--accept-degenerate", str(task), str(task), "--device", arguments.device]
        verified = subprocess.run(verify, capture_output=True, text=True, errors="replace", timeout=arguments.limit, stdin=subprocess.DEVNULL)
        (out / (task.stem + ".verify.log")).write_text(verified.stdout + verified.stderr)
        result["verify"] = verified.returncode == 0
        result["verify_seconds"] = time.time() - began
        result["kernel"] = next((line.split(None, 2)[2].split("<<<")[0] for line in task.read_text().splitlines() if line.startswith("//@ launch")), "")
        if not result["verify"]:
            result["why"] = last_line(verified.stdout + verified.stderr)
    except subprocess.TimeoutExpired:
        result["why"] = f"longer than {arguments.limit} s"
    return result


def main():
    began = time.time()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("list")
    parser.add_argument("--sources", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--device", default="sim")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=900, help="seconds for each step of a program")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=lambda path: pathlib.Path(path).resolve(), default=pathlib.Path("recorded"))
    folder = lambda path: pathlib.Path(path).resolve()  # noqa: E731
    parser.add_argument("--build", type=folder, help="build the programs into this folder, and nothing else")
    parser.add_argument("--built", type=folder, help="the programs lie here")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--quick", action="store_true", help="verify without confirmation in fresh processes, counters and compute-sanitizer: with several at a time on one GPU these wait for each other")
    parser.add_argument("--until", type=float, default=float("inf"), help="programs begin no later than this many seconds after the start")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    checkouts = arguments.out / "checkouts"
    rows = [row for row in read_list(arguments.list) if not arguments.only or any(part in row["folder"] + "/" + row["sources"] for part in arguments.only.split(","))]
    if arguments.build:
        arguments.build.mkdir(parents=True, exist_ok=True)
        for row in rows:
            check_out(arguments.sources, row, checkouts)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for row, why in zip(rows, pool.map(lambda pair: build(arguments, pair[1], pair[0], checkouts), enumerate(rows))):
                print(f"{name_of(row)}: {why or 'built'}", flush=True)
        return
    if arguments.cost:
        print("| program | alone (s) | with a table (s) | for a task (s) | ratios | ratio of further launches |\n| --- | --- | --- | --- | --- | --- |")
        for row in rows:
            if time.time() - began > arguments.until:
                break
            what = f"{row['folder']} {row.get('arguments', '')}"
            try:
                taken = cost(arguments, row, checkouts, arguments.out)
            except subprocess.TimeoutExpired:
                print(f"| {what} | longer than {arguments.limit} s | | | | |", flush=True)
                continue
            alone, table, kept = taken["alone", 2], taken["table", 2], taken["kept", 2]
            further = (table - taken["table", 1]) / max(alone - taken["alone", 1], 1e-3)
            print(f"| {what} | {alone:.2f} | {table:.2f} | {kept:.2f} | {table / alone:.2f}, {kept / alone:.2f} | {further:.2f} |", flush=True)
        return
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = []
        def one(row):
            if time.time() - began > arguments.until:
                return {"name": name_of(row), "repository": row["repository"], "record": False, "verify": False, "why": "(no time left)"}
            return measure(arguments, row, checkouts, arguments.out)

        for result in pool.map(one, rows):
            results.append(result)
            print(f"{result['name']}: {'ok' if result['verify'] else result['why']}", file=sys.stderr, flush=True)
    print("| program | from | kernel | task | replayed | verified | what is missing |\n| --- | --- | --- | --- | --- | --- | --- |")
    for r in results:
        kernel = r.get("kernel", "").replace("|", "\\|")
        print(f"| {r['name']} | {r['repository']} | {kernel} | {'yes' if r['record'] else 'no'} | {r.get('replayed', '')} | {'yes' if r['verify'] else 'no'} | {r['why'].replace('|', '/')} |")
    print(f"\n{sum(r['record'] for r in results)} of {len(results)} give a task, {sum(r.get('replayed') == 'same' for r in results)} replay byte for byte, "
          f"{sum(r['verify'] for r in results)} tasks are verified.")


if __name__ == "__main__":
    main()
