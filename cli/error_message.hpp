// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exit_codes.hpp"

#include <string_view>
#include <vector>

namespace cudal1::cli {

// Says why a command ends without its result: in words on standard error, as a line of JSON there with --progress json,
// and with --json as one object on standard output too. `words` are the command line, which may be what is wrong.
void print_error(const std::vector<std::string_view>& words, std::string_view message, ExitCode code);

}  // namespace cudal1::cli
