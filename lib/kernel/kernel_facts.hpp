// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/kernel_source.hpp"
#include "kernel/polynomial.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

// What a kernel's text shows of the elements behind a pointer parameter.
struct PointerFacts {
  std::vector<Polynomial> extents;   // one past the largest index of each access, over the kernel's own names
  std::vector<Polynomial> strides;   // by which those indices are counted, the largest first
  bool unknown = false;              // some access has no bound that the text shows
  bool read = false, written = false, read_first = false;
  bool certain = false;              // some write depends on no data
  bool atomic = false;
  bool index = false;                // its values are indices: 0 up to an atom "@name"
  bool offsets = false;              // of them neighbours are compared, as row pointers are
};

struct KernelFacts {
  std::map<std::string, PointerFacts> pointers;
  // Of a kernel that nothing launches: threads of a block, and blocks, where the text shows them.
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::array<std::optional<Polynomial>, 3> grid;
  int dimensions = 1;
};

// Where a launch is known, `grid` and `block` are its extents as polynomials over the kernel's parameters and other names.
struct KnownLaunch {
  std::array<Polynomial, 3> grid{Polynomial::constant(1), Polynomial::constant(1), Polynomial::constant(1)};
  std::array<Polynomial, 3> block{Polynomial::constant(1), Polynomial::constant(1), Polynomial::constant(1)};
};

// Reads the body of `kernel` in `source`: index arithmetic, guards, loops and pointers made of the parameters. `constants`
// are template arguments and parameters whose values are known; `block` are the threads of a launch whose blocks are not. What it cannot follow is unknown, never guessed.
KernelFacts kernel_facts(const KernelSource& source, std::string_view kernel, const std::map<std::string, Polynomial>& constants,
                         const std::optional<KnownLaunch>& launch, const std::optional<std::array<std::int64_t, 3>>& block = std::nullopt);

}  // namespace cudal1::kernel
