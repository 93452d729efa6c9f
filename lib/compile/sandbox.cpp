// SPDX-License-Identifier: Apache-2.0
#include "compile/sandbox.hpp"

#include "base/error.hpp"
#include "compile/compiler.hpp"
#include "sandbox/call_filter.hpp"
#include "sandbox/landlock.hpp"

#include <sys/prctl.h>

namespace cudal1::compile {

SandboxState sandbox_state() {
  SandboxState state;
  const int abi = sandbox::landlock_abi();
  state.available = sandbox::seccomp_available();
  if (!state.available) state.description = "none: this kernel or container refuses seccomp filters";
  else if (abi > 0) state.description = "Landlock ABI " + std::to_string(abi) + ", seccomp";
  else state.description = "seccomp alone: this kernel has no Landlock, so kernels cannot include headers of the CUDA Toolkit";
  return state;
}

bool confine_files(const std::vector<std::filesystem::path>& readable) {
  sandbox::FileRules rules;
  rules.readable = readable;
  return sandbox::confine_files(rules);
}

void confine(const std::vector<std::filesystem::path>& readable) {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // both halves ask for it
  const bool files = confine_files(readable);
  if (!confine_calls(files))
    throw base::Error(base::Fault::usage, "the sandbox for the compiler cannot be set up (" + sandbox_state().description +
                                              "); --no-sandbox compiles without one");
}

}  // namespace cudal1::compile
