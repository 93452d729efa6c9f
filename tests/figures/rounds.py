#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the rounds bring: rounds.py RUN.json... prints, as a Markdown table, how fast the first answer of a run was, the best of its
first round and the best of all. RUN.json is what `optimize --json` printed, as lines.py keeps in its --out; the last line is the
geometric mean of how much more all rounds found than the first answer and than the first round."""
import json
import math
import pathlib
import sys


def main():
    print("| task | answers | rounds | first answer | best of round 1 | best of all | found in |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    gains = []
    for path in map(pathlib.Path, sys.argv[1:]):
        run = json.loads(path.read_text())
        scores = {}
        for variant in run["variants"]:
            judgement = variant["judgement"] or {}
            scores[variant["id"]] = (judgement.get("speedup") or judgement.get("predicted_speedup") or {"value": 0})["value"]
        if not scores:
            continue
        first, best = next(iter(scores.values())), max(scores.values())
        early = max(score for name, score in scores.items() if name.startswith("r01"))
        found = next(name for name, score in scores.items() if score == best)
        gains.append((best / first, best / early))
        print(f"| {path.stem} | {len(scores)} | {run['rounds']} | {first:.4g}x | {early:.4g}x | {best:.4g}x | {found} |")
    means = [math.exp(sum(map(math.log, column)) / len(gains)) for column in zip(*gains)]
    print(f"\nbest of all over the first answer {means[0]:.4f}, over round 1 {means[1]:.4f} (geometric means of {len(gains)})")


if __name__ == "__main__":
    main()
