// SPDX-License-Identifier: Apache-2.0
#include "playbook/candidate.hpp"

#include "algebra/lower.hpp"
#include "algebra/rule.hpp"
#include "base/error.hpp"
#include "families/compose.hpp"
#include "families/costs.hpp"
#include "families/families.hpp"
#include "playbook/playbook.hpp"
#include "rewriter/rewriter.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace cudal1::playbook {
namespace {

using algebra::Dag;
using algebra::Node;
using families::Names;
using families::Variant;
using outcome::AppliedTechnique;
using outcome::Technique;

Names names_of(const task::Task& task) {
  Names names;
  for (const auto& buffer : task.file.buffers) names.all.insert(buffer.name);
  for (const auto& line : task.file.sizes)
    for (const auto& [name, value] : line.values) names.all.insert(name);
  for (const auto& scalar : task.file.scalars) {
    names.all.insert(scalar.name);
    names.scalars[scalar.name] = scalar.dtype;
  }
  return names;
}

// A plan before it is written.
struct Draft {
  Dag dag;
  Variant variant;
  std::string label;    // of the variant
  std::string applied;  // rules, "diagonal+strength"
  std::vector<AppliedTechnique> techniques;
};

// With or without the rules of algebra.
Draft draft_of(const Dag& lowered, const Variant& variant, bool algebra) {
  Draft draft{lowered, variant, std::string(variant.label), {}, {}};
  if (!algebra) return draft;
  std::string identities;
  for (const algebra::Rule& rule : algebra::rules()) {
    if (!rule.apply(draft.dag)) continue;
    draft.applied += (draft.applied.empty() ? "" : "+") + std::string(rule.name);
    identities += fmt::format("{}{} ({}).", identities.empty() ? "" : " ", rule.identity, rule.name);
  }
  if (!identities.empty()) apply(draft.techniques, Technique::algebra, identities);
  return draft;
}

struct Written {
  Candidate candidate;
  std::string members;  // equal for equal families
};

// What plans for a task on a GPU are written with.
struct Writer {
  const task::Task& task;
  schedule::Machine machine;
  Names names = names_of(task);

