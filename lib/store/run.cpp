// SPDX-License-Identifier: Apache-2.0
#include "store/run.hpp"

#include "base/error.hpp"
#include "store/event.hpp"
#include "store/journal.hpp"

#include <fmt/format.h>

namespace cudal1::store {

namespace fs = std::filesystem;

namespace {

// Puts the journal's events together, in order.
class Reader {
 public:
  explicit Reader(Run& run) : run_(run) {}

  void operator()(Identity& identity) { run_.identity = std::move(identity); }
  void operator()(search::Start& start) { run_.result.start = std::move(start); }
  void operator()(AskedEvent&) {}
  void operator()(ReplyEvent& event) {
    run_.model_seconds += event.reply.seconds.count();
    auto& usage = run_.result.usage;
    usage.input_tokens += event.reply.usage.input_tokens;
    usage.output_tokens += event.reply.usage.output_tokens;
    usage.cached_tokens += event.reply.usage.cached_tokens;
    usage.cost += event.reply.usage.cost;
    usage.reasoning_tokens += event.reply.usage.reasoning_tokens;
    usage.priced = usage.priced && event.reply.usage.priced;
  }
  void operator()(search::Variant& variant) {
    if (variant.status == search::Variant::Status::judged) run_.judging_seconds += variant.judgement.seconds;
    run_.result.variants.push_back(std::move(variant));
  }
  void operator()(search::Race& race) {
    run_.judging_seconds += race.seconds;
    search::rescore(race, run_.result.variants);
    run_.result.races.push_back(std::move(race));
  }
  void operator()(search::Round& round) { run_.result.rounds.push_back(round); }
  void operator()(ConfirmationEvent& event) {
    run_.judging_seconds += event.judgement.seconds;
    for (auto& variant : run_.result.variants)
      if (variant.id == event.id) variant.confirmation = std::move(event.judgement);
  }
  void operator()(search::Review& review) {
    run_.result.usage += review.usage;
    run_.result.review = std::move(review);
  }
  void operator()(StopEvent& event) {
    run_.result.stopped_because = event.because;
    run_.result.reason = std::move(event.reason);
    best_ = std::move(event.best);
  }

  // The winner that the run named; while it goes on, the best so far.
  void choose_best() {
    auto& result = run_.result;
    for (std::size_t index = 0; index < result.variants.size(); ++index) {
      const auto& variant = result.variants[index];
      if (run_.complete ? variant.id == best_ : variant.score() > (result.best_index ? result.best()->score() : 0))
        result.best_index = index;
    }
  }

 private:
  Run& run_;
  std::string best_;
};

}  // namespace

Run load(const fs::path& folder) {
  const auto path = folder / "journal.jsonl";
  std::error_code none;
  if (!fs::exists(path, none))
    throw base::Error(base::Fault::missing, fmt::format("{} holds no run (there is no journal.jsonl); `cudal1 runs` lists them",
                                                          folder.string()));
  const auto journal = read_journal(path);
  Run run;
  run.folder = folder;
  run.command = read_command(folder);
  Reader reader(run);
  for (const auto& line : journal.lines) {
    auto event = parse_line(line);
    if (run.begun.empty()) run.begun = event.at;
    if (!std::holds_alternative<search::Review>(event.body)) run.complete = std::holds_alternative<StopEvent>(event.body);
    if (run.complete) run.ended = event.at;
    std::visit(reader, event.body);
  }
  if (run.identity.task_name.empty())
    throw base::Error(base::Fault::bad_task, fmt::format("{} does not begin with a run", path.string()));
  if (!run.complete) {
    run.ended.clear();
    run.result.stopped_because = search::Stop::interrupted;
    run.result.reason = "it has not ended";
  }
  reader.choose_best();
  if (auto& review = run.result.review; review && (!run.result.best() || run.result.best()->id != review->id)) review.reset();  // of an earlier winner
  if (fs::exists(folder / "best.cu", none)) run.best_file = (folder / "best.cu").string();
  return run;
}

}  // namespace cudal1::store
