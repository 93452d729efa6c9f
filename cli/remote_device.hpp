// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device_options.hpp"

#include "task/task.hpp"

#include <string>

namespace cudal1::cli {

// "ssh:HOST", "ssh:HOST:cuda:N" or "ssh:HOST:sim": a GPU of another machine, or the simulator there. Throws base::Error: no_device where the machine or
// the GPU cannot be had, usage for a name that cannot be one. The first call copies this program there.
bool names_another_machine(const std::string& device);
DeviceChoice remote_device(const DeviceOptions& options);

// Throws base::Error(bad_task) for a task that needs more than this program there: PyTorch, files, a checker.
void require_portable(const task::Task& task, const DeviceChoice& choice);

// Throws base::Error(usage) for a device of another machine, where a program is run.
void require_here(const DeviceChoice& choice);

// `cudal1 worker inventory`: the GPUs of this machine, for one that asks over ssh.
int print_inventory();

}  // namespace cudal1::cli