  tl::expected<Written, std::string> operator()(const Draft& draft) const;
};

tl::expected<Written, std::string> Writer::operator()(const Draft& draft) const {
  const auto file = families::compose(draft.dag, draft.variant, machine, names, task.workloads.size());
  if (!file) return tl::unexpected(file.error());
  Candidate candidate;
  candidate.id = fmt::format("{}/{}", draft.applied.empty() ? "as written" : draft.applied, draft.label);
  candidate.source = file->text(fmt::format("{} sha256:{}", task.path.filename().string(), task.digest), candidate.id);
  candidate.techniques = draft.techniques;
  for (const auto& [technique, sentence] : file->techniques()) apply(candidate.techniques, technique, sentence);
  candidate.work = file->work();
  candidate.total = families::sum(candidate.work);
  candidate.kernels = static_cast<int>(candidate.work.size());
  candidate.simple = draft.variant.simple;
  return Written{std::move(candidate), file->members()};
}

auto products_of(const Dag& dag) {
  return std::count_if(dag.nodes.begin(), dag.nodes.end(), [](const Node& node) { return node.is<algebra::Product>() || node.is<algebra::Convolution>(); });
}

// Whether all factors of its products have 16 bits in memory: TF32 holds them without rounding.
bool of_sixteen_bits(const Dag& dag) {
  return std::all_of(dag.nodes.begin(), dag.nodes.end(), [&](const Node& node) {
    if (node.is<algebra::Attention>()) return false;
    if (!node.is<algebra::Product>() && !node.is<algebra::Convolution>()) return true;
    return std::all_of(node.operands.begin(), node.operands.end(), [&](int id) {
      const Node* factor = &dag.at(id);
      while (factor->is<algebra::Permute>() || factor->is<algebra::Reshape>()) factor = &dag.at(factor->operands[0]);
      return factor->computes("identity") &&
             tensor::size_of(dag.at(factor->operands[0]).dtype) == 2 &&
             tensor::is_floating(dag.at(factor->operands[0]).dtype);
    });
  });
}

// How exact the tensor cores must be in products and in convolutions. A kind that the dag has not got is as exact as the other.
void set_precision(Variant& variant, const Dag& dag, outcome::Precision precision) {
  const auto has = [&](auto is) { return std::any_of(dag.nodes.begin(), dag.nodes.end(), is); };
  const bool multiplies = has([](const Node& node) { return node.is<algebra::Product>() || node.is<algebra::Attention>(); });
  const bool convolves = has([](const Node& node) { return node.is<algebra::Convolution>(); });
  const bool sixteen = of_sixteen_bits(dag);
  const auto held = [&](outcome::Precision of) {
    if (of == outcome::Precision::fp32 && !sixteen) return Variant::Precision::as_float32;
    return of == outcome::Precision::half ? Variant::Precision::half : Variant::Precision::tf32;
  };
  variant.products_precision = held(multiplies || !convolves ? outcome::of_products(precision) : outcome::of_convolutions(precision));
  variant.convolutions_precision = held(convolves || !multiplies ? outcome::of_convolutions(precision) : outcome::of_products(precision));
}

// What a kernel could compute on its own instead of on the way: "gelu", "div 2", and the node.
std::vector<std::pair<std::string, int>> cuts(const Dag& dag) {
  std::vector<std::pair<std::string, int>> result;
  std::map<std::string, int> of_name;
  std::vector<char> known(dag.nodes.size());  // made of coordinates and numbers alone
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const Node& node = dag.nodes[i];
    known[i] = !node.is<algebra::Input>() && std::all_of(node.operands.begin(), node.operands.end(), [&](int of) { return known[static_cast<std::size_t>(of)]; });
    const bool computes = (node.is<algebra::Pointwise>() && !node.computes("identity")) || node.is<algebra::Reduce>();
    const bool output = std::any_of(dag.outputs.begin(), dag.outputs.end(), [&](const auto& each) { return each.second == static_cast<int>(i); });
    if (!computes || output || known[i]) continue;
    const int number = ++of_name[node.function()];
    result.emplace_back(number == 1 ? node.function() : fmt::format("{} {}", node.function(), number), static_cast<int>(i));
  }
  return result;
}

// One product alone has no neighbour that another way would suit better.
bool multiplies_once(const Dag& dag) { return products_of(dag) < 2; }

// Many kernels, of which one more or less changes little, and each of whose plans takes long to write.
bool is_network(const Candidate& plan) { return plan.kernels > 24; }

// Where the cheapest plan could be cut once more: the rounds may find that a value is better written out than computed on
// the way, or computed again. Those cuts are offered that should cost least.
void add_cuts(std::vector<Candidate>& list, const std::vector<Draft>& drafts, std::set<std::string>& seen, const Writer& write) {
  constexpr std::size_t most = 3;
  if (list.empty()) return;
  const auto cheaper = [](const Candidate& a, const Candidate& b) { return expected_seconds(a, {}) < expected_seconds(b, {}); };
  const auto best = std::min_element(list.begin(), list.end(), cheaper) - list.begin();
  if (is_network(list[static_cast<std::size_t>(best)])) return;
  std::vector<Candidate> found;
  for (const auto& [name, node] : cuts(drafts[static_cast<std::size_t>(best)].dag)) {
    Draft draft = drafts[static_cast<std::size_t>(best)];
    draft.variant.cut = node;
    draft.label += ", cut after " + name;
    auto written = write(draft);
    if (!written || !seen.insert(written->members).second) continue;
    written->candidate.techniques.push_back({Technique::separate_kernels, fmt::format("The result of {} is written out by a kernel of its own, and read where it is needed.", name)});
    found.push_back(std::move(written->candidate));
  }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < found.size(); ++i) order.emplace_back(expected_seconds(found[i], {}), i);
  std::sort(order.begin(), order.end());
  if (order.size() > most) order.resize(most);
  for (const auto& [seconds, i] : order) list.push_back(std::move(found[i]));
}

