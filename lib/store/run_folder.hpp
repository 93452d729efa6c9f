// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/observer.hpp"
#include "store/identity.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::store {

// A run on disk. The journal (one flushed JSON line per event) is the truth; every other file is derived from it:
//   run.json                    identity and state
//   task.cu                     the task as it was
//   prompts/r01-s02.md          as sent
//   replies/r01-s02.md          as received (model/reply_folder.hpp)
//   variants/r01-s02.cu         the answer's kernel file
//   best.cu                     the best verified variant so far, with its host launch function
// One process at a time works in a folder. As an observer it writes what is new; as a recall it knows what was.
class RunFolder final : public search::Observer, public search::Recall {
 public:
  enum class Existing {
    resume,  // go on; refuse a folder of another identity, naming each difference
    force,   // go on even if driver, version or device differ; another task is still refused
    again,   // move the old run aside to `<folder>.1`, `.2` … and start afresh
  };

  // Creates the folder, or opens the run that is there. Throws base::Error(usage): the place cannot be written, another
  // process works in it, the folder is not empty and no run, or it belongs to another run.
  RunFolder(const std::filesystem::path& folder, const task::Task& task, const Identity& identity,
            Existing existing = Existing::resume);
  ~RunFolder() override;

  const std::filesystem::path& path() const;
  std::filesystem::path best_file() const;           // best.cu, whether it exists or not
  bool resumed() const;                              // there was a journal
  // How the last execution ended; empty for a new run or one that was killed. A run that ended with Stop::rounds after
  // `rounds` rounds or more has nothing left to do.
  std::optional<search::Stop> ended() const;
  int finished_rounds() const;
  bool reviewed(const std::string& id) const;  // that variant, by this or an earlier execution
  void note(const search::Review& review);
  bool ablated() const;                              // some winner's techniques were taken out again

  void started(const search::Start& start) override;
  void asked(const model::Question& question, const std::string& model) override;
  void replied(const model::Key& key, const std::string& model, const model::Reply& reply) override;
  void judged(const search::Variant& variant) override;
  void improved(const search::Variant& variant) override;
  void raced(const search::Race& race) override;
  void round_finished(const search::Round& round) override;
  void confirmed(const search::Variant& variant) override;
  void stopped(const search::Result& result) override;

  std::optional<search::Start> start() const override;
  std::optional<model::Reply> reply(const model::Key& key) const override;
  std::optional<std::string> model(const model::Key& key) const override;
  std::optional<outcome::Judgement> judgement(const std::string& id) const override;
  std::optional<search::Race> race(int round) const override;
  std::optional<outcome::Judgement> confirmation(const std::string& id) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cudal1::store
