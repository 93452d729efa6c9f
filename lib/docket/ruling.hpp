// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/request.hpp"

#include "outcome/judgement.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudal1::docket {

// Why there is no verdict. None of these says anything about the answer.
enum class Fault {
  none,
  request,      // the line cannot be read
  task,         // the task or its reference is not right
  worker,       // a process of ours died or could not be started, twice
  unsupported,  // the simulator lacks something that the answer uses
  busy,         // something else used the GPU while it was timed, twice
  deadline,     // the caller's; the work goes on, and the same question joins it
  closed,       // the program ends
};
std::string_view name(Fault fault);

// What became of one request.
struct Ruling {
  std::string id = "null";                        // the request's own, as JSON
  std::string group, task;                        // the task's name; empty where it was never opened
  std::string task_sha256, fingerprint;           // of the task's text and sizes, of the answer
  std::string task_key;                           // of the session that serves it
  std::string device;                             // "sim:H200", "NVIDIA H200"
  Mode mode = Mode::screen;                       // how far it was asked for
  Fault fault = Fault::none;
  std::string reason;                             // of the fault, or why the answer cannot be read: one sentence
  bool readable = true;                           // there is a kernel file in the answer
  bool compiled = false;                          // mode compile, and it does
  std::optional<outcome::Judgement> judgement;    // empty: a fault, unreadable, or compiled and no more
  bool cached = false;                            // nothing was done for it
  std::string same_as;                            // id of the first equal answer, as JSON; empty: this is the first
  bool duplicate = false;                         // of what its prompt showed
  std::optional<reward::Shape> rewarded;          // what was asked for
  std::optional<double> reward;                   // empty: a fault, not asked, or not timed
  double queue_seconds = 0, work_seconds = 0;

  bool executable() const;                        // it ran to its end, or, of mode compile, compiles
  bool right() const;
  bool cheat() const;                             // forbidden code, kept state, forged outputs or times, foreign memory
  reward::Result result() const;
  std::string verdict() const;                    // "PREDICTED_FASTER", "UNREADABLE", "COMPILED"; empty with a fault
};

// One line of JSON without a newline; cudal1-judge(7). `brief`: without the judgement's evidence.
std::string to_line(const Ruling& ruling, bool brief);

}  // namespace cudal1::docket
