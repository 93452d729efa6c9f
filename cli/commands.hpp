// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command_line.hpp"

namespace cudal1::cli {

void add_commands(CommandLine& line);

}  // namespace cudal1::cli
