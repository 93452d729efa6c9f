# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/evidence.md as Markdown, from the journals alone."""
import pathlib

import further
import outcomes
import protocol
import replies
import runs
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


def fates(played):
    """A round that is one for all arms is counted once."""
    rows = []
    for arm, number, arm_runs in played.asked():
        for level in sorted({run.level for run in arm_runs}):
            here = [variant for of, run, variant in played.replies() if of == arm and run.level == level and variant.round == number]
            if here:
                rows.append(["all" if number == 1 and played.plan.shared_round else arm, level, number, len(here), share(sum(v.compiles for v in here), len(here)),
                             share(sum(v.right for v in here), len(here)), share(sum(v.duplicate for v in here), len(here))])
    return table(["arm", "level", "round", "replies", "compile", "right", "seen before"], rows)


def failures(played):
    counts = {}
    for _, run, variant in played.replies():
        if not variant.right and not variant.duplicate:
            counts.setdefault(variant.outcome, {}).setdefault(variant.round, []).append(run.key)
    numbers = range(1, played.plan.rounds + 1)
    rows = [[name, *(len(by_round.get(number, [])) for number in numbers), len({key for keys in by_round.values() for key in keys})]
            for name, by_round in sorted(counts.items(), key=lambda item: -sum(map(len, item[1].values())))]
    return table(["outcome", *(f"round {number}" for number in numbers), "tasks"], rows)


def floored(run, after):
    """Who finds nothing faster keeps PyTorch."""
    return max(run.best(after) or 1.0, 1.0)


def over_builtin(played, arm_runs, number):
    return [floored(run, number) / floored(played["builtin"][run.key], 1) for run in arm_runs]


def progress(played):
    rows = []
    for arm, arm_runs in played.arms().items():
        for number in range(1, played.plan.rounds + 1):
            both = [(run.best(number), played["builtin"][run.key].best(1)) for run in arm_runs]
            both = [ours / theirs for ours, theirs in both if ours and theirs]
            rows.append([arm, number, sum(run.best(number) is not None for run in arm_runs), with_interval([floored(run, number) for run in arm_runs]),
                         with_interval(over_builtin(played, arm_runs, number)), f"{with_interval(both)}, {len(both)} tasks"])
    return table(["arm", "after round", "tasks with a right answer", "over PyTorch's best", "over the built-in model", "the same where both are right"], rows)


def standings(played):
    """After all rounds, by where the built-in model stands."""
    rows = []
    for arm, arm_runs in played.arms().items():
        for name in ("ahead", "equal", "behind", "no answer"):
            here = [run for run in arm_runs if played.standing(run.key) == name]
            if here:
                rows.append([arm, name, len(here), with_interval([floored(run, played.plan.rounds) for run in here]), with_interval(over_builtin(played, here, played.plan.rounds))])
    return table(["arm", "built-in model", "tasks", "over PyTorch's best", "over the built-in model"], rows)


def comparisons(played):
    """At 97.5 %: two comparisons are made."""
    first, *others = played.plan.arms
    if others and not played[first]:
        return "No task has been played.\n"
    rows = []
    for other in others:
        for number in range(1, played.plan.rounds + 1):
            ratios = [floored(run, number) / floored(played[other][key], number) for key, run in played[first].items()]
            low, high = interval(ratios, 0.975)
            differs = (low > 1 or high < 1) and not 1 / protocol.EQUAL <= geomean(ratios) <= protocol.EQUAL
            ahead, behind = (sum(test(value) for value in ratios) for test in (lambda v: v > protocol.EQUAL, lambda v: v < 1 / protocol.EQUAL))
            rows.append([f"{first} / {other}", number, with_interval(ratios, 0.975), f"{ahead} · {len(ratios) - ahead - behind} · {behind}", "yes" if differs else "no"])
    return table(["arms", "after round", "ratio", "ahead · equal · behind", "a difference"], rows) if rows else "One arm.\n"


def tasks(played):
    columns = [(arm, number) for arm in played.plan.arms for number in range(1, played.plan.rounds + 1)]
    rows = [[key, ratio(builtin.best(1)), *(ratio(played[arm][key].best(number)) for arm, number in columns)] for key, builtin in played["builtin"].items()]
    return table(["task", "built-in", *(f"{arm} {number}" for arm, number in columns)], rows)


def techniques(played):
    used = sorted(outcomes.techniques(played).items(), key=lambda item: (-item[1][0], item[0]))
    rows = [[name, count, share(right, count), ratio(geomean(gains)) if gains else "-"] for name, (count, right, gains) in used if count >= FEWEST_USES]
    return table(["technique", "answers", "right", "gain"], rows)


