# SPDX-License-Identifier: Apache-2.0
"""Trials for somebody's answer, in memory that its process can write to at any time: inputs are made where it does not see
them and shown when they are due, and outputs are taken before they are looked at."""

import torch

from comparison import pieces
from lent_cases import LentCases
from task_cases import bytes_of, shape_of

SHOWN, TAKEN = 0, 1   # the sets
ALIKE = 2e-3          # as far as a sound computation may be from another, at PyTorch's default flags


class AnswerCases(LentCases):
    def __init__(self, cases):
        super().__init__(cases)
        self.made = None   # a trial's inputs that are not shown yet, with its model and arguments

    def offer(self):
        """What LentCases says, and where the weights lie, which an answer may be asked to take."""
        reply = super().offer()
        base = {key: value for key, value in reply["places"][-1].items() if key not in ("offset", "bytes")}
        at, reply["state"] = 0, []
        for number, entry in enumerate(self.task.inputs + self.task.state):
            count = bytes_of(entry["tensor"])
            if number >= len(self.task.inputs):
                place = dict(base, offset=at, bytes=count)
                reply["state"].append(dict(shape_of(entry["tensor"]), path=entry["path"], place=place))
            at += (count + 255) // 256 * 256
        self.made, self.expected = None, {}
        return reply

    def make_ready(self, trial):
        model, arguments = self.cases.model(trial), self.cases.arguments(trial)
        self.made = (trial, model, arguments, self.task.flat_inputs(model, arguments))
        self.synchronize()
        return {}

    def show(self):
        for place, tensor in zip(self.sets[SHOWN], self.made[3]):
            place.copy_(tensor)
        self.synchronize()
        return {}

    def take(self):
        """The outputs as they are now, where nobody else can write."""
        inputs = len(self.task.inputs + self.task.state)
        if len(self.sets) == TAKEN:
            self.sets.append(self.sets[SHOWN][:inputs] + [torch.empty_like(each) for each in self.sets[SHOWN][inputs:]])
        for mine, theirs in zip(self.sets[TAKEN][inputs:], self.sets[SHOWN][inputs:]):
            mine.copy_(theirs)
        self.synchronize()
        return {}

    def resembles(self):
        """Whether the outputs that were taken are about what PyTorch gives for the inputs that were shown: a look that costs
        one call. What does not pass is compared by the rule."""
        _, model, arguments, _ = self.made
        outputs = self.sets[TAKEN][len(self.task.inputs + self.task.state):]
        return {"alike": all(self.alike(got, right) for got, right in zip(outputs, self.cases.reference(model, arguments)))}

    @staticmethod
    def alike(got, right):
        if not got.is_floating_point():
            return bool(torch.equal(got, right))
        error = norm = 0.0
        for mine, theirs in zip(pieces(got), pieces(right)):
            mine, theirs = mine.double(), theirs.double()
            error += float((mine - theirs).square().sum())   # NaN where one is not finite
            norm += float(theirs.square().sum())
        return error <= ALIKE ** 2 * norm

    def expect(self, trial):
        """What will be asked later, while nothing else is to be done. Whether it is kept until then."""
        found = self.expectation(trial, SHOWN)
        return {"kept": any(each is found for each in self.expected.values())}

    def forget(self):
        self.made = None
        super().forget()
