// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace cudal1::base {

// Why a command ends without its result; cli/exit_codes maps each to the documented exit code.
enum class Fault {
  internal,           // we are wrong
  usage,              // the command line or a configuration file
  credentials,        // missing or refused
  no_device,          // no usable GPU, driver or NVRTC
  no_memory,          // the GPU's or the machine's is full: of one task, where no_device concerns all
  bad_input,          // a kernel given by the user does not compile or verify
  bad_task,           // the task, its reference or a run's journal is not right
  missing,            // a file or folder that was named is not there or cannot be read
  not_written,        // a result cannot be written: a full disk, no permission
  model_unreachable,  // model endpoint or its credit
  resumable,          // stopped early; the same command goes on
};

// Something the user can act on. The message names the thing and the next step in the words of the command line.
// Thrown anywhere, caught once in main. Outcomes of the domain (does not compile, wrong result) are values instead.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& message) : std::runtime_error(message), fault_(fault) {}
  Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

}  // namespace cudal1::base
