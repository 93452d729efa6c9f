// SPDX-License-Identifier: Apache-2.0
// timed_answers CUDAL1 PYTHON TASK RIVAL_MS[/IDLE_S] ANSWER…: judges answers with times, on a processor and against a rival that always takes
// RIVAL_MS; one that does nothing for IDLE_S seconds is ended. One line of JSON for each. CUDAL1_WITHOUT names defences, with commas, that
// it judges without.
#include "base/defence.hpp"
#include "base/error.hpp"
#include "judge/answer.hpp"
#include "pytorch/host.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace cudal1;

namespace cudal1::base {

// In place of the library's own, which has no switch.
bool defended(Defence defence) {
  const char* without = std::getenv("CUDAL1_WITHOUT");
  return without == nullptr || std::string_view(without).find(defence_names[static_cast<std::size_t>(defence)]) == std::string_view::npos;
}

}  // namespace cudal1::base

int main(int argc, char** argv) try {
  if (argc < 6) return 2;
  pytorch::Options options;
  options.python = argv[2];
  pytorch::Host host(options);
  const task::Task task = host.open(argv[3], {}, std::size_t{1} << 30);
  judge::AnswerOptions asked;
  asked.process.worker = {argv[1], {"worker", "answer"}};
  asked.process.python = argv[2];
  asked.process.device = "cpu";
  asked.baselines = {"eager"};
  asked.final_pairs = std::getenv("CUDAL1_WITHOUT") == nullptr ? 12 : 4;
  const double ms = std::atof(argv[4]);
  if (const char* idle = std::strchr(argv[4], '/')) asked.process.idle_limit = base::Seconds(std::atof(idle + 1));
  asked.rival = [ms](const std::vector<std::string>& order) { return std::vector<double>(order.size(), ms); };
  for (int i = 5; i < argc; ++i) {
    const outcome::Judgement judgement = judge::judge_answer(host, task, argv[i], asked);
    const nlohmann::json line = {{"verdict", outcome::name(judgement.verdict)}, {"message", judgement.message}, {"seconds", judgement.seconds}};
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
  }
  return 0;
} catch (const base::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
