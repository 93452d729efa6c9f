# SPDX-License-Identifier: Apache-2.0
"""What follows the rounds: a second pass on some of the tasks, the techniques of winners taken out again, a winner replayed
elsewhere, and replies compiled on a machine without a GPU."""
import json
import math
import pathlib
import re
import shutil
import subprocess
import time

import outcomes
import protocol
import runs

ABLATION, FEWEST_WINNERS = "ablate", 5


def second_pass(first, tasks, keys, state, plan=protocol.PASSES["second"]):
    """A state whose runs have the first pass's references and answers of the built-in model."""
    first, state = pathlib.Path(first), pathlib.Path(state)
    runs.begin(state, tasks, keys, plan)
    for key in keys:
        folder = key.replace("/", ".")
        runs.write_journal(runs.journal_of(state, "builtin", folder), runs.journal(runs.journal_of(first, "builtin", folder)))
    rows = (first / "builtin" / "journal.jsonl").read_text().splitlines(True)
    (state / "builtin" / "journal.jsonl").write_text("".join(line for number, line in enumerate(rows) if number == 0 or json.loads(line).get("key") in keys))


def winners(state, count=FEWEST_WINNERS):
    """Of the first arm, those whose final verdict is FASTER: the furthest ahead of the built-in model first."""
    played = outcomes.load(state)
    found = []
    for key, run in played[played.plan.first].items():
        confirmed = [variant for variant in run.variants if variant.right and variant.confirmed and variant.outcome == "FASTER" and variant.techniques]
        if confirmed:
            best = max(confirmed, key=lambda variant: variant.confirmed)
            found.append((best.confirmed / max(played["builtin"][key].best(1) or 1.0, 1.0), key, best))
    return [(key, best) for _, key, best in sorted(found, key=lambda each: (-each[0], each[1]))[:count]]


def ablate(state, cudal1, device, seconds, more):
    """Asks for winners without their techniques, and judges the replies that are there. True once nothing waits."""
    state = pathlib.Path(state)
    plan = protocol.plan(state)
    runs.same_program(state, cudal1)
    tasks = state / f"{ABLATION}-tasks"
    for key, _ in winners(state) if not tasks.exists() else []:
        folder = key.replace("/", ".")
        (tasks / key).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(state / "tasks" / key, tasks / key)
        events = runs.journal(runs.journal_of(state, plan.first, folder))
        ours, theirs = (f"exchange:exchange/{name}/{folder}" for name in (ABLATION, plan.first))
        runs.write_journal(runs.journal_of(state, ABLATION, folder), json.loads(json.dumps(events).replace(theirs, ours)))
    if not tasks.exists():
        raise SystemExit("no winner of the first arm has a final verdict FASTER")
    settings = {"cudal1": str(pathlib.Path(cudal1).resolve()), "device": device, "more": more, "tasks": tasks.name}
    began = time.monotonic()
    options = ["--model", f"exchange:exchange/{ABLATION}", "--rounds", str(plan.rounds), "--samples", str(plan.samples), "--confirmations", "1", "--ablate",
               *plan.arms[plan.first].options]
    code, took = runs.sweep(state, ABLATION, options, settings, began + seconds)
    runs.note_stage(state, device, {ABLATION: {"code": code, "seconds": round(took, 2)}}, took)
    print(f"{ABLATION}: exit status {code}, {took:.1f} s", flush=True)
    return code in (runs.FINISHED, runs.FAILED_ITEMS)


def factors(state):
    """[(key, winner's id, undone, what became of it, factor or None)] of every ablation, as `cudal1 report` has them."""
    state = pathlib.Path(state)
    found = []
    for folder in runs.folders(state, ABLATION):
        events = runs.journal(runs.journal_of(state, ABLATION, folder))
        variants = {event["id"]: event for event in events if event["event"] == "variant"}
        finals = {event["id"]: event["judgement"] for event in events if event["event"] == "confirmation"}
        for event in variants.values():
            if not event["reverts"]:
                continue
            winner = finals.get(event["reverts"]) or variants[event["reverts"]]["judgement"]
            judgement = event.get("judgement")
            outcome = outcomes.verdict_of(judgement) if judgement else event["status"]
            speed = lambda told: (told.get("speedup") or told.get("predicted_speedup") or {}).get("value")
            still = set(event["undone"]) & set(event["techniques"])
            right = outcome in outcomes.RIGHT and not still and event["same_as"] != event["reverts"]
            factor = speed(winner) / speed(judgement) if right and speed(winner) and speed(judgement) else None
            found.append((folder, event["reverts"], event["undone"], "still named" if still else outcome, factor))
    return found


