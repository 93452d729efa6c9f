# SPDX-License-Identifier: Apache-2.0
"""same_seed.py BINARY: two runs with one seed, on the simulator with builtin and with replay, have equal journals but for times."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from fixture import TASK

# What may differ: times of day, durations, and paths that hold the folder's name.
TIMES = {"seconds", "judging_seconds", "step_seconds", "time", "at", "begun", "ended", "folder"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value


def journal(binary, root, out, model):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDAL1_")}
    environment |= {"HOME": str(root), "XDG_CACHE_HOME": str(root / out / "cache"), "XDG_CONFIG_DIRS": str(root)}
    finished = subprocess.run(
        [binary, "optimize", root / "task.cu", "--device", "sim", "--model", model, "--seed", "7",
         "--rounds", "2", "--samples", "2", "--out", root / out / "run", "--allow-no-improvement", "-q"],
        env=environment, cwd=root, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"{model} ended with {finished.returncode}\n{finished.stdout}\n{finished.stderr}")
    lines = (root / out / "run" / "journal.jsonl").read_text().splitlines()
    return [without_times(json.loads(line)) for line in lines]


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="cudal1-seed-") as folder:
        root = pathlib.Path(folder)
        (root / "task.cu").write_text(TASK)
        for model in ("builtin", f"replay:{root}/builtin-1/run"):
            kind = model.split(":")[0]
            one, other = (journal(binary, root, f"{kind}-{number}", model) for number in (1, 2))
            if one != other:
                for number, (left, right) in enumerate(zip(one, other), 1):
                    if left != right:
                        sys.exit(f"{kind}: line {number} differs:\n{json.dumps(left)[:2000]}\n{json.dumps(right)[:2000]}")
                sys.exit(f"{kind}: {len(one)} and {len(other)} lines")
            print(f"{kind}: {len(one)} equal lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
