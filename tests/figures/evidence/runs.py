# SPDX-License-Identifier: Apache-2.0
"""The state of the experiment, a folder that travels between the machine with the GPU and the one where prompts are answered:
plan.json, a sweep's folder for each arm, one for the built-in model and one that judges, tasks/, exchange/ARM/TASK/ with prompts
and replies, stages.jsonl and replies.jsonl. All runs are sweeps of `cudal1` with this folder as their working directory."""
import contextlib
import hashlib
import io
import json
import pathlib
import shutil
import signal
import subprocess
import tarfile
import time

import judging
import protocol

FINISHED, FAILED_ITEMS, WAITING = 0, 8, 75
GRACE = 10   # seconds in which an interrupted sweep has to end
HELD = ".held"   # the ending of a reply that a run does not see


def journal(path):
    """A run's events. A last line that a kill cut short does not count."""
    path = pathlib.Path(path)
    lines = path.read_text().splitlines(True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def journal_of(state, name, folder):
    return state / name / "tasks" / folder / "journal.jsonl"


def keys(state):
    return {str(path.relative_to(state / "tasks")) for path in sorted((state / "tasks").rglob("*")) if path.is_file()}


def rows(state, name):
    """The tasks that a sweep has come to the end of, those included that could not be opened."""
    return {event["key"] for event in journal(state / name / "journal.jsonl") if "key" in event}


def unopened(state):
    """Tasks that the built-in model's sweep came to the end of and could not open."""
    last = {event["key"]: event for event in journal(state / "builtin" / "journal.jsonl") if "key" in event}
    return [key for key in sorted(keys(state) & set(last)) if last[key]["status"] in ("failed", "refused") and not journal_of(state, "builtin", key.replace("/", ".")).exists()]


def started(state):
    """Tasks whose reference the built-in model's runs have."""
    return {key for key in keys(state) if len(journal(journal_of(state, "builtin", key.replace("/", ".")))) > 1}


def folders(state, name):
    """Those of a sweep whose runs have begun; a task that cannot be opened has none."""
    return sorted(path.parent.name for path in (state / name / "tasks").glob("*/journal.jsonl"))


def shared_round(events, plan, arm):
    """The first arm's journal up to the end of its first round, as the journal of another arm; empty before that end."""
    ends = [index for index, event in enumerate(events) if event["event"] == "round" and event["round"] == 1]
    if not ends:
        return []
    taken = [dict(event) for event in events[:ends[0] + 1] if event["event"] != "stop" and event.get("key", {}).get("round", 1) == 1]
    taken[0].update(plan.arms[arm].identity)
    taken[0]["models"] = [model.replace(f"exchange:exchange/{plan.first}/", f"exchange:exchange/{arm}/") for model in taken[0]["models"]]
    return taken


def shared_start(events, name, folder, identity):
    """The built-in model's journal up to its start, as the journal of another run: all runs of a task have one reference."""
    taken = [dict(event) for event in events[:2]]
    if [event["event"] for event in taken] != ["run", "start"]:
        return []
    taken[0].update(identity, models=[f"exchange:exchange/{name}/{folder}"])
    return taken


def builtin_round(events):
    """The built-in model's round as the round 0 of an arm that starts from its answers: they are neither asked for nor judged again."""
    def named(name):
        return name.replace("r01-", "r00-", 1)

    found = []
    for event in events:
        if event["event"] == "reply":
            found.append(dict(event, key=dict(event["key"], round=0)))
        elif event["event"] == "variant":
            found.append(dict(event, id=named(event["id"]), same_as=named(event["same_as"]), key=dict(event["key"], round=0)))
        elif event["event"] == "confirmation":
            found.append(dict(event, id=named(event["id"])))
        elif event["event"] == "race":
            found.append(dict(event, round=0, racers=[dict(racer, id=named(racer["id"])) for racer in event["racers"]]))
    return found


def write_journal(path, events):
    """Where there is none yet."""
    if events and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(event) + "\n" for event in events))


def share_starts(state, plan):
    """To the judging runs and to the arms that begin with one of their own; the others begin with the first one's round 1."""
    for folder in folders(state, "builtin"):
        start = journal(journal_of(state, "builtin", folder))
        write_journal(journal_of(state, protocol.JUDGE, folder),
                      shared_start(start, protocol.JUDGE, folder, {"samples": plan.judged_samples, "sampling": "none"}))
        for arm in plan.asked(1):
            begun = shared_start(start, arm, folder, plan.arms[arm].identity)
            write_journal(journal_of(state, arm, folder), begun + (builtin_round(start) if begun and "builtin" in plan.arms[arm].options else []))


def share_first_round(state, plan):
    """Gives every arm the first arm's round 1, judged: prompts, replies and verdicts of it are the same in all."""
    for folder in folders(state, plan.first) if plan.shared_round else []:
        events = journal(journal_of(state, plan.first, folder))
        for arm in plan.arms:
            write_journal(journal_of(state, arm, folder), shared_round(events, plan, arm))


