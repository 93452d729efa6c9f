// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/judgement.hpp"
#include "pytorch/host.hpp"

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace cudal1::judge {

// PyTorch, made ready to be timed while a run goes on. Its process starts and imports at once. Which of its later steps
// use the GPU cannot be told apart from here, so it goes on only while it holds the lock that judgings take, and is
// stopped as soon as one of this process wants the GPU.
class Beside {
 public:
  // Gives a process of PyTorch, or throws base::Error where there is none; called in a thread of its own.
  using Start = std::function<pytorch::Host&(std::stop_token)>;
  struct Module {
    std::string name, source;
    std::vector<std::string> baselines;   // the first may be "best", which stands for none
    bool large = false;                   // uses the GPU once ready() is called, and not before
  };
  // `lock`: the GPU's file.
  Beside(Start start, Module module, std::filesystem::path lock);
  ~Beside();

  struct Leave {
    void operator()(Beside* beside) const { beside->leave(); }
  };
  using Wish = std::unique_ptr<Beside, Leave>;
  Wish wish();                            // for the GPU, to be made before the lock is taken

  // Waits. Without PyTorch there is no host. A baseline that cannot be had says why.
  struct Ready {
    pytorch::Host* host = nullptr;
    std::vector<outcome::BaselineTiming> baselines;
  };
  const Ready& ready();

 private:
  void leave();
  void make_ready(const std::stop_token& stop);
  void prepare(const std::stop_token& stop);
  void take_turns(const std::stop_token& finished);

  const Start start_;
  const Module module_;
  const std::filesystem::path lock_;
  Ready ready_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int wishes_ = 0;
  bool may_use_gpu_;
  std::jthread thread_;
};

}  // namespace cudal1::judge
