// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cudal1::outcome {

// In the order in which they can happen. On the simulator the last four are printed PREDICTED_….
enum class Verdict {
  unsupported,       // the simulator lacks an instruction: not the variant's fault
  invalid_plan, compile_failed, forbidden_code, stateful, runtime_failed, timeout, wrong_result, tampered,
  sanitizer_failed, implausible,
  dropped,           // screening only: right, but not worth measuring further
  slower, equivalent, inconclusive, faster,
};
std::string name(Verdict verdict, bool predicted = false);       // "WRONG_RESULT", "PREDICTED_FASTER"
std::optional<Verdict> parse_verdict(std::string_view name);     // accepts the PREDICTED_ form
bool is_right(Verdict verdict);                                  // dropped or later: verified correct

enum class Level { screening, final_ };
std::string_view name(Level level);                              // "screening", "final"

// Said beside a verdict.
enum class Label { launch_bound, throttled, specialised, no_oracle, shadow_oracle, not_observable, tenant_suspect, algebraic };
std::string_view name(Label label);
std::optional<Label> parse_label(std::string_view name);

// A ratio reference time / variant time with its interval.
struct Speedup {
  double value = 1, low = 1, high = 1;
};

}  // namespace cudal1::outcome
