# SPDX-License-Identifier: Apache-2.0
"""Kernel text as few tokens. Kernels repeat whole paragraphs and lines, so these are tokens where they recur; what is left is spelt in words, and
rare words in bytes. Every text comes back as it was."""
from __future__ import annotations

import collections
import json
import pathlib
import re
from typing import Iterable, Sequence

END, ANSWER, SPECIAL = 0, 1, 2            # ends an answer and fills rows; stands between prompt and answer
PARAGRAPH = re.compile(r".+?(?:\n\n+|\Z)", re.DOTALL)
WORD = re.compile(r"\n+ *|[ ]*[A-Za-z_]\w*|[ ]*\d|[ ]*[^\sA-Za-z_\d]|\s")
UNLEARNABLE = re.compile(r"(?m)^//@ (?:of|task) .*\n|^// playbook.*\n")   # digests, and names without a meaning
CHOICE = re.compile(r"(?m)^(//@ tune +\w+ = \w+) \|.*$")
SHOWN = re.compile(r"(?m)^(?=// [\d.e+-]+x$)")          # begins a kernel in a prompt
NUMBERED = re.compile(r"(?<![.%\w])(v|acc|k|n|[A-Z]_)(\d+)(?=\b|_[a-z])")   # variables that the built-in model numbers


def renumbered(text: str) -> str:
    """With variables numbered as they appear, which a model can tell from what it has written. What directives name stays. The machine code stays the same."""
    named = {found[0] for line in text.splitlines() if line.startswith("//@") for found in NUMBERED.finditer(line)}
    known: dict[str, str] = {}
    used: collections.Counter[str] = collections.Counter()

    def name(found: re.Match[str]) -> str:
        if found[0] in named:
            return found[0]
        while found[0] not in known:
            fresh = f"{found[1]}{used[found[1]]}"
            used[found[1]] += 1
            if fresh not in named:
                known[found[0]] = fresh
        return known[found[0]]
    return NUMBERED.sub(name, text)


def plain(text: str) -> str:
    """A kernel file, or a prompt of several, as the model sees it: what it cannot know is left out, a tunable has its first value, variables are numbered anew."""
    return "".join(renumbered(part) for part in SHOWN.split(CHOICE.sub(r"\1", UNLEARNABLE.sub("", text))))


def parts(text: str) -> list[list[list[str]]]:
    return [[WORD.findall(line) for line in paragraph.splitlines(keepends=True)] for paragraph in PARAGRAPH.findall(text)]


class Tokenizer:
    def __init__(self, pieces: Sequence[str]):
        self.pieces = list(pieces)
        self.ids = {piece: SPECIAL + 256 + i for i, piece in enumerate(self.pieces)}
        self.size = SPECIAL + 256 + len(self.pieces)

    @classmethod
    def learnt(cls, texts: Iterable[tuple[str, str]], most: int = 4096, least: int = 4) -> Tokenizer:
        """From (group, text): a piece counts once for each group, so that what only one structure has does not become a token."""
        found: dict[str, set[str]] = collections.defaultdict(set)
        for group, text in texts:
            for paragraph in parts(text):
                for line in paragraph:
                    for word in line:
                        found[word].add(group)
                    found["".join(line)].add(group)
                found["".join("".join(line) for line in paragraph)].add(group)
        known = sorted((piece for piece in found if len(found[piece]) >= least and len(piece.encode()) > 1), key=lambda piece: (-len(found[piece]) * len(piece), piece))
        return cls(known[:most - SPECIAL - 256])

    def encode(self, text: str) -> list[int]:
        result: list[int] = []
        for paragraph in parts(text):
            whole = "".join("".join(line) for line in paragraph)
            if whole in self.ids:
                result.append(self.ids[whole])
                continue
            for line in paragraph:
                words = ["".join(line)] if "".join(line) in self.ids else line
                for word in words:
                    result.extend([self.ids[word]] if word in self.ids else [SPECIAL + byte for byte in word.encode()])
        return result

    def decode(self, tokens: Iterable[int]) -> str:
        return b"".join(bytes([token - SPECIAL]) if token < SPECIAL + 256 else self.pieces[token - SPECIAL - 256].encode() for token in tokens if token >= SPECIAL).decode(errors="replace")

    def save(self, path: pathlib.Path) -> None:
        path.write_text(json.dumps(self.pieces))

    @classmethod
    def load(cls, path: pathlib.Path) -> Tokenizer:
        return cls(json.loads(path.read_text()))
