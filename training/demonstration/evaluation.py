# SPDX-License-Identifier: Apache-2.0
"""What answers to held-out structures are worth: judged, counted, and compared by bootstrap over tasks."""
from __future__ import annotations

import json
import math
import pathlib
import random
import statistics
from typing import Any, Callable, Optional, Sequence

from corpus import Example, Task
from cudal1_train import Judge, Verdict

Row = dict[str, Any]


def row_of(task: Task, answer: str, verdict: Verdict) -> Row:
    return {"task": task.name, "group": task.group, "answer": answer, "verdict": verdict.verdict, "executable": bool(verdict.executable), "right": bool(verdict.right),
            "speedup": verdict.score or 0, "cheat": verdict.cheat, "fault": verdict.fault, "message": verdict.message[:200], "fingerprint": verdict.kind}


def judged(judge: Judge, tasks: Sequence[Task], answers: Sequence[str], file: pathlib.Path) -> list[Row]:
    """One row for each answer; the file is written when all are there."""
    verdicts = judge.judge_all({"task": task.source, "answer": answer} for task, answer in zip(tasks, answers))
    rows = [row_of(*each) for each in zip(tasks, answers, verdicts)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def known(examples: Sequence[Example]) -> list[Row]:
    """The playbook's verified answers as rows."""
    return [{"task": each.task, "group": each.group, "answer": each.answer, "verdict": "PREDICTED", "executable": True, "right": True, "speedup": each.speedup, "cheat": False,
             "fault": None, "fingerprint": each.answer} for each in examples]


def interval(by_task: Sequence[list[Row]], figure: Callable[[Sequence[list[Row]]], Optional[float]], draws: int = 1000) -> tuple[float, float, float]:
    """The figure with 95 % of its bootstrap over tasks."""
    dice = random.Random(1)
    values = sorted(value for _ in range(draws) if (value := figure([dice.choice(by_task) for _ in by_task])) is not None)
    centre = figure(by_task)
    if centre is None or not values:
        return (math.nan,) * 3
    return centre, values[int(0.025 * len(values))], values[min(int(0.975 * len(values)), len(values) - 1)]


def share(key: Callable[[Row], bool]) -> Callable[[Sequence[list[Row]]], float]:
    return lambda by_task: 100 * statistics.fmean(statistics.fmean(key(row) for row in rows) for rows in by_task)


FIGURES: dict[str, Callable[[Sequence[list[Row]]], Optional[float]]] = {
    "unreadable %": share(lambda row: row["verdict"] == "UNREADABLE"),
    "executable %": share(lambda row: row["executable"]),
    "right %": share(lambda row: row["right"]),
    "mean speed-up, failures 0": lambda by_task: statistics.fmean(statistics.fmean(row["speedup"] if row["right"] else 0 for row in rows) for rows in by_task),
    "geometric mean of right ones": lambda by_task: math.exp(statistics.fmean(logs)) if (logs := [math.log(row["speedup"]) for rows in by_task for row in rows if row["right"] and row["speedup"] > 0]) else None,
    "a right one among a task's %": lambda by_task: 100 * statistics.fmean(any(row["right"] for row in rows) for rows in by_task),
    "best of a task's, failures 0": lambda by_task: statistics.fmean(max((row["speedup"] for row in rows if row["right"]), default=0) for rows in by_task),
    "distinct right ones a task": lambda by_task: statistics.fmean(len({row["fingerprint"] for row in rows if row["right"]}) for rows in by_task),
    "cheats %": share(lambda row: row["cheat"]),
}


def figures(rows: Sequence[Row]) -> dict[str, tuple[float, float, float]]:
    tasks: dict[str, list[Row]] = {}
    for row in rows:
        if row["fault"] is None:     # says nothing about the answer
            tasks.setdefault(row["task"], []).append(row)
    return {name: interval(list(tasks.values()), figure) for name, figure in FIGURES.items()} if tasks else {}


def table(stages: dict[str, Sequence[Row]]) -> str:
    lines = ["| answers of | tasks | answers | " + " | ".join(FIGURES) + " |", "| --- |" + " ---: |" * (len(FIGURES) + 2)]
    for name, rows in stages.items():
        found = figures(rows)
        cells = ["–" if math.isnan(found[each][0]) else f"{found[each][0]:.3g} [{found[each][1]:.3g}, {found[each][2]:.3g}]" for each in found]
        lines.append(f"| {name} | {len({row['task'] for row in rows})} | {len(rows)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