def costs(played, folder):
    """In a state that has no reply or stage yet they are zero."""
    folder = pathlib.Path(folder)
    everything, stages = (runs.journal(folder / name) for name in ("replies.jsonl", "stages.jsonl"))
    record = [each for each in everything if each["of"].split("/")[1] != further.ABLATION]
    count = len(played["builtin"]) or 1
    at_work = sum(stage["seconds"] for stage in stages)
    wall = outcomes.moment(stages[-1]["at"]) + stages[-1]["seconds"] - outcomes.moment(stages[0]["at"]) if stages else 0
    rows = [["replies", len(record), f"{len(record) / count:.1f}"], ["replies to ablations beside them", len(everything) - len(record), ""]]
    for name in ("prompt", "reply"):
        all_tokens = sum(each[f"{name}_tokens"] for each in record)
        rows.append([f"tokens of {'prompts' if name == 'prompt' else 'replies'}, estimated", all_tokens, f"{all_tokens / count:.0f}"])
    rows += [["seconds of the machine with the GPU", f"{at_work:.0f}", f"{at_work / count:.1f}"],
             *([f"of them: {name}", f"{seconds:.0f}", f"{seconds / count:.1f}"] for name, seconds in by_sweep(stages).items()),
             ["wall time from first stage to last [s]", f"{wall:.0f}", ""],
             ["of it waiting for the model", f"{100 * max(wall - at_work, 0) / wall:.0f} %" if wall > 0 else "-", ""]]
    return table(["cost", "all", "a task"], rows)


def by_sweep(stages):
    total = {}
    for stage in stages:
        for name, each in stage["sweeps"].items():
            total[name] = total.get(name, 0) + each["seconds"]
    return total


def confirmations(played):
    """A final verdict that several arms have is one."""
    found = {(run.key, variant.confirmed, variant.screened) for arm_runs in played.arms().values() for run in arm_runs for variant in run.variants
             if variant.right and variant.confirmed and variant.screened}
    ratios = [confirmed / screened for _, confirmed, screened in sorted(found)]
    return f"Confirmed over screened, {len(ratios)} winners: {with_interval(ratios)}.\n"


def ablations(folder):
    """A factor is the winner's speed-up over that of the answer without the technique; of a pair, also over the product of both alone."""
    found = further.factors(folder)
    pairs = further.together(found)
    rows = [[key, winner, " and ".join(undone), became, ratio(factor), ratio(pairs.get((key, tuple(undone))))] for key, winner, undone, became, factor in found]
    return table(["task", "winner", "without", "became", "factor", "over both alone"], rows)


def passes(first, second):
    """Two passes on the tasks of the second: what compiles and is right, by round, and how far the first arms came."""
    rows = []
    for name, played in (("first", first), ("second", second)):
        of = [(run, variant) for _, run, variant in played.replies() if run.key in second["builtin"]]
        for number in [*range(1, played.plan.rounds + 1), "all"]:
            here = [variant for _, variant in of if number in (variant.round, "all")]
            best = [played[played.plan.first][key] for key in second["builtin"] if key in played[played.plan.first]]
            rows.append([name, number, len(here), share(sum(v.compiles for v in here), len(here)), share(sum(v.right for v in here), len(here)),
                         with_interval(over_builtin(played, best, played.plan.rounds if number == "all" else number))])
    return table(["pass", "round", "replies", "compile", "right", "first arm over the built-in model"], rows)


def left_out(played):
    """A task without a run counts for nothing, where one without a right answer counts as 1."""
    named = "; ".join(f"{key} ({', '.join(names)})" for key, names in played.left_out.items())
    return f"\nLeft out, as these have no run of it: {named}.\n" if named else ""


def check(folder):
    problems = replies.check_record(folder)
    return "\nNot as recorded: " + ", ".join(problems) + ".\n" if problems else ""


def render(folder, second=None):
    played = outcomes.load(folder)
    parts = [("What became of the replies", fates(played)), ("Failures by kind", failures(played)), ("Best so far", progress(played) + "\n" + confirmations(played)),
             ("By standing of the built-in model", standings(played)), ("Arms compared", comparisons(played)), ("By task, over PyTorch's best baseline", tasks(played)),
             (f"Techniques in at least {FEWEST_USES} answers", techniques(played)), ("Costs", costs(played, folder))]
    if further.factors(folder):
        parts.append(("Techniques taken out of winners again", ablations(folder)))
    if second:
        parts.append(("The two passes, on the tasks of the second", passes(played, outcomes.load(second))))
    return "\n".join(f"## {title}\n\n{body}" for title, body in parts) + left_out(played) + check(folder)
