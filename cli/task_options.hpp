// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "device_options.hpp"
#include "gpu_shares.hpp"

#include "pytorch/host.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cudal1::cli {

// Which kernel file or PyTorch module, at which sizes.
struct TaskOptions {
  std::string task;
  std::vector<std::string> set;  // "N=64"
  std::string python;            // interpreter for a module; empty: found by itself
  double time_limit = 0;         // seconds, of one question to PyTorch about a module; 0: PyTorch's own limit
  bool unlimited = false;        // a module of any size also without a GPU: the simulator is not asked to run it
  std::stop_token stop = {};     // ends a question to PyTorch, and its process
};
void add_task_options(Arguments app, TaskOptions& options);
void add_task_settings(Arguments app, TaskOptions& options);  // these but for the task itself

// A task, and the process that holds its module where it is one.
struct OpenTask {
  std::unique_ptr<pytorch::Host> pytorch;
  task::Task task;
  std::vector<pytorch::Defect> defects;   // of a module, once the gate has looked
  double start_seconds = 0;               // that PyTorch took to start; 0 where it was warm
  std::string python;                     // as TaskOptions has it
  std::string drafted;                    // what to say of an ordinary .cu that was drafted; empty: it is a kernel file
};

// The task, checked against the memory of the device or, on the simulator, of this machine. A host that is `warm` is
// used again, and stays the caller's when the task cannot be read. Throws base::Error: bad_input for the file, usage for a --set that is none or where Python lacks PyTorch.
OpenTask open_task(const TaskOptions& options, const DeviceChoice& choice, std::unique_ptr<pytorch::Host>&& warm = nullptr);

// The same on a GPU that tasks share: waits until there is room for this one, and for its turn while PyTorch works.
struct SharedTask {
  GpuShares::Place place;        // left last
  OpenTask open;
  std::optional<std::string> refusal;   // of examine()
  double gate_seconds = 0;       // that it took
};
SharedTask open_shared(const TaskOptions& options, const DeviceChoice& choice, GpuShares& shares, std::unique_ptr<pytorch::Host>&& warm);

// The host to the next task; what it holds of a shared GPU's memory goes before the place does.
void give_back(SharedTask& shared, const DeviceChoice& choice, std::unique_ptr<pytorch::Host>& host);

// An ordinary .cu as a kernel file, where its draft is complete, and what to say of it. Empty for a kernel file. Throws
// base::Error(bad_task) that names what is missing.
struct DraftedSource {
  std::string source, note;
};
std::optional<DraftedSource> drafted_task(const std::string& source, const std::string& name);

// An ordinary .cu given as a variant: its drafted launches and its code, without what is the task's to say. Empty: it is a kernel
// file already, or its draft is not complete, and then its verdict says so.
std::optional<DraftedSource> drafted_variant(const std::string& source, const std::string& name);

// The task gate of a module: finds what makes it a bad measure; the judge says it. Gives the reason why nothing can be
// verified against one, because PyTorch does not agree with itself or its outputs are not finite.
std::optional<std::string> examine(OpenTask& open, const Console& console);

// The same where one task is all there is. Throws base::Error(bad_input) with that reason.
void require_fit(OpenTask& open, const Console& console);

// The values of --set. Throws base::Error(usage).
std::map<std::string, std::int64_t> overrides(const std::vector<std::string>& set);

std::size_t host_memory_bytes();

}  // namespace cudal1::cli
