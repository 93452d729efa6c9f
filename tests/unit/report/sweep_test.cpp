// SPDX-License-Identifier: Apache-2.0
#include "report/sweep.hpp"

#include "base/error.hpp"

#include <cmath>

#include "catch.hpp"

using namespace cudal1::report;

namespace {

SweepRow row(const std::string& key, int level, double ratio, std::vector<std::string> defects = {}) {
  SweepRow result;
  result.key = key;
  result.level = level;
  result.defects = std::move(defects);
  result.status = ratio > 0 ? SweepRow::Status::verified : SweepRow::Status::nothing_right;
  if (ratio > 0) result.ratios["eager"] = {ratio, 0.9 * ratio, 1.1 * ratio, ""};
  return result;
}

const SweepFigures& of(const std::vector<SweepFigures>& all, const std::string& level, const std::string& aggregate) {
  for (const auto& each : all)
    if (each.level == level && each.aggregate == aggregate) return each;
  throw std::runtime_error("no such figures");
}

}  // namespace

TEST_CASE("a row of a sweep is the same after its journal") {
  SweepRow written = row("level1/4_Swish.py", 1, 2, {"range identity"});
  written.kernelbench_tolerance = 2e-7;
  written.labels = {"collapsible"};
  written.ratios["compile"] = {0, 0, 0, "it does not compile"};
  written.breakdown = {{"oracle", 0.5}};
  const SweepRow read = sweep_row_from_json(to_json(written));
  CHECK(to_json(read) == to_json(written));
  CHECK(read.kernelbench_tolerance == 2e-7);
  CHECK(read.ratios.at("compile").failed == "it does not compile");
}

TEST_CASE("a tolerance that no comparison passes at survives JSON, and one that is unknown") {
  SweepRow written = row("a.py", 0, 1);
  CHECK(sweep_row_from_json(to_json(written)).kernelbench_tolerance < 0);
  written.kernelbench_tolerance = HUGE_VAL;
  CHECK(std::isinf(sweep_row_from_json(to_json(written)).kernelbench_tolerance));
}

TEST_CASE("a damaged row is refused") { CHECK_THROWS_AS(sweep_row_from_json("{\"key\": 3}"), cudal1::base::Error); }

TEST_CASE("the figures are those of all tasks and of the sound ones, by level") {
  const Sweep sweep{"H200", "builtin", {row("a", 1, 4), row("b", 1, 1), row("c", 2, 0), row("d", 2, 100, {"zero"})}, {}};
  const auto all = figures(sweep);
  const auto& whole = of(all, "all", "all");
  CHECK(whole.tried == 4);
  CHECK(whole.scored == 3);
  CHECK(whole.mean == Approx(35));
  CHECK(whole.mean_none_is_one == Approx(26.5));
  CHECK(whole.median == Approx(4));
  CHECK(whole.max == Approx(100));
  CHECK(whole.geomean == Approx(std::cbrt(400.0)));
  CHECK(whole.success == Approx(0.75));
  CHECK(whole.faster == 2);
  CHECK(whole.fast.at(0) == Approx(0.75));
  CHECK(whole.fast.at(1) == Approx(0.5));  // more than once as fast, not as fast
  const auto& sound = of(all, "all", "sound");
  CHECK(sound.tried == 3);
  CHECK(sound.mean == Approx(2.5));
  CHECK(of(all, "2", "all").max == Approx(100));
  CHECK(of(all, "2", "sound").scored == 0);
}

TEST_CASE("a failed baseline is counted by none and said in the rows") {
  SweepRow failed = row("a", 1, 2);
  failed.ratios["compile"] = {0, 0, 0, "it does not compile"};
  const Sweep sweep{"H200", "builtin", {failed}, {}};
  for (const auto& each : figures(sweep)) CHECK(each.scored == (each.baseline == "compile" ? 0 : 1));
  CHECK(render(sweep, "csv").find("it does not compile") != std::string::npos);
  CHECK(render(sweep, "markdown").find("| failed | 2.00x [1.80, 2.20] |") != std::string::npos);
}

TEST_CASE("KernelBench's verdict stands beside ours") {
  SweepRow exact = row("a", 1, 2);
  exact.kernelbench_tolerance = 3e-3;
  CHECK(render({"H200", "builtin", {exact}, {}}, "terminal").find("accepts at 1e-2") != std::string::npos);
}

TEST_CASE("a terminal shows each baseline's ratio and few sums, other formats all") {
  SweepRow first = row("level1/a.py", 1, 2), second = row("level2/b.py", 2, 3, {"zero"});
  for (SweepRow* each : {&first, &second}) each->ratios["compile"] = {1.5, 1.4, 1.6, ""};
  const Sweep sweep{"H200", "builtin", {first, second}, {}};
  const auto lines = [&](const std::string& format, const std::string& start) {
    int count = 0;
    const std::string text = render(sweep, format);
    for (std::size_t at = 0; (at = text.find("\n" + start, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(render(sweep, "terminal").find("1.50x    2.00x") != std::string::npos);
  CHECK(lines("terminal", "  eager") == 2);          // one for each of the two tables
  CHECK(lines("terminal", "  best of these") == 12);  // all and sound, over all levels and each of two
  CHECK(lines("markdown", "| eager") == 12);
}
