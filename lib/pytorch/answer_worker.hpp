// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudal1::pytorch {

// The main of `cudal1 worker answer`: confines itself as its first message says, before there is a thread, and becomes
// the Python program that runs an answer. Returns the exit code.
int answer_worker_main();

}  // namespace cudal1::pytorch
