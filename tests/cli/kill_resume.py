# SPDX-License-Identifier: Apache-2.0
"""kill_resume.py BINARY [--kills N] [--task FILE] [--parallel N]: kills a run at N random moments, each time gives the
same command again, and sees that winner and final report are those of an uninterrupted run. With --parallel a program
that answers several questions at once is the model, two judges work, and no reply that the journal holds may be asked
for again."""
import argparse
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from fixture import FASTER, TASK, reply

# Answers by the prompt alone, after a pause, and writes down what it was asked.
MODEL = """\
#!{python}
import hashlib, sys, time
prompt = sys.stdin.read()
digest = hashlib.sha256(prompt.encode()).hexdigest()
with open({log!r}, "a") as log:
    log.write(digest + "\\n")
number = int(digest[:8], 16)
time.sleep(0.05 + number % 7 * 0.05)
added = "2.0f" if number % 4 == 0 else "1.0f"
text = {reply!r}.replace("256", str(32 * (1 + number % 16))).replace("1.0f", added)
sys.stdout.write("I cannot." if number % 9 == 0 else text.replace("n) {{", "n) {{ const int unique = %d;" % (number % 1000)))
"""


def replied(out):
    """The prompts, by digest, whose replies the journal holds: a line that was cut off does not count."""
    journal = out / "journal.jsonl"
    keys = set()
    for line in journal.read_text().splitlines(keepends=True) if journal.exists() else []:
        if not line.endswith("\n"):
            break
        event = json.loads(line)
        if event["event"] == "reply":
            key = event["key"]
            name = f"r{key['round']:02}-s{key['sample']:02}" + ("-repair" if key["attempt"] else "")
            keys.add(hashlib.sha256((out / "prompts" / (name + ".md")).read_bytes()).hexdigest())
    return keys


def stable(report):
    """The report without what may differ: times of day, and the folder's name."""
    value = json.loads(report)
    for key in ("begun", "ended", "run"):
        value.pop(key)
    value.pop("models")  # a program's name has its folder in it
    if value["best"]:
        value["best"].pop("file")
    for variant in value["variants"]:
        variant.pop("model")
        for judgement in (variant["judgement"], variant["confirmation"]):
            if judgement:
                judgement.pop("judging_seconds")
                judgement.pop("step_seconds")
    return value


def difference(one, other, path=""):
    if type(one) is not type(other):
        return f"{path}: {one!r} and {other!r}"
    if isinstance(one, dict):
        for key in one.keys() | other.keys():
            found = difference(one.get(key), other.get(key), f"{path}.{key}")
            if found:
                return found
    elif isinstance(one, list):
        if len(one) != len(other):
            return f"{path}: {len(one)} and {len(other)} items"
        for index, (left, right) in enumerate(zip(one, other)):
            found = difference(left, right, f"{path}[{index}]")
            if found:
                return found
    elif one != other:
        return f"{path}: {one!r} and {other!r}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--task", type=pathlib.Path, help="default: a small one")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--parallel", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1, help="of the random moments")
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="cudal1-kill-") as folder:
        root = pathlib.Path(folder)
        task = arguments.task.resolve() if arguments.task else root / "task.cu"
        if not arguments.task:
            task.write_text(TASK)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CUDAL1_")}
        environment |= {"HOME": folder, "XDG_CONFIG_DIRS": folder}

        def command(out):
            words = [word for size in arguments.set for word in ("--set", size)]
            if arguments.parallel:
                program = root / f"{out.name}.py"
                program.write_text(MODEL.format(python=sys.executable, log=str(out) + ".log", reply=reply(FASTER)))
                program.chmod(0o755)
                words += ["--device", "sim,sim", "--model", f"cmd:{program}", "--commands", str(arguments.parallel), "--samples", "6"]
            else:
                words += ["--device", "sim", "--model", "builtin", "--samples", "2"]
            return [arguments.binary, "optimize", str(task), *words, "--seed", "1", "--rounds", str(arguments.rounds),
                    "--out", str(out), "--json", "--allow-no-improvement", "-q"]

        def asked(out):
            log = pathlib.Path(f"{out}.log")
            return log.read_text().split() if log.exists() else []

        def options(out):
            # A cache of its own for each run, so that each takes as long as the first.
            return {"env": environment | {"XDG_CACHE_HOME": f"{out}-cache"}, "cwd": folder}

        begin = time.monotonic()
        whole = subprocess.run(command(root / "whole"), **options(root / "whole"), capture_output=True, text=True)
        length = time.monotonic() - begin
        if whole.returncode != 0:
            print(whole.stdout, whole.stderr, sep="\n")
            return 1
        expected = stable(whole.stdout)
        best = expected["best"]
        print(f"uninterrupted: {length:.1f} s, best {best and best['id']}, {expected['judged']} judged")
        good = kills = 0
        for number in range(1, arguments.kills + 1):
            out = root / f"killed{number}"
            # The later runs find the files warm and end sooner than the first.
            moment = moments.uniform(0, 0.7 * length)
            process = subprocess.Popen(command(out), **options(out), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                process.wait(moment)
                killed = "ended before the kill"
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                killed = "killed"
                kills += 1
            process.communicate()
            had, before = replied(out), len(asked(out))
            again = subprocess.run(command(out), **options(out), capture_output=True, text=True)
            if again.returncode != 0:
                print(f"{number}: {killed} after {moment:.2f} s; again ended with {again.returncode}\n{again.stderr}")
                continue
            found = difference(expected, stable(again.stdout))
            twice = had.intersection(asked(out)[before:])
            if twice:
                found = f"{len(twice)} received replies were asked for again"
            print(f"{number}: {killed} after {moment:.2f} s; {found or 'the same report'}")
            good += not found
        print(f"{good} of {arguments.kills} the same, {kills} really killed")
        return 0 if good == arguments.kills and kills > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
