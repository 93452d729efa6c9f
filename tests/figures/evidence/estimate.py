# SPDX-License-Identifier: Apache-2.0
"""How long the stages should take on one GPU, from rows of earlier sweeps (../kernelbench_results) and, once there are stages, from
those. What a sweep's row has of its seconds: opening (load and task gate), baselines, and search and judging."""
import json
import pathlib
import statistics

import protocol
import runs

# In rows of this commit a task had its GPU for itself; in later ones tasks shared it, so that their seconds contain waits. They count where
# there is none of this commit.
ALONE = "506a714"
# What the rows cannot tell, as nobody has measured it: how much of the work of several jobs goes on at the same time on one GPU,
# and the seconds in which a sweep's PyTorch processes start, all at once.
AT_ONCE, START = 2.0, 8.0


def read(path):
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    timed = [row for row in rows if row.get("breakdown_seconds", {}).get("search and judging")]
    return [row for row in timed if row.get("commit") == ALONE] or timed


def parts(rows):
    """Means in seconds: opening and baselines of a task, the screening of an answer, and what a verified task took beyond that of its
    two answers, which is its final verdict and the larger part of its timing."""
    def mean(chosen, value):
        return statistics.mean(value(row) for row in chosen)

    def step(name):
        return lambda row: row["breakdown_seconds"].get(name, 0.0)

    judged = step("search and judging")
    failed = [row for row in rows if row["status"] == "nothing right" and row["answers"]]
    verified = [row for row in rows if row["status"] == "verified"]
    if not failed or not verified:
        raise SystemExit(f"the rows have no task that was {'answered with nothing right' if verified else 'verified'}, and no estimate comes of them")
    reply = mean(failed, lambda row: judged(row) / row["answers"])
    return {"open": mean(rows, step("load")) + mean(rows, step("task gate")), "baselines": mean(rows, step("baselines")), "reply": reply,
            "final": mean(verified, judged) - mean(verified, lambda row: row["answers"]) * reply}


def stages(plan, tasks, seconds, builtin=True):
    """[(what, seconds)] of each stage. Of a task's arms two at the most are taken to end with winners of their own, for a final verdict."""
    opened, measured = tasks * seconds["open"], tasks * (seconds["open"] + seconds["baselines"])
    winners = min(len(plan.arms), 2)
    found = [("built-in model, references, prompts of round 1", 2, measured + tasks * (2 * seconds["reply"] + seconds["final"]) + opened)]
    if not builtin:
        found = [("prompts of round 1", 2, 2 * opened)]
    for number in range(1, plan.rounds + 1):
        judged = measured + tasks * len(plan.slots(number)) * seconds["reply"] + len(plan.arms) * opened
        last = number == plan.rounds
        if last:
            judged += tasks * winners * (seconds["baselines"] + seconds["final"])
        found.append((f"{tasks * len(plan.slots(number))} replies of round {number}, {'final verdicts' if last else f'prompts of round {number + 1}'}", 1 + len(plan.arms), judged))
    return [(what, sweeps * START + work / AT_ONCE) for what, sweeps, work in found]


def render(state, rows):
    state = pathlib.Path(state)
    plan = protocol.plan(state)
    chosen = read(rows)
    seconds = parts(chosen)
    done = [each for each in runs.journal(state / "stages.jsonl") if "ablate" not in each["sweeps"]]
    fresh = "builtin" in done[0]["sweeps"] if done else bool(runs.keys(state) - runs.rows(state, "builtin"))
    told = stages(plan, len(runs.keys(state)), seconds, fresh)
    lines = ["Means of the rows [s]: " + ", ".join(f"{name} {value:.1f}" for name, value in seconds.items()) + f"; {AT_ONCE:g} tasks' worth of work at a time (not measured)"
             + ("" if chosen[0].get("commit") == ALONE else "; in these rows tasks shared a GPU, so that the seconds contain waits"),
             "", "| stage | does | estimate [s] | took [s] |", "| --- | --- | ---: | ---: |"]
    for number, (what, estimate) in enumerate(told, 1):
        took = f"{done[number - 1]['seconds']:.0f}" if number <= len(done) else ""
        lines.append(f"| {number} | {what} | {estimate:.0f} | {took} |")
    lines.append(f"| all | | {sum(estimate for _, estimate in told):.0f} | {sum(each['seconds'] for each in done):.0f} |")
    return "\n".join(lines) + "\n"
