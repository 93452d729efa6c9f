// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "input_lines.hpp"
#include "interruption.hpp"
#include "judge_sessions.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "docket/docket.hpp"

#include <atomic>
#include <mutex>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

struct JudgeOptions {
  JudgeSessionsOptions sessions = usual_judge_sessions();
  bool brief = false;
  std::string reward;
};

// Writes verdicts, one flushed line each, from whichever thread has one.
class Lines {
 public:
  Lines(const Console& console, bool brief) : console_(console), brief_(brief) {}

  void write(const docket::Ruling& ruling) {
    const std::string line = docket::to_line(ruling, brief_) + "\n";
    const std::lock_guard lock(mutex_);
    try {
      if (!broken_) console_.result(line);
    } catch (const base::Error&) {
      broken_ = true;   // whoever asked does not listen any more
    }
  }
  bool broken() const { return broken_; }
  long long refused = 0;   // lines that are no requests

 private:
  const Console& console_;
  const bool brief_;
  std::mutex mutex_;
  std::atomic<bool> broken_ = false;
};

void take(const std::string& line, const std::optional<reward::Shape>& shape, docket::Docket& docket, Lines& lines) {
  auto request = docket::parse_request(line);
  if (!request) {
    docket::Ruling ruling;
    ruling.id = request.error().id;
    ruling.fault = docket::Fault::request;
    ruling.reason = request.error().reason;
    ++lines.refused;
    return lines.write(ruling);
  }
  if (!request->reward) request->reward = shape;
  while (!docket.submit(*request, [&lines](const docket::Ruling& ruling) { lines.write(ruling); })) docket.wait_for_room();
}

std::string summary(const docket::Counts& counts, long long refused, double seconds) {
  long long faults = refused;
  for (const auto& [_, count] : counts.faults) faults += count;
  return fmt::format("{} lines, {} right, {} equal to others, {} cheats, {} faults; {:.1f} verdicts a second", counts.answered + refused, counts.right, counts.cached,
                     counts.cheats, faults, static_cast<double>(counts.answered + refused - faults) / seconds);
}

ExitCode run_judge(const JudgeOptions& options, const Console& console) {
  JudgeSessions sessions(options.sessions, console);
  Lines lines(console, options.brief);
  const Interruption interruption(console, "ending after the answers that are being judged");
  const base::Seconds began = base::now();
  docket::Docket docket(sessions.opener(), sessions.limits(), sessions.exemplars());
  InputLines input(0, interruption.token());
  while (!lines.broken()) {
    const auto line = input.next();
    if (!line) break;
    if (line->find_first_not_of(" \t\r") != std::string::npos) take(*line, reward::parse_shape(options.reward), docket, lines);
  }
  if (interruption.signal() != 0 || lines.broken()) docket.close();
  docket.finish();
  console.note(summary(docket.counts(), lines.refused, (base::now() - began).count()));
  if (lines.broken()) throw base::Error(base::Fault::not_written, "verdicts cannot be written to standard output: nobody reads them, or the disk is full");
  return interruption.signal() != 0 ? static_cast<ExitCode>(128 + interruption.signal()) : ExitCode::success;
}

}  // namespace

void add_judge(CommandLine& line) {
  auto options = std::make_shared<JudgeOptions>();
  Arguments app = line.add("judge", "Judge many answers to many tasks: a line of JSON in, a verdict out", manual_group,
                           [options, &line] { return run_judge(*options, line.console); });
  app.add_flag("--brief", options->brief, "Leave the evidence out of the verdicts");
  app.add_option("--reward", options->reward, "Also compute this reward for each answer")
      ->option_text("paper|log|milestones|kevin|correct")
      ->default_str("")
      ->check(Check::one_of({reward::shape_names().begin(), reward::shape_names().end()}));
  add_judge_sessions_options(app, options->sessions);
}

}  // namespace cudal1::cli
