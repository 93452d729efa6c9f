# SPDX-License-Identifier: Apache-2.0
"""The state of the experiment, a folder that travels between the machine with the GPU and the one where prompts are answered:
a sweep's folder for each arm and one for the built-in model, tasks/, exchange/ARM/TASK/ with prompts and replies, stages.jsonl
and replies.jsonl. All runs are sweeps of `cudal1` with this folder as their working directory."""
import io
import json
import pathlib
import shutil
import signal
import subprocess
import tarfile
import time

import protocol

FINISHED, FAILED_ITEMS, WAITING = 0, 8, 75


def journal(path):
    """A run's events. A last line that a kill cut short does not count."""
    path = pathlib.Path(path)
    lines = path.read_text().splitlines(True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def shared_round(events, arm):
    """The first arm's journal up to the end of its first round, as the journal of another arm; empty before that end."""
    ends = [index for index, event in enumerate(events) if event["event"] == "round" and event["round"] == 1]
    if not ends:
        return []
    taken = [dict(event) for event in events[:ends[0] + 1] if event["event"] != "stop" and event.get("key", {}).get("round", 1) == 1]
    first = next(iter(protocol.ARMS))
    taken[0].update(protocol.IDENTITY[arm])
    taken[0]["models"] = [model.replace(f"exchange:exchange/{first}/", f"exchange:exchange/{arm}/") for model in taken[0]["models"]]
    return taken


def shared_start(events, folder):
    """The built-in model's journal up to its start, as the journal of the first arm: all runs of a task have one reference."""
    taken = [dict(event) for event in events[:2]]
    if [event["event"] for event in taken] != ["run", "start"]:
        return []
    taken[0]["models"] = [f"exchange:exchange/{next(iter(protocol.ARMS))}/{folder}"]
    return taken


def write_journal(place, events):
    """Where there is none yet."""
    if events and not place.exists():
        place.mkdir(parents=True)
        (place / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


def share_starts(state):
    for folder in sorted((state / "builtin" / "tasks").glob("*")):
        write_journal(state / next(iter(protocol.ARMS)) / "tasks" / folder.name, shared_start(journal(folder / "journal.jsonl"), folder.name))


def share_first_round(state):
    """Gives every arm the first arm's round 1, judged: prompts, replies and verdicts of it are the same in all."""
    first, *others = protocol.ARMS
    for folder in sorted((state / first / "tasks").glob("*")):
        events = journal(folder / "journal.jsonl")
        for arm in others:
            write_journal(state / arm / "tasks" / folder.name, shared_round(events, arm))


def sweep(state, name, options, settings, deadline):
    """One sweep, interrupted at the deadline. Returns its exit status and seconds."""
    left = deadline - time.monotonic()
    if left < 5:
        return None, 0.0
    command = [settings["cudal1"], "sweep", "tasks", "--out", name, *protocol.COMMON, *options, "--device", settings["device"],
               *(protocol.ON_A_GPU if settings["device"].startswith("cuda") else []), *settings["more"]]
    began = time.monotonic()
    with open(state / f"{name}.log", "ab") as log:
        process = subprocess.Popen(command, cwd=state, stdout=subprocess.DEVNULL, stderr=log)
        try:
            code = process.wait(timeout=left)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            code = process.wait()
    return code, time.monotonic() - began


def unfinished(state):
    """Runs that began and have not played all their rounds; a task that cannot be opened has none."""
    return [path for arm in protocol.ARMS for path in sorted((state / arm / "tasks").glob("*/journal.jsonl"))
            if sum(event["event"] == "round" for event in journal(path)) < protocol.ROUNDS]


def stage(state, cudal1, device, seconds, more):
    """Everything that can be done with the replies so far. Returns True once nothing waits any more."""
    state = pathlib.Path(state)
    settings = {"cudal1": str(pathlib.Path(cudal1).resolve()), "device": device, "more": more}
    began, deadline = time.monotonic(), time.monotonic() + seconds
    done = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "device": device, "sweeps": {}}
    rounds = ["--rounds", str(protocol.ROUNDS), "--samples", str(protocol.SAMPLES)]
    # The built-in model first: the first prompts are the same with it and without, and every later stage only reads its rows.
    plans = [("builtin", protocol.BUILTIN)]
    plans += [(arm, ["--model", f"exchange:exchange/{arm}", *rounds, *options]) for arm, options in protocol.ARMS.items()]
    first = next(iter(protocol.ARMS))
    for name, options in plans:
        if name == first:
            share_starts(state)
        elif name in protocol.ARMS:
            share_first_round(state)
            if not (state / name).exists():
                continue   # round 1 has no verdicts yet
        code, took = sweep(state, name, options, settings, deadline)
        done["sweeps"][name] = {"code": code, "seconds": round(took, 2)}
        print(f"{name}: exit status {code}, {took:.1f} s", flush=True)
    done["seconds"] = round(time.monotonic() - began, 2)
    with open(state / "stages.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(done) + "\n")
    return all(done["sweeps"].get(name, {}).get("code") in (FINISHED, FAILED_ITEMS) for name, _ in plans) and not unfinished(state)


def begin(state, tasks, keys):
    state = pathlib.Path(state)
    for key in keys:
        place = state / "tasks" / key
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(pathlib.Path(tasks) / key, place)


# What travels; the rest of a run's folder is made again from its journal.
def travels(path):
    parts = path.parts
    return path.name in ("journal.jsonl", "stages.jsonl", "replies.jsonl") or parts[0] in ("tasks", "exchange") or path.suffix == ".log"


def pack(state, archive):
    state = pathlib.Path(state)
    with tarfile.open(archive, "w:xz") as tar:
        for path in sorted(state.rglob("*")):
            if path.is_file() and travels(path.relative_to(state)):
                tar.add(path, str(path.relative_to(state)))
    print(f"{archive}: {pathlib.Path(archive).stat().st_size / 1e6:.2f} MB")


def unpack(archive, state):
    with tarfile.open(fileobj=io.BytesIO(pathlib.Path(archive).read_bytes()), mode="r:xz") as tar:
        tar.extractall(state, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(state)