// By expected time in steps; within a step in the order of the variants.
std::vector<Candidate> in_order(std::vector<Candidate> list) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < list.size(); ++i)
    order.emplace_back(std::floor(std::log(expected_seconds(list[i], {})) / families::costs::candidates_differ), i);
  std::sort(order.begin(), order.end());
  std::vector<Candidate> sorted;
  for (const auto& [step, i] : order) sorted.push_back(std::move(list[i]));
  return sorted;
}

// What the rules for a user's own kernels make of the task's; a module has none.
std::vector<Candidate> own_kernel_candidates(const task::Task& task) {
  std::vector<Candidate> result;
  if (task::is_module(task)) return result;
  for (rewriter::Rewriting& each : rewriter::rewritings(task)) {
    Candidate candidate;
    candidate.id = std::move(each.id);
    candidate.source = std::move(each.source);
    candidate.techniques = std::move(each.techniques);
    result.push_back(std::move(candidate));
  }
  return result;
}

// Integer outputs in the types that the task declares: PyTorch's sum is int64 where a kernel counts in int32. True where
// there is any such.
bool cast_outputs(const task::Task& task, const std::vector<tensor::Type>& types, tensor::Graph& line) {
  bool any = false;
  if (task::is_module(task)) return any;
  for (auto& [name, node] : line.outputs)
    for (const kernel::Buffer& buffer : task.file.buffers) {
      const tensor::Dtype made = types[static_cast<std::size_t>(node)].dtype;
      if (buffer.name != name || buffer.role == kernel::Buffer::Role::input || buffer.dtype == made || tensor::is_floating(made) || tensor::is_floating(buffer.dtype)) continue;
      tensor::Node cast;
      cast.function = "cast";
      cast.operands = {node};
      cast.attributes = {{"dtype", std::string(tensor::name(buffer.dtype))}};
      line.nodes.push_back(std::move(cast));
      node = static_cast<tensor::NodeId>(line.nodes.size()) - 1;
      any = true;
    }
  return any;
}

// A task's torch line, with the types of its nodes and its sizes.
struct Line {
  tensor::Graph graph;
  std::vector<tensor::Type> types;
  std::vector<tensor::Sizes> sizes;

  tl::expected<Dag, std::string> lowered(bool attention_as_one) const { return algebra::lower(graph, types, sizes, {attention_as_one}); }
};

tl::expected<Line, std::string> line_of(const task::Task& task) {
  const auto sizes = task.assignments();
  tensor::Graph line = *task.torch;
  auto types = tensor::infer(line, task.input_types(), sizes);
  if (types && cast_outputs(task, *types, line)) types = tensor::infer(line, task.input_types(), sizes);
  if (!types) return tl::unexpected(types.error().message);
  return Line{std::move(line), std::move(*types), sizes};
}

}  // namespace

bool Candidate::has(const std::string& technique) const {
  return std::any_of(techniques.begin(), techniques.end(), [&](const AppliedTechnique& each) { return each.name() == technique; });
}

double expected_seconds(const Candidate& candidate, const outcome::DeviceFacts& device) {
  namespace costs = families::costs;
  const double rate = device.memory_bytes_per_second > 0 ? device.memory_bytes_per_second : costs::memory_rate;
  const double flops = device.fp32_flops > 0 ? device.fp32_flops : costs::flops;
  double seconds = 0;
  for (const families::Work& kernel : candidate.work) seconds += costs::seconds(kernel, rate, flops);
  return seconds;
}

