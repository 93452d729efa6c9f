// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/run.hpp"

#include <string>

namespace cudal1::cli {

// The same command, given again, has something left to do after a run stopped for this reason.
bool goes_on(search::Stop stop);

// The command line that goes on with a run: all that it was last given, or for a run of an
// earlier version everything that makes it this run and is not a default. Words that a shell would take apart are quoted.
std::string resume_command(const store::Run& run);

}  // namespace cudal1::cli
