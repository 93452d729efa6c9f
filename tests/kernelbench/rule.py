# SPDX-License-Identifier: Apache-2.0
"""The rule of right as the judge decides it, for what its Python programs measure."""

import functools
import json
import os
import subprocess


@functools.cache
def _process():
    return subprocess.Popen([os.environ["CUDAL1_RULE"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def asked(**values):
    process = _process()
    process.stdin.write(json.dumps(values) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@functools.cache
def numbers():
    return asked()


def within(output):
    """What one comparison measured of an output is right."""
    return output["right"] and not asked(measured=output["deviation"])["why"]


def compared(lent, number, trial):
    """What LentCases measures of a trial, and whether it is right: what is doubted is looked at more closely, as pytorch::Host does."""
    found = lent.compare(number, trial)
    return found, all(within(decided(lent, number, trial, each)) for each in found["outputs"])


def decided(lent, number, trial, output):
    if "doubted" in output and output["right"] and not within(output):
        output = lent.look_closer(number, trial, output["doubted"])["output"]
    if "sampled" in output and output["right"] and not within(output) and "whole" not in asked(measured=output["deviation"])["why"]:
        output = lent.look_again(number, trial, **output["sampled"])["output"]
    return output