Candidates candidates_for(const task::Task& task, outcome::Precision precision, const outcome::DeviceFacts& device) {
  Candidates result;
  if (!task.torch) {
    result.list = own_kernel_candidates(task);
    if (result.list.empty())
      result.refusal = task::is_module(task) ? task.no_oracle_reason
                                             : "without a torch line the playbook only knows the kernel itself, and finds nothing in it that its rules change";
    return result;
  }
  const auto line = line_of(task);
  if (!line) {
    result.refusal = line.error();
    return result;
  }
  const Writer write{task, schedule::machine_of(device)};
  std::set<std::string> seen;
  std::vector<Draft> drafts;  // of the candidates
  for (const Variant& variant : families::variants()) {
    // What no rule has touched is offered in the usual variant, and operation by operation.
    const bool as_written = variant == Variant{} || !variant.fused;
    // Most of a network's time is in its products and convolutions.
    if (!as_written && !variant.tensor_cores() && !result.list.empty() && is_network(result.list.front())) continue;
    const auto lowered = line->lowered(variant.attention == Variant::Attention::one_kernel);
    if (!lowered) {
      result.refusal = lowered.error();
      continue;
    }
    for (const bool algebra : {true, false}) {
      if (!algebra && !as_written) continue;
      if (variant.products == Variant::Products::by_cost && multiplies_once(*lowered)) continue;
      Draft draft = draft_of(*lowered, variant, algebra);
      set_precision(draft.variant, draft.dag, precision);
      auto written = write(draft);
      if (!written) {
        if (result.refusal.empty() || algebra) result.refusal = written.error();
        continue;
      }
      if (!seen.insert(written->members).second) continue;
      result.list.push_back(std::move(written->candidate));
      drafts.push_back(std::move(draft));
    }
  }
  if (result.list.empty()) {
    result.list = own_kernel_candidates(task);
    return result;
  }
  result.refusal.clear();
  add_cuts(result.list, drafts, seen, write);
  result.list = in_order(std::move(result.list));
  result.own = own_kernel_candidates(task);
  return result;
}

std::vector<Candidate> repairs_for(const task::Task& task, outcome::Precision precision, const Candidates& offered, const outcome::DeviceFacts& device) {
  std::vector<Candidate> repairs;
  if (!task.torch || offered.list.empty()) return repairs;
  const auto line = line_of(task);
  const auto lowered = line ? line->lowered(true) : tl::unexpected(line.error());
  if (!lowered) return repairs;
  const Writer write{task, schedule::machine_of(device)};
  const auto add = [&](const Draft& draft) {
    auto written = write(draft);
    if (!written) return;
    written->candidate.only_repairs = true;
    repairs.push_back(std::move(written->candidate));
  };
  Variant variant;
  variant.products = Variant::Products::by_cost;
  variant.label = "by cost";
  Draft exact = draft_of(*lowered, variant, true);
  set_precision(exact.variant, exact.dag, precision);
  const bool rounds = !exact.variant.exact_products() || !exact.variant.exact_convolutions();
  set_precision(exact.variant, exact.dag, outcome::Precision::fp32);
  exact.label += ", as float32";
  if (rounds && products_of(exact.dag) > 0) add(exact);
  if (std::any_of(offered.list.begin(), offered.list.end(), [](const Candidate& each) { return each.simple; })) return repairs;
  if (const auto plain = line->lowered(false)) add(draft_of(*plain, families::plainest(), true));
  return repairs;
}

std::string plain_kernels(const task::Task& task) {
  const auto refuse = [&](const std::string& why) { throw base::Error(base::Fault::bad_task, fmt::format("{}: no kernels can be written for it: {}", task.path.string(), why)); };
  const auto line = line_of(task);
  if (!line) refuse(line.error());
  Variant variant = families::plainest();
  variant.fused = false;
  const auto lowered = line->lowered(false);
  if (!lowered) refuse(lowered.error());
  const auto written = Writer{task, schedule::machine_of({})}(draft_of(*lowered, variant, false));
  if (!written) refuse(written.error());
  return written->candidate.source;
}

}  // namespace cudal1::playbook
