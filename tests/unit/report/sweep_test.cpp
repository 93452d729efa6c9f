// SPDX-License-Identifier: Apache-2.0
#include "report/sweep.hpp"

#include "base/error.hpp"

#include <algorithm>
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

TEST_CASE("a row has what was published and who wrote it, and rows of older journals are read") {
  SweepRow written = row("level1/a.py", 1, 2);
  written.models = "x/small, x/large";
  written.techniques = {"fusion"};
  written.by_model["x/small"] = {4, 3, 1};
  written.answer = "h100.json:1";
  written.claimed["eager"] = 2.75;
  written.remarks = {"it writes to its inputs"};
  const std::string text = to_json(written);
  CHECK(to_json(sweep_row_from_json(text)) == text);
  CHECK(sweep_row_from_json(text).by_model.at("x/small").right == 3);
  std::string old = to_json(row("level1/a.py", 1, 2));
  for (const std::string field : {"\"models\":\"\",", "\"techniques\":[],", "\"by_model\":{},", "\"by_technique\":{},"}) {
    REQUIRE(old.find(field) != std::string::npos);
    old.erase(old.find(field), field.size());
  }
  CHECK(sweep_row_from_json(old).ratios.at("eager").value == Approx(2));
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

TEST_CASE("several sweeps in one table have figures of their own") {
  SweepRow here = row("a", 1, 4), there = row("a", 1, 1);
  here.sweep = "H100", there.sweep = "H200";
  here.share_of_limit = 0.5, there.share_of_limit = 0.9;
  const Sweep sweep{"H100, H200", "builtin", {here, there}, {}};
  const auto all = figures(sweep);
  REQUIRE(all.size() == 4);
  CHECK((all[0].sweep == "H100" && all[0].tried == 1 && all[0].success == Approx(1)));
  CHECK(all[0].share_of_limit == Approx(0.5));
  CHECK((all[2].sweep == "H200" && all[2].tried == 1 && all[2].geomean == Approx(1)));
  const std::string text = render(sweep, "terminal");
  CHECK(text.find("sweep  baseline") != std::string::npos);
  CHECK(text.find("1 task on H100, H200 with builtin: 1 verified; 1 is a sound measure.\n1 task on") != std::string::npos);
}

TEST_CASE("techniques are counted over all answers, with what they gained") {
  SweepRow first = row("a", 1, 4), second = row("b", 1, 0);
  first.techniques = {"fusion"};
  auto& fused = first.by_technique["fusion"];
  fused.answers = 3, fused.right = 2;
  fused.add_gain(4);
  fused.add_gain(1);
  CHECK(fused.gain == Approx(2));
  second.by_technique["fusion"] = {1, 1, 1, 0.25};
  second.by_technique["guessing"] = {2, 0, 0, 1};
  const std::string text = to_json(first);
  CHECK(to_json(sweep_row_from_json(text)) == text);
  const Sweep sweep{"H200", "x/y", {first, second}, {}};
  const auto used = technique_figures(sweep);
  REQUIRE(used.size() == 2);
  CHECK((used[0].technique == "fusion" && used[0].answers == 4 && used[0].right == 3 && used[0].timed == 3 && used[0].gain == Approx(1) && used[0].winners == 1));
  CHECK((used[1].technique == "guessing" && used[1].answers == 2 && used[1].right == 0 && used[1].gain == 0 && used[1].winners == 0));
  CHECK(render(sweep, "markdown").find("| fusion | 4 | 75 % | 1 | 1 |") != std::string::npos);
}

TEST_CASE("techniques and models are counted by what they won") {
  SweepRow first = row("a", 1, 4), second = row("b", 1, 1), third = row("c", 1, 0);
  first.techniques = {"fusion", "algebra"}, second.techniques = {"fusion"};
  third.techniques = {"fusion"};   // of no winner
  first.by_model = {{"small", {3, 2, 1}}, {"large", {3, 3, 0}}};
  second.by_model = {{"large", {2, 1, 1}}};
  const Sweep sweep{"H200", "small, large", {first, second, third}, {}};
  const auto used = technique_figures(sweep);
  REQUIRE(used.size() == 2);
  CHECK((used[0].technique == "fusion" && used[0].winners == 2 && used[0].geomean == Approx(2)));
  CHECK((used[1].technique == "algebra" && used[1].winners == 1 && used[1].geomean == Approx(4)));
  const auto asked = model_figures(sweep);
  REQUIRE(asked.size() == 2);
  CHECK((asked[0].model == "large" && asked[0].tasks == 2 && asked[0].answers == 5 && asked[0].right == 4 && asked[0].won == 1 && asked[0].geomean == Approx(1)));
  CHECK((asked[1].model == "small" && asked[1].won == 1 && asked[1].geomean == Approx(4)));
  CHECK(render(sweep, "terminal").find("large") != std::string::npos);
}

TEST_CASE("published answers are counted by our rule and by KernelBench's, and claims stand beside measurements") {
  std::vector<SweepRow> rows = {row("a", 1, 2), row("b", 1, 8, {"zero"}), row("c", 2, 0), row("d", 2, 0), row("e", 2, 0)};
  for (SweepRow& each : rows) each.answer = "h100.json";
  rows[0].claimed["eager"] = 3, rows[1].claimed["eager"] = 12;
  rows[0].kernelbench_tolerance = 1e-6, rows[1].kernelbench_tolerance = 1e-3, rows[2].kernelbench_tolerance = 5e-3;
  rows[2].verdict = "WRONG_RESULT", rows[3].verdict = "RUNTIME_FAILED";
  rows[4].status = SweepRow::Status::no_answer;
  const Sweep sweep{"H200", "published answers of h100.json", rows, {}};
  const auto all = answer_figures(sweep);
  REQUIRE(all.size() == 6);   // all and sound, over all levels and each of two
  CHECK((all[0].entries == 5 && all[0].right == 2 && all[0].wrong == 1 && all[0].failed == 1 && all[0].without_code == 1));
  CHECK((all[0].at_two == 3 && all[0].at_four == 1 && all[0].timed == 2));
  CHECK((all[0].claimed == Approx(6) && all[0].measured == Approx(4)));
  CHECK((all[3].aggregate == "sound" && all[3].entries == 4 && all[3].measured == Approx(2)));
  const std::string text = render(sweep, "terminal");
  CHECK(text.find("eager claimed") != std::string::npos);
  CHECK(answer_figures({"H200", "builtin", {row("a", 1, 2)}, {}}).empty());
}

TEST_CASE("a spreadsheet gets a line for each task, and no cell that it would compute") {
  SweepRow first = row("level1/a.py", 1, 2), second = row("level2/b.py", 2, 0);
  first.ratios["compile"] = {0, 0, 0, "it does not compile"};
  second.message = "=1+1, \"so\"\nit said";
  const std::string text = render({"H200", "builtin", {first, second}, {}}, "csv");
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK(text.find("\"compile\",\"compile low\",\"compile high\",\"eager\"") != std::string::npos);
  CHECK(text.find(",,,2,1.8,2.2,") != std::string::npos);   // what has no value is empty
  CHECK(text.find("\"compile: it does not compile\"") != std::string::npos);
  CHECK(text.find("\"'=1+1, \"\"so\"\" it said\"\r\n") != std::string::npos);
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
