// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.hpp"

#include <iterator>

#include <fmt/format.h>

namespace cudal1::serve {

namespace {

void add(std::string& text, const char* name, const char* type, const char* help, double value) {
  fmt::format_to(std::back_inserter(text), "# HELP cudal1_{} {}\n# TYPE cudal1_{} {}\ncudal1_{} {}\n", name, help, name, type, name, value);
}

void add(std::string& text, const char* name, const char* help, const char* label, const std::map<std::string, long long>& values) {
  fmt::format_to(std::back_inserter(text), "# HELP cudal1_{} {}\n# TYPE cudal1_{} counter\n", name, help, name);
  for (const auto& [value, count] : values) fmt::format_to(std::back_inserter(text), "cudal1_{}{{{}=\"{}\"}} {}\n", name, label, value, count);
}

}  // namespace

std::string metrics(const docket::Counts& counts, const std::string& version) {
  std::string text = fmt::format("# HELP cudal1_build_info The program.\n# TYPE cudal1_build_info gauge\ncudal1_build_info{{version=\"{}\"}} 1\n", version);
  add(text, "verdicts_total", "Answers by verdict.", "verdict", counts.verdicts);
  add(text, "faults_total", "Answers without a verdict, by the kind of fault.", "kind", counts.faults);
  add(text, "answers_total", "counter", "Answers that were asked for.", static_cast<double>(counts.answered));
  add(text, "cached_total", "counter", "Answers equal to one that was or is being judged.", static_cast<double>(counts.cached));
  add(text, "right_total", "counter", "Answers that are right.", static_cast<double>(counts.right));
  add(text, "cheats_total", "counter", "Answers that cheat.", static_cast<double>(counts.cheats));
  add(text, "unreadable_total", "counter", "Answers without a kernel file.", static_cast<double>(counts.unreadable));
  add(text, "retries_total", "counter", "Works begun again because a process died.", static_cast<double>(counts.retries));
  add(text, "sessions_opened_total", "counter", "Tasks opened on a device.", static_cast<double>(counts.sessions_opened));
  add(text, "work_seconds_total", "counter", "Time spent on judging.", counts.work_seconds);
  add(text, "queue_seconds_total", "counter", "Time that answers waited.", counts.queue_seconds);
  add(text, "waiting", "gauge", "Answers that wait.", static_cast<double>(counts.waiting));
  add(text, "working", "gauge", "Answers under way.", static_cast<double>(counts.working));
  add(text, "sessions", "gauge", "Tasks that are open.", static_cast<double>(counts.sessions));
  return text;
}

}  // namespace cudal1::serve
