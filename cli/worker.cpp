// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include "remote_device.hpp"

#include "compile/compiler.hpp"
#include "judge/judge.hpp"
#include "pytorch/answer_worker.hpp"
#include "remote/relay.hpp"

#include <csignal>
#include <string_view>

namespace cudal1::cli {

std::optional<int> worker_main(int argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "worker") return std::nullopt;
  const std::string_view kind = argv[2];
  // What ends a run in order is the parent's: it lets the variant at hand be finished, also where a job scheduler signals every
  // process of a job. Workers are killed, and die with their parent.
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
  if (kind == "relay" && argc == 4) return remote::relay_main(argv[3], {judge::ends_worker, judge::is_answer, judge::still_at_it});
  if (kind == "attach" && argc >= 4) return remote::attach_main(argv[3], argc == 5, worker_program("device"));
  if (kind == "inventory") return print_inventory();
  if (kind == "compile") return compile::worker_main();
  if (kind == "device") return judge::worker_main();
  if (kind == "answer") return pytorch::answer_worker_main();
  return std::nullopt;
}

base::Program relay_program(const std::string& host) { return {base::own_executable(), {"worker", "relay", host}}; }

base::Program worker_program(const std::string& kind) { return {base::own_executable(), {"worker", kind}}; }

}  // namespace cudal1::cli
