// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include "compile/compiler.hpp"
#include "judge/judge.hpp"
#include "pytorch/answer_worker.hpp"

#include <csignal>
#include <string_view>

namespace cudal1::cli {

std::optional<int> worker_main(int argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "worker") return std::nullopt;
  const std::string_view kind = argv[2];
  // What ends a run in order is the parent's: it lets the variant at hand be finished, also where a job scheduler signals every
  // process of a job. Workers are killed, and die with their parent.
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
  if (kind == "compile") return compile::worker_main();
  if (kind == "device") return judge::worker_main();
  if (kind == "answer") return pytorch::answer_worker_main();
  return std::nullopt;
}

base::Program worker_program(const std::string& kind) { return {base::own_executable(), {"worker", kind}}; }

}  // namespace cudal1::cli
