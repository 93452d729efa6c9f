// SPDX-License-Identifier: Apache-2.0
#include "pytorch/host.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "pytorch/interface.hpp"
#include "pytorch/python_process.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

constexpr base::Seconds start_limit{1800};   // imports from a cold disk

Interface::Tensor tensor_of(const json& value) {
  return {value.at("name"), value.at("dtype"), value.at("shape"), value.value("path", "")};
}

Interface interface_of(const json& reply) {
  Interface result;
  for (const auto& each : reply.at("inputs")) result.inputs.push_back(tensor_of(each));
  for (const auto& each : reply.at("state")) result.state.push_back(tensor_of(each));
  for (const auto& each : reply.at("outputs")) result.outputs.push_back(tensor_of(each));
  for (const auto& each : reply.at("scalars")) {
    const json& value = each.at("value");
    result.scalars.push_back({each.at("name"), each.at("dtype"), value.is_boolean() ? value.get<bool>() ? "1" : "0" : value.dump()});
  }
  reply.at("constants").get_to(result.constants);
  reply.at("notes").get_to(result.notes);
  reply.at("torch").get_to(result.torch);
  reply.at("no_torch").get_to(result.no_torch);
  reply.at("digest").get_to(result.digest);
  reply.at("bytes").get_to(result.bytes);
  return result;
}

}  // namespace

struct Host::State {
  Options options;
  std::unique_ptr<PythonProcess> worker;
  std::mutex mutex;   // of `worker`, which pause() looks at from another thread
  std::string version;
  json opened;  // the request that opened the task, to be repeated in a new process
  std::vector<std::string> notes;
  bool has_weights = false;
  std::size_t task_bytes = 0;   // of one set of inputs, weights and outputs

  void start();
  bool start(const std::string& python, std::string& why);
  json ask(const json& request);
  void keep(std::unique_ptr<PythonProcess> process) {
    const std::lock_guard lock(mutex);
    worker = std::move(process);
  }
};

bool Host::State::start(const std::string& python, std::string& why) {
  try {
    keep(std::make_unique<PythonProcess>(python, "host.py", "the process that holds PyTorch"));
    const json reply = worker->exchange({{"do", "hello"}, {"device", options.device}, {"threads", 0}}, start_limit, options.stop);
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
    if (!opened.is_null()) worker->exchange(opened, options.limit, options.stop);
  }
  return worker->exchange(request, options.limit, options.stop);
}

Host::Host(Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  state_->start();
}

Host::~Host() = default;

const std::string& Host::python() const { return state_->options.python; }
std::string Host::version() const { return state_->version; }
const std::vector<std::string>& Host::notes() const { return state_->notes; }

task::Task Host::open(const std::filesystem::path& path, const std::map<std::string, std::int64_t>& overrides,
                      std::size_t memory_limit) {
  const std::string source = base::read_file(path, std::size_t{16} << 20);
  state_->opened = nullptr;
  const json request = {{"do", "open"}, {"path", path.string()}, {"source", source},
                        {"set", json(overrides)}, {"limit", state_->options.input_limit}};
  const Interface interface = interface_of(state_->ask(request));
  state_->opened = request;
  state_->notes = interface.notes;
  state_->task_bytes = interface.bytes;
  state_->has_weights = !interface.state.empty();
  task::Task task = task::from_source(directives(interface, path, source, overrides), path, {}, memory_limit);
  if (!interface.no_torch.empty()) task.no_oracle_reason = "no torch line can be derived: " + interface.no_torch;
  return task;
}

Host::Cases Host::cases(std::uint64_t seed) {
  using reference::Pattern;
  state_->ask({{"do", "forget"}});
  base::Random random(seed, 0x7121a1);
  Cases result;
  int number = 0;
  for (const auto& [pattern, word] : {std::pair{Pattern::declared, "declared"}, {Pattern::declared, "declared"}, {Pattern::normal, "normal"},
                                      {Pattern::symmetric, "symmetric"}, {Pattern::integers, "integers"}}) {
    reference::Trial trial{pattern, random.next() >> 2};
    json asked = {{"seed", trial.seed}, {"pattern", word}};
    if (++number == 2) asked["weights"] = random.next() >> 2;  // what holds for one set of weights only is no answer
    const json reply = state_->ask({{"do", "case"}, {"trial", asked}});
    result.precision = reply.at("precision");
    if (reply.at("finite")) result.cases.push_back({trial, reply.at("memory").at("path"), number == 1});
    else result.dropped.push_back(fmt::format("{}: the reference is not finite", name(pattern)));
  }
  return result;
}

