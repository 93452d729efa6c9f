// SPDX-License-Identifier: Apache-2.0
#include "verify/task_gate.hpp"

#include "catch.hpp"

using namespace cudal1;
using outcome::TaskVerdict;
using verify::OutputFigures;
using verify::TaskFigures;

namespace {

std::vector<TaskVerdict> verdicts(const TaskFigures& figures) {
  std::vector<TaskVerdict> result;
  for (const auto& finding : verify::examine(figures)) result.push_back(finding.verdict);
  return result;
}

TaskFigures sound() {
  TaskFigures figures;
  OutputFigures output;
  output.output = "C";
  figures.outputs.push_back(output);
  return figures;
}

}  // namespace

TEST_CASE("a sound task has no finding; each figure beyond its threshold is one") {
  CHECK(verdicts(sound()).empty());
  const auto with = [](auto change) {
    TaskFigures figures = sound();
    change(figures);
    return verdicts(figures);
  };
  using V = std::vector<TaskVerdict>;
  CHECK(with([](auto& f) { f.outputs[0].finite = false; }) == V{TaskVerdict::broken});
  CHECK(with([](auto& f) { f.outputs[0].share_repeated = 0.99; }) == V{TaskVerdict::unstable});
  CHECK(with([](auto& f) { f.outputs[0].share_zero = 0.69; }).empty());
  CHECK(with([](auto& f) { f.outputs[0].share_zero = 0.7; }) == V{TaskVerdict::degenerate});
  CHECK(with([](auto& f) { f.outputs[0].share_constant = 0.7; }) == V{TaskVerdict::degenerate});
  CHECK(with([](auto& f) { f.outputs[0].share_unmoved = 0.94; }).empty());
  CHECK(with([](auto& f) { f.outputs[0].share_unmoved = 0.95; }) == V{TaskVerdict::degenerate});
  CHECK(with([](auto& f) { f.outputs[0].equal_input = "A"; }) == V{TaskVerdict::input_range});
  CHECK(with([](auto& f) { f.inert_inputs = {"B"}; }) == V{TaskVerdict::degenerate});
  CHECK(with([](auto& f) { f.inert_starts = {"C"}; }) == V{TaskVerdict::input_range});
  CHECK(with([](auto& f) { f.rounding = 17; }) == V{TaskVerdict::ill_conditioned});
  CHECK(with([](auto& f) { f.rounding = 17, f.outputs[0].share_repeated = 0; }) == V{TaskVerdict::unstable, TaskVerdict::ill_conditioned});
}

TEST_CASE("figures are shares of the elements near zero, near a constant, near other inputs' output") {
  const auto figures = verify::figures("C", {0, 0, 1, 2}, {0, 1, 1, 2}, {0, 1e-3});
  CHECK(figures.finite);
  CHECK(figures.share_zero == 0.5);
  CHECK(figures.share_constant == 0.25);  // the mean of the others is 1
  CHECK(figures.share_unmoved == 0.75);
  CHECK_FALSE(verify::figures("C", {0, NAN}, {0, 1}, {0, 1e-3}).finite);
}
