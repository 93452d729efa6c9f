#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""paragraphs.py TREE [--seed N] [--count N] [--from GLOB]: paragraphs of the documents, drawn at random, for somebody who
reads each of them alone and says what it means.

A paragraph is a block of text between blank lines, or one item of a list. Tables, code and headings are left out."""
import argparse
import pathlib
import random
import re

DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "man/*.scd", "training/README.md"]
SHORTEST = 12  # words


def blocks(text):
    """(first line, text) of each paragraph."""
    inside, start, lines = False, 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            inside = not inside
            line = ""
        table = re.match(r"\s*(\||:[ <]|#)", line)
        item = re.match(r"\s*(- |\* |\. |\d+\. )", line)
        if inside or table or not line.strip() or item:
            if lines:
                yield start, " ".join(lines)
            lines = []
        if inside or table or not line.strip():
            continue
        if not lines:
            start = number
        lines.append(line.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--from", dest="documents", action="append")
    options = parser.parse_args()
    found = []
    for pattern in options.documents or DOCUMENTS:
        for path in sorted(options.tree.glob(pattern)):
            for line, text in blocks(path.read_text()):
                if len(text.split()) >= SHORTEST and "++ " not in text:  # lines of commands on a manual page
                    found.append((path.relative_to(options.tree), line, text))
    print(f"{len(found)} paragraphs, seed {options.seed}\n")
    for path, line, text in random.Random(options.seed).sample(found, min(options.count, len(found))):
        print(f"{path}:{line}\n{text}\n")


if __name__ == "__main__":
    main()
