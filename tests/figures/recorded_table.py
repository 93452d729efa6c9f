# SPDX-License-Identifier: Apache-2.0
"""recorded_table.py TORCH_TIMES.jsonl RUN...: the table of examples/recorded/README.md from run folders of one GPU and the
output of torch_times.py. A ratio to PyTorch is its median time over the winner's; its interval adds the errors of both
in the logarithm."""
import json
import math
import pathlib
import sys

NOT_RUNNING = {"INVALID_PLAN", "COMPILE_FAILED", "FORBIDDEN_CODE"}


def half_width(interval):
    return math.log(interval[1] / interval[0]) / 2


def ratio(torch, variant_ms, interval):
    if not torch:
        return "-"
    mean = torch["ms"] / variant_ms
    spread = math.exp(math.hypot(half_width(torch["interval_ms"]), half_width(interval)))
    return f"{mean:.2f}x [{mean / spread:.2f}, {mean * spread:.2f}]"


def main():
    lines = pathlib.Path(sys.argv[1]).read_text().splitlines()
    torch = {entry["task"]: entry for entry in map(json.loads, lines)}
    print("| task | best so far, by round | replies | compile | right | faster | speed-up over the example | time, ms "
          "| against PyTorch eager | against torch.compile |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    totals = [0, 0, 0, 0]
    for folder in map(pathlib.Path, sys.argv[2:]):
        run = json.loads((folder / "report.json").read_text())
        answers = [variant for variant in run["variants"] if variant["status"] != "duplicate"]
        verdicts = [variant["judgement"]["verdict"] if variant["judgement"] else "" for variant in answers]
        compiled = [verdict for verdict in verdicts if verdict and verdict not in NOT_RUNNING]
        right = [verdict for verdict in compiled if verdict in ("FASTER", "SLOWER", "EQUIVALENT", "INCONCLUSIVE")]
        faster = [verdict for verdict in right if verdict == "FASTER"]
        counts = [len(answers), len(compiled), len(right), len(faster)]
        totals = [a + b for a, b in zip(totals, counts)]
        best = run["best"]
        rounds = " → ".join(f"{entry['best_so_far']:.3g}" for entry in run["score_per_round"])
        cells = [run["task"], rounds, *map(str, counts)]
        if best and best["verdict"] == "FASTER":
            low, high = best["interval"]
            times = torch.get(run["task"], {})
            cells += [f"{best['speedup']:.3g}x [{low:.3g}, {high:.3g}] ({best['level']})", f"{best['time_ms']:.4f}",
                      ratio(times.get("eager"), best["time_ms"], best["interval"]),
                      ratio(times.get("compile"), best["time_ms"], best["interval"])]
        else:
            cells += ["nothing faster", "", "", ""]
        print("| " + " | ".join(cells) + " |")
    shares = [f"{count} ({count / max(totals[0], 1):.0%})" for count in totals[1:]]
    print(f"| all | | {totals[0]} | " + " | ".join(shares) + " | | | | |")


if __name__ == "__main__":
    main()
