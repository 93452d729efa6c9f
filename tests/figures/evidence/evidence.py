#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the experiment of docs/evidence.md in stages, on two machines that need not see each other.

  evidence.py draw    TASKS ROWS             the tasks, by the seed in protocol.py; TASKS is KernelBench's folder, ROWS earlier rows
  evidence.py begin   TASKS ROWS STATE       a state with these tasks (or: --keys FILE, one a line)
  evidence.py stage   STATE CUDAL1 [--device cuda:0,cuda:1] [--seconds 570] [-- OPTION…]
                                             judges every reply that is there and writes the next prompts; never waits
  evidence.py pack    STATE ARCHIVE          what the other machine needs, one file
  evidence.py unpack  ARCHIVE STATE
  evidence.py prompts STATE FOLDER           every prompt without a reply as a file, with manifest.json
  evidence.py replies STATE FOLDER --model WORDS
                                             takes the replies that lie beside them
  evidence.py tables  STATE                  Markdown

`stage` ends with 0 when all rounds are judged, and with 75 while replies are missing: answer them and run it again.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import protocol  # noqa: E402
import replies  # noqa: E402
import runs  # noqa: E402
import tables  # noqa: E402


def draw(tasks, rows):
    drawn, rest, tries = protocol.draw(protocol.pool(tasks, rows))
    print(f"seed {protocol.SEED}, draw {tries}\n")
    print(tables.table(["task", "level", "built-in model", "kind"], [[t.key, t.level, t.standing, ", ".join(sorted(t.kinds)) or "-"] for t in drawn]))
    for level, tasks_left in rest.items():
        print(f"level {level}, in reserve: " + ", ".join(f"{t.key.split('/')[1].split('_')[0]} ({t.standing})" for t in tasks_left[:8]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["draw", "begin", "stage", "pack", "unpack", "prompts", "replies", "tables"])
    parser.add_argument("places", nargs="+")
    parser.add_argument("--keys")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", type=float, default=570)
    parser.add_argument("--model", default="")
    own, _, more = (sys.argv[1:], None, []) if "--" not in sys.argv else (sys.argv[1:sys.argv.index("--")], None, sys.argv[sys.argv.index("--") + 1:])
    given = parser.parse_args(own)
    places = given.places
    if given.command == "draw":
        draw(*places)
    elif given.command == "begin":
        if given.keys:
            keys = pathlib.Path(given.keys).read_text().split()
        else:
            keys = [task.key for task in protocol.draw(protocol.pool(places[0], places[1]))[0]]
        runs.begin(places[-1], places[0], keys)
    elif given.command == "stage":
        sys.exit(0 if runs.stage(places[0], places[1], given.device, given.seconds, more) else 75)
    elif given.command == "pack":
        runs.pack(*places)
    elif given.command == "unpack":
        runs.unpack(*places)
    elif given.command == "prompts":
        replies.write_prompts(*places)
    elif given.command == "replies":
        if not given.model:
            parser.error("--model says who answered")
        replies.take_replies(*places, given.model)
    else:
        print(tables.render(places[0]))


if __name__ == "__main__":
    main()
