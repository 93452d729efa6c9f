#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many .cu files without a main are a task as `cudal1 init` drafts them.

    drafted_files.py BINARY LIST --sources FOLDER [--only NAME,…] [--out FOLDER]
    drafted_files.py BINARY LIST --sources FOLDER --init-only     # processor time of `init` alone, the best of three

LIST has a line for each file: repository | path | numbers to fill in, NAME=VALUE,… (the sizes, scalars and, as BUFFER[]=VALUE,
numbers of elements that make the draft the task it is meant to be; nothing else is edited; sizes are checked as they are where a
number of elements is one). The repositories lie as OWNER+NAME in FOLDER, checked out. A
draft counts as running when `verify` finds the drafted kernel right on the simulator; of the others the last word of the
tool is shown. Prints a Markdown table.
"""
import argparse
import pathlib
import re
import resource
import statistics
import subprocess
import time


def read_list(path):
    for line in pathlib.Path(path).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            parts = [part.strip() for part in line.split("|")]
            yield dict(zip(("repository", "path", "numbers"), parts + [""] * (3 - len(parts))))


def last_words(text):
    lines = [line for line in text.strip().splitlines() if line.strip() and not line.startswith(("remark:", "guessed:", "set aside:", "next:"))]
    return (lines or ["(said nothing)"])[-1][:160].replace("|", "/")


def verified(arguments, task, **limits):
    try:
        done = subprocess.run([arguments.binary, "verify", task, task, "--device", "sim", "--quick", "-q", "--no-input"], capture_output=True,
                              text=True, timeout=arguments.limit)
    except subprocess.TimeoutExpired:
        return False, f"no verdict in {arguments.limit} s"
    text = done.stderr.strip() or done.stdout.strip()
    lines = [line for line in text.splitlines() if line.startswith("cudal1:")] or text.splitlines()[-1:]
    return done.returncode in (0, 9), (lines or [""])[0][:200].replace("|", "/")


def with_numbers(text, numbers):
    """The draft with other numbers after `NAME =`; its check line follows the first such size."""
    pairs = [pair.strip().split("=") for pair in filter(None, numbers.split(","))]
    for name, value in pairs:
        if name.endswith("[]"):
            text, count = re.subn(rf"(?m)^//@ (?:#\s+to complete: )?(\s*(?:input|output|inout)\s+{name[:-2]}: \w+)\[.*\]", lambda found: f"//@ {found.group(1)}[{value}]", text)
            if count != 1:
                raise SystemExit(f"{name}: the draft has no such buffer")
            continue
        changed, count = re.subn(rf"(?m)^(//@ (?:size|check|scalar).*\b{name}(?:: \w+)? = )[-+.\w]+", lambda found: found.group(1) + value, text)
        if count == 0:
            raise SystemExit(f"{name}: the draft has no such number")
        text = changed
    if any(name.endswith("[]") for name, _ in pairs):
        text = re.sub(r"(?m)^//@ check .*\n", "", text)
        free = re.findall(r"\b(\w+) = (\d+)(?=,|\s|$)", "".join(line for line in text.splitlines() if line.startswith("//@ size")))
        text = text.replace("//@ launch", f"//@ check {', '.join(f'{name} = {value}' for name, value in free)}\n//@ launch", 1)
    return text


def measure(arguments, row, out):
    source = arguments.sources / row["repository"].replace("/", "+") / row["path"]
    name = pathlib.PurePath(row["path"]).stem
    if not source.exists():
        return name, 0, False, False, "not there"
    task = out / f"{row['repository'].split('/')[1]}_{name}.cu"
    task.unlink(missing_ok=True)
    began = time.time()
    drafted = subprocess.run([arguments.binary, "init", source, "-o", task, "--no-input"], capture_output=True, text=True)
    milliseconds = 1000 * (time.time() - began)
    if drafted.returncode != 0:
        return name, milliseconds, False, False, last_words(drafted.stderr)
    right, why = verified(arguments, task)
    filled = right
    if not right and row["numbers"]:
        task.write_bytes(with_numbers(task.read_bytes().decode(errors="surrogateescape"), row["numbers"]).encode(errors="surrogateescape"))
        filled, why = verified(arguments, task)
    return name, milliseconds, right, filled, "" if filled else why


def processor_milliseconds(command):
    def taken():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime
    times = []
    for _ in range(3):
        before = taken()
        subprocess.run(command, capture_output=True)
        times.append(1000 * (taken() - before))
    return min(times)


def only_init(arguments, rows):
    times = []
    for row in rows:
        source = arguments.sources / row["repository"].replace("/", "+") / row["path"]
        if source.exists():
            times.append((processor_milliseconds([arguments.binary, "init", source, "-o", arguments.out / "drafted.cu", "--overwrite", "--no-input"]), row["path"]))
    for milliseconds, path in sorted(times, reverse=True)[:5]:
        print(f"{path}: {milliseconds:.0f} ms")
    print(f"{len(times)} files, median {statistics.median(time for time, _ in times):.0f} ms, {sum(time <= 100 for time, _ in times)} within 100 ms")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("list")
    parser.add_argument("--sources", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("drafted"))
    parser.add_argument("--init-only", action="store_true")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one verification")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = [row for row in read_list(arguments.list) if not arguments.only or any(word in row["path"] for word in arguments.only.split(","))]
    if arguments.init_only:
        return only_init(arguments, rows)
    print("| file | init, ms | as drafted | numbers filled in | what stands in the way |\n| --- | --- | --- | --- | --- |")
    totals, slowest = [0, 0], 0
    for row in rows:
        name, milliseconds, right, filled, why = measure(arguments, row, arguments.out)
        totals[0] += right
        totals[1] += filled
        slowest = max(slowest, milliseconds)
        print(f"| {row['repository']} {name} | {milliseconds:.0f} | {'runs' if right else 'no'} | {'runs' if filled else 'no'} | {why} |", flush=True)
    print(f"\n{totals[0]} of {len(rows)} run as drafted, {totals[1]} with numbers filled in; the slowest draft took {slowest:.0f} ms")


if __name__ == "__main__":
    main()
