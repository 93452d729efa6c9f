// SPDX-License-Identifier: Apache-2.0
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

// `recurrence` is not PyTorch's: it is one layer of nn.RNN, nn.LSTM or nn.GRU in one direction, once the input has been multiplied by its
// weights. `gates` [steps, batch, gates * units] are those products, in PyTorch's order of gates. The result [steps, batch, states * units]
// has the hidden state after each step, and behind it, for 'lstm', the cell.
struct Cell {
  std::int64_t gates = 1, states = 1;
};

Cell cell_of(const Call& call) {
  static const std::map<std::string, Cell> cells{{"tanh", {1, 1}}, {"relu", {1, 1}}, {"gru", {3, 1}}, {"lstm", {4, 2}}};
  const auto found = cells.find(call.word("kind"));
  if (found == cells.end()) throw Refusal("kind is 'tanh', 'relu', 'gru' or 'lstm'");
  return found->second;
}

bool same_values(const Shape& a, const Shape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Extent& one, const Extent& other) { return one.values == other.values; });
}

Type recurrence_type(const Call& call) {
  const Cell cell = cell_of(call);
  const Shape &gates = call.type(0).shape, &weight = call.type(1).shape, &hidden = call.type(2).shape;
  if (gates.size() != 3 || weight.size() != 2 || hidden.size() != 2) throw Refusal("recurrence takes gates of three dimensions, weights of two, and a hidden state of two");
  const Quantity units = call.extent(1, 1);
  for (std::size_t i = 0; i < units.values.size(); ++i) {
    const std::int64_t wide = cell.gates * weight[1].values[i];
    if (weight[0].values[i] != wide || gates[2].values[i] != wide || hidden[1].values[i] != weight[1].values[i] || hidden[0].values[i] != gates[1].values[i])
      throw Refusal(fmt::format("gates {}, weights {} and hidden state {} do not fit each other", to_string(gates), to_string(weight), to_string(hidden)));
  }
  const int first_cell = call.index("cell"), bias = call.index("bias");
  if ((first_cell >= 0) != (cell.states == 2)) throw Refusal("'lstm' has a cell, and nothing else has one");
  if (first_cell >= 0 && !same_values(call.type(first_cell).shape, hidden))
    throw Refusal(fmt::format("the cell {} has not the shape of the hidden state {}", to_string(call.type(first_cell).shape), to_string(hidden)));
  if (bias >= 0 && !same_values(call.type(bias).shape, {weight[0]}))
    throw Refusal(fmt::format("the bias {} has not one element for each row of the weights {}", to_string(call.type(bias).shape), to_string(weight)));
  Type type{promoted(call, {0, 1}), gates};
  type.shape[2] = weight[1];
  if (cell.states == 2) {
    type.shape[2].text = "2 * (" + weight[1].text + ")";
    for (std::int64_t& value : type.shape[2].values) value *= 2;
  }
  return type;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The states of one sequence; `sums` is what the last hidden state gives to each gate.
void step(const std::string& kind, const double* x, const std::vector<double>& sums, std::size_t units, std::vector<double>& hidden, std::vector<double>& cells) {
  for (std::size_t u = 0; u < units; ++u) {
    const auto gate = [&](std::size_t g) { return x[g * units + u] + sums[g * units + u]; };
    if (kind == "lstm") {
      cells[u] = sigmoid(gate(1)) * cells[u] + sigmoid(gate(0)) * std::tanh(gate(2));
      hidden[u] = sigmoid(gate(3)) * std::tanh(cells[u]);
    } else if (kind == "gru") {
      const double fresh = std::tanh(x[2 * units + u] + sigmoid(gate(0)) * sums[2 * units + u]);
      hidden[u] = fresh + sigmoid(gate(1)) * (hidden[u] - fresh);
    } else {
      hidden[u] = kind == "relu" ? std::max(gate(0), 0.0) : std::tanh(gate(0));
    }
  }
}

void recurrence(const Evaluation& e) {
  const Array &gates = *e.in[0], &weight = *e.in[1], &start = *e.in[2];
  const Array *cell = e.operand("cell"), *bias = e.operand("bias");
  const std::string kind = e.call.word("kind");
  const bool reverse = e.call.truth("reverse");
  const auto steps = static_cast<std::size_t>(gates.shape[0]), batch = static_cast<std::size_t>(gates.shape[1]), wide = static_cast<std::size_t>(gates.shape[2]);
  const auto units = static_cast<std::size_t>(weight.shape[1]), states = static_cast<std::size_t>(e.out.shape[2]);
  for (std::size_t row = 0; row < batch; ++row) {
    const auto of = [&](const Array& array) { return std::vector<double>(array.values.data() + row * units, array.values.data() + (row + 1) * units); };
    std::vector<double> hidden = of(start), cells = cell == nullptr ? std::vector<double>() : of(*cell), sums(wide);
    for (std::size_t i = 0; i < steps; ++i) {
      const std::size_t at = (reverse ? steps - 1 - i : i) * batch + row;
      for (std::size_t g = 0; g < wide; ++g) {
        sums[g] = bias == nullptr ? 0 : bias->values[g];
        for (std::size_t u = 0; u < units; ++u) sums[g] += weight.values[g * units + u] * hidden[u];
      }
      step(kind, gates.values.data() + at * wide, sums, units, hidden, cells);
      std::copy(hidden.begin(), hidden.end(), e.out.values.data() + at * states);
      std::copy(cells.begin(), cells.end(), e.out.values.data() + at * states + units);
    }
  }
}

double recurrence_work(const Call& call, const Type& result) {
  const Shape& gates = call.type(0).shape;
  return 2.0 * static_cast<double>(gates[0].values.front() * gates[1].values.front()) * static_cast<double>(gates[2].values.front() * call.type(1).shape[1].values.front()) +
         static_cast<double>(result.shape[2].values.front());
}

}  // namespace

std::vector<Row> recurrence_rows() {
  return {{"recurrence(gates, weight, hidden, cell = None, bias = None, kind: word = 'tanh', reverse: truth = False)", "torch", recurrence_type, recurrence, recurrence_work}};
}

}  // namespace cudal1::tensor
