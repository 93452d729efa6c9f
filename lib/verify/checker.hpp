// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/checker.hpp"
#include "reference/buffers.hpp"
#include "task/task.hpp"

#include <string>
#include <vector>

namespace cudal1::verify {

// Has the user's checker look at what a plan left in `buffers`, in a process of its own: it gets a folder with sizes.json,
// NAME.npy for every input, NAME.npy for every output and NAME.before.npy for what an inout held. Empty when it ends
// with 0; otherwise its reason in one line. Throws base::Error when it cannot be started or does not end.
std::string ask(const kernel::Checker& checker, const kernel::File& task, const task::Workload& workload,
                const std::vector<reference::Bytes>& inputs, const reference::Buffers& buffers);

}  // namespace cudal1::verify