def together(found):
    """{(key, pair): how two techniques go together}: their factor over the product of both alone."""
    single = {(key, undone[0]): factor for key, _, undone, _, factor in found if len(undone) == 1 and factor}
    result = {}
    for key, _, undone, _, factor in found:
        if len(undone) == 2 and factor and all((key, name) in single for name in undone):
            result[(key, tuple(undone))] = factor / math.prod(single[(key, name)] for name in undone)
    return result


def replay(state, key, place):
    """A winner's reply as a folder of its own, with its task. Returns the command that judges it again on another GPU."""
    state, place = pathlib.Path(state), pathlib.Path(place)
    played = outcomes.load(state)
    best = [(variant.score, arm, variant) for arm in played.plan.arms for variant in (played[arm][key].variants if key in played[arm] else []) if variant.confirmed and variant.right]
    if not best:
        raise SystemExit(f"{key} has no winner with a final verdict")
    _, arm, winner = max(best, key=lambda each: each[0])
    folder = key.replace("/", ".")
    (place / "replies").mkdir(parents=True, exist_ok=True)
    shutil.copy(state / "tasks" / key, place / pathlib.Path(key).name)
    reply = next(event for event in runs.journal(runs.journal_of(state, arm, folder))
                 if event["event"] == "reply" and event["key"]["attempt"] == 0 and f"r{event['key']['round']:02}-s{event['key']['sample']:02}" == winner.id)
    (place / "replies" / "r01-s01.md").write_text(reply["text"])
    print(f"{winner.id} of {arm}, {winner.score:.3g}x; on the other GPU, in {place}:")
    return f"cudal1 optimize {pathlib.Path(key).name} --model replay:replies --rounds 1 --samples 1 --no-repair --baseline best,eager,compile --device cuda:0"


def first_of_family(code):
    """With the first value of each tunable in its place: what is compiled alone has none."""
    tunables = re.findall(r"^//@ +tune +(\w+) *= *([^|\s]+)", code, re.M)
    code = re.sub(r"^//@ +tune.*\n", "", code, flags=re.M)
    for name, value in tunables:
        code = f"#define {name} {value}\n" + re.sub(r"^//@.*", lambda each: re.sub(rf"\b{name}\b", value, each[0]), code, flags=re.M)
    return code


def of_interface(interface, reply):
    """A reply's kernel file with what the task declares, to be compiled without the task."""
    code = max(re.findall(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1", reply, re.M | re.S), key=lambda block: len(block[1]), default=("", ""))[1]
    declared = [line for line in interface.splitlines() if re.match(r"//@ (input|output|size|scalar)", line)]
    own = {" ".join(line.split()[:3]) for line in code.splitlines() if line.startswith("//@")}
    code = first_of_family(code)
    return "\n".join(line for line in declared if " ".join(line.split()[:3]) not in own) + "\n" + code


def compiles(state, folder, cudal1):
    """Compiles the replies of a folder for an H200. [(name, what is wrong)]; nobody is asked again, and no verdict comes of it."""
    state, folder = pathlib.Path(state), pathlib.Path(folder)
    found = []
    scratch = folder / "compiled"
    scratch.mkdir(exist_ok=True)
    for each in json.loads((folder / "manifest.json").read_text()):
        reply = folder / each["reply"]
        if not reply.exists():
            continue
        events = runs.journal(runs.journal_of(state, "builtin", each["of"].split("/")[2]))   # all runs of a task have its interface
        place = scratch / reply.with_suffix(".cu").name
        place.write_text(of_interface(events[0]["task_source"], reply.read_text(errors="replace")))
        for command in (["plan"], ["compile", "--gpu", "H200"]):
            done = subprocess.run([cudal1, command[0], str(place), *command[1:]], capture_output=True, text=True)
            if done.returncode:
                found.append((reply.name, (done.stderr.strip().splitlines() or ["?"])[0]))
                break
    return found
