// SPDX-License-Identifier: Apache-2.0
#include "base/defence.hpp"
#include "base/digest.hpp"
#include "judge/state.hpp"

namespace cudal1::judge {

// Whether a plan ends depends on its source, its geometry, the device and how long one waits.
std::string Judge::State::hang_key(const std::string& key) const {
  return base::sha256(fmt::format("{}\n{}\n{}\n{}", key, task.digest, facts.name, options.run_limit.count()));
}

void Judge::State::remember_hang(const std::string& key) {
  if (key.empty() || !hung.insert(hang_key(key)).second || options.hangs.empty()) return;
  base::AppendFile(options.hangs).append(hang_key(key) + "\n");
}

std::optional<Rejected> Judge::State::remembered_hang(const std::string& key) const {
  if (!hung.contains(hang_key(key)) || !base::defended(base::Defence::hang_memory)) return std::nullopt;
  Rejected rejected;
  rejected.verdict = outcome::Verdict::timeout;
  rejected.message = "it did not end, or was given up, when it ran before, and is not run again";
  if (!options.hangs.empty())  // by its last two names: a model reads this, too
    rejected.message += fmt::format("; what {}/{} remembers is tried again when that file is removed",
                                    options.hangs.parent_path().filename().string(), options.hangs.filename().string());
  return rejected;
}

}  // namespace cudal1::judge
