// SPDX-License-Identifier: Apache-2.0
#include "store/run_folder.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "compile/own_headers.hpp"
#include "kernel/output.hpp"
#include "model/reply_folder.hpp"
#include "store/differences.hpp"
#include "store/event.hpp"
#include "store/folder_lock.hpp"
#include "store/journal.hpp"
#include "store/summary.hpp"
#include "task/module.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace cudal1::store {

namespace fs = std::filesystem;

namespace {

void create(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    throw base::Error(base::Fault::not_written, fmt::format("{} cannot be created: {}; name another folder with --out", folder.string(), problem.message()));
}

void move_aside(const fs::path& folder) {
  std::error_code problem;
  if (!fs::exists(folder, problem)) return;
  if (FolderLock::held(folder))
    throw base::Error(base::Fault::usage, fmt::format("another cudal1 works in {}", folder.string()));
  fs::path plain = folder.has_filename() ? folder : folder.parent_path();
  for (int number = 1;; ++number) {
    const fs::path aside = plain.string() + fmt::format(".{}", number);
    if (fs::exists(aside, problem)) continue;
    fs::rename(plain, aside, problem);
    if (!problem) return;
    throw base::Error(base::Fault::not_written, fmt::format("{} cannot be moved to {}: {}", plain.string(), aside.string(), problem.message()));
  }
}

// A folder of the user's that holds something else is never written into.
void require_empty(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename();
    if (name == "lock" || name == "journal.jsonl") continue;
    throw base::Error(base::Fault::usage, fmt::format("{} is not empty and holds no run (there is {}); name another folder with --out",
                                                      folder.string(), name.string()));
  }
}

void cut_off(const fs::path& file, std::size_t bytes) {
  std::error_code problem;
  fs::resize_file(file, bytes, problem);
  if (problem) throw base::Error(base::Fault::usage, fmt::format("{} cannot be written: {}", file.string(), problem.message()));
}

}  // namespace

struct RunFolder::State {
  State(fs::path where, const task::Task& of) : folder(std::move(where)), task(of) {}

  fs::path folder;
  const task::Task& task;
  std::optional<FolderLock> lock;
  std::optional<base::AppendFile> journal;
  std::set<std::string> written;       // names of events in the journal
  std::string last_line;
  bool resumed = false;
  std::string begun;

  std::optional<search::Start> start;
  std::map<model::Key, ReplyEvent> replies;
  std::map<std::string, outcome::Judgement> judgements, confirmations;
  std::optional<search::Stop> ended;
  int rounds = 0;
  bool ablated = false;
  std::map<int, search::Race> races;
  std::map<std::string, double> scores;   // as they stand after everything that is remembered

  Summary summary;

  void remember(Event event) {
    written.insert(event.name());
    if (std::holds_alternative<search::Review>(event.body)) return;
    ended.reset();
    if (auto* from = std::get_if<search::Start>(&event.body)) start = std::move(*from);
    if (auto* reply = std::get_if<ReplyEvent>(&event.body)) replies.insert_or_assign(reply->key, std::move(*reply));
    if (auto* variant = std::get_if<search::Variant>(&event.body)) {
      ablated = ablated || !variant->reverts.empty();
      if (variant->status == search::Variant::Status::judged) scores[variant->id] = variant->score();
      if (variant->status == search::Variant::Status::judged) judgements[variant->id] = std::move(variant->judgement);
    }
    if (auto* confirmed = std::get_if<ConfirmationEvent>(&event.body)) confirmations[confirmed->id] = std::move(confirmed->judgement);
    if (auto* race = std::get_if<search::Race>(&event.body)) note(std::move(*race));
    if (std::holds_alternative<search::Round>(event.body)) ++rounds;
    if (auto* stop = std::get_if<StopEvent>(&event.body)) ended = stop->because;
  }

  void note(search::Race race) {
    for (const auto& racer : race.racers) scores[racer.id] = racer.speedup.value;
    races.insert_or_assign(race.round, std::move(race));
  }

