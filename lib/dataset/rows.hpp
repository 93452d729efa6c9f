// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prompt/templates.hpp"
#include "store/run.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::dataset {

enum class Purpose {
  sft,         // every right answer
  contrast,    // two answers with their scores → a right one that is faster than both
  preference,  // a right answer, and a wrong or slower one to the same prompt
  grpo,        // prompts alone
};
enum class Engine { trl, verl, openrlhf };
enum class Style { full, compact };   // prompts of `optimize`, or those of prompt/compact.hpp with the kernel file as the answer

struct Options {
  Purpose purpose = Purpose::sft;
  Engine engine = Engine::trl;
  Style style = Style::full;
  std::string split = "train";        // rows of other structures are left out: "train", "test", "all"
  std::size_t most = 4;               // right answers of a task with one set of techniques
  std::size_t longest = 0;            // bytes of an answer; 0: any
  std::uint64_t seed = 1;
};

std::optional<Purpose> parse_purpose(const std::string& name);
std::optional<Engine> parse_engine(const std::string& name);

// False where a good answer to a run's task needs no work (a constant output, an input that moves nothing): a sweep judges such tasks, too.
bool is_measure(const store::Run& run);

// Rows as lines of JSON with the same fields in each, from runs read back. Equal answers to a task occur once. Throws base::Error(bad_task) for a run
// whose task cannot be read.
struct Rows {
  std::vector<std::string> lines;
  std::size_t tasks = 0, other_split = 0, no_measure = 0;   // runs: with rows; left out for their split, or because is_measure() is false
};
Rows rows(const std::vector<store::Run>& runs, const prompt::Templates& templates, const Options& options);

// A task of Harbor's for a run's task, as files by path: instruction, settings, container and the test that judges.
std::map<std::string, std::string> harbor_task(const store::Run& run, const prompt::Templates& templates);

}  // namespace cudal1::dataset
