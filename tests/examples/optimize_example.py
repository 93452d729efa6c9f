# SPDX-License-Identifier: Apache-2.0
"""Optimises one example on the simulator and checks what is reported: optimize_example.py BINARY TASK [--all-right] --set N=64 …
With --all-right every variant has to be right, and none need be faster: at small sizes some cannot be."""
import json
import os
import subprocess
import sys
import tempfile


def main():
    binary, task, *sizes = sys.argv[1:]
    all_right = "--all-right" in sizes
    sizes = [each for each in sizes if each != "--all-right"]
    rounds = ["--rounds", "3", "--samples", "4", "--allow-no-improvement", "--confirmations", "1"] if all_right else ["--rounds", "1", "--samples", "3"]
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HOME=folder, XDG_CACHE_HOME=folder, XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder)
        command = [binary, "optimize", task, "--device", "sim", "--model", "builtin", *rounds, "--seed", "1",
                   "--out", os.path.join(folder, "run"), "-o", os.path.join(folder, "best.cu"), "--json", *sizes]
        finished = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
        if finished.returncode == 4 and "NVRTC" in finished.stderr:
            print("skipped: no NVRTC here\n" + finished.stderr)
            return 77
        if finished.returncode != 0:
            print(" ".join(command), "ended with", finished.returncode, "\n", finished.stdout, finished.stderr)
            return 1
        report = json.loads(finished.stdout)
        if all_right:
            verdicts = {each["id"]: (each["judgement"] or {}).get("verdict") for each in report["variants"]}
            print(verdicts)
            wrong = [name for name, verdict in verdicts.items()
                     if verdict not in ("PREDICTED_FASTER", "PREDICTED_EQUIVALENT", "PREDICTED_SLOWER")]
            return 1 if wrong or not verdicts else 0
        best = report.get("best") or {}
        print(json.dumps(best, indent=2))
        if best.get("verdict") != "PREDICTED_FASTER":
            print("expected PREDICTED_FASTER, got", best.get("verdict"), "\n", finished.stdout, finished.stderr)
            return 1
        if not best.get("predicted_speedup", 0) > 1:
            print("no predicted speed-up above 1")
            return 1
        if "//@" not in open(os.path.join(folder, "best.cu"), encoding="utf-8").read():
            print("best.cu is no kernel file")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
