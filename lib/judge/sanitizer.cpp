// SPDX-License-Identifier: Apache-2.0
#include "judge/sanitizer.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "judge/state.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <future>
#include <mutex>
#include <semaphore>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace cudal1::judge {

namespace {

using outcome::Finding;
using outcome::Verdict;

constexpr std::size_t sanitized_bytes = std::size_t{256} << 20;   // of a module's inputs, which a tool reads a hundred times slower
constexpr base::Seconds slowest{10};   // of one run under a tool: a kernel of some milliseconds with large tiles took over 120 s, and others wait for the GPU
constexpr base::Seconds slowest_start{60};
constexpr double memory_share = 16;   // of the GPU's memory: what the tasks of all workers at once may take
constexpr const char* tools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

Finding::Kind kind_of(std::string_view tool) {
  if (tool == "memcheck") return Finding::Kind::out_of_bounds;
  if (tool == "racecheck") return Finding::Kind::shared_race;
  if (tool == "initcheck") return Finding::Kind::uninitialised;
  return Finding::Kind::divergent_barrier;
}

}  // namespace

std::optional<std::filesystem::path> find_sanitizer() {
  const auto usable = [](const std::filesystem::path& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (const char* path = std::getenv("PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::size_t end = rest.find(':');
      const std::filesystem::path candidate = std::filesystem::path(rest.substr(0, end)) / "compute-sanitizer";
      if (candidate.is_absolute() && usable(candidate)) return candidate;
      rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    }
  }
  for (const char* place : {"/usr/local/cuda/bin/compute-sanitizer", "/usr/local/cuda/compute-sanitizer/compute-sanitizer"})
    if (usable(place)) return place;
  return std::nullopt;
}

// Lines begin with "========="; the summary is "ERROR SUMMARY: 3 errors" or "RACECHECK SUMMARY: 1 hazard displayed
// (1 error, 0 warnings)".
SanitizerLog read_sanitizer_log(std::string_view log) {
  SanitizerLog result;
  bool ended = false;
  std::string first;
  for (const std::string& line : base::split_lines(base::printable(log))) {
    std::string_view text = line;
    while (text.starts_with('=')) text.remove_prefix(1);
    text = base::trim(text);
    const std::size_t summary = text.find("SUMMARY: ");
    if (summary != std::string_view::npos) {
      ended = true;
      result.state = text.substr(summary + 9).starts_with("0 ") ? SanitizerLog::State::passed : SanitizerLog::State::found;
    } else if (first.empty() && !text.empty() && !text.starts_with("COMPUTE-SANITIZER") && text != line) {
      first = std::string(text);
    }
  }
  if (!ended) result.state = SanitizerLog::State::refused;
  result.first_error = std::move(first);
  return result;
}

namespace {

// One tool's word on one run of the worker under it.
SanitizerResult under(const char* tool, const std::filesystem::path& program, const base::Program& worker,
                      const std::function<Driven(DeviceHost&)>& drive) {
  const base::TemporaryFolder folder;
  const std::filesystem::path log = folder.path() / "log";
  base::Program watched{program, {"--tool", tool, "--log-file", log.string(), worker.executable.string()}};
  watched.arguments.insert(watched.arguments.end(), worker.arguments.begin(), worker.arguments.end());
  Driven driven = Driven::failed;
  try {
    DeviceHost fresh(watched);
    driven = drive(fresh);
    if (driven == Driven::too_slow) return {"too slow", tool, ""};
    fresh.finish();
  } catch (const base::Error&) {
    driven = Driven::failed;  // the tool does not let the device be opened
  }
  std::error_code missing;
  const SanitizerLog read = std::filesystem::exists(log, missing) ? read_sanitizer_log(base::read_file(log)) : SanitizerLog{};
  if (read.state == SanitizerLog::State::found && driven == Driven::done) return {"found", tool, read.first_error};
  if (read.state != SanitizerLog::State::passed || driven != Driven::done) return {"refused", tool, ""};
  return {"passed", "", ""};
}

}  // namespace

SanitizerResult run_sanitizer(const std::optional<std::filesystem::path>& program, const base::Program& worker,
                              const std::function<Driven(DeviceHost&)>& drive, std::size_t at_once) {
  if (!program) return {"absent", "", ""};
  std::counting_semaphore places(static_cast<std::ptrdiff_t>(at_once));
  const auto in_place = [&](const char* tool) {
    places.acquire();
    const struct Leave { decltype(places)& left; ~Leave() { left.release(); } } leave{places};
    return under(tool, *program, worker, drive);
  };
  std::vector<std::future<SanitizerResult>> runs;
  for (const char* tool : tools) runs.push_back(std::async(std::launch::async, in_place, tool));
  std::vector<SanitizerResult> results;
  for (auto& run : runs) results.push_back(run.get());
  for (const char* word : {"found", "too slow", "refused"})
    for (SanitizerResult& result : results)
      if (result.word == word) return std::move(result);
  return {"passed", "", ""};
}

std::size_t sanitizers_at_once(double task_bytes, std::size_t memory_bytes) {
  const double fit = static_cast<double>(memory_bytes) / memory_share / std::max(task_bytes, 1.0);
  return static_cast<std::size_t>(std::clamp(fit, 1.0, static_cast<double>(std::size(tools))));
}

void Judge::State::sanitize(DeviceHost& where, outcome::Judgement& judgement, const Executable& executable) {
  const Step step(*this, "sanitize");
  if (options.remote) {   // the tool would have to stand around the worker there
    judgement.sanitizer = "not run";
    return;
  }
  std::string inputs;
  if (lends()) {   // these workers have no PyTorch to make the inputs
    judgement.sanitizer = "not run";
    if (InputFile::bytes(reference.workloads.front()) > sanitized_bytes) return;
    try {
      inputs = spilled(where);
    } catch (const base::Error&) {   // no reason to reject
      return;
    }
  }
  const OpenJob opening = open_job(random.next(), true);
  CheckJob job;
  job.executable = executable;
  job.only_run = true;
  job.inputs = inputs;
  std::mutex counted;
  base::Seconds longest{0};   // that a tool waited: they wait at the same time
  const auto asked = [&](DeviceHost& fresh, const Job& what, base::Seconds limit, base::Seconds& wait) {
    const base::Seconds began = base::now();
    const auto turn = gpu_uuid.empty() ? nullptr : std::make_unique<GpuTurn>(gpu_lock(), GpuTurn::Use::shared);   // no times are taken
    wait += base::now() - began;
    return fresh.ask(what, limit, base::Seconds{120});
  };
  const auto drive = [&](DeviceHost& fresh) {
    base::Seconds wait{0};
    const bool opened = asked(fresh, opening, slowest_start, wait).reply.has_value();
    const DeviceHost::Answer answer = opened ? asked(fresh, job, slowest, wait) : DeviceHost::Answer{};
    const std::lock_guard lock(counted);
    longest = std::max(longest, wait);
    return answer.timed_out ? Driven::too_slow : answer.reply ? Driven::done : Driven::failed;
  };
  Hold hold;
  if (beside && !gpu_uuid.empty()) hold.wish = beside->wish();
  const SanitizerResult result = run_sanitizer(find_sanitizer(), options.worker, drive, sanitizers_at_once(task.necessary_bytes(0), facts.memory_bytes));
  waited += longest.count();
  judgement.sanitizer = result.word;
  if (result.word != "found") return;
  judgement.verdict = Verdict::sanitizer_failed;
  judgement.message = fmt::format("compute-sanitizer's {}: {}", result.tool, result.first_error);
  Finding finding;
  finding.kind = kind_of(result.tool);
  finding.message = result.first_error;
  judgement.findings.push_back(std::move(finding));
  judgement.speedup.reset();
}

}  // namespace cudal1::judge
