// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"

#include <filesystem>
#include <functional>
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
  // The same behind a program of ours that becomes it. Its first message, a reply to nothing, is to be received.
  PythonProcess(const base::Program& launcher, std::string what);

  static std::filesystem::path path(const std::string& program);   // laid out, and compared with what it should be

  // One question. Throws base::Error with what the program refuses, or how it ended. Afterwards it may be alive no more.
  nlohmann::json exchange(const nlohmann::json& request, base::Seconds limit, const std::stop_token& stop = {});
  void send(const nlohmann::json& request);     // a question whose answer is received later
  // `waiting` is called again and again until the answer is there, and says why to wait no longer, or nothing.
  using Waiting = std::function<std::string()>;
  nlohmann::json receive(base::Seconds limit, const std::stop_token& stop = {}, const Waiting& waiting = {});
  base::Seconds used() const;                   // of processors, by it and whatever it started that is still there
  bool ended() const;                           // it runs no more, though what it said may still be received
  bool alive() const { return alive_; }
  void pause(bool paused) { worker_->pause(paused); }   // from any thread
  void pause_group(bool paused);                // and whatever it started, too

 private:
  std::string what_;
  std::unique_ptr<base::Worker> worker_;
  bool sent_ = true, alive_ = true;
};

}  // namespace cudal1::pytorch
