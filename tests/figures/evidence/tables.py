# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/evidence.md as Markdown, from the journals alone."""
import json
import pathlib

import outcomes
import protocol
import replies
from outcomes import geomean, interval

FEWEST_USES = 3


def table(head, rows):
    align = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, align, *rows]) + "\n"


def share(part, whole):
    return f"{100 * part / whole:.0f} % ({part} of {whole})" if whole else "-"


def ratio(value):
    return f"{value:.3g}x" if value else "-"


def with_interval(values, level=0.95):
    if len(values) < 2:
        return ratio(values[0]) if values else "-"
    low, high = interval(values, level)
    return f"{geomean(values):.3f}x [{low:.3f}, {high:.3f}]"


def arms(state):
    return {arm: list(runs.values()) for arm, runs in state.items() if arm in protocol.ARMS}


def fates(state):
    """Round 1 is one for all arms, and is counted once."""
    first = next(iter(protocol.ARMS))
    rows = []
    for arm, runs in arms(state).items():
        for level in sorted({run.level for run in runs}):
            for number in range(1 if arm == first else 2, protocol.ROUNDS + 1):
                here = [variant for run in runs if run.level == level for variant in run.variants if variant.round == number]
                if here:
                    rows.append(["all" if number == 1 else arm, level, number, len(here), share(sum(v.compiles for v in here), len(here)),
                                 share(sum(v.right for v in here), len(here)), share(sum(v.duplicate for v in here), len(here))])
    return table(["arm", "level", "round", "replies", "compile", "right", "seen before"], rows)


def failures(state):
    first = next(iter(protocol.ARMS))
    counts = {}
    for arm, runs in arms(state).items():
        for run in runs:
            for variant in run.variants:
                if variant.right or variant.duplicate or (variant.round == 1 and arm != first):
                    continue
                counts.setdefault(variant.outcome, {}).setdefault(variant.round, []).append(run.key)
    rows = [[name, *(len(by_round.get(number, [])) for number in range(1, protocol.ROUNDS + 1)), len({key for keys in by_round.values() for key in keys})]
            for name, by_round in sorted(counts.items(), key=lambda item: -sum(map(len, item[1].values())))]
    return table(["outcome", *(f"round {number}" for number in range(1, protocol.ROUNDS + 1)), "tasks"], rows)


def floored(run, after):
    """Who finds nothing faster keeps PyTorch."""
    return max(run.best(after) or 1.0, 1.0)


def progress(state):
    rows = []
    for arm, runs in arms(state).items():
        for number in range(1, protocol.ROUNDS + 1):
            builtin = [state["builtin"][run.key] for run in runs]
            both = [(run.best(number), other.best(1)) for run, other in zip(runs, builtin) if run.best(number) and other.best(1)]
            rows.append([arm, number, sum(run.best(number) is not None for run in runs), with_interval([floored(run, number) for run in runs]),
                         with_interval([floored(run, number) / floored(other, 1) for run, other in zip(runs, builtin)]),
                         f"{with_interval([ours / theirs for ours, theirs in both])}, {len(both)} tasks"])
    return table(["arm", "after round", "tasks with a right answer", "over PyTorch's best", "over the built-in model", "the same where both are right"], rows)


def comparisons(state):
    """At 97.5 %: two comparisons are made."""
    first, *others = protocol.ARMS
    rows = []
    for other in others:
        for number in range(1, protocol.ROUNDS + 1):
            pairs = [(floored(run, number), floored(state[other][key], number)) for key, run in state[first].items()]
            ratios = [ours / theirs for ours, theirs in pairs]
            low, high = interval(ratios, 0.975)
            differs = (low > 1 or high < 1) and not 1 / protocol.EQUAL <= geomean(ratios) <= protocol.EQUAL
            ahead, behind = (sum(test(value) for value in ratios) for test in (lambda v: v > protocol.EQUAL, lambda v: v < 1 / protocol.EQUAL))
            rows.append([f"{first} / {other}", number, with_interval(ratios, 0.975), f"{ahead} · {len(ratios) - ahead - behind} · {behind}", "yes" if differs else "no"])
    return table(["arms", "after round", "ratio", "ahead · equal · behind", "a difference"], rows)


def tasks(state):
    rows = []
    for key, builtin in state["builtin"].items():
        rows.append([key, ratio(builtin.best(1)), *(ratio(state[arm][key].best(number)) for arm in protocol.ARMS for number in range(1, protocol.ROUNDS + 1))])
    return table(["task", "built-in", *(f"{arm} {number}" for arm in protocol.ARMS for number in range(1, protocol.ROUNDS + 1))], rows)


def techniques(state):
    first = next(iter(protocol.ARMS))
    once = [outcomes.Run(run.arm, run.key, run.level, [v for v in run.variants if arm == first or v.round > 1], run.events)
            for arm, runs in arms(state).items() for run in runs]
    used = sorted(outcomes.techniques(once).items(), key=lambda item: (-item[1][0], item[0]))
    rows = [[name, count, share(right, count), ratio(geomean(gains)) if gains else "-"] for name, (count, right, gains) in used if count >= FEWEST_USES]
    return table(["technique", "answers", "right", "gain"], rows)


def costs(state, folder):
    folder = pathlib.Path(folder)
    record = [json.loads(line) for line in (folder / "replies.jsonl").read_text().splitlines()]
    stages = [json.loads(line) for line in (folder / "stages.jsonl").read_text().splitlines()]
    count = len(state["builtin"]) or 1
    at_work = sum(stage["seconds"] for stage in stages)
    wall = outcomes.moment(stages[-1]["at"]) + stages[-1]["seconds"] - outcomes.moment(stages[0]["at"])
    rows = [["replies", len(record), f"{len(record) / count:.1f}"],
            ["tokens of prompts, estimated", *(f"{value:.0f}" for value in (sum(e["prompt_tokens"] for e in record), sum(e["prompt_tokens"] for e in record) / count))],
            ["tokens of replies, estimated", *(f"{value:.0f}" for value in (sum(e["reply_tokens"] for e in record), sum(e["reply_tokens"] for e in record) / count))],
            ["seconds of the machine with the GPU", f"{at_work:.0f}", f"{at_work / count:.1f}"],
            ["wall time from first stage to last [s]", f"{wall:.0f}", ""],
            ["of it waiting for the model", f"{100 * max(wall - at_work, 0) / wall:.0f} %" if wall > 0 else "-", ""]]
    return table(["cost", "all", "a task"], rows)


def confirmations(state):
    ratios = [variant.confirmed / variant.screened for _, runs in arms(state).items() for run in runs for variant in run.variants
              if variant.right and variant.confirmed and variant.screened]
    return f"Confirmed over screened, {len(ratios)} winners: {with_interval(ratios)}.\n"


def render(folder):
    state = outcomes.load(folder)
    problems = replies.check_record(folder)
    parts = [("What became of the replies", fates(state)), ("Failures by kind", failures(state)), ("Best so far", progress(state) + "\n" + confirmations(state)),
             ("Arms compared", comparisons(state)), ("By task, over PyTorch's best baseline", tasks(state)),
             (f"Techniques in at least {FEWEST_USES} answers", techniques(state)), ("Costs", costs(state, folder))]
    text = "\n".join(f"## {title}\n\n{body}" for title, body in parts)
    if problems:
        text += "\nNot as recorded: " + ", ".join(problems) + ".\n"
    return text
