// SPDX-License-Identifier: Apache-2.0
#include "search/referee.hpp"

#include <algorithm>
#include <memory>

namespace cudal1::search {

outcome::Judgement JudgeReferee::screen(const std::string& source, const std::string& name) {
  std::unique_lock lock(mutex_);
  const auto least = std::min_element(at_work_.begin(), at_work_.end());
  ++*least;
  lock.unlock();
  const auto leave = [this](int* at_work) {
    const std::lock_guard guard(mutex_);
    --*at_work;
  };
  const std::unique_ptr<int, decltype(leave)> place(&*least, leave);
  return judges_[static_cast<std::size_t>(least - at_work_.begin())]->screen(source, name);
}

}  // namespace cudal1::search
