// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"

#include <memory>
#include <stop_token>
#include <string>

#include <nlohmann/json.hpp>

namespace cudal1::pytorch {

// One of this part's Python programs, started by the user's interpreter. Private to the part.
class PythonProcess {
 public:
  // `what` names it in messages: "the process that holds PyTorch".
  PythonProcess(const std::string& python, const std::string& program, std::string what);

  // One question. Throws base::Error with what the program refuses, or how it ended; then it is not alive any more.
  nlohmann::json exchange(const nlohmann::json& request, base::Seconds limit, const std::stop_token& stop = {});
  bool alive() const { return alive_; }
  void pause(bool paused) { worker_->pause(paused); }   // from any thread

 private:
  std::string what_;
  std::unique_ptr<base::Worker> worker_;
  bool alive_ = true;
};

}  // namespace cudal1::pytorch
