// SPDX-License-Identifier: Apache-2.0
#include "run_progress.hpp"

#include "status_line.hpp"

#include "base/clock.hpp"
#include "base/text.hpp"
#include "report/wording.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

std::string verdict_of(const search::Variant& variant) {
  switch (variant.status) {
    case search::Variant::Status::judged: break;
    case search::Variant::Status::duplicate: return "the same as " + variant.same_as;
    case search::Variant::Status::malformed:
    case search::Variant::Status::refused:
    case search::Variant::Status::truncated:
      return fmt::format("{}: {}", search::name(variant.status), variant.reason);
  }
  const auto& judgement = variant.verdict();
  std::string text = outcome::name(judgement.verdict, judgement.predicted);
  if (judgement.speedup) text += "  " + report::text(*judgement.speedup);
  else if (!judgement.message.empty()) text += "  " + judgement.message;
  return text;
}

// "race of round 2: r02-s01 is the fastest; r01-s03 0.994x [0.991, 0.997], r02-s04 0.98x [0.97, 0.99]"
std::string race_line(const search::Race& race) {
  if (!race.problem.empty())
    return fmt::format("race of round {}: void, the screenings stand: {}", race.round, race.problem);
  std::vector<std::string> others;
  for (const auto& racer : race.racers) others.push_back(fmt::format("{} {}", racer.id, report::text(racer.over_fastest)));
  others.erase(others.begin());
  return fmt::format("race of round {}: {} is the fastest; {}", race.round, race.racers.front().id, fmt::join(others, ", "));
}

std::string elapsed(base::Seconds since) {
  const auto seconds = static_cast<int>((base::now() - since).count());
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

// For a person: a repainted line on a terminal, few lines elsewhere.
class TextProgress final : public search::Observer {
 public:
  TextProgress(const Console& console, int rounds, int samples, bool animated, std::shared_ptr<const model::Arrivals> arrivals)
      : line_(console), rounds_(rounds), samples_(samples), animated_(animated), arrivals_(std::move(arrivals)) {
    if (!animated_) return;
    line_.show("compiling and timing the reference");
    ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
  }

  void started(const search::Start& start) override {
    for (const auto& finding : start.reference.findings)
      line_.keep(fmt::format("{}: {}", outcome::name(finding.verdict), finding.reason));
    for (const auto& time : start.reference.times)
      keep(fmt::format("reference {}: {}{}{}", time.workload, report::milliseconds(time.ms),
                       start.reference.predicted ? " predicted" : "",
                       time.limited_by.empty() ? "" : ", limited by " + time.limited_by));
  }
  void asked(const model::Question& question, const std::string& model) override {
    show("asking " + model, question.undo.empty()
                                ? fmt::format("{} · sample {}/{}", question.key.round == 0 ? "start" : fmt::format("round {}/{}", question.key.round, rounds_), question.key.sample, samples_)
                                : fmt::format("{} without {}", question.exemplars.front().id, fmt::join(question.undo, " and ")));
  }
  void judging(const search::Variant& variant) override { show("judging " + variant.id, where_); }
  void judged(const search::Variant& variant) override {
    ++judged_;
    if (animated_) {
      keep(base::printable(fmt::format("{:<14} {}", variant.id, verdict_of(variant))));
    } else if (base::now() - last_line_ > base::Seconds(60)) {
      keep(fmt::format("{}: {} judged{}", where_, judged_, best_text()));
    }
  }
  void improved(const search::Variant& variant) override {
    const std::lock_guard lock(mutex_);
    best_ = variant.score();
  }
  void racing(const std::vector<std::string>& ids) override { show(fmt::format("racing {}", fmt::join(ids, ", ")), where_); }
  void raced(const search::Race& race) override { keep(base::printable(race_line(race))); }
  void round_finished(const search::Round& round) override {
    keep(fmt::format("round {}/{}: {} answer{}, {} right, {} faster{}; {}", round.round, rounds_, round.answers, round.answers == 1 ? "" : "s",
                     round.right, round.faster, round.duplicates > 0 ? fmt::format(" ({} given before)", round.duplicates) : "",
                     round.best_so_far > 1   ? fmt::format("best so far {:.3g}x", round.best_so_far)
                     : round.best_so_far > 0 ? "nothing faster yet"
                                             : "nothing right yet"));
  }
  void confirming(const search::Variant& variant) override {
    show("confirming " + variant.id + " in fresh processes", "final verdict");
  }
  void confirmed(const search::Variant& variant) override {
    keep(base::printable(fmt::format("{:<14} final: {}", variant.id, verdict_of(variant))));
  }
  void stopped(const search::Result&) override {
    ticker_ = {};
    line_.clear();
  }

 private:
  void show(const std::string& what, const std::string& where) {
    const std::lock_guard lock(mutex_);
    what_ = what;
    where_ = where;
    repaint();
  }
  void repaint() {
    if (!animated_ || what_.empty()) return;
    const auto arriving = arrivals_->text();
    line_.show(fmt::format("{} · {}{}{}{} · {}", where_, what_, arriving.empty() ? "" : ": ", arriving, best_text(), elapsed(begun_)));
  }
  std::string best_text() const { return best_ > 1 ? fmt::format(" · best {:.3g}x", best_) : ""; }
  void keep(const std::string& text) {
    const std::lock_guard lock(mutex_);
    line_.keep(text);
    last_line_ = base::now();
  }
  // Replies come without an event of the search.
  void tick(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; }) && !stop.stop_requested()) repaint();
  }

  StatusLine line_;
  int rounds_, samples_;
  bool animated_;
  std::shared_ptr<const model::Arrivals> arrivals_;
  int judged_ = 0;
  double best_ = 0;  // above 1 when something is faster
  std::string where_ = "start", what_;
  base::Seconds begun_ = base::now(), last_line_ = begun_;
  std::mutex mutex_;  // of everything that is shown
  std::condition_variable_any ended_;
  std::jthread ticker_;  // only on a terminal
};

