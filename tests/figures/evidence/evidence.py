#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the experiment of docs/evidence.md in stages, on two machines that need not see each other.

  evidence.py draw     TASKS ROWS             the tasks, by the seed in protocol.py; TASKS is KernelBench's folder, ROWS earlier rows
  evidence.py begin    TASKS STATE            a state with the tasks of drawn.txt (or: --keys FILE, one a line)
  evidence.py estimate STATE ROWS             how long each stage should take, and how long it took
  evidence.py stage    STATE CUDAL1 [--device cuda:0] [--seconds 570] [-- OPTION…]
                                              judges every reply that is there and writes the next prompts; never waits
  evidence.py replace  STATE TASKS OLD NEW    a task that cannot be opened, by another one; the first stage does so by the reserve
  evidence.py pack     STATE ARCHIVE          what the other machine needs, one file
  evidence.py unpack   ARCHIVE STATE
  evidence.py prompts  STATE FOLDER           every prompt without a reply as a file, with manifest.json
  evidence.py look     FOLDER                 which replies are missing, and which hold no kernel file
  evidence.py compile  STATE FOLDER CUDAL1    which replies do not compile, without a GPU; changes nothing
  evidence.py replies  STATE FOLDER --model WORDS
                                              takes the replies that lie beside the prompts
  evidence.py tables   STATE [--second STATE] Markdown, at any time
  evidence.py ablate   STATE CUDAL1 …         as stage: asks for winners without their techniques, and judges the replies
  evidence.py replay   STATE KEY FOLDER       a winner's reply and task, to be judged on another GPU
  evidence.py second   FIRST TASKS STATE --keys FILE
                                              a state for the second pass, with the first one's references

`stage` and `ablate` end with 0 when all is judged, and with 75 while replies or whole runs are missing: answer the prompts, or put
another task in the place of one that cannot be opened, and run it again.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import estimate  # noqa: E402
import further  # noqa: E402
import protocol  # noqa: E402
import replies  # noqa: E402
import runs  # noqa: E402
import tables  # noqa: E402

DRAWN = pathlib.Path(__file__).resolve().parent / "drawn.txt"


def draw(tasks, rows):
    drawn, rest, tries = protocol.draw(protocol.pool(tasks, rows))
    print(f"seed {protocol.SEED}, draw {tries}\n")
    print(tables.table(["task", "level", "built-in model", "kind"], [[t.key, t.level, t.standing, ", ".join(sorted(t.kinds)) or "-"] for t in drawn]))
    for level, tasks_left in rest.items():
        print(f"level {level}, in reserve: " + ", ".join(f"{t.key.split('/')[1].split('_')[0]} ({t.standing})" for t in tasks_left[:8]))


def keys_of(file):
    return [line.split()[0] for line in pathlib.Path(file).read_text().splitlines() if line.strip() and not line.startswith("#")]


def begin(given):
    tasks, state = given.places
    chosen, reserve = (keys_of(given.keys), []) if given.keys else protocol.drawn(DRAWN)
    runs.begin(state, tasks, chosen, reserve=reserve)


def staged(work):
    return lambda given, more: sys.exit(0 if work(*given.places, given.device, given.seconds, more) else 75)


def say_uncompiled(state, folder, cudal1):
    found = further.compiles(state, folder, cudal1)
    print("\n".join(f"{name}: {why}" for name, why in found) or "all compile")


# Each takes what stands on the command line and the options behind `--`.
COMMANDS = {
    "draw": lambda given, more: draw(*given.places),
    "begin": lambda given, more: begin(given),
    "estimate": lambda given, more: print(estimate.render(*given.places)),
    "stage": staged(runs.stage),
    "replace": lambda given, more: runs.replace(*given.places),
    "pack": lambda given, more: runs.pack(*given.places),
    "unpack": lambda given, more: runs.unpack(*given.places),
    "prompts": lambda given, more: replies.write_prompts(*given.places),
    "look": lambda given, more: replies.say(*given.places),
    "compile": lambda given, more: say_uncompiled(*given.places),
    "replies": lambda given, more: replies.take_replies(*given.places, given.model),
    "tables": lambda given, more: print(tables.render(given.places[0], given.second)),
    "ablate": staged(further.ablate),
    "replay": lambda given, more: print(further.replay(*given.places)),
    "second": lambda given, more: further.second_pass(given.places[0], given.places[1], keys_of(given.keys), given.places[2]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("places", nargs="+")
    parser.add_argument("--keys")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=570)
    parser.add_argument("--model", default="")
    parser.add_argument("--second")
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given = parser.parse_args(sys.argv[1:at])
    if given.command == "replies" and not given.model:
        parser.error("--model says who answered")
    if given.command == "second" and not given.keys:
        parser.error("--keys names the file with the tasks of the second pass")
    COMMANDS[given.command](given, sys.argv[at + 1:])


if __name__ == "__main__":
    main()
