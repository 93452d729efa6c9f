// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "base/process.hpp"
#include "judge/messages.hpp"

#include <memory>
#include <optional>
#include <string>

namespace cudal1::judge {

// The parent's side of a device worker: starts it, asks, watches the clock, kills. The parent waits for one answer at
// a time.
class DeviceHost {
 public:
  // One that stands for a worker `elsewhere` is told that it is not wanted before it is killed, because it has to pass that on.
  explicit DeviceHost(base::Program worker, bool elsewhere = false) : program_(std::move(worker)), elsewhere_(elsewhere) {}
  ~DeviceHost() { stop(); }
  DeviceHost(const DeviceHost&) = delete;
  DeviceHost& operator=(const DeviceHost&) = delete;

  struct Answer {
    std::optional<Reply> reply;   // empty: no answer came
    bool timed_out = false;       // an execution took longer than the limit, and the worker was killed
    std::string last_words;       // of a worker that died: one line
  };
  // `execution` limits one execution on the device, `host` everything else between two messages. Starts the worker when
  // none is alive. Throws base::Error for what a worker reports as its own or the user's fault.
  Answer ask(const Job& job, base::Seconds execution, base::Seconds host);

  bool alive() const { return worker_ != nullptr; }
  base::WorkerEnd finish();       // lets the worker end by itself, for a tool around it to say its last word
  void stop();                    // at once; the next ask() starts a fresh process
  int started() const { return started_; }

 private:
  base::Program program_;
  std::unique_ptr<base::Worker> worker_;
  bool elsewhere_;
  int started_ = 0;
};

}  // namespace cudal1::judge
