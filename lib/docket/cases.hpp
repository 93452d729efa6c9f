// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/request.hpp"

#include "outcome/judgement.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace cudal1::docket {

// A verdict that needs no execution.
bool by_compiling(const outcome::Judgement& judgement);

// What is known about answers that were judged, so that an equal one costs nothing. Bounded: the oldest are forgotten.
class Cases {
 public:
  explicit Cases(std::size_t most = 65536) : most_(most) {}

  struct Known {
    std::string first;                            // id of the request that it was judged for
    std::optional<outcome::Judgement> judgement;  // empty: it compiles, and more was not asked
  };
  // What answers a request of this mode: a judgement of it or of a later one, or an earlier one that says why it is not
  // right.
  std::optional<Known> find(const std::string& key, Mode mode) const;
  std::optional<outcome::Judgement> screened(const std::string& key) const;   // of a right one, for a final verdict

  void remember(const std::string& key, Mode mode, const std::string& first, const std::optional<outcome::Judgement>& judgement);

 private:
  struct Case {
    std::string first;
    std::map<Mode, std::optional<outcome::Judgement>> by_mode;
  };
  std::size_t most_;
  std::map<std::string, Case> cases_;
  std::deque<std::string> order_;
};

}  // namespace cudal1::docket