def share_verdicts(state, plan, arm):
    """The judging runs' to an arm, and the final verdicts that other arms have got. Whether there were any."""
    any_told = False
    for folder in folders(state, arm):
        path = journal_of(state, arm, folder)
        told = judging.taken_over(journal(path), verdicts_of(state, folder), plan, arm)
        judging.append(path, told)
        any_told = any_told or bool(told)
    share_confirmations(state, plan, arm)
    return any_told


def verdicts_of(state, folder):
    return judging.Verdicts(journal(journal_of(state, protocol.JUDGE, folder)))


@contextlib.contextmanager
def judged_replies_alone(state, arm):
    """An arm's run does not see replies to rounds that are not judged, as those that other arms have no replies to yet: it would judge them itself."""
    for folder in folders(state, arm):
        finished = verdicts_of(state, folder).finished
        for reply in [path for path in (state / "exchange" / arm / folder).glob("r*.md") if not path.name.endswith(".prompt.md")]:
            if int(reply.name[1:3]) not in finished:
                reply.rename(reply.with_name(reply.name + HELD))
    try:
        yield
    finally:
        show_all_replies(state)


def show_all_replies(state):
    for reply in state.glob(f"exchange/*/*/*{HELD}"):
        reply.rename(reply.with_name(reply.name.removesuffix(HELD)))


def share_confirmations(state, plan, arm):
    for folder in folders(state, arm):
        verdicts = verdicts_of(state, folder)
        path = journal_of(state, arm, folder)
        finals = {}
        for other in plan.arms:
            finals.update(judging.same_confirmations(journal(journal_of(state, other, folder)), verdicts, plan, other))
        judging.append(path, judging.confirmations_to(journal(path), finals, verdicts, plan, arm))


