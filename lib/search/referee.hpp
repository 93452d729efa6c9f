// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/judge.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::search {

// What the search needs of a judge; judge::Judge behind JudgeReferee, a table of scores in tests.
class Referee {
 public:
  virtual ~Referee() = default;
  virtual const outcome::DeviceFacts& device() = 0;
  virtual const judge::ReferenceFacts& reference() = 0;
  virtual int parallel() const { return 1; }  // threads that may call screen() at once
  virtual outcome::Judgement screen(const std::string& source, const std::string& name) = 0;
  // A variant whose judgement the run remembers.
  virtual void recall(const std::string&, const std::string&, const outcome::Judgement&) {}
  // Empty where times are not measured.
  virtual std::optional<judge::Race> race(const std::vector<judge::Entrant>&) { return {}; }
  virtual outcome::Judgement confirm(const std::string& source, const std::string& name,
                                     const std::map<std::string, std::int64_t>& tunables) = 0;
};

// One judge or several, each alone on its device; devices are alike. For each judge one variant is on the device and one
// is being compiled. Races and final verdicts are the first judge's.
class JudgeReferee final : public Referee {
 public:
  explicit JudgeReferee(std::vector<judge::Judge*> judges) : judges_(std::move(judges)), at_work_(judges_.size()) {}
  const outcome::DeviceFacts& device() override { return judges_.front()->device(); }
  const judge::ReferenceFacts& reference() override { return judges_.front()->reference(); }
  int parallel() const override { return judges_.front()->in_order() ? 1 : 2 * static_cast<int>(judges_.size()); }
  outcome::Judgement screen(const std::string& source, const std::string& name) override;
  void recall(const std::string& source, const std::string& name, const outcome::Judgement& judgement) override {
    judges_.front()->recall(source, name, judgement);
  }
  std::optional<judge::Race> race(const std::vector<judge::Entrant>& entrants) override { return judges_.front()->race(entrants); }
  outcome::Judgement confirm(const std::string& source, const std::string& name,
                             const std::map<std::string, std::int64_t>& tunables) override {
    return judges_.front()->confirm(source, name, tunables);
  }

 private:
  std::vector<judge::Judge*> judges_;
  std::mutex mutex_;
  std::vector<int> at_work_;  // variants with each judge
};

}  // namespace cudal1::search