// For a program: one object per line.
class JsonProgress final : public search::Observer {
 public:
  explicit JsonProgress(std::string run) : run_(std::move(run)) {}

  void started(const search::Start& start) override {
    json times = json::array();
    for (const auto& time : start.reference.times)
      times.push_back({{"workload", time.workload}, {"time_ms", time.ms}});
    print({{"event", "started"}, {"device", start.device.name}, {"reference", times}});
  }
  void asked(const model::Question& question, const std::string& model) override {
    print({{"event", "asked"}, {"key", question.key.text()}, {"model", model}});
  }
  void replied(const model::Key& key, const std::string& model, const model::Reply& reply) override {
    print({{"event", "replied"}, {"key", key.text()}, {"model", model}, {"seconds", reply.seconds.count()}, {"input_tokens", reply.usage.input_tokens},
           {"output_tokens", reply.usage.output_tokens}, {"cost_usd", reply.usage.priced ? json(reply.usage.cost) : json(nullptr)}});
  }
  void judging(const search::Variant& variant) override { print({{"event", "judging"}, {"variant", variant.id}}); }
  void judged(const search::Variant& variant) override { print(described("judged", variant)); }
  void improved(const search::Variant& variant) override {
    print({{"event", "improved"}, {"variant", variant.id}, {"score", variant.score()}});
  }
  void racing(const std::vector<std::string>& ids) override { print({{"event", "racing"}, {"variants", ids}}); }
  void raced(const search::Race& race) override {
    json racers = json::array();
    for (const auto& racer : race.racers)
      racers.push_back({{"variant", racer.id}, {"over_fastest", racer.over_fastest.value}, {"turns", racer.turns}, {"score", racer.speedup.value}});
    print({{"event", "raced"}, {"round", race.round}, {"racers", racers}, {"problem", race.problem}, {"seconds", race.seconds}});
  }
  void round_finished(const search::Round& round) override {
    print({{"event", "round_finished"}, {"round", round.round}, {"answers", round.answers}, {"right", round.right},
           {"faster", round.faster}, {"best", round.best}, {"best_so_far", round.best_so_far}});
  }
  void confirming(const search::Variant& variant) override { print({{"event", "confirming"}, {"variant", variant.id}}); }
  void confirmed(const search::Variant& variant) override { print(described("confirmed", variant)); }
  void stopped(const search::Result& result) override {
    print({{"event", "stopped"}, {"stopped_because", search::name(result.stopped_because)}, {"reason", result.reason},
           {"input_tokens", result.usage.input_tokens}, {"output_tokens", result.usage.output_tokens},
           {"cost_usd", result.usage.priced ? json(result.usage.cost) : json(nullptr)}});
  }

 private:
  static json described(const char* event, const search::Variant& variant) {
    json object = {{"event", event}, {"variant", variant.id}, {"status", search::name(variant.status)}};
    if (variant.status == search::Variant::Status::judged) {
      const auto& judgement = variant.verdict();
      object["verdict"] = outcome::name(judgement.verdict, judgement.predicted);
      object["score"] = variant.score();
      object["message"] = judgement.message;
    } else {
      object["reason"] = variant.reason;
    }
    return object;
  }
  void print(json object) const {
    object["time"] = base::timestamp();
    object["run"] = run_;
    fmt::print(stderr, "{}\n", object.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  std::string run_;
};

}  // namespace

std::unique_ptr<search::Observer> run_progress(const Console& console, int rounds, int samples,
                                               std::shared_ptr<const model::Arrivals> arrivals, std::string run) {
  const std::string& kind = console.options.progress;
  if (kind == "json") return std::make_unique<JsonProgress>(std::move(run));
  if (kind == "none" || console.options.quiet) return std::make_unique<search::Observer>();
  const bool animated = kind == "auto" && console.terminal(stderr);
  return std::make_unique<TextProgress>(console, rounds, samples, animated, std::move(arrivals));
}

}  // namespace cudal1::cli