namespace {

const std::pair<reference::Pattern, const char*> patterns[] = {{reference::Pattern::declared, "declared"},
                                                               {reference::Pattern::normal, "normal"},
                                                               {reference::Pattern::symmetric, "symmetric"},
                                                               {reference::Pattern::integers, "integers"}};

json trial_json(const Trial& trial) {
  json result = {{"seed", trial.seed}, {"pattern", "declared"}};
  for (const auto& [pattern, word] : patterns)
    if (pattern == trial.pattern) result["pattern"] = word;
  if (trial.weights) result["weights"] = *trial.weights;
  return result;
}

double number(const json& value) { return std::strtod(value.get<std::string>().c_str(), nullptr); }   // "nan", "inf" too

std::optional<outcome::WrongElement> element(const json& value, const std::string& output) {
  if (value.is_null()) return std::nullopt;
  return outcome::WrongElement{output, value.at("index"), number(value.at("expected")), number(value.at("got"))};
}

}  // namespace

void Host::heed(std::stop_token stop) { state_->options.stop = std::move(stop); }

void Host::pause(bool paused) {
  const std::lock_guard lock(state_->mutex);
  if (state_->worker) state_->worker->pause(paused);
}

void Host::import_compiler() {
  state_->opened = nullptr;
  state_->ask({{"do", "import_compiler"}});
}

void Host::hold(const std::string& name, const std::string& source) {
  state_->opened = nullptr;
  const json request = {{"do", "hold"}, {"path", name}, {"source", source}};
  state_->ask(request);
  state_->opened = request;
}

std::vector<Trial> Host::trials(base::Random& random) const {
  constexpr std::size_t large = std::size_t{1} << 30;
  std::vector<Trial> result;
  for (const auto& [pattern, word] : patterns) {
    if (state_->task_bytes > large && pattern != reference::Pattern::declared && pattern != reference::Pattern::normal) continue;
    result.push_back({pattern, random.next() >> 2, std::nullopt});
    // What holds for one set of weights only is no answer.
    if (pattern == reference::Pattern::declared && state_->has_weights) result.push_back({pattern, random.next() >> 2, random.next() >> 2});
  }
  return result;
}

void Host::attach(const std::vector<std::vector<device::Lent>>& sets) {
  json list = json::array();
  for (const auto& places : sets) {
    json& set = list.emplace_back(json::array());
    for (const device::Lent& place : places)
      set.push_back({{"handle", place.handle}, {"path", place.path}, {"offset", place.offset}, {"bytes", place.bytes}});
  }
  state_->ask({{"do", "attach"}, {"sets", std::move(list)}});
}

void Host::detach() {
  if (state_->worker && state_->worker->alive()) state_->ask({{"do", "detach"}});
}

std::string Host::offer() { return state_->ask({{"do", "offer"}}).dump(); }

void Host::fill(std::size_t set, const Trial& trial) { state_->ask({{"do", "fill"}, {"set", set}, {"trial", trial_json(trial)}}); }

Comparison Host::compare(std::size_t set, const Trial& trial) {
  const json reply = state_->ask({{"do", "compare"}, {"set", set}, {"trial", trial_json(trial)}});
  Comparison result;
  result.precision = reply.at("precision");
  result.finite = reply.at("finite");
  for (const json& output : reply.at("outputs")) {
    result.errors.relative_l2 = std::max(result.errors.relative_l2, number(output.at("relative_l2")));
    result.errors.max_absolute = std::max(result.errors.max_absolute, number(output.at("max_absolute")));
    result.errors.reference_relative_l2 = std::max(result.errors.reference_relative_l2, number(output.at("reference_relative_l2")));
    if (output.contains("kernelbench_tolerance"))
      result.kernelbench_tolerance = std::max(result.kernelbench_tolerance, number(output.at("kernelbench_tolerance")));
    if (!result.right || output.at("right").get<bool>()) continue;
    result.right = false;
    result.why = output.at("why");
    result.first = element(output.at("first"), output.at("name"));
    result.worst = element(output.at("worst"), output.at("name"));
  }
  result.errors.trials = 1;
  return result;
}

outcome::BaselineTiming Host::prepare(const std::string& baseline) {
  const json reply = state_->ask({{"do", "prepare"}, {"baseline", baseline}});
  outcome::BaselineTiming result;
  result.name = baseline;
  result.failed = base::printable(reply.value("failed", ""));
  result.prepare_seconds = reply.value("seconds", 0.0);
  return result;
}

Host::Times Host::time(const std::vector<std::string>& order) {
  const json reply = state_->ask({{"do", "time"}, {"order", order}});
  return {reply.at("ms"), reply.at("empty_ms")};
}

void Host::rest() {
  if (state_->worker && state_->worker->alive()) state_->ask({{"do", "rest"}});
}

std::vector<Defect> Host::examine(double tolerance) {
  std::vector<Defect> result;
  const json reply = state_->ask({{"do", "gate"}, {"tolerance", tolerance}});
  for (const json& each : reply.at("found"))
    result.push_back({each.at("kind"), {outcome::parse_task_verdict(each.at("verdict").get<std::string>()).value(), each.at("reason")}});
  return result;
}

std::string Host::exported(const std::string& format, const std::string& output_file) {
  return state_->ask({{"do", "export"}, {"format", format}, {"output", output_file}}).at("text");
}

bool is_module(const std::filesystem::path& path) { return path.extension() == ".py"; }

}  // namespace cudal1::pytorch
