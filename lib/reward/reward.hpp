// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/verdict.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace cudal1::reward {

// What a trainer is told of one answer. r is the speed-up (reference time over the answer's, geometric mean over the
// workloads), rho its interval's end nearer to 1, so that noise earns nothing.
//
// paper       clip((r' - mean) / deviation, -1.5, 1.5); r' is r rounded to two decimals towards 1.00, and 0 for what is not
//             right. CUDA-L1, arXiv 2507.14111, the smoothed reward in front of GRPO's own standardisation (Eq. 6). Mean and
//             deviation are those of the task's right answers so far, 1 and 1 before there are two.
// log         right: 1 + clip(log rho / log best, -1, 1.5), with the task's best so far, at least 2; wrong 0; not
//             executable -0.2; unreadable -0.3. The logarithm is DRTriton's (arXiv 2603.21465), the steps are our own.
// milestones  not right -1; right 1; faster than the reference 2; faster than the task's best, too, 3: both by 5 %. CUDA
//             Agent, arXiv 2602.24286, where eager PyTorch and torch.compile are the two to beat.
// kevin       right: 0.3 + r; else 0. Kevin-32B, arXiv 2507.11948.
// correct     right 1; else 0.
//
// A cheat earns the shape's least value. An exact copy of what the prompt showed earns what 1.00 does. A screening counts
// at most as jump_limit() until a final verdict has it.
enum class Shape { paper, log, milestones, kevin, correct };
std::string_view name(Shape shape);
std::optional<Shape> parse_shape(std::string_view name);
const std::vector<std::string_view>& shape_names();
inline constexpr Shape usual = Shape::log;

// One line of the judge, as far as it matters.
struct Result {
  bool readable = true, executable = false, right = false;
  bool cheat = false, duplicate = false;
  bool confirmed = false;                        // by a final verdict
  std::optional<outcome::Speedup> speedup;       // of a right one that was timed
};

// The task's right answers before this one.
struct Standing {
  int count = 0;
  double mean = 0, deviation = 0, best = 0;      // of their speed-ups; 0: there are none
};

// What a screening may count for: three times the reference, or twice the task's best.
double jump_limit(const Standing& standing);

// Empty: right, but not timed, and the shape asks how fast.
std::optional<double> value(Shape shape, const Result& result, const Standing& standing);

}  // namespace cudal1::reward
