# SPDX-License-Identifier: Apache-2.0
"""pipeline.py CUDAL1 [--latency SECONDS] [--rounds N] [--device sim[,sim]]: how much of a run is not the model's latency.
The model is a program that sleeps and then gives a kernel that nobody gave before; of the 8 samples of a round the first
is asked for alone and the others together, so a round takes two latencies at least. Prints the wall time of a round as
a multiple of that."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from fixture import FASTER, TASK, reply

MODEL = """\
#!{python}
import os, sys, time
sys.stdin.read()
time.sleep({latency})
block = 32 * (1 + os.getpid() % 16)
sys.stdout.write({reply!r}.replace("256", str(block)).replace("n) {{", "n) {{ const int unique = %d;" % os.getpid()))
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--latency", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--device", default="sim")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "task.cu").write_text(TASK)
        program = root / "model.py"
        program.write_text(MODEL.format(python=sys.executable, latency=arguments.latency, reply=reply(FASTER)))
        program.chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDAL1_")}
        environment |= {"HOME": folder, "XDG_CACHE_HOME": str(root / "cache"), "XDG_CONFIG_HOME": folder}
        command = [str(arguments.binary.resolve()), "optimize", "task.cu", "--device", arguments.device, "--model", "cmd:./model.py",
                   "--commands", "7", "--samples", "8", "--rounds", str(arguments.rounds), "--progress", "json", "-q"]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        begin, judged, rounds, log = None, 0, [], []
        for line in process.stderr:
            log.append(line)
            now = time.monotonic()
            if '"started"' in line:
                begin = now
            if '"event":"judged"' in line:
                judged += 1
            if '"round_finished"' in line:
                rounds.append(now - begin)
                begin = now
        if process.wait() not in (0, 3) or len(rounds) != arguments.rounds:
            print("".join(log), f"ended with {process.returncode}")
            return 1
        least = 2 * arguments.latency
        for number, taken in enumerate(rounds, 1):
            print(f"round {number}: {taken:.2f} s, {taken / least:.3f} of the model's {least:g} s")
        print(f"{judged} judged")
        return 0


if __name__ == "__main__":
    sys.exit(main())
