# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers, as a product of all steps' inputs and what only one step after the other can compute."""

import torch
import torch.nn.functional as F
from torch.overrides import handle_torch_function, has_torch_function

STATES = {"tanh": 1, "relu": 1, "gru": 1, "lstm": 2}


def recurrence(gates, weight, hidden, cell=None, bias=None, kind="tanh", reverse=False):
    """All states of one layer in one direction, which the line has a function for. Values are not looked at: this is their outline."""
    if has_torch_function((gates,)):
        return handle_torch_function(recurrence, (gates,), gates, weight, hidden, cell=cell, bias=bias, kind=kind, reverse=reverse)
    return gates.new_zeros(*gates.shape[:2], STATES[kind] * weight.shape[1])


def layers(kind, data, starts, weights, biased, count, dropout, training, bidirectional, batch_first):
    """What torch.lstm and its kin give: all hidden states of the last layer, then each layer's last state of each sort."""
    each = 4 if biased else 2
    directions = 2 if bidirectional else 1
    if len(weights) != each * count * directions:
        return NotImplemented   # an LSTM with projections
    below, ends = data.transpose(0, 1) if batch_first else data, [[] for _ in starts]
    for layer in range(count):
        beside = []
        for direction in range(directions):
            number = layer * directions + direction
            of_input, of_hidden, *biases = weights[each * number:each * (number + 1)]
            first = [start.select(0, number) for start in starts]
            states = recurrence(F.linear(below, of_input, biases[0] if biases else None), of_hidden, *first, bias=biases[1] if biases else None, kind=kind,
                                reverse=direction == 1)
            size = of_hidden.shape[1]
            beside.append(states.narrow(2, 0, size))
            last = states.select(0, 0 if direction else states.shape[0] - 1)
            for place, sort in enumerate(ends):
                sort.append(last.narrow(1, place * size, size))
        below = torch.cat(beside, dim=-1) if bidirectional else beside[0]
        if layer + 1 < count:
            below = F.dropout(below, dropout, training)
    return (below.transpose(0, 1) if batch_first else below, *(torch.stack(sort) for sort in ends))


def layers_of(kind):
    def expanded(data, starts, weights, biased=None, *options):
        if not isinstance(biased, bool):
            return NotImplemented   # sequences of different lengths, packed
        return layers(kind, data, starts if isinstance(starts, (list, tuple)) else [starts], weights, biased, *options)
    return expanded


def gates_of(data, hidden, of_input, of_hidden, input_bias, hidden_bias, count):
    parts = (F.linear(data, of_input, input_bias), F.linear(hidden, of_hidden, hidden_bias))
    return [each.chunk(count, dim=1) for each in parts]


def lstm_cell(data, starts, *weights):
    hidden, cell = starts
    given, recurrent = gates_of(data, hidden, *weights, *([None] * (4 - len(weights))), 4)
    entry, forget, fresh, exit = (a + b for a, b in zip(given, recurrent))
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(entry) * torch.tanh(fresh)
    return torch.sigmoid(exit) * torch.tanh(cell), cell


def gru_cell(data, hidden, *weights):
    given, recurrent = gates_of(data, hidden, *weights, *([None] * (4 - len(weights))), 3)
    reset, update = (torch.sigmoid(given[i] + recurrent[i]) for i in (0, 1))
    fresh = torch.tanh(given[2] + reset * recurrent[2])
    return fresh + update * (hidden - fresh)


def plain_cell(activation):
    def expanded(data, hidden, *weights):
        of_input, of_hidden, *biases = weights
        input_bias, hidden_bias = biases or (None, None)
        return activation(F.linear(data, of_input, input_bias) + F.linear(hidden, of_hidden, hidden_bias))
    return expanded


RECURRENCES = {"lstm": layers_of("lstm"), "gru": layers_of("gru"), "rnn_tanh": layers_of("tanh"), "rnn_relu": layers_of("relu"),
               "lstm_cell": lstm_cell, "gru_cell": gru_cell, "rnn_tanh_cell": plain_cell(torch.tanh), "rnn_relu_cell": plain_cell(torch.relu)}
