// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/compiler.hpp"
#include "judge/messages.hpp"
#include "task/task.hpp"

#include <string>

// What a kernel means and its instructions only approximate: functions of the library, which compilers write as polynomials, and
// decimal numbers, which no float is. For shadows (shadow_oracle.hpp) the kernel is compiled once more with both marked
// (sim/meant.hpp).
namespace cudal1::judge {

// In front of a source: functions that mark what they compute, under the names of the library's.
std::string meant_functions_prelude();

// The source with every float literal in a body or a macro that no float is exactly marked with the number that it means.
std::string with_meant_literals(const std::string& source);

// The PTX of the task's own kernels with both marked, with less where that does not compile; without PTX where nothing does.
outcome::Binary build_meant(const task::Task& task, const kernel::Environment& tunables, const Executable& reference, compile::Compiler& compiler, const std::string& arch);

}  // namespace cudal1::judge
