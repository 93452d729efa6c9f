# SPDX-License-Identifier: Apache-2.0
"""Rows of sweeps as the project keeps them in kernelbench_results.

  compact JOURNAL ROWS [COMMIT]   a sweep's journal with short numbers, and the commit that it was measured at
  table ROWS…                     a few lines for the screen
  spent ROWS CALLS SECONDS BEFORE notes in CALLS that a call took SECONDS, and how many rows it added to those BEFORE
  left FOLDER KERNELBENCH PARTS   of each part, separated by commas: rows, tasks, seconds a task, and about how long the rest takes
  complete ROWS [I/N]             ends with 0 where every task, of shard I of N, has a row
  renew ROWS KEPT                 a sweep's rows at the end of those that are kept, in place of what the same sweep had there before
  same ROWS…                      repeats of one sweep: which tasks ended otherwise in one of them
  agree ROWS EARLIER              published answers here against earlier measurements of the same ones: {level, task, status, ok2, ok4, speedup} a line
"""

import hashlib
import json
import math
import os
import statistics
import sys

BEST = "best of these"


def short(value):
    """Five digits are more than the measurements hold."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: short(each) for name, each in value.items()}
    return [short(each) for each in value] if isinstance(value, list) else value


def read(path):
    """[(identity, {key: last row})] of a journal or of rows: several sweeps may follow each other."""
    sweeps = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                break  # cut short by a kill
            value = json.loads(line)
            if "schema" in value:
                sweeps.append((value, {}))
            else:
                sweeps[-1][1][value["key"]] = value
    return sweeps


def in_order(rows):
    return sorted(rows, key=lambda row: (row["level"], row["id"], row["key"]))


def compact(journal, rows, commit=""):
    text = ""
    for identity, found in read(journal):
        text += json.dumps(identity, separators=(",", ":")) + "\n"
        for row in in_order(found.values()):
            row["best"] = ""  # a path of the machine that measured
            if commit:
                row.setdefault("commit", commit)
            text += json.dumps(short(row), separators=(",", ":"), ensure_ascii=False) + "\n"
    with open(rows, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{rows}: {len(text) / 1024:.0f} KiB")


def ratio(row, baseline):
    """Baseline time over the answer's; None where there is none."""
    if row["status"] != "verified":
        return None
    values = {name: each["speedup"] for name, each in row["ratios"].items() if "speedup" in each}
    return min(values.values(), default=None) if baseline == BEST else values.get(baseline)


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def baselines_of(rows):
    names = []
    for row in rows:
        names += [name for name in row["ratios"] if name not in names]
    return names + ([BEST] if len(names) > 1 else [])


def drawn(identity, found):
    """How many tasks at the begin of the order have rows: where that is all of them, and the order was random, they are a fair sample."""
    return next((count for count, key in enumerate(identity["tasks"]) if key not in found), len(identity["tasks"]))


def renew(rows, kept):
    lines = open(kept, encoding="utf-8").readlines() if os.path.exists(kept) else []
    starts = [at for at, line in enumerate(lines) if "schema" in json.loads(line)] + [len(lines)]
    sweeps = ["".join(lines[start:end]) for start, end in zip(starts, starts[1:])]
    fresh = open(rows, encoding="utf-8").read()
    head = fresh.partition("\n")[0]
    sweeps = [each for each in sweeps if each.partition("\n")[0] != head]
    with open(kept, "w", encoding="utf-8") as file:
        file.write("".join(sweeps) + fresh)
    print(f"{kept}: {len(sweeps)} earlier sweeps and this one")


def same(*paths):
    """Statuses must be the same. A verdict may differ where an interval meets 1, which is said too."""
    repeats = [{key: row for _, found in read(path) for key, row in found.items()} for path in paths]
    keys = sorted(set.intersection(*(set(each) for each in repeats)))
    ended = told = 0
    for key in keys:
        statuses, verdicts = [each[key]["status"] for each in repeats], [each[key]["verdict"] for each in repeats]
        ended += len(set(statuses)) > 1
        told += len(set(verdicts)) > 1
        if len(set(statuses)) > 1 or len(set(verdicts)) > 1:
            print(f"{key}: {', '.join(f'{status} {verdict}' for status, verdict in zip(statuses, verdicts))}")
    print(f"{len(paths)} repeats of {len(keys)} tasks: {ended} are right in one and not in another, {told} have another verdict")


