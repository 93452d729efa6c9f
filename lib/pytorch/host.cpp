// SPDX-License-Identifier: Apache-2.0
#include "pytorch/host.hpp"

#include "base/clock.hpp"
#include "base/defence.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "pytorch/host_state.hpp"
#include "pytorch/interface.hpp"
#include "pytorch/measured.hpp"
#include "reference/rule.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

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

Host::Host(Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  state_->start();
}

Host::~Host() = default;

const std::string& Host::python() const { return state_->options.python; }
std::string Host::version() const { return state_->version; }
const std::vector<std::string>& Host::notes() const { return state_->notes; }
std::size_t Host::bytes() const { return state_->task_bytes; }

void Host::close() {
  state_->opened = state_->precision = state_->attached = nullptr;
  if (state_->worker && state_->worker->alive()) state_->ask({{"do", "close"}});
}

void Host::limit_to(std::size_t bytes, const std::optional<Weight>& weight) {
  state_->share = bytes;
  state_->weight = weight ? json{{"set", weight->set}, {"beside", weight->beside}, {"operations", weight->operations}, {"made", weight->made}} : json();
}

task::Task Host::open(const std::filesystem::path& path, const std::map<std::string, std::int64_t>& overrides,
                      std::size_t memory_limit) {
  const std::string source = base::read_file(path, std::size_t{16} << 20);
  state_->opened = state_->precision = state_->attached = nullptr;
  const json request = {{"do", "open"}, {"path", path.string()}, {"source", source},
                        {"set", json(overrides)}, {"limit", state_->options.input_limit}, {"share", state_->share}, {"weight", state_->weight}};
  const json reply = state_->ask(request);
  const Interface interface = interface_of(reply);
  state_->opened = request;
  state_->secret = base::secret_seed();
  state_->notes = interface.notes;
  state_->task_bytes = interface.bytes;
  state_->made_bytes = reply.value("made", 0.0);
  state_->has_weights = !interface.state.empty();
  task::Task task = task::from_source(directives(interface, path, source, overrides), path, {}, memory_limit);
  if (!interface.no_torch.empty()) task.no_oracle_reason = "no torch line can be derived: " + interface.no_torch;
  state_->output_rank = interface.outputs.front().shape.size();
  state_->constant_inputs = reply.value("constant_inputs", false);
  state_->whole_inputs = reply.value("whole_inputs", false);
  const json scalars = reply.value("scalars", json::array());
  state_->takes_numbers = std::any_of(scalars.begin(), scalars.end(), [](const json& each) { return each.at("dtype") == "float32"; });
  state_->known = reference::survey(task);
  state_->integer_limits = json::object();
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    if (!state_->known.inputs[i].arithmetic) continue;
    if (const double limit = reference::integer_limit(task, state_->known, task.workloads.front()); limit >= 2)
      state_->integer_limits[task.file.buffers[i].name] = static_cast<std::int64_t>(limit);
  }
  return task;
}

Host::Cases Host::cases(std::uint64_t seed, int declared) {
  state_->ask({{"do", "forget"}});
  base::Random random(seed, 0x7121a1);
  Cases result;
  std::vector<Trial> trials = state_->trials(random, true);
  for (int more = usual_declared; more < declared; ++more) trials.push_back(timed_trial(random));
  for (const Trial& trial : trials) {
    const json reply = state_->ask({{"do", "case"}, {"trial", state_->trial_json(trial)}});
    result.precision = reply.at("precision");
    const bool kernelbench = result.cases.empty() && result.dropped.empty();   // the first one
    if (reply.at("finite")) result.cases.push_back({{trial.pattern, trial.seed, trial.turn}, reply.at("memory").at("path"), kernelbench});
    else result.dropped.push_back(fmt::format("{}: the reference is not finite", name(trial.pattern)));
  }
  return result;
}

namespace {

double number(const json& value) { return std::strtod(value.get<std::string>().c_str(), nullptr); }   // "nan", "inf" too

std::optional<outcome::WrongElement> element(const json& value, const std::string& output) {
  if (value.is_null()) return std::nullopt;
  return outcome::WrongElement{output, value.at("index"), number(value.at("expected")), number(value.at("got"))};
}

}  // namespace

void Host::hold_to(outcome::Precision precision) {
  state_->precision = nullptr;
  const json request = {{"do", "precision"}, {"class", outcome::name(precision)}};
  state_->ask(request);
  state_->precision = request;
}

std::uint64_t Host::secret() const { return state_->secret; }

void Host::heed(std::stop_token stop) { state_->options.stop = std::move(stop); }

void Host::pause(bool paused) {
  const std::lock_guard lock(state_->mutex);
  if (state_->worker) state_->worker->pause(paused);
}

void Host::import_compiler() {
  state_->opened = state_->precision = state_->attached = nullptr;
  state_->ask({{"do", "import_compiler"}});
}

void Host::hold(const std::string& name, const std::string& source) {
  state_->opened = state_->precision = state_->attached = nullptr;
  const json request = {{"do", "hold"}, {"path", name}, {"source", source}};
  state_->ask(request);
  state_->opened = request;
  state_->secret = base::secret_seed();
}

bool Host::takes_numbers() const { return state_->takes_numbers; }

std::vector<Trial> Host::trials(base::Random& random) const { return state_->trials(random, false); }

Trial Host::timed_trial(base::Random& random) const {
  Trial trial{reference::Pattern::declared, random.next() >> 2, std::nullopt, 0};
  if (state_->has_weights && base::defended(base::Defence::secret_weights)) trial.weights = random.next() >> 2;
  return trial;
}

