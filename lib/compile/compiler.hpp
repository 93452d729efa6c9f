// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "base/diagnostic.hpp"
#include "base/process.hpp"
#include "outcome/binary.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::compile {

struct Request {
  std::string source;                        // the kernel file's whole text
  std::string name;                          // its name in diagnostics and line information
  std::string prelude;                       // constants of tunables, placed in front without shifting line numbers
  std::vector<std::string> kernels;          // name expressions that the plan launches; empty: every __global__ function
  std::string arch = "sm_90a";
  std::vector<std::string> options;          // the task's own; never an answer's
  std::vector<std::filesystem::path> include_folders;  // likewise
  bool cubin = true;
};

// The source's fault, told to the model or user. Not an exception.
struct Rejection {
  enum class Kind { compile_failed, forbidden_code, stateful, time_limit, memory_limit };
  Kind kind = Kind::compile_failed;
  std::string message;                       // one line
  base::Diagnostics diagnostics;
};

struct Compiled {
  outcome::Binary binary;
  base::Diagnostics warnings;
  bool from_cache = false;
  base::Seconds seconds{};                   // spent in NVRTC
};

struct Limits {
  base::Seconds time{30};                    // of up to 24 kernels; of more in proportion to their number
  std::size_t memory_bytes = std::size_t{4} << 30;
};

struct CompilerOptions {
  base::Program worker;                      // this program started as `worker compile`
  Limits limits;
  std::filesystem::path cache_folder;        // empty: no cache
  std::size_t cache_bytes = std::size_t{1} << 30;
  bool sandbox = true;                       // false only after the user said --no-sandbox
  bool killed_throws = false;                // a child that somebody kills is base::Error(internal), not the source's fault
};

// A rejection's diagnostics quote lines of the request's source only: text that NVRTC read from other files never gets
// into them. Device code may keep nothing between launches (Rejection::stateful) and may not use the device's heap,
// start kernels or let a clock decide what it writes (forbidden_code); both are judged on the PTX, so that no spelling in the source hides them.
//
// Compiles in warm, sandboxed child processes (one per concurrent call), with a content-addressed cache on disk whose
// key holds source, options and compiler identity. Safe to call from several threads. Throws base::Error: no_device
// when NVRTC is not found (saying where it was looked for and how to get it), usage when no sandbox can be had.
class Compiler {
 public:
  explicit Compiler(CompilerOptions options);
  ~Compiler();
  tl::expected<Compiled, Rejection> compile(const Request& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where NVRTC was found and what it is; empty path when not found.
struct NvrtcIdentity {
  std::filesystem::path library, builtins;
  int major = 0, minor = 0;                  // as the file names say
  std::filesystem::path include_folder;      // of the same toolkit's headers (cuda_fp16.h, mma.h …); empty: none
  std::vector<std::string> searched;         // one line for each place tried, for `doctor`
};
NvrtcIdentity find_nvrtc();

// What the sandbox of this machine can do: "Landlock ABI 7, seccomp", or why there is none. Without Landlock, seccomp
// alone still is a sandbox, but one in which no header can be opened.
struct SandboxState {
  bool available = false;
  std::string description;
};
SandboxState sandbox_state();

// The child's main loop (`cudal1 worker compile`): answers requests until the channel closes. Returns the exit code.
int worker_main();

}  // namespace cudal1::compile
