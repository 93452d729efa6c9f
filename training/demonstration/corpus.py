# SPDX-License-Identifier: Apache-2.0
"""Tasks, the built-in model's verified answers to them, and the server that judges; everything by cudal1's own commands."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import pathlib
import re
import subprocess
import sys
import time
from typing import Iterator, Optional, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cudal1_train import Judge   # noqa: E402
from tokens import plain         # noqa: E402


RESUMABLE = 75      # what a sweep ends with whose time was over before all tasks had begun


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    group: str      # its structure's digest
    source: str
    question: str   # the prompt without exemplars


@dataclasses.dataclass(frozen=True)
class Example:
    task: str
    group: str
    prompt: str
    answer: str
    speedup: float


def command(cudal1: str, *arguments: object, codes: Sequence[int] = (0,), most_seconds: float = math.inf) -> str:
    """Its output. After `most_seconds` it is asked to end, and what it has is enough."""
    process = subprocess.Popen([cudal1, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        output, _ = process.communicate(timeout=None if math.isinf(most_seconds) else most_seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        return process.communicate()[0]
    if process.returncode not in codes:
        raise SystemExit(f"cudal1 {arguments[0]} ended with {process.returncode}")
    return output


def version(name: str) -> int:
    """Of a task's structure: 0 for its first sizes."""
    return int(name.rpartition("_")[2])


def sweep(options, folder: pathlib.Path, split: str, listed: Sequence[dict], seconds: float) -> None:
    """The built-in model's answers. Some tasks are refused (TASK_DEGENERATE and its like) and have none."""
    within = [] if math.isinf(seconds) else ["--begin-within", max(1, int(seconds))]
    command(options.cudal1, "sweep", *(folder / "tasks" / task["file"] for task in listed), "--out", folder / f"sweep-{split}", "--device", options.device, "--model", "builtin", "--rounds", 1,
            "--samples", options.samples, "--jobs", options.jobs, "--seed", options.seed, "--order", "random", "--time-limit", 30, *within, "--quiet", codes=(*range(0, 64), RESUMABLE), most_seconds=seconds + 25)


def make(options, folder: pathlib.Path) -> None:
    """tasks/, the sweeps and the files of rows; what is there already stays, an interrupted sweep goes on. --sweep-seconds bound test and training together, but the test is whole."""
    if not (folder / "tasks" / "tasks.jsonl").exists():
        command(options.cudal1, "tasks", "make", "--out", folder / "tasks", "--count", options.tasks, "--seed", options.seed, "--operations", options.operations,
                "--versions", options.versions, "--no-check", "--quiet", *(["--exclude", options.exclude] if options.exclude else []))
    listed = [json.loads(line) for line in (folder / "tasks" / "tasks.jsonl").read_text().splitlines()]
    listed.sort(key=lambda task: version(task["name"]))      # each structure once before any twice
    began = time.monotonic()
    sweep(options, folder, "test", [task for task in listed if task["split"] == "test"][:options.held_out], math.inf)
    for number in range(options.versions):
        left = options.sweep_seconds - (time.monotonic() - began)
        if left > 0:
            sweep(options, folder, "train", [task for task in listed if task["split"] == "train" and version(task["name"]) <= number], left)
    for purpose, split in (("sft", "train"), ("contrast", "train"), ("sft", "test")):
        command(options.cudal1, "dataset", folder / f"sweep-{split}", "--for", purpose, "--split", split, "--style", "compact", "-o", folder / f"{purpose}-{split}.jsonl")
    report = command(options.cudal1, "tasks", "audit", "--train", folder / "sft-train.jsonl", "--test", folder / "sft-test.jsonl", "--near", 1, "--json", codes=(0, 8))
    (folder / "audit.json").write_text(report)


def examples(file: pathlib.Path) -> list[Example]:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return [Example(row["task"], row["group"], plain(row["prompt"][-1]["content"]), plain(row["completion"][0]["content"]), row["speedup"]) for row in rows]


def tasks(folder: pathlib.Path, rows: Sequence[Example]) -> list[Task]:
    """Those that have a verified answer, in an order that the digests give."""
    found = {row.task: row.group for row in rows}
    result = []
    for name in sorted(found, key=lambda name: (found[name][::-1], name)):
        source = (folder / "tasks" / f"{name}.cu").read_text()
        directives = [line for line in source.splitlines() if line.startswith("//@") and not line.startswith("//@ launch")]
        result.append(Task(name, found[name], source, plain("\n".join(directives) + "\n// faster\n")))
    return result


@contextlib.contextmanager
def server(options, log: pathlib.Path, store: Optional[pathlib.Path] = None) -> Iterator[Judge]:
    """A judge for one stage, with the scored answers of `store`. What it says is in `log`, its alone."""
    arguments = [options.cudal1, "serve", "--device", options.device, "--listen", "127.0.0.1:0", "--sessions", "64", *(["--store", str(store)] if store else []),
                 *(["--jobs", str(options.jobs)] if options.device == "sim" else [])]
    with open(log, "wb") as said:
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stderr=said)
    try:
        while not (address := re.search(r"listening on (http://\S+)\n", log.read_text())):
            if process.poll() is not None:
                raise SystemExit(f"cudal1 serve ended; see {log}")
            time.sleep(0.05)
        yield Judge(address[1], patience=600, parallel=4 * options.jobs)
    finally:
        process.terminate()
        process.wait()
