# SPDX-License-Identifier: Apache-2.0
"""What gpu_sweep.sh compares. `killed BEFORE AFTER`: the journal of a sweep when it was killed and when it had gone on.
`merged WHOLE MERGED`: the summary of a sweep in one piece and that of its shards."""

import json
import statistics
import sys

# What does not depend on a measurement; verdicts and ratios do.
EXACT = ("key", "level", "id", "task", "digest", "device", "status", "defects", "answers", "right")


def accepted(row):
    """At 1e-4 and at 1e-2; the least tolerance depends on secret inputs."""
    said = row["kernelbench"] or {}
    return said.get("accepts_at_1e-4"), said.get("accepts_at_1e-2")


def killed(before, after):
    before, after = (open(path).read().splitlines() for path in (before, after))
    rows = [json.loads(line) for line in after[1:]]
    print(f"killed after {len(before) - 1} tasks; now {len(rows)} rows of {len({row['key'] for row in rows})} tasks; "
          f"rows from before the kill {'unchanged' if after[:len(before)] == before else 'CHANGED'}")
    for step in sorted({step for row in rows for step in row["breakdown_seconds"]}):
        seconds = sorted(row["breakdown_seconds"].get(step, 0) for row in rows)
        print(f"{step}: median {statistics.median(seconds):.3f} s, largest {seconds[-1]:.2f} s, all {sum(seconds):.1f} s")
    print(f"all tasks: {sum(row['seconds'] for row in rows):.1f} s")


def merged(whole, parts):
    whole, parts = (json.load(open(path)) for path in (whole, parts))
    for mine, theirs in zip(whole["tasks"], parts["tasks"]):
        different = [name for name in EXACT if mine[name] != theirs[name]]
        if accepted(mine) != accepted(theirs):
            different.append("kernelbench")
        ratios = [each["ratios"].get("eager", {}) for each in (mine, theirs)]
        overlap = all(ratios) and ratios[0]["low"] <= ratios[1]["high"] and ratios[1]["low"] <= ratios[0]["high"]
        print(mine["key"], "DIFFERENT: " + ", ".join(different) if different else "the same", f"{mine['verdict']} {theirs['verdict']}",
              *(f"{each['speedup']:.3f} [{each['low']:.3f}, {each['high']:.3f}]" for each in ratios if each),
              *(["intervals meet" if overlap else "INTERVALS APART"] if all(ratios) else []), sep="; ")
    counts = [[(each["baseline"], each["level"], each["tasks"], each["tried"], each["scored"], each["success"]) for each in sweep["summary"]]
              for sweep in (whole, parts)]
    print(f"{len(whole['tasks'])} and {len(parts['tasks'])} tasks; counts of the summary {'the same' if counts[0] == counts[1] else 'DIFFERENT'}; "
          f"remarks of the merge: {parts['remarks']}")


{"killed": killed, "merged": merged}[sys.argv[1]](*sys.argv[2:])
