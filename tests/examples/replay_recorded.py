# SPDX-License-Identifier: Apache-2.0
"""Replays recorded replies of an example on the simulator: replay_recorded.py BINARY TASK FOLDER --set N=64 …
Every reply has to be read and judged, and at least one has to be right."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    binary, task, folder, *sizes = sys.argv[1:]
    keys = {path.name.split(".")[0] for path in pathlib.Path(folder).glob("r*-s*.md")}
    rounds = max(int(re.match(r"r(\d+)", key)[1]) for key in keys)
    samples = max(int(re.search(r"-s(\d+)", key)[1]) for key in keys)
    with tempfile.TemporaryDirectory() as work:
        environment = dict(os.environ, HOME=work, XDG_CACHE_HOME=work, XDG_CONFIG_HOME=work, XDG_STATE_HOME=work)
        command = [binary, "optimize", task, "--device", "sim", "--model", f"replay:{folder}", "--rounds", str(rounds),
                   "--samples", str(samples), "--no-repair", "--json", "--allow-no-improvement", *sizes]
        finished = subprocess.run(command, capture_output=True, text=True, cwd=work, env=environment, check=False)
        if finished.returncode == 5 and "NVRTC" in finished.stderr:
            print("skipped: no NVRTC here\n" + finished.stderr)
            return 77
        if finished.returncode != 0:
            print(" ".join(command), "ended with", finished.returncode, "\n", finished.stdout, finished.stderr)
            return 1
        run = json.loads(finished.stdout)
    seen = {}
    for variant in run["variants"]:
        judgement = variant["judgement"] or {}
        seen[variant["id"]] = variant["status"]
        print(variant["id"], variant["status"], judgement.get("verdict", ""), judgement.get("predicted_speedup", ""))
    if set(seen) != keys:
        print("recorded:", sorted(keys), "judged:", sorted(seen))
        return 1
    if run["rounds"] != rounds or not run["best"]:
        print(f"{run['rounds']} rounds of {rounds}, best {run['best']}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
