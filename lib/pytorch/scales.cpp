// SPDX-License-Identifier: Apache-2.0
#include "pytorch/scales.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "pytorch/python_process.hpp"

namespace cudal1::pytorch {

namespace {

constexpr base::Seconds limit{120};   // imports from a cold disk

}  // namespace

struct Scales::State {
  std::unique_ptr<PythonProcess> process;
};

Scales::Scales() : state_(std::make_unique<State>()) {}
Scales::~Scales() = default;

std::optional<Weight> Scales::weigh(const std::string& python, const std::filesystem::path& path, const std::map<std::string, std::int64_t>& overrides,
                                    const std::stop_token& stop) {
  const std::string source = base::read_file(path, std::size_t{16} << 20);
  const std::lock_guard lock(mutex_);
  try {
    if (!state_->process || !state_->process->alive())
      state_->process = std::make_unique<PythonProcess>(python, "task_weight.py", "the process that weighs tasks");
    const auto told = state_->process->exchange({{"do", "weigh"}, {"path", path.string()}, {"source", source}, {"set", nlohmann::json(overrides)}}, limit, stop);
    if (told.contains("set")) return Weight{told.at("set"), told.at("beside"), told.at("operations"), told.at("made")};
  } catch (const base::Error&) {   // what cannot be weighed is not known; the task itself says what is wrong with it
  }
  return std::nullopt;
}

}  // namespace cudal1::pytorch
