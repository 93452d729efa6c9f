// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/judge.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace cudal1::search {

// What the search needs of a judge; judge::Judge behind JudgeReferee, a table of scores in tests.
class Referee {
 public:
  virtual ~Referee() = default;
  virtual const outcome::DeviceFacts& device() = 0;
  virtual const judge::ReferenceFacts& reference() = 0;
  virtual outcome::Judgement screen(const std::string& source, const std::string& name) = 0;
  virtual outcome::Judgement confirm(const std::string& source, const std::string& name,
                                     const std::map<std::string, std::int64_t>& tunables) = 0;
};

class JudgeReferee final : public Referee {
 public:
  explicit JudgeReferee(judge::Judge& judge) : judge_(judge) {}
  const outcome::DeviceFacts& device() override { return judge_.device(); }
  const judge::ReferenceFacts& reference() override { return judge_.reference(); }
  outcome::Judgement screen(const std::string& source, const std::string& name) override {
    return judge_.screen(source, name);
  }
  outcome::Judgement confirm(const std::string& source, const std::string& name,
                             const std::map<std::string, std::int64_t>& tunables) override {
    return judge_.confirm(source, name, tunables);
  }

 private:
  judge::Judge& judge_;
};

}  // namespace cudal1::search
