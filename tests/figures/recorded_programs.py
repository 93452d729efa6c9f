#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many programs of other people give a task: each is recorded and its task verified against its own kernel.

    recorded_programs.py BINARY LIST --sources FOLDER [--device sim] [--jobs N] [--only NAME,…] [--out FOLDER]

LIST has a line for each program: repository | folder | sources | arguments | further words for `cudal1 record`. The
repositories lie as OWNER+NAME in FOLDER, checked out or as git directories. Nothing is edited by hand: the kernel with
most time is taken. Prints a Markdown table; a program that gives no task has the one line that says why.
"""
import argparse
import concurrent.futures
import pathlib
import shlex
import subprocess
import sys
import time


def read_list(path):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
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


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    no_task = [line for line in lines if "no task:" in line or "nvcc does not build" in line]
    return (no_task or lines or ["(said nothing)"])[-1][:200]


def measure(arguments, row, checkouts, out):
    home = check_out(arguments.sources, row, checkouts)
    name = pathlib.PurePath(row["folder"]).name
    if len(row["sources"].split()) == 1 and pathlib.PurePath(row["sources"]).stem not in ("main", name):
        name += "/" + pathlib.PurePath(row["sources"]).stem
    task = out / (name.replace("/", "_").replace("-", "_") + ".cu")
    task.unlink(missing_ok=True)
    options = [str(home / word[10:]) if word.startswith("--include=") else word for word in row["options"].split()]
    options = [word for folder in options for word in (["--include", folder] if folder.startswith(str(home)) else [folder])]
    record = [arguments.binary, "record", *options, "-o", str(task), "--device", arguments.device, *row["sources"].split(), "--",
              *shlex.split(row["arguments"])]
    began = time.time()
    result = {"name": name, "repository": row["repository"], "record": False, "verify": False, "why": ""}
    try:
        recorded = subprocess.run(record, cwd=home / row["folder"], capture_output=True, text=True, errors="replace", timeout=arguments.limit, stdin=subprocess.DEVNULL)
        (out / (task.stem + ".log")).write_text(shlex.join(record) + "\n" + recorded.stdout + recorded.stderr)
        result["record"] = task.exists()
        result["record_seconds"] = time.time() - began
        if not result["record"]:
            result["why"] = last_line(recorded.stderr)
            return result
        began = time.time()
        verify = [arguments.binary, "verify", "--accept-degenerate", str(task), str(task), "--device", arguments.device]
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("list")
    parser.add_argument("--sources", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--device", default="sim")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=900, help="seconds for each step of a program")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=lambda path: pathlib.Path(path).resolve(), default=pathlib.Path("recorded"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    checkouts = arguments.out / "checkouts"
    rows = [row for row in read_list(arguments.list) if not arguments.only or any(part in row["folder"] + "/" + row["sources"] for part in arguments.only.split(","))]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = []
        for result in pool.map(lambda row: measure(arguments, row, checkouts, arguments.out), rows):
            results.append(result)
            print(f"{result['name']}: {'ok' if result['verify'] else result['why']}", file=sys.stderr, flush=True)
    print("| program | from | kernel | task | verified | what is missing |\n| --- | --- | --- | --- | --- | --- |")
    for r in results:
        kernel = r.get("kernel", "").replace("|", "\\|")
        print(f"| {r['name']} | {r['repository']} | {kernel} | {'yes' if r['record'] else 'no'} | {'yes' if r['verify'] else 'no'} | {r['why'].replace('|', '/')} |")
    print(f"\n{sum(r['record'] for r in results)} of {len(results)} give a task, {sum(r['verify'] for r in results)} tasks are verified.")


if __name__ == "__main__":
    main()
