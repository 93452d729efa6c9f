// SPDX-License-Identifier: Apache-2.0
#include "pytorch/host.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "pytorch/embedded.hpp"
#include "pytorch/interface.hpp"

#include <optional>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

constexpr const char* sources[] = {"answer_export.py", "host.py", "task_cases.py", "task_gate.py", "task_module.py", "torch_line.py"};
constexpr base::Seconds answer_limit{1800};  // a large module on a CPU takes its time; a hang is the user's to see

// Python imports files, so the embedded ones are laid out once, in a folder named after their content.
std::filesystem::path program_folder() {
  std::string all;
  for (const char* name : sources) all += *embedded_text(name);
  const auto folder = base::cache_folder() / fmt::format("pytorch-{}", base::sha256(all).substr(0, 16));
  for (const char* name : sources)
    if (!std::filesystem::exists(folder / name)) base::write_file(folder / name, *embedded_text(name));
  return folder;
}

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
  return result;
}

std::string last_line(const std::string& words) {
  std::string last;
  for (const auto& each : base::split_lines(base::printable(words)))
    if (!base::trim(each).empty()) last = std::string(base::trim(each));
  return last;
}

}  // namespace

struct Host::State {
  Options options;
  std::filesystem::path folder;
  std::unique_ptr<base::Worker> worker;
  std::string version;
  json opened;  // the request that opened the task, to be repeated in a new process
  std::vector<std::string> notes;

  json exchange(const json& request);
  void start();
  bool start(const std::string& python, std::string& why);
  json ask(const json& request);
};

// One question to a process that lives. Throws what the process refuses or how it ended.
json Host::State::exchange(const json& request) {
  std::string text;
  const bool sent = worker->channel().send(request.dump(-1, ' ', false, json::error_handler_t::replace));
  const auto status = sent ? worker->channel().receive(text, answer_limit) : base::Channel::Status::closed;
  if (status != base::Channel::Status::message) {
    const base::WorkerEnd end = worker->end();
    const std::string words = last_line(worker->last_words());
    worker.reset();
    throw base::Error(base::Fault::bad_input,
                      fmt::format("the process that holds PyTorch {}{}{}",
                                  status == base::Channel::Status::timeout ? "does not answer"
                                  : end.signal == 9                        ? "was killed (out of memory? try --set)"
                                                                           : "ended",
                                  words.empty() ? "" : ": ", words));
  }
  const json reply = json::parse(text, nullptr, false);
  if (!reply.is_object()) throw base::Error(base::Fault::internal, "the process that holds PyTorch sent something unreadable");
  if (reply.contains("refused")) throw base::Error(base::Fault::bad_input, base::printable(reply.at("refused").get<std::string>()));
  if (reply.contains("failed"))
    throw base::Error(base::Fault::internal, fmt::format("PyTorch: {}", base::printable(reply.at("failed").get<std::string>())));
  return reply;
}

bool Host::State::start(const std::string& python, std::string& why) {
  try {
    worker = std::make_unique<base::Worker>(base::Program{python, {"-u", (folder / "host.py").string()}});
    const json reply = exchange({{"do", "hello"}, {"device", options.device}, {"threads", 0}});
    if (reply.contains("missing")) {
      why = fmt::format("{}: {}", python, reply.at("missing").get<std::string>());
      worker.reset();
      return false;
    }
    version = fmt::format("PyTorch {}, Python {}", reply.at("torch").get<std::string>(), reply.at("python").get<std::string>());
    return true;
  } catch (const base::Error& error) {
    worker.reset();
    why = fmt::format("{}: {}", python, error.what());
    return false;
  }
}

void Host::State::start() {
  const std::vector<std::string> candidates =
      options.python.empty() ? std::vector<std::string>{"python3", "/usr/bin/python3"} : std::vector{options.python};
  std::vector<std::string> reasons(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!start(candidates[i], reasons[i])) continue;
    options.python = candidates[i];
    return;
  }
  throw base::Error(base::Fault::usage, fmt::format("a .py task needs a Python with PyTorch 1.13 or newer: install python3-torch, or "
                                                    "name an interpreter with --python ({})",
                                                    fmt::join(reasons, "; ")));
}

json Host::State::ask(const json& request) {
  if (!worker) {
    start();
    if (!opened.is_null()) exchange(opened);
  }
  return exchange(request);
}

Host::Host(Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  state_->folder = program_folder();
  state_->start();
}

Host::~Host() = default;

std::string Host::version() const { return state_->version; }
const std::vector<std::string>& Host::notes() const { return state_->notes; }

task::Task Host::open(const std::filesystem::path& path, const std::map<std::string, std::int64_t>& overrides,
                      std::size_t memory_limit) {
  const std::string source = base::read_file(path, std::size_t{16} << 20);
  state_->opened = nullptr;
  const json request = {{"do", "open"}, {"path", path.string()}, {"source", source},
                        {"set", json(overrides)}, {"device", state_->options.device}, {"limit", state_->options.input_limit}};
  const Interface interface = interface_of(state_->ask(request));
  state_->opened = request;
  state_->notes = interface.notes;
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
