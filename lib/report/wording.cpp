// SPDX-License-Identifier: Apache-2.0
#include "report/wording.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

std::string element(const char* which, const outcome::WrongElement& wrong) {
  return fmt::format("{} wrong element: {}[{}] is {:.9g}, expected {:.9g}\n", which, wrong.output,
                     fmt::join(wrong.index, ", "), wrong.got, wrong.expected);
}

}  // namespace

std::string ratio(double value) { return fmt::format("{:.{}f}x", value, value >= 100 ? 0 : value >= 10 ? 1 : 2); }

std::string milliseconds(double ms) {
  if (ms <= 0) return "";
  const int digits = std::clamp(3 - static_cast<int>(std::ceil(std::log10(ms))), 0, 5);
  return fmt::format("{:.{}f} ms", ms, digits);
}

std::string percent(double share) { return share > 0 ? fmt::format("{:.0f} %", share * 100) : ""; }

std::string bytes(double count) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (count >= 1024 && unit + 1 < std::size(units)) count /= 1024, ++unit;
  return fmt::format("{:.{}f} {}", count, unit == 0 ? 0 : 1, units[unit]);
}

std::string sizes(const std::map<std::string, std::int64_t>& values) {
  std::string result;
  for (const auto& [name, value] : values) result += fmt::format("{}{}={}", result.empty() ? "" : " ", name, value);
  return result;
}

std::string verdict(const outcome::Judgement& judgement) {
  return outcome::name(judgement.verdict, judgement.predicted);
}

std::string full_size(const outcome::ErrorFigures& errors) {
  if (errors.outputs <= 0 || errors.verified_outputs >= errors.outputs) return "";
  if (errors.verified_outputs <= 0) return fmt::format("none of the {:.0f} outputs at the declared sizes was verified", errors.outputs);
  return fmt::format("{:.0f} of {:.0f} outputs at the declared sizes were verified", errors.verified_outputs, errors.outputs);
}

std::string_view sanitized(const outcome::Judgement& judgement) {
  if (judgement.predicted) return "";  // the simulator checks every run
  if (judgement.sanitizer == "passed") return "compute-sanitizer passed";
  if (judgement.sanitizer == "absent") return "compute-sanitizer is not installed, so races and stray accesses were not checked";
  if (judgement.sanitizer == "refused") return "compute-sanitizer does not run here, so races and stray accesses were not checked";
  if (judgement.sanitizer == "too slow") return "compute-sanitizer was too slow here and was stopped, so not all races and stray accesses were checked";
  return "";
}

std::string_view explanation(outcome::Label label) {
  using outcome::Label;
  switch (label) {
    case Label::launch_bound: return "its time is mostly that of starting a kernel";
    case Label::throttled: return "the GPU lowered its clock during the measurement; pairs taken then were set aside";
    case Label::tenant_suspect: return "another program seems to have used the GPU during the measurement";
    case Label::not_observable: return "without NVML, other programs on the GPU and lowered clocks are not noticed";
    case Label::algebraic: return "faster than reading every input and doing the arithmetic as written would allow";
    case Label::specialised:
    case Label::shadow_oracle:
    case Label::no_oracle: return "";
  }
  return "";
}

std::string kernelbench(double least_tolerance) {
  if (least_tolerance < 0) return "";
  const std::string takes = fmt::format("(it takes {:.2g})", least_tolerance);
  if (least_tolerance <= 1e-4) return "KernelBench accepts it at 1e-4 " + takes;
  return fmt::format("KernelBench rejects it at 1e-4 and {} it at 1e-2 {}", least_tolerance <= 1e-2 ? "accepts" : "rejects", takes);
}

std::string evidence(const outcome::Judgement& judgement) {
  std::string result = base::render(judgement.diagnostics);
  for (const auto& finding : judgement.findings) result += outcome::render(finding);
  if (judgement.first_wrong) result += element("first", *judgement.first_wrong);
  if (judgement.worst_wrong && judgement.first_wrong && judgement.worst_wrong->index != judgement.first_wrong->index)
    result += element("worst", *judgement.worst_wrong);
  return result;
}

double seconds_of(const std::string& at) {
  std::tm utc{};
  if (::strptime(at.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr) return 0;
  return static_cast<double>(::timegm(&utc));
}

}  // namespace cudal1::report