def sweep(state, name, options, settings, deadline):
    """One sweep, interrupted at the deadline and killed if it does not end then. Returns its exit status and seconds."""
    left = deadline - time.monotonic()
    if left < 5:
        return None, 0.0
    command = [settings["cudal1"], "sweep", settings.get("tasks", "tasks"), "--out", name, *protocol.COMMON, *options, "--device", settings["device"],
               *(protocol.ON_A_GPU if settings["device"].startswith("cuda") else []), *settings["more"]]
    began = time.monotonic()
    with open(state / f"{name}.log", "ab") as log:
        process = subprocess.Popen(command, cwd=state, stdout=subprocess.DEVNULL, stderr=log)
        try:
            code = process.wait(timeout=left)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                code = process.wait(timeout=GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
    return code, time.monotonic() - began


def unfinished(state, plan):
    """Runs that began and have not played all their rounds."""
    return [(arm, folder) for arm in plan.arms for folder in folders(state, arm)
            if sum(event["event"] == "round" for event in journal(journal_of(state, arm, folder))) < plan.rounds]


def not_begun(state, plan):
    """{task: the arms that have no run of it}, the built-in model among them. A task that cannot be opened has none at all."""
    without = {key: [name for name in ("builtin", *plan.arms) if not journal(journal_of(state, name, key.replace("/", ".")))] for key in sorted(keys(state))}
    return {key: names for key, names in without.items() if names}


def judging_is_due(state, plan):
    """Replies of a round are all there that no judging run has judged."""
    due = False
    for folder in folders(state, protocol.JUDGE):
        judging.gather(state, plan, folder)
        finished = verdicts_of(state, folder).finished
        there = {int(path.name[1:3]) for path in (state / "exchange" / protocol.JUDGE / folder).glob("*.md") if not path.name.endswith(".prompt.md")}
        due = due or bool(there - finished)
    return due


def same_program(state, cudal1):
    """One program for a pass: another one may write other prompts than those that were answered, and then takes no reply."""
    digest = hashlib.sha256(pathlib.Path(cudal1).read_bytes()).hexdigest()
    known = state / "program.sha256"
    if known.exists() and known.read_text().strip() != digest:
        raise SystemExit(f"{cudal1} is not the program of the earlier stages; use that one, or remove {known} if both have the same prompts")
    known.write_text(digest + "\n")


def stage(state, cudal1, device, seconds, more):
    """Everything that can be done with the replies so far. Returns True once nothing waits any more."""
    state = pathlib.Path(state)
    plan = protocol.plan(state)
    same_program(state, cudal1)
    show_all_replies(state)   # of a stage that was killed
    settings = {"cudal1": str(pathlib.Path(cudal1).resolve()), "device": device, "more": more}
    began, deadline = time.monotonic(), time.monotonic() + seconds
    sweeps = {}

    def play(name, options):
        code, took = sweep(state, name, options, settings, deadline)
        sweeps[name] = {"code": code, "seconds": round(took + sweeps.get(name, {}).get("seconds", 0), 2)}
        print(f"{name}: exit status {code}, {took:.1f} s", flush=True)

    rounds = ["--rounds", str(plan.rounds)]
    if keys(state) - rows(state, "builtin") - started(state):
        play("builtin", protocol.BUILTIN)
        if unopened(state):   # once more, as other tasks may have had the memory, and then others in their place
            play("builtin", protocol.BUILTIN)
        while replace_unopened(state):
            play("builtin", protocol.BUILTIN)
    share_starts(state, plan)
    if judging_is_due(state, plan):
        play(protocol.JUDGE, ["--model", f"exchange:exchange/{protocol.JUDGE}", *rounds, "--samples", str(plan.judged_samples), *protocol.JUDGING])
    for arm, settings_of_arm in plan.arms.items():
        if arm not in plan.asked(1):
            share_first_round(state, plan)
        share_verdicts(state, plan, arm)
        goes_on = (state / arm).exists()   # else round 1 has no verdicts yet
        while goes_on:   # once more where it has asked only now for what is judged
            with judged_replies_alone(state, arm):
                play(arm, ["--model", f"exchange:exchange/{arm}", *rounds, "--samples", str(plan.samples), "--confirmations", "1", *settings_of_arm.options])
            goes_on = share_verdicts(state, plan, arm)
    if keys(state) - rows(state, "builtin"):   # replies do not wait for what is hard to judge of it
        play("builtin", protocol.BUILTIN)
    for arm in plan.arms:   # what a later arm confirmed is confirmed in the earlier ones too
        share_confirmations(state, plan, arm)
    note_stage(state, device, sweeps, time.monotonic() - began)
    left = not_begun(state, plan)
    if left and set(plan.arms) <= set(sweeps):   # else round 1 has no verdicts yet
        print("not begun: " + "; ".join(f"{key} ({', '.join(names)})" for key, names in left.items()), flush=True)
    return all(each["code"] in (FINISHED, FAILED_ITEMS) for each in sweeps.values()) and set(plan.arms) <= set(sweeps) and not left and not unfinished(state, plan)


def note_stage(state, device, sweeps, seconds):
    """A line for the table of costs; `at` is when it began."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds))
    with open(state / "stages.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps({"at": at, "device": device, "sweeps": sweeps, "seconds": round(seconds, 2)}) + "\n")


def begin(state, tasks, chosen, plan=protocol.PASSES["first"], reserve=()):
    """`reserve`: [(a chosen task, those that may take its place)]."""
    state = pathlib.Path(state)
    for root, key in [("tasks", key) for key in chosen] + [("reserve", key) for _, others in reserve for key in others]:
        place = state / root / key
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(pathlib.Path(tasks) / key, place)
    (state / "plan.json").write_text(json.dumps(plan, indent=1) + "\n")
    (state / "reserve.json").write_text(json.dumps(dict(reserve), indent=1) + "\n")


def replace_unopened(state):
    """Puts the next of the reserve in the place of each task that could not be opened. Whether there was one."""
    reserve = json.loads((state / "reserve.json").read_text())
    found = False
    for old in unopened(state):
        left = [key for key in reserve.get(old, []) if key not in keys(state) | rows(state, "builtin")]
        if left:
            replace(state, state / "reserve", old, left[0])
            reserve[left[0]] = left[1:]
            (state / "reserve.json").write_text(json.dumps(reserve, indent=1) + "\n")
            found = True
    return found


def replace(state, tasks, old, new):
    """A task that cannot be opened leaves the experiment for another one; replaced.txt names it."""
    state = pathlib.Path(state)
    if any(journal_of(state, name, old.replace("/", ".")).exists() for name in ("builtin", *protocol.plan(state).arms)):
        raise SystemExit(f"{old} has been opened; only a task that cannot be is replaced")
    place = state / "tasks" / new
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(pathlib.Path(tasks) / new, place)
    (state / "tasks" / old).unlink()
    with open(state / "replaced.txt", "a", encoding="utf-8") as file:
        file.write(f"{old} by {new}\n")
    print(f"{old} cannot be opened and is replaced by {new}", flush=True)


# What travels; the rest of a run's folder is made again from its journal.
def travels(path):
    parts = path.parts
    return path.name in ("journal.jsonl", "plan.json", "program.sha256", "replaced.txt", "reserve.json", "stages.jsonl", "replies.jsonl") or parts[0] in ("tasks", "ablate-tasks", "reserve", "exchange") or path.suffix == ".log"


def pack(state, archive):
    """An archive that was there stays until the new one is whole."""
    state, archive = pathlib.Path(state), pathlib.Path(archive)
    part = archive.with_name(archive.name + ".part")
    with tarfile.open(part, "w:xz") as tar:
        for path in sorted(state.rglob("*")):
            if path.is_file() and travels(path.relative_to(state)):
                tar.add(path, str(path.relative_to(state)))
    part.replace(archive)
    print(f"{archive}: {archive.stat().st_size / 1e6:.2f} MB")


def unpack(archive, state):
    with tarfile.open(fileobj=io.BytesIO(pathlib.Path(archive).read_bytes()), mode="r:xz") as tar:
        tar.extractall(state, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(state)
