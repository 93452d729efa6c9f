// SPDX-License-Identifier: Apache-2.0
#include "outcome/verdict.hpp"

#include <array>
#include <utility>

namespace cudal1::outcome {

namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 16> verdicts{{
    {Verdict::unsupported, "UNSUPPORTED"},
    {Verdict::invalid_plan, "INVALID_PLAN"},
    {Verdict::compile_failed, "COMPILE_FAILED"},
    {Verdict::forbidden_code, "FORBIDDEN_CODE"},
    {Verdict::stateful, "STATEFUL"},
    {Verdict::runtime_failed, "RUNTIME_FAILED"},
    {Verdict::timeout, "TIMEOUT"},
    {Verdict::wrong_result, "WRONG_RESULT"},
    {Verdict::tampered, "TAMPERED"},
    {Verdict::sanitizer_failed, "SANITIZER_FAILED"},
    {Verdict::implausible, "IMPLAUSIBLE"},
    {Verdict::dropped, "DROP"},
    {Verdict::slower, "SLOWER"},
    {Verdict::equivalent, "EQUIVALENT"},
    {Verdict::inconclusive, "INCONCLUSIVE"},
    {Verdict::faster, "FASTER"},
}};

constexpr std::array<std::pair<Label, std::string_view>, 8> labels{{
    {Label::launch_bound, "LAUNCH_BOUND"},
    {Label::throttled, "THROTTLED"},
    {Label::specialised, "SPECIALISED"},
    {Label::no_oracle, "NO_ORACLE"},
    {Label::shadow_oracle, "SHADOW_ORACLE"},
    {Label::not_observable, "NOT_OBSERVABLE"},
    {Label::tenant_suspect, "TENANT_SUSPECT"},
    {Label::algebraic, "ALGEBRAIC"},
}};

constexpr std::string_view prefix = "PREDICTED_";

}  // namespace

std::string name(Verdict verdict, bool predicted) {
  const bool timed = verdict >= Verdict::slower;
  for (const auto& [key, text] : verdicts)
    if (key == verdict) return predicted && timed ? std::string(prefix) + std::string(text) : std::string(text);
  return "UNKNOWN";
}

std::optional<Verdict> parse_verdict(std::string_view text) {
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  for (const auto& [key, name] : verdicts)
    if (name == text) return key;
  return std::nullopt;
}

bool is_right(Verdict verdict) { return verdict >= Verdict::dropped; }

std::string_view name(Level level) { return level == Level::final_ ? "final" : "screening"; }

std::string_view name(Label label) {
  for (const auto& [key, text] : labels)
    if (key == label) return text;
  return "UNKNOWN";
}

std::optional<Label> parse_label(std::string_view text) {
  for (const auto& [key, name] : labels)
    if (name == text) return key;
  return std::nullopt;
}

}  // namespace cudal1::outcome
