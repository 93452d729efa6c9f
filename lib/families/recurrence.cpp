// SPDX-License-Identifier: Apache-2.0
#include "families/epilogue.hpp"
#include "families/families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

namespace {

constexpr int most_parts = 8;   // blocks of a cluster that every GPU with clusters has
constexpr std::int64_t units_worth_sharing = 64;

// The new states of one unit.
std::string cell_of(const std::string& kind) {
  if (kind == "lstm")
    return "      cells[unit] = open(gate(1)) * cells[unit] + open(gate(0)) * tanhf(gate(2));\n"
           "      states[0] = open(gate(3)) * tanhf(cells[unit]);\n      states[1] = cells[unit];";
  if (kind == "gru")
    return "      const float fresh = tanhf(given(2) + open(gate(0)) * sums[2 * own + unit]);\n"
           "      states[0] = fresh + open(gate(1)) * (last[first + unit] - fresh);";
  return kind == "relu" ? "      states[0] = gate(0) < 0 ? 0 : gate(0);" : "      states[0] = tanhf(gate(0));";
}

std::int64_t most(const tensor::Extent& extent) { return *std::max_element(extent.values.begin(), extent.values.end()); }

}  // namespace

// A step waits for the whole of the last one, so that its time is what counts. Where blocks can form a cluster, they keep the weights in
// their shared memory and write each other's hidden state.
void write_recurrence(const Region& region, const Dag& dag, const Buffers& buffers, KernelFile& file) {
  const Node& node = dag.at(region.producer);
  const Recurrence& how = node.as<Recurrence>();
  if (node.dtype != tensor::Dtype::float32) throw NotCovered{"a recurrent layer of anything but float32"};
  const tensor::Extent units = dag.at(node.operands[1]).shape[1];
  const std::int64_t gates = how.gates(), states = how.states();
  const bool shared = file.machine().warpgroup_products && !file.variant().simple && most(units) >= units_worth_sharing;
  const int parts = shared ? most_parts : 1;
  const auto bytes_with = [&](bool keeps) { return 4 * (2 * most(units) + ceil_div(most(units), parts) * (1 + gates + (keeps ? gates * most(units) : 0))); };
  if (bytes_with(false) > file.machine().shared_bytes_of_block) throw NotCovered{"a recurrent layer whose states do not fit into a block's shared memory"};
  const bool keeps = bytes_with(true) <= file.machine().shared_bytes_of_block;
  const std::string name = file.unique("recurrence");
  const std::string threads = file.tune("THREADS", {256, 512, 128});
  Arguments arguments(file.scalars());
  std::vector<std::string> pointers;
  for (int operand : node.operands) pointers.push_back(arguments.pointer(buffers.at(operand), dag.at(operand).dtype, false));
  declare_epilogue(region, dag, arguments);
  const std::string T = arguments.number(node.shape[0]), B = arguments.number(node.shape[1]), H = arguments.number(units);
  const Epilogue after = epilogue(region, dag, {"t", "sequence", "place"}, 8, arguments);
  if (shared) file.helper("give_all.cuh");
  file.kernel("recurrence.cuh",
              {{"name", name}, {"parameters", arguments.parameters()}, {"threads", threads}, {"parts", std::to_string(parts)}, {"part", shared ? "int(hopper::cluster_rank())" : "0"},
               {"meet", shared ? "hopper::cluster_sync();" : "__syncthreads();"},
               {"publish", shared ? "give_all(there, value);" : "*there = value;"},
               {"keeps", keeps ? "true" : "false"}, {"gates", std::to_string(gates)}, {"states", std::to_string(states)}, {"cell", cell_of(how.kind)},
               {"x", pointers[0]}, {"weight", pointers[1]}, {"hidden", pointers[2]},
               {"first_cell", states == 2 ? fmt::format("{}[size_t(sequence) * {} + first + i]", pointers[3], H) : "0"},
               {"bias", how.biased ? fmt::format(" + {}[row_of(r)]", pointers.back()) : ""}, {"reverse", how.reverse ? "true" : "false"},
               {"T", T}, {"B", B}, {"H", H}, {"epilogue", after.statements}, {"store", after.store}});
  const std::string own = fmt::format("ceil_div({}, {})", units.text, parts);
  file.launch(fmt::format("{}<<<{} * {}, {}, (2 * {} + {} * {}) * 4>>>({}){}", name, in_parentheses(node.shape[1].text), parts, threads, in_parentheses(units.text), own,
                          keeps ? fmt::format("({} + {} * {})", 1 + gates, gates, in_parentheses(units.text)) : std::to_string(1 + gates), arguments.passed(),
                          shared ? fmt::format(" cluster({})", parts) : ""));
  const double sequences = static_cast<double>(node.shape[1].values[0]), steps = static_cast<double>(node.shape[0].values[0]), size = static_cast<double>(units.values[0]);
  file.traffic(4 * volume(node.shape) + 4 * volume(dag.at(node.operands[0]).shape), 2 * steps * sequences * static_cast<double>(gates) * size * size);
  file.technique(Technique::fusion, fmt::format("`{}` computes all steps of a recurrent layer in one launch{}.", name, keeps ? ", with its weights in shared memory" : ""));
}

}  // namespace cudal1::families
