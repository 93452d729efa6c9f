// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pytorch/host.hpp"
#include "pytorch/python_process.hpp"
#include "reference/survey.hpp"

#include <mutex>

#include <nlohmann/json.hpp>

namespace cudal1::pytorch {

// What a host keeps of its process and of the open task.
struct Host::State {
  using json = nlohmann::json;

  Options options;
  std::unique_ptr<PythonProcess> worker;
  std::mutex mutex;   // of `worker`, which pause() looks at from another thread
  std::string version;
  json opened, precision, attached;  // requests that opened the task, set its class and lent memory, for a new process
  std::vector<std::string> notes;
  bool has_weights = false;
  std::uint64_t secret = 0;
  std::size_t task_bytes = 0;   // of one set of inputs, weights and outputs
  double made_bytes = 0;        // by a run of the module, in all; 0: not known
  std::size_t share = 0;        // bytes that PyTorch may take of a GPU; 0: all
  nlohmann::json weight;        // of the next tasks, as memory_plan.py has it; null: not known
  std::size_t output_rank = 0;  // of the first output
  bool constant_inputs = false; // some floating input holds a single number
  bool whole_inputs = false;    // some input holds integers or truth values
  bool takes_numbers = false;   // forward takes real numbers by value
  reference::Survey known;      // of the derived line
  json integer_limits;          // of the inputs that may be given their full width, by name

  void start();
  bool start(const std::string& python, std::string& why);
  json ask(const json& request);
  std::vector<Trial> trials(base::Random& random, bool simulated) const;
  json trial_json(const Trial& trial) const;
  void keep(std::unique_ptr<PythonProcess> process) {
    const std::lock_guard lock(mutex);
    worker = std::move(process);
  }
};

}  // namespace cudal1::pytorch
