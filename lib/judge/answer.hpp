// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"
#include "outcome/judgement.hpp"
#include "outcome/precision.hpp"
#include "pytorch/answer.hpp"
#include "pytorch/host.hpp"
#include "task/task.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cudal1::judge {

struct AnswerOptions {
  pytorch::Answer::Options process;
  std::map<std::string, std::int64_t> overrides;
  std::vector<std::string> baselines;   // of PyTorch, as judge::Options has them; on a GPU only
  outcome::Precision precision = outcome::Precision::reference;
  std::size_t final_pairs = 24;         // with every baseline, in each process
  bool untimed = false;                 // only whether it is right: verifications of several share the GPU
  outcome::DeviceFacts facts;           // of the GPU
  std::filesystem::path gpu_lock;       // held while PyTorch or the answer runs; not while its extensions are built. Empty: none
  std::function<void(const std::string& step)> progress;   // what begins; may be empty
  // Instead of PyTorch's own times, one for each name, and then the answer is timed on a processor too. For tests.
  std::function<std::vector<double>(const std::vector<std::string>& order)> rival;
};

// A published ModelNew against the module that `host` has open: verified on fresh inputs and two sets of weights and, on a
// GPU, timed in turns with PyTorch, in two processes of its own. Never throws for what is the answer's fault.
outcome::Judgement judge_answer(pytorch::Host& host, const task::Task& task, const std::filesystem::path& answer,
                                const AnswerOptions& options);

}  // namespace cudal1::judge
