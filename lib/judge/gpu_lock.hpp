// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace cudal1::judge {

// The file that whoever of this program uses a GPU locks (base::FileLock), so that nothing else runs while times are taken.
std::filesystem::path gpu_lock(const std::string& uuid);

}  // namespace cudal1::judge