def table(*paths):
    for path in paths:
        for identity, found in read(path):
            rows = list(found.values())
            print(f"{path}: {identity['models']} on {identity['device']}; {len(rows)} of {len(identity['tasks'])} tasks, the first {drawn(identity, found)} of their order")
            for level in sorted({row["level"] for row in rows}):
                here = [row for row in rows if row["level"] == level]
                states = {name: sum(row["status"] == name for row in here) for name in ("verified", "nothing right", "no answer", "refused", "failed")}
                seconds = statistics.median(row["seconds"] for row in here)
                print(f"  level {level}: " + ", ".join(f"{count} {name}" for name, count in states.items() if count) + f"; median {seconds:.1f} s a task")
                for baseline in baselines_of(here):
                    values = [value for value in (ratio(row, baseline) for row in here if not row["defects"]) if value]
                    if values:
                        print(f"    {baseline:<16} sound {len(values):>3}: geomean {geomean(values):.3f}x, median {statistics.median(values):.3f}x, "
                              f"faster {sum(value > 1.01 for value in values)}, slower {sum(value < 1 for value in values)}")


# Seconds of a GPU that a task takes where none of a part was measured: what sweeps of earlier commits suggest.
USUAL = {"v0-12": 8, "main-12": 14, "v0-3": 20, "main-3": 30, "v0": 10, "main": 17, "repeat": 5, "answers": 8}


def spent(rows, calls, seconds, before):
    with open(calls, "a", encoding="utf-8") as file:
        file.write(json.dumps([int(seconds), sum(len(found) for _, found in read(rows)) - int(before)]) + "\n")


def owns(shard, key):
    """As Shard::owns of cli/shard.cpp."""
    index, count = (int(number) for number in shard.split("/"))
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % count == index - 1


def complete(rows, shard=""):
    missing = [key for identity, found in read(rows) for key in identity["tasks"] if key not in found and owns(shard or "1/1", key)]
    sys.exit(1 if missing or not os.path.getsize(rows) else 0)


def tasks_of(part, kernelbench):
    """How many tasks a part has."""
    name, _, levels = part.partition("-")
    folder = os.path.join(kernelbench, "main" if name == "main" else "v0")
    levels = levels or ("1" if name.startswith("repeat") else "123")
    return sum(each.endswith(".py") for level in levels for each in os.listdir(os.path.join(folder, f"level{level}")))


def left(folder, kernelbench, parts):
    total = 0
    print(f"{'part':<10} {'rows':>5} {'tasks':>6} {'s a task':>9} {'left, about':>12}")
    for part in parts.split(","):
        if part == "interrupt":
            continue
        rows, calls = os.path.join(folder, f"{part}.jsonl"), os.path.join(folder, part, "calls")
        done = sum(len(found) for _, found in read(rows)) if os.path.exists(rows) else 0
        count = tasks_of(part, kernelbench)
        each, measured = USUAL.get(part) or USUAL["repeat"], ""
        if os.path.exists(calls):
            took = [json.loads(line) for line in open(calls, encoding="utf-8")]
            if added := sum(more for _, more in took):
                each, measured = sum(seconds for seconds, _ in took) / added, ", measured"
        remaining = each * max(0, count - done)
        total += remaining
        print(f"{part:<10} {done:>5} {count:>6} {each:>9.1f} {remaining:>10.0f} s{measured}")
    print(f"about {total:.0f} s left")


def agree(rows, earlier):
    before = {}
    with open(earlier, encoding="utf-8") as lines:
        for line in lines:
            each = json.loads(line)
            before[each["level"], each["task"]] = each
    compared = alike = 0
    for _, found in read(rows):
        for row in in_order(found.values()):
            was = before.get((row["level"], row["id"]))
            if was is None:
                continue
            said = row["kernelbench"] or {}
            now = ("no code" if row["status"] == "no answer" else "fails" if not said else
                   f"at 1e-2 {said['accepts_at_1e-2']}, at 1e-4 {said['accepts_at_1e-4']}")
            then = ("no code" if was["status"] == "no_code" else "fails" if was["status"] != "ok" else f"at 1e-2 {was['ok2']}, at 1e-4 {was['ok4']}")
            compared += 1
            alike += now == then
            eager = (row["ratios"].get("eager") or {}).get("speedup")
            if now != then or (eager and was.get("speedup") and abs(math.log(eager / was["speedup"])) > math.log(1.1)):
                print(f"level{row['level']}/{row['id']}: then {then}, {was.get('speedup') or 0:.3g}x eager; now {now}, {eager or 0:.3g}x; "
                      f"{row['verdict'] or row['status']}: {row['message'][:160]}")
    print(f"{compared} answers in both; {alike} alike in what KernelBench's comparison says")


if __name__ == "__main__":
    {"compact": compact, "table": table, "spent": spent, "left": left, "complete": complete, "renew": renew, "same": same, "agree": agree}[sys.argv[1]](*sys.argv[2:])