  // Writes an event unless an earlier execution did. A run may stop several times, but not twice in a row alike.
  void append(Event event) {
    const auto name = event.name();
    const bool stop = name == "stop";
    if (!stop && written.contains(name)) return;
    event.at = base::timestamp();
    const auto line = to_line(event);
    if (stop && !last_line.empty() && without_times(line) == without_times(last_line)) return;
    journal->append(line + '\n');
    last_line = line;
    written.insert(name);
  }

  // Derived files are written where they are missing: a kill may have come between the journal and them.
  void derive(const fs::path& name, std::string_view content) const {
    std::error_code none;
    if (!fs::exists(folder / name, none)) base::write_file(folder / name, content);
  }

  void write_best(const search::Variant* best) {
    const auto path = folder / "best.cu";
    // A module's first right variant is its 1.00, and worth having.
    if (!best || (best->score() <= 1 && !task::is_module(task)) || best->score() <= 0) {
      std::error_code none;
      fs::remove(path, none);
      return;
    }
    const auto parsed = kernel::parse(best->source, best->id + ".cu");
    if (!parsed) return;
    const auto answer = kernel::bind(task.file, *parsed);
    if (!answer) return;
    kernel::Environment tunables;
    for (const auto& [name, value] : best->judgement.tunables) tunables[name] = value;  // what was confirmed, too
    std::vector<std::string> labels;
    for (const auto* list : {&task.workloads, &task.checks})
      for (const auto& workload : *list) labels.push_back(workload.label());
    base::write_file(path, compile::with_own_headers(kernel::output_file(task.file, *answer, tunables)) + kernel::verified_comment(labels));
  }
};

RunFolder::RunFolder(const fs::path& folder, const task::Task& task, const Identity& identity, Existing existing)
    : state_(std::make_unique<State>(folder, task)) {
  if (existing == Existing::again) move_aside(folder);
  create(folder);
  state_->lock.emplace(folder);
  const auto journal = folder / "journal.jsonl";
  JournalText text;
  std::error_code none;
  if (fs::exists(journal, none)) text = read_journal(journal);
  if (text.lines.empty()) {
    require_empty(folder);
  } else {
    state_->resumed = true;
    for (const auto& line : text.lines) {
      auto event = parse_line(line);
      if (const auto* found = std::get_if<Identity>(&event.body)) {
        refuse_differences(folder, *found, identity, existing == Existing::force);
        state_->begun = event.at;
      }
      state_->remember(std::move(event));
    }
    if (!state_->written.contains("run"))
      throw base::Error(base::Fault::bad_task, fmt::format("{} does not begin with a run", journal.string()));
    state_->last_line = text.lines.back();
  }
  if (fs::exists(journal, none)) cut_off(journal, text.valid_bytes);
  state_->journal.emplace(journal);
  if (!state_->resumed) {
    state_->begun = base::timestamp();
    state_->append({state_->begun, identity});
  }
  state_->derive("task.cu", identity.task_source);
  auto& summary = state_->summary;
  summary.folder = folder;
  summary.task = identity.task_name;
  summary.device = identity.device;
  summary.begun = state_->begun;
  summary.models = identity.models;
  write_summary(summary);
}

// A run that ended before its reference had a time (a degenerate task, a kernel that does not compile) leaves nothing.
RunFolder::~RunFolder() {
  if (state_->written.contains("start")) return;
  std::error_code none;
  for (const char* own : {"journal.jsonl", "run.json", "task.cu", "command.json", "lock"}) fs::remove(state_->folder / own, none);
  fs::remove(state_->folder, none);  // stays when it holds anything else
}

const fs::path& RunFolder::path() const { return state_->folder; }
fs::path RunFolder::best_file() const { return state_->folder / "best.cu"; }
bool RunFolder::resumed() const { return state_->resumed; }
std::optional<search::Stop> RunFolder::ended() const { return state_->ended; }
int RunFolder::finished_rounds() const { return state_->rounds; }
bool RunFolder::reviewed(const std::string& id) const { return state_->written.contains("review " + id); }
void RunFolder::note(const search::Review& review) { state_->append({"", review}); }
bool RunFolder::ablated() const { return state_->ablated; }

