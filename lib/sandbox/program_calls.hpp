// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sandbox/call_filter.hpp"

namespace cudal1::sandbox {

// What the kernel still answers a program that is not trusted. `signals_kept_in`: Landlock or a namespace does so, and
// the program may signal its own processes; otherwise only itself.
struct CallRules {
  bool signals_kept_in = false;
  bool local_sockets = false;
};
void rule(CallFilter& filter, const CallRules& rules);
void rule_commands(CallFilter& filter);   // of one that allows all others
void rule_sockets(CallFilter& filter);

}  // namespace cudal1::sandbox
