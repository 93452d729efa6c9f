// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/finding.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::record {

using Bytes = std::vector<std::byte>;

// One parameter of a launch: its bytes, and where they point if they are the address of device memory.
struct Parameter {
  Bytes bytes;
  struct Target {
    std::size_t offset = 0;           // in `bytes`: 0, unless a structure holds the pointer
    std::uint64_t allocation = 0;     // its address
    std::uint64_t at = 0;             // bytes from its start
  };
  std::vector<Target> targets;
};

struct Launch {
  std::size_t number = 0;             // in the program's run, from 1
  std::string symbol, kernel;         // as linked, and as C++ writes it: "ns::scale<float, 4>"
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<Parameter> parameters;
  std::uint64_t buffer_bytes = 0;     // of the memory that its pointers lie in
  double work = 0;                    // what its time is taken to be proportional to; ms where it was measured
};

// What a piece of device memory held before the first and after the last launch that is kept.
struct Memory {
  std::uint64_t address = 0;
  Bytes before, after;
  bool known_before = true;           // every byte had been written by then
};

// A `__device__` or `__constant__` variable then.
struct Variable {
  std::string symbol;
  Bytes before, after;
};

// Launches that follow each other, with the memory that they reach.
struct Kept {
  std::vector<Launch> launches;
  std::map<std::uint64_t, Memory> memory;  // by address
  std::vector<Variable> variables;
  double ms = 0;                           // predicted, or measured
  std::string why_not;                     // why no task can be made of it: one sentence
  std::string suspicion;                   // what is said where its kernel does not run by itself: one sentence
};

// All launches of one kernel.
struct KernelTotal {
  std::string kernel;
  std::size_t launches = 0, first = 0;     // the number of its first launch
  double work = 0;
  std::uint64_t buffer_bytes = 0;          // of its largest launch
};

// What a program did on its device.
struct Recording {
  std::string program, device;
  bool predicted = true;                   // times come from the simulator's model
  std::vector<KernelTotal> kernels;        // in order of their first launch
  std::size_t launches = 0;
  std::map<std::string, Kept> kept;        // by kernel; what was chosen stands under ""
  double kept_seconds = 0;                 // that the program waited for it, on a GPU
  std::vector<outcome::Finding> findings;  // faults of the program's own kernels
  std::vector<std::string> problems;       // one sentence each, about what was missing here

  // Milliseconds of all launches of a kernel: what was kept is known, the others in proportion to their work.
  double ms(const KernelTotal& total) const;
};

// "void ns::k<float, (int)4>(float*, int)" → "ns::k<float, 4>"; an unmangled symbol stays.
std::string kernel_name(const std::string& symbol);

}  // namespace cudal1::record
