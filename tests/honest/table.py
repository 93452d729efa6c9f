#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Honest variants: the same operation computed in another sound way. Writes each as a kernel file, and the tasks they answer:

    table.py FOLDER [--fast] [--only TEXT]

FOLDER is laid out as tests/cheats is, so that the program of the cheats judges it: cheats sim --folder FOLDER. Every variant
is judged against two references, one that adds up one number after the other in float32 (naive) and one that does so in
double precision (accurate): what is right must not depend on the luck or skill of the task's own kernel. Operations marked
`held` took no part when bounds were set."""

import pathlib
import sys

from elements import ELEMENTS
from halves import HALVES
from rows import ROWS
from products import PRODUCTS
from windows import WINDOWS

# Sound on paper, but less exact than what the line asks for: these may be refused (docs/right.md).
LESS_EXACT = {"expm1__minus_one": "expf(x) - 1 loses what expm1 is made to keep", "log1p_of__log": "logf(1 + x) loses what log1p is made to keep",
              "bce_logits__log": "logf(1 + x) loses what log1p is made to keep", "error_function__complement": "1 - erfc loses small results",
              "polynomial__horner": "an infinity where the line as written gives NaN"}

HEADER = "// SPDX-License-Identifier: Apache-2.0\n"


def operations():
    for family in (ELEMENTS, ROWS, PRODUCTS, WINDOWS, HALVES):
        yield from family


def task_text(operation, kind):
    lines = [f"task    {operation.name}_{kind}", f"torch   {operation.torch}", f"size    {operation.size}"]
    lines += [f"check   {check}" for check in operation.checks]
    lines += [f"input   {each}" for each in operation.inputs] + [f"output  {each}" for each in operation.outputs]
    return HEADER + "".join(f"//@ {line}\n" for line in lines) + getattr(operation, kind)


def row_text(operation, kind, name, source):
    held = ", held out" if operation.held else ""
    return (f"{HEADER}//! row   honest\n//! how   {operation.name}{held}: {name}, {kind} reference\n//! task  {operation.name}_{kind}\n"
            f"//! limit 60\n//! all   right\n{source}")


def pairs():
    """(operation, kind of reference, variant, source), in a fixed order."""
    for operation in operations():
        for name, source in operation.variants:
            for kind in ("naive", "accurate"):
                yield operation, kind, name, source


def write(folder, chosen):
    for part in ("rows", "tasks", "controls", "gate"):
        (folder / part).mkdir(parents=True, exist_ok=True)
        for old in (folder / part).glob("*.cu"):
            old.unlink()
    for operation, kind, name, source in chosen:
        (folder / "tasks" / f"{operation.name}_{kind}.cu").write_text(task_text(operation, kind))
        (folder / "rows" / f"{operation.name}__{name}__{kind}.cu").write_text(row_text(operation, kind, name, source))


def one_of_each(chosen):
    """A variant of every second operation, all algorithms by turns: what the gate has time for."""
    taken = {}
    for pair in chosen:
        taken.setdefault(pair[0].name, []).append(pair)
    for number, several in enumerate(taken.values()):
        if number % 2 == 0 or len(several) > 12:
            yield several[(7 * number) % len(several)]


def main(arguments):
    folder, only = pathlib.Path(arguments[0]), arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    chosen = [pair for pair in pairs() if only in f"{pair[0].name}__{pair[2]}__{pair[1]}"]
    if "--held" in arguments:
        chosen = [pair for pair in chosen if pair[0].held]
    if "--fast" in arguments:
        chosen = list(one_of_each(chosen))
    write(folder, chosen)
    everything = list(operations())
    print(f"{len(chosen)} pairs of {len({(p[0].name, p[2]) for p in chosen})} variants over {len({p[0].name for p in chosen})} operations "
          f"({sum(each.held for each in everything)} of {len(everything)} held out)")


if __name__ == "__main__":
    main(sys.argv[1:])
