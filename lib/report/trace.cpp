// SPDX-License-Identifier: Apache-2.0
// When what was done, in the JSON of Chrome's trace viewer: https://ui.perfetto.dev and chrome://tracing open it. The journal's times of
// day are whole seconds, durations are exact: a slice ends where its event was written.
#include "report/formats.hpp"
#include "report/wording.hpp"
#include "store/event.hpp"
#include "store/journal.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::report {

namespace {

using json_value = nlohmann::ordered_json;

// Steps of a judgement, in the order in which they are taken.
constexpr const char* steps[] = {"start", "compile", "check", "oracle", "race", "time", "hot", "torch.compile", "baselines", "count", "pytorch", "sanitize"};

class Trace {
 public:
  explicit Trace(double begun) : begun_(begun) {}

  // On the row of that name; a row is a thread in the viewer's words.
  void slice(const std::string& row, const std::string& name, double end, double seconds, json_value facts) {
    const double begin = std::max(0.0, end - seconds - begun_);
    events_.push_back({{"name", name}, {"ph", "X"}, {"pid", 1}, {"tid", number(row)}, {"ts", 1e6 * begin}, {"dur", 1e6 * seconds}, {"args", std::move(facts)}});
  }
  void moment(const std::string& name, double at) {
    events_.push_back({{"name", name}, {"ph", "i"}, {"s", "g"}, {"pid", 1}, {"tid", 0}, {"ts", 1e6 * (at - begun_)}});
  }
  std::string text(const std::string& process) const {
    json_value events = json_value::array({{{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", process}}}}});
    for (const auto& [row, id] : rows_)
      events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", id}, {"args", {{"name", row}}}});
    for (const auto& event : events_) events.push_back(event);
    return json_value{{"displayTimeUnit", "ms"}, {"traceEvents", events}}.dump(1, ' ', false, json_value::error_handler_t::replace) + "\n";
  }

 private:
  int number(const std::string& row) { return rows_.emplace(row, static_cast<int>(rows_.size()) + 1).first->second; }

  double begun_;
  std::map<std::string, int> rows_;
  json_value events_ = json_value::array();
};

void add_judgement(Trace& trace, const std::string& row, const std::string& id, double end, const outcome::Judgement& judgement) {
  json_value facts{{"verdict", verdict(judgement)}, {"message", judgement.message}};
  if (judgement.speedup) facts["speedup"] = text(*judgement.speedup);
  trace.slice(row, id, end, judgement.seconds, std::move(facts));
  // One step after the other: the judgement's seconds are their sum and what lies between.
  double at = end - judgement.seconds;
  for (const char* step : steps) {
    const auto found = judgement.step_seconds.find(step);
    if (found == judgement.step_seconds.end() || found->second <= 0) continue;
    at += found->second;
    trace.slice(row, step, std::min(at, end), found->second, json_value::object());
  }
}

void add(Trace& trace, const store::Event& event) {
  const double at = seconds_of(event.at);
  if (const auto* reply = std::get_if<store::ReplyEvent>(&event.body))
    trace.slice("model " + reply->model, event.name(), at, reply->reply.seconds.count(), {{"output_tokens", reply->reply.usage.output_tokens}});
  else if (const auto* variant = std::get_if<search::Variant>(&event.body))
    add_judgement(trace, "judge", variant->id, at, variant->judgement);
  else if (const auto* confirmation = std::get_if<store::ConfirmationEvent>(&event.body))
    add_judgement(trace, "judge", confirmation->id + " final", at, confirmation->judgement);
  else if (const auto* race = std::get_if<search::Race>(&event.body))
    trace.slice("judge", "race", at, race->seconds, json_value::object());
  else if (const auto* round = std::get_if<search::Round>(&event.body))
    trace.moment(fmt::format("round {} done, best so far {}", round->round, ratio(round->best_so_far)), at);
  else if (const auto* stop = std::get_if<store::StopEvent>(&event.body))
    trace.moment(fmt::format("stopped: {}", search::name(stop->because)), at);
}

}  // namespace

std::string trace(const store::Run& run, const Style&) {
  Trace trace(seconds_of(run.begun));
  std::error_code none;
  const auto journal = run.folder / "journal.jsonl";
  if (std::filesystem::exists(journal, none))
    for (const auto& line : store::read_journal(journal).lines) add(trace, store::parse_line(line));
  return trace.text(fmt::format("{} on {}", run.identity.task_name, run.identity.device));
}

}  // namespace cudal1::report
