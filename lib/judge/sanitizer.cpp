// SPDX-License-Identifier: Apache-2.0
#include "judge/sanitizer.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "judge/state.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace cudal1::judge {

namespace {

using outcome::Finding;
using outcome::Verdict;

constexpr std::size_t sanitized_bytes = std::size_t{256} << 20;   // of a module's inputs, which a tool reads a hundred times slower
constexpr base::Seconds slowest{10};   // of one run under a tool: a kernel of some milliseconds with large tiles took over 120 s, and others wait for the GPU
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

SanitizerResult run_sanitizer(const std::optional<std::filesystem::path>& program, const base::Program& worker,
                              const std::function<Driven(DeviceHost&)>& drive) {
  if (!program) return {"absent", "", ""};
  for (const char* tool : tools) {
    const base::TemporaryFolder folder;
    const std::filesystem::path log = folder.path() / "log";
    base::Program watched{*program, {"--tool", tool, "--log-file", log.string(), worker.executable.string()}};
    watched.arguments.insert(watched.arguments.end(), worker.arguments.begin(), worker.arguments.end());
    bool ran = false;
    try {
      DeviceHost fresh(watched);
      const Driven driven = drive(fresh);
      if (driven == Driven::too_slow) return {"too slow", tool, ""};
      ran = driven == Driven::done;
      fresh.finish();
    } catch (const base::Error&) {
      ran = false;  // the tool does not let the device be opened
    }
    std::error_code missing;
    const SanitizerLog read =
        std::filesystem::exists(log, missing) ? read_sanitizer_log(base::read_file(log)) : SanitizerLog{};
    if (read.state == SanitizerLog::State::found && ran) return {"found", tool, read.first_error};
    if (read.state != SanitizerLog::State::passed || !ran) return {"refused", "", ""};
  }
  return {"passed", "", ""};
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
  const SanitizerResult result = run_sanitizer(find_sanitizer(), options.worker, [&](DeviceHost& fresh) {
    open(fresh, random.next(), true);
    CheckJob job;
    job.executable = executable;
    job.only_run = true;
    job.inputs = inputs;
    const auto hold = hold_gpu(GpuTurn::Use::shared);   // it takes no times
    const DeviceHost::Answer answer = fresh.ask(job, slowest, base::Seconds{120});
    return answer.timed_out ? Driven::too_slow : answer.reply ? Driven::done : Driven::failed;
  });
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
