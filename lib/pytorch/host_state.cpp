// SPDX-License-Identifier: Apache-2.0
#include "pytorch/host_state.hpp"

#include "base/defence.hpp"
#include "base/error.hpp"
#include "pytorch/measured.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

constexpr base::Seconds start_limit{1800};   // imports from a cold disk

}  // namespace

bool Host::State::start(const std::string& python, std::string& why) {
  try {
    keep(std::make_unique<PythonProcess>(python, "host.py", "the process that holds PyTorch"));
    const json reply = worker->exchange({{"do", "hello"}, {"device", options.device}, {"threads", 0}, {"sharers", options.sharers}, {"rule", json::parse(rule_numbers())}}, start_limit, options.stop);
    if (reply.contains("missing")) {
      why = fmt::format("{}: {}", python, reply.at("missing").get<std::string>());
      keep(nullptr);
      return false;
    }
    version = fmt::format("PyTorch {}, Python {}", reply.at("torch").get<std::string>(), reply.at("python").get<std::string>());
    return true;
  } catch (const base::Error& error) {
    keep(nullptr);
    why = fmt::format("{}: {}", python, error.what());
    return false;
  }
}

void Host::State::start() {
  const std::vector<std::string> candidates =
      options.python.empty() ? std::vector<std::string>(std::begin(interpreters), std::end(interpreters)) : std::vector{options.python};
  std::vector<std::string> reasons(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!start(candidates[i], reasons[i])) continue;
    options.python = candidates[i];
    return;
  }
  throw base::Error(base::Fault::usage, fmt::format("a .py task and --baseline need a Python with PyTorch 1.13 or newer: install python3-torch, or "
                                                    "name an interpreter with --python ({})",
                                                    fmt::join(reasons, "; ")));
}

json Host::State::ask(const json& request) {
  if (!worker || !worker->alive()) {
    start();
    for (const json* each : {&opened, &precision, &attached})
      if (!each->is_null()) worker->exchange(*each, options.limit, options.stop);
  }
  return worker->exchange(request, options.limit, options.stop);
}

namespace {

const std::pair<reference::Pattern, const char*> patterns[] = {
    {reference::Pattern::declared, "declared"},     {reference::Pattern::normal, "normal"},       {reference::Pattern::positive, "positive"},
    {reference::Pattern::wide, "wide"},             {reference::Pattern::integers, "integers"},   {reference::Pattern::stray, "stray"},
    {reference::Pattern::bands, "bands"},           {reference::Pattern::magnitudes, "magnitudes"}, {reference::Pattern::tiny, "tiny"},
    {reference::Pattern::infinite, "infinite"},     {reference::Pattern::spotlight, "spotlight"}, {reference::Pattern::constants, "constants"},
    {reference::Pattern::full_width, "full_width"}, {reference::Pattern::mixed, "mixed"},         {reference::Pattern::repeats, "repeats"},
    {reference::Pattern::meets_zero, "meets_zero"}, {reference::Pattern::lone, "lone"}};

constexpr std::size_t small = std::size_t{4} << 20;    // bytes of a task that the simulator runs under every pattern
constexpr std::size_t medium = std::size_t{64} << 20;  // and a GPU
constexpr std::size_t large = std::size_t{1} << 30;    // above this each trial takes seconds

}  // namespace

json Host::State::trial_json(const Trial& trial) const {
  json result = {{"seed", trial.seed}, {"pattern", "declared"}, {"turn", trial.turn}};
  for (const auto& [pattern, word] : patterns)
    if (pattern == trial.pattern) result["pattern"] = word;
  if (trial.weights) result["weights"] = *trial.weights;
  if (trial.given) result["unsettled"] = true;
  if (trial.numbers != 1) result["numbers"] = trial.numbers;
  if (trial.pattern == reference::Pattern::full_width) result["integers"] = integer_limits;
  return result;
}

// KernelBench's own inputs and weights first; all others with one set of secret weights, so that a large model is made
// twice and no more.
std::vector<Trial> Host::State::trials(base::Random& random, bool simulated) const {
  using base::Defence;
  using base::defended;
  using reference::Pattern;
  std::optional<std::uint64_t> weights;
  if (has_weights && defended(Defence::secret_weights)) weights = random.next() >> 2;
  std::vector<Trial> result{{Pattern::declared, random.next() >> 2, std::nullopt, 0}};
  const auto add = [&](Pattern pattern, std::size_t turns = 1) {
    for (std::size_t turn = 0; turn < turns; ++turn) result.push_back({pattern, random.next() >> 2, weights, turn});
  };
  if (constant_inputs && defended(Defence::influence)) add(Pattern::constants);
  else add(Pattern::declared);
  if (!defended(Defence::patterns)) return result;
  add(Pattern::stray);
  if (task_bytes > large) return result;
  if (made_bytes > static_cast<double>(large)) {   // as it does of a network that makes so much on the way
    add(Pattern::mixed);
    return result;
  }
  if (!integer_limits.empty()) add(Pattern::full_width, 2);
  if (whole_inputs) add(Pattern::repeats);
  add(Pattern::mixed);
  add(Pattern::wide);
  add(Pattern::integers);
  add(Pattern::spotlight);
  const bool half = !precision.is_null() && precision.at("class") == "half";   // float16 operands do not hold what is so large
  if (!half) add(Pattern::meets_zero);
  if (task_bytes > (simulated ? small : medium)) return result;
  add(Pattern::normal);
  add(Pattern::positive);
  add(Pattern::lone, 3);
  add(Pattern::bands, 2);
  if (output_rank > 1) result.push_back({Pattern::spotlight, random.next() >> 2, weights, 1});
  if (!half)
    for (const Pattern pattern : {Pattern::meets_zero, Pattern::wide}) result.push_back({pattern, random.next() >> 2, weights, 1});
  add(Pattern::tiny);
  if (known.infinities) add(Pattern::infinite);
  const auto& inputs = known.inputs;
  if (!inputs.empty() && std::any_of(inputs.begin(), inputs.end(), [](const auto& use) { return use.homogeneous; })) add(Pattern::magnitudes);
  return result;
}

}  // namespace cudal1::pytorch
