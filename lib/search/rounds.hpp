// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/asker.hpp"
#include "search/budget.hpp"
#include "search/questions.hpp"
#include "search/screening.hpp"
#include "search/search.hpp"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace cudal1::search {

// One execution of the contrastive rounds; see search.hpp.
class Rounds {
 public:
  Rounds(const task::Task& task, Referee& referee, const std::vector<model::Model*>& models,
         const prompt::Templates& templates, const Options& options, Observer& observer, const Recall& recall,
         std::stop_token stop);
  Result run();

 private:
  void begin();
  void play_start();  // round 0, by the model that the search starts from
  void play(int round);
  // Waits for the replies of one batch and judges them in order. Returns the answers that deserve a repair.
  std::vector<std::size_t> process(std::vector<Asked>& batch);
  std::vector<std::size_t> process_in_order(std::vector<Asked>& batch);
  void take(Asked& asked);
  void screen_early(const Asked& asked);  // before its turn: what is judged does not depend on when
  // Tells of variants in order, each once its judgement is there, until at most `most` are left open.
  void enter(Variant variant);
  void settle(std::size_t most);
  void tell(Variant variant);
  void race(int round, std::size_t first_variant);  // what the round's screenings could not tell apart
  void finish_round(int round, std::size_t first_variant);
  void ablate();  // takes the winner's techniques out again
  void check_limits();
  void stop(Stop because, std::string reason);

  Referee& referee_;
  const Options& options_;
  Observer& observer_;
  const Recall& recall_;
  std::stop_token stop_;

  base::Seconds began_ = base::now();
  Budget budget_;
  Result result_;
  Questions questions_;
  Asker asker_;
  Screening screening_;
  bool stopped_ = false;
  bool ablating_ = false;
  double best_score_ = 0;
  int exhausted_ = 0;                                // of the batch
  std::deque<Variant> open_;                         // taken and not yet told
  std::map<std::string, std::string> fingerprints_;  // → id of the first variant with it
};

// Final verdicts, best first, until one holds. Sets each one's confirmation and the result's best. False: the stop or
// the number of confirmations cut it short.
bool confirm_best(Result& result, Referee& referee, const Options& options, Observer& observer, const Recall& recall,
                  const std::stop_token& stop);

}  // namespace cudal1::search
