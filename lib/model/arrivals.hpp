// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace cudal1::model {

// How much of each reply under way has come, for a progress display. Told and asked from any thread.
class Arrivals {
 public:
  void tell(const Key& key, std::size_t reasoning_bytes, std::size_t text_bytes);
  void end(const Key& key);

  // "2 wait for a first token, 1 reasons (about 1400 tokens), 1 writes (about 900 tokens)"; empty: nothing is under way.
  std::string text() const;

 private:
  struct Part {
    std::size_t reasoning = 0, text = 0;
  };
  mutable std::mutex mutex_;
  std::map<Key, Part> parts_;
};

}  // namespace cudal1::model