void RunFolder::started(const search::Start& start) { state_->append({"", start}); }

void RunFolder::asked(const model::Question& question, const std::string& model) {
  AskedEvent asked{question.key, model, {}, question.failure ? question.failure->id : "", question.cut};
  for (const auto& exemplar : question.exemplars) asked.exemplars.push_back(exemplar.id);
  state_->append({"", std::move(asked)});
  state_->derive(fs::path("prompts") / (question.key.text() + ".md"), question.system + "\n\n" + question.user);
}

void RunFolder::replied(const model::Key& key, const std::string& model, const model::Reply& reply) {
  state_->append({"", ReplyEvent{key, model, reply}});
  std::error_code none;
  fs::create_directories(state_->folder / "replies", none);
  const model::ReplyFolder folder(state_->folder);
  if (!folder.read(key)) folder.write(key, reply);
}

void RunFolder::judged(const search::Variant& variant) {
  state_->append({"", variant});
  if (!variant.source.empty()) state_->derive(fs::path("variants") / (variant.id + ".cu"), variant.source);
  if (variant.status != search::Variant::Status::judged) return;
  ++state_->summary.judged;
  state_->scores.emplace(variant.id, variant.score());
}

void RunFolder::improved(const search::Variant& variant) {
  state_->summary.verdict = outcome::name(variant.verdict().verdict, variant.verdict().predicted);
  state_->summary.score = variant.score();
  // A resumed run meets its earlier improvements again; best.cu never steps back to one of them.
  std::error_code none;
  const auto better = [&](const auto& known) { return known.second > state_->scores[variant.id]; };
  if (std::any_of(state_->scores.begin(), state_->scores.end(), better) && fs::exists(best_file(), none)) return;
  state_->write_best(&variant);
}

void RunFolder::raced(const search::Race& race) {
  state_->append({"", race});
  state_->note(race);
}

void RunFolder::round_finished(const search::Round& round) {
  state_->append({"", round});
  state_->summary.rounds = round.round;
  write_summary(state_->summary);
}

void RunFolder::confirmed(const search::Variant& variant) {
  state_->append({"", ConfirmationEvent{variant.id, *variant.confirmation}});
}

void RunFolder::stopped(const search::Result& result) {
  const auto* best = result.best();
  state_->write_best(best);
  state_->append({"", StopEvent{result.stopped_because, result.reason, best ? best->id : "", result.usage}});
  auto& summary = state_->summary;
  summary.rounds = static_cast<int>(result.rounds.size());
  summary.judged = result.judged();
  summary.stopped_because = search::name(result.stopped_because);
  summary.verdict = best ? outcome::name(best->verdict().verdict, best->verdict().predicted) : "";
  summary.score = best ? best->score() : 0;
  write_summary(summary);
}

std::optional<search::Start> RunFolder::start() const { return state_->start; }

std::optional<model::Reply> RunFolder::reply(const model::Key& key) const {
  const auto found = state_->replies.find(key);
  return found == state_->replies.end() ? std::nullopt : std::optional(found->second.reply);
}

std::optional<std::string> RunFolder::model(const model::Key& key) const {
  const auto found = state_->replies.find(key);
  return found == state_->replies.end() ? std::nullopt : std::optional(found->second.model);
}

std::optional<outcome::Judgement> RunFolder::judgement(const std::string& id) const {
  const auto found = state_->judgements.find(id);
  return found == state_->judgements.end() ? std::nullopt : std::optional(found->second);
}

std::optional<search::Race> RunFolder::race(int round) const {
  const auto found = state_->races.find(round);
  return found == state_->races.end() ? std::nullopt : std::optional(found->second);
}

std::optional<outcome::Judgement> RunFolder::confirmation(const std::string& id) const {
  const auto found = state_->confirmations.find(id);
  return found == state_->confirmations.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace cudal1::store
