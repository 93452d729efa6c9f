// SPDX-License-Identifier: Apache-2.0
// playbook_sources GPU,GPU… FOLDER TASK…: every kernel file that the playbook offers for the tasks, rewritten kernels of theirs included,
// as it is made for each GPU in each class of precision, with what the choice between them is made from: FOLDER/GPU/PRECISION/TASK.txt. What a restructuring
// may not change: diff -r says whether it did.
#include "base/file.hpp"
#include "playbook/candidate.hpp"
#include "sim/sim.hpp"
#include "task/task.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <sstream>
#include <string>

#include <fmt/format.h>

using namespace cudal1;

namespace {

std::string sources(const task::Task& task, outcome::Precision precision, const outcome::DeviceFacts& gpu) {
  const playbook::Candidates candidates = playbook::candidates_for(task, precision, gpu);
  std::string text = candidates.refusal.empty() ? "" : fmt::format("refusal: {}\n", candidates.refusal);
  for (const auto* list : {&candidates.list, &candidates.own})
    for (const playbook::Candidate& candidate : *list) {
      text += fmt::format("==== {}: {} bytes, {} slowed, {} operations, {} kernels, simple {}, {} s\n", candidate.id, candidate.total.moved,
                          candidate.total.bytes, candidate.total.operations, candidate.kernels, candidate.simple,
                          playbook::expected_seconds(candidate, gpu));
      for (const outcome::AppliedTechnique& each : candidate.techniques) text += fmt::format("---- {}: {}\n", name(each.technique), each.sentence);
      text += candidate.source;
    }
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    std::istringstream gpus(count > 2 ? arguments[1] : "");
    for (std::string gpu; std::getline(gpus, gpu, ',');)
      for (const outcome::Precision precision : {outcome::Precision::fp32, outcome::Precision::tf32, outcome::Precision::half})
        for (int i = 3; i < count; ++i) {
          const std::filesystem::path path = arguments[i];
          const auto folder = std::filesystem::path(arguments[2]) / gpu / std::string(name(precision));
          std::filesystem::create_directories(folder);
          const std::string file = fmt::format("{}-{}.txt", path.parent_path().filename().string(), path.stem().string());
          base::write_file(folder / file, sources(task::load(path), precision, sim::gpu(gpu)));
        }
  } catch (const std::exception& problem) {
    fmt::print(stderr, "playbook_sources: {}\n", problem.what());
    return 1;
  }
}
