// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

// Every command, in the order of the help text; the command x is declared by add_x in x.cpp.
#define CUDAL1_COMMANDS(command) \
  command(optimize)              \
  command(sweep)                 \
  command(report)                \
  command(watch)                 \
  command(runs)                  \
  command(init)                  \
  command(record)                \
  command(prompt)                \
  command(verify)                \
  command(bench)                 \
  command(judge)                 \
  command(compile)               \
  command(plan)                  \
  command(tune)                  \
  command(dispatch)              \
  command(mcp)                   \
  command(serve)                 \
  command(tasks)                 \
  command(dataset)               \
  command(devices)               \
  command(models)                \
  command(config)                \
  command(doctor)                \
  command(completion)            \
  command(help)

namespace cudal1::cli {

#define CUDAL1_DECLARE(name) void add_##name(CommandLine& line);
CUDAL1_COMMANDS(CUDAL1_DECLARE)
#undef CUDAL1_DECLARE

void add_commands(CommandLine& line) {
#define CUDAL1_ADD(name) add_##name(line);
  CUDAL1_COMMANDS(CUDAL1_ADD)
#undef CUDAL1_ADD
}

}  // namespace cudal1::cli