void Host::attach(const std::vector<std::vector<device::Lent>>& sets) {
  json list = json::array();
  for (const auto& places : sets) {
    json& set = list.emplace_back(json::array());
    for (const device::Lent& place : places)
      set.push_back({{"handle", place.handle}, {"path", place.path}, {"offset", place.offset}, {"bytes", place.bytes}});
  }
  state_->attached = nullptr;
  const json request = {{"do", "attach"}, {"sets", std::move(list)}};
  state_->ask(request);
  state_->attached = request;
}

void Host::detach(Truths truths) {
  state_->attached = nullptr;
  if (state_->worker && state_->worker->alive()) state_->ask({{"do", "detach"}, {"forget", truths == Truths::forgotten}});
}

std::string Host::offer() {
  state_->attached = nullptr;
  return state_->ask({{"do", "offer"}}).dump();
}

void Host::make_ready(const Trial& trial) { state_->ask({{"do", "make_ready"}, {"trial", state_->trial_json(trial)}}); }
void Host::show() { state_->ask({{"do", "show"}}); }
void Host::take() { state_->ask({{"do", "take"}}); }
void Host::ask_nothing() { state_->ask({{"do", "nothing"}}); }
bool Host::resembles() { return state_->ask({{"do", "resembles"}}).at("alike"); }
bool Host::expect(const Trial& trial) { return state_->ask({{"do", "expect"}, {"trial", state_->trial_json(trial)}}).at("kept"); }

void Host::fill(std::size_t set, const Trial& trial) { state_->ask({{"do", "fill"}, {"set", set}, {"trial", state_->trial_json(trial)}}); }

namespace {

std::string why_wrong(const json& output) {
  return output.at("right").get<bool>() ? reference::judge(measured_deviation(output.at("deviation").dump())) : output.at("why").get<std::string>();
}

// A bound was passed; nothing else is wrong, and the output as a whole is near what it should be.
bool in_some_places(const json& output) {
  if (!output.at("right").get<bool>() || why_wrong(output).empty()) return false;
  const reference::Deviation deviation = measured_deviation(output.at("deviation").dump());
  return deviation.whole <= reference::whole_bound(deviation.count);
}

}  // namespace

Comparison Host::compare(std::size_t set, const Trial& trial) {
  json reply = state_->ask({{"do", "compare"}, {"set", set}, {"trial", state_->trial_json(trial)}});
  const base::Seconds looked = base::now();
  for (json& output : reply.at("outputs")) {
    // Where an output was compared with PyTorch's own, whose errors are in that, the truth is taken of what differs most, and decides.
    if (output.contains("doubted") && output.at("right").get<bool>() && !why_wrong(output).empty())
      output = state_->ask({{"do", "look_closer"}, {"set", set}, {"trial", state_->trial_json(trial)}, {"output", output.at("doubted")}}).at("output");
    if (output.contains("sampled") && in_some_places(output)) {
      const json sampled = output.at("sampled");
      output.update(state_->ask({{"do", "look_again"}, {"set", set}, {"trial", state_->trial_json(trial)}, {"output", sampled.at("index")}, {"rows", sampled.at("rows")}}).at("output"));
    }
  }
  Comparison result;
  result.closer = base::now() - looked;
  result.precision = reply.at("precision");
  result.finite = reply.at("finite");
  for (const json& output : reply.at("outputs")) {
    result.errors.relative_l2 = std::max(result.errors.relative_l2, number(output.at("relative_l2")));
    result.errors.max_absolute = std::max(result.errors.max_absolute, number(output.at("max_absolute")));
    result.errors.reference_relative_l2 = std::max(result.errors.reference_relative_l2, number(output.at("reference_relative_l2")));
    if (output.contains("kernelbench_tolerance"))
      result.kernelbench_tolerance = std::max(result.kernelbench_tolerance, number(output.at("kernelbench_tolerance")));
    if (!result.right) continue;
    result.why = why_wrong(output);
    if (result.why.empty()) continue;
    result.right = false;
    result.first = element(output.at("first"), output.at("name"));
    result.worst = element(output.at("worst"), output.at("name"));
  }
  result.errors.trials = 1;
  return result;
}

Comparison Host::compare_taken(const Trial& trial) {
  constexpr std::size_t taken = 1;   // as answer_cases.py has it
  return compare(taken, trial);
}

outcome::BaselineTiming Host::prepare(const std::string& baseline) {
  const json reply = state_->ask({{"do", "prepare"}, {"baseline", baseline}});
  outcome::BaselineTiming result;
  result.name = baseline;
  result.failed = base::printable(reply.value("unavailable", ""));
  result.prepare_seconds = reply.value("seconds", 0.0);
  return result;
}

void Host::make_ahead(const std::vector<std::string>& baselines) { state_->ask({{"do", "make_ahead"}, {"baselines", baselines}}); }
void Host::compile_ahead() { state_->ask({{"do", "compile_ahead"}}); }

Host::Times Host::time(const std::vector<std::string>& order, const std::string& keep, bool cold) {
  const json reply = state_->ask({{"do", "time"}, {"order", order}, {"keep", keep}, {"cold", cold}});
  Times result;
  for (const json& each : reply.at("ms")) result.ms.push_back(each.is_null() ? std::numeric_limits<double>::quiet_NaN() : each.get<double>());
  result.empty_ms = reply.at("empty_ms");
  for (const auto& [name, why] : reply.at("unavailable").items()) result.failed[name] = base::printable(why.get<std::string>());
  return result;
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
