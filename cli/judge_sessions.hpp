// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_options.hpp"
#include "workbench.hpp"

#include "base/clock.hpp"
#include "docket/docket.hpp"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace cudal1::cli {

// What `cudal1 judge` and `cudal1 serve` judge with.
struct JudgeSessionsOptions {
  DeviceOptions device;
  WorkbenchOptions workbench;
  std::string python, store;
  bool counters = false;
  int jobs = 0;            // places: 0: every GPU, or a simulator for each core
  int sessions = 8;        // open tasks of a place
  int queue = 4096;
};
JudgeSessionsOptions usual_judge_sessions();   // short screenings: what is judged is many
void add_judge_sessions_options(Arguments app, JudgeSessionsOptions& options);

// The devices, one compiler for all, and how a task is opened. Must outlive the docket.
class JudgeSessions {
 public:
  // Throws base::Error as choose_devices does, and when there is no compiler.
  JudgeSessions(const JudgeSessionsOptions& options, const Console& console);

  docket::Limits limits() const;
  docket::Opener opener();
  docket::Exemplars exemplars() const;
  std::string device() const { return places_.front().identity(); }
  std::size_t places() const { return places_.size(); }

 private:
  // When other programs were last looked for on a device, so that not every task that is opened does: once a minute, and
  // each time while there are some.
  class Tenants {
   public:
    bool due(const std::string& device);
    void look_again(const std::string& device);

   private:
    std::mutex mutex_;
    std::map<std::string, base::Seconds> looked_;
  };

  JudgeSessionsOptions options_;
  std::vector<DeviceChoice> places_;
  compile::Compiler compiler_;
  Tenants tenants_;
};

}  // namespace cudal1::cli
