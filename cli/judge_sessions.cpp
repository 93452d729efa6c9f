// SPDX-License-Identifier: Apache-2.0
#include "judge_sessions.hpp"

#include "task_options.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "cuda/cuda.hpp"
#include "judge/judge.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

// One task with a judge of its own.
class JudgeSession final : public docket::Session {
 public:
  JudgeSession(OpenTask open, const DeviceChoice& choice, const WorkbenchOptions& options, compile::Compiler& compiler, int threads, bool look)
      : open_(std::move(open)), device_(choice.identity()), threads_(threads), judge_(open_.task, compiler, settings(open_, choice, options, look)) {}

  std::string task() const override { return open_.task.name(); }
  std::string device() const override { return device_; }
  int parallel() const override { return judge_.in_order() ? 1 : threads_; }
  std::shared_ptr<const docket::Warm> warm() override {
    const judge::ReferenceFacts reference = judge_.reference();
    return std::make_shared<docket::Warm>(docket::Warm{open_.task, {judge_.device(), reference}});
  }
  std::optional<outcome::Judgement> compile(const std::string& source, const std::string& name) override { return judge_.compile(source, name); }
  outcome::Judgement verify(const std::string& source, const std::string& name) override { return judge_.verify(source, name); }
  outcome::Judgement screen(const std::string& source, const std::string& name) override { return judge_.screen(source, name); }
  outcome::Judgement confirm(const std::string& source, const std::string& name, const std::map<std::string, std::int64_t>& tunables) override {
    return judge_.confirm(source, name, tunables);
  }
  bool warned() const { return !judge_.warnings().empty(); }

 private:
  static judge::Options settings(OpenTask& open, const DeviceChoice& choice, const WorkbenchOptions& options, bool look) {
    judge::Options settings = judge_options(open, choice, options);
    settings.dead_worker_throws = true;
    settings.look_for_tenants = look;
    return settings;
  }

  OpenTask open_;
  std::string device_;
  int threads_;
  judge::Judge judge_;
};

OpenTask open_text(const docket::TaskText& text, const DeviceChoice& choice, const std::string& python) {
  const Console quiet{.options = {.quiet = true}};
  OpenTask open;
  if (pytorch::is_module(text.path)) {
    TaskOptions options;
    options.task = text.path;
    options.python = python;
    for (const auto& [name, value] : text.set) options.set.push_back(fmt::format("{}={}", name, value));
    open = open_task(options, choice);
  } else {
    const std::size_t memory_bytes = choice.facts.simulated ? host_memory_bytes() / 2 : choice.facts.memory_bytes;
    const auto drafted = drafted_task(text.source, text.path);
    open.task = task::from_source(drafted ? drafted->source : text.source, text.path, text.set, memory_bytes);
  }
  require_fit(open, quiet);
  return open;
}

std::vector<DeviceChoice> places_of(const JudgeSessionsOptions& options) {
  const DeviceChoice first = choose_device(options.device);
  std::size_t jobs = static_cast<std::size_t>(options.jobs);
  if (jobs == 0 && first.facts.simulated) jobs = base::cores();
  if (jobs == 0 && options.device.device == "auto")
    for (const outcome::DeviceFacts& device : cuda::inventory().devices) jobs += device.name == first.facts.name ? 1 : 0;
  if (jobs == 0) jobs = 1 + first.others.size();
  return choose_devices(options.device, static_cast<int>(jobs));
}

compile::CompilerOptions compiler_of(const WorkbenchOptions& options) {
  compile::CompilerOptions result = compiler_options(options);
  result.killed_throws = true;
  return result;
}

}  // namespace

bool JudgeSessions::Tenants::due(const std::string& device) {
  constexpr base::Seconds interval{60};
  const std::lock_guard lock(mutex_);
  const auto [looked, first] = looked_.try_emplace(device, base::now());
  if (!first && base::now() - looked->second < interval) return false;
  looked->second = base::now();
  return true;
}

void JudgeSessions::Tenants::look_again(const std::string& device) {
  const std::lock_guard lock(mutex_);
  looked_.erase(device);
}

JudgeSessionsOptions usual_judge_sessions() {
  JudgeSessionsOptions options;
  options.workbench.gpu_budget = 50;
  return options;
}

void add_judge_sessions_options(Arguments app, JudgeSessionsOptions& options) {
  app.add_option("--jobs", options.jobs, "Answers judged at the same time [default: one for each GPU, or for each core on the simulator]")
      ->option_text("N")
      ->default_str("")
      ->check(Check::between(1, 1024))
      ->group("Judging");
  app.add_option("--sessions", options.sessions, "Tasks that each of these jobs keeps open, with warm references")
      ->option_text("N")
      ->check(Check::between(1, 4096))
      ->group("Judging");
  app.add_option("--store", options.store, "Keep right answers and their scores in this folder for later executions")->option_text("DIR")->group("Judging");
  app.add_option("--queue", options.queue, "Answers that may wait")->option_text("N")->check(Check::between(1, 1 << 24))->group("Judging");
  app.add_option("--python", options.python, "The interpreter with PyTorch, for .py tasks [default: python3]")->option_text("PROGRAM")->group("Judging");
  app.add_flag("--counters", options.counters, "Read the GPU's counters for every answer that is right")->group("Judging");
  add_device_options(app, options.device);
  add_judge_options(app, options.workbench);
  add_accept_degenerate(app, options.workbench);
}

JudgeSessions::JudgeSessions(const JudgeSessionsOptions& options, const Console& console)
    : options_(options), places_(places_of(options)), compiler_(compiler_of(options.workbench)) {
  options_.workbench.no_counters = options.workbench.no_counters || !options.counters;
  options_.workbench.no_pytorch = true;   // it would be timed beside every final verdict
  say_device(places_.front(), options_.workbench, console);
  for (DeviceChoice& place : places_) place.others.clear();
}

docket::Limits JudgeSessions::limits() const {
  docket::Limits limits;
  limits.places = places_.size();
  limits.threads = std::clamp(static_cast<int>(base::cores() / places_.size()), 2, 8);
  limits.sessions = static_cast<std::size_t>(options_.sessions);
  limits.queue = static_cast<std::size_t>(options_.queue);
  return limits;
}

docket::Exemplars JudgeSessions::exemplars() const {
  const WorkbenchOptions& bench = options_.workbench;
  return {options_.store, fmt::format("{}\n{}\n{}\n{}", CUDAL1_VERSION, device(), bench.precision, places_.front().facts.simulated ? bench.seed : 0)};
}

docket::Opener JudgeSessions::opener() {
  return [this, threads = limits().threads](const docket::TaskText& text, std::size_t place) -> std::unique_ptr<docket::Session> {
    const DeviceChoice& choice = places_[place];
    OpenTask open = open_text(text, choice, options_.python);
    const bool look = tenants_.due(choice.device);
    auto session = std::make_unique<JudgeSession>(std::move(open), choice, options_.workbench, compiler_, threads, look);
    if (look && session->warned()) tenants_.look_again(choice.device);
    return session;
  };
}

}  // namespace cudal1::cli
