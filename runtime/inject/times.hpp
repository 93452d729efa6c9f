// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace cudal1::runtime {

// How long kernels took, by CUPTI's activity records: also of those in graphs.
class Times {
 public:
  struct Total {
    std::uint64_t launches = 0;
    double ms = 0;
  };

  // The reason why there are no times; empty when they come.
  static std::string start();
  // Records of launches that hold nothing new cost more than they say. Both do nothing where times were not started.
  static void pause();
  static void go_on();
  // What has come since the last call, by symbol. `wait`: for everything that was launched.
  static std::map<std::string, Total> take(bool wait);
};

}  // namespace cudal1::runtime
