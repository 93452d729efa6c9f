// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"

#include <functional>
#include <string>

// A worker of this program on another machine. Here a relay stands for it, with the worker's own channel to its parent; there a keeper holds it, and
// outlives connections: `attach` is what ssh starts there, and only passes bytes on.
namespace cudal1::remote {

// What a relay must know of the messages that it carries.
struct Talk {
  std::function<bool(const std::string& message)> ends_worker;           // a job after which there is nothing to wait for
  std::function<bool(const std::string& message)> answers;               // a reply that the parent waits for, rather than word on the way
  std::function<std::string(const std::string& last)> sign_of_life;      // what the parent hears instead while the connection is made again
};

// `cudal1 worker relay HOST`: the parent's worker. Returns the exit code of the worker there; ends by the same signal.
int relay_main(const std::string& host, const Talk& talk);

// `cudal1 worker attach SESSION [new]`, over ssh: connects standard input and output with the session's keeper, which `new` starts.
// Returns session_gone where there is no keeper (any more).
constexpr int session_gone = 3;
int attach_main(const std::string& session, bool may_start, const base::Program& worker);

// Longest time without a connection, for both sides: CUDAL1_SSH_PATIENCE, seconds.
base::Seconds patience();

}  // namespace cudal1::remote
