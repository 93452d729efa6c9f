// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "catch.hpp"
#include "report/diff.hpp"
#include "report/formats.hpp"
#include "report/judgement_table.hpp"
#include "report/report.hpp"
#include "report/wording.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>

using namespace cudal1;
using report::unified_diff;

namespace {

const char* const task_source = R"(//@ task   copy
//@ torch  C = A * 1
//@ size   N = 1024
//@ input  A: float32[N]
//@ output C: float32[N]
//@ launch copy<<<ceil_div(N, 32), 32>>>(A, C, N)
__global__ void copy(const float* A, float* C, int N) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < N) C[i] = A[i];
}
)";

outcome::Judgement faster(double speedup) {
  outcome::Judgement judgement;
  judgement.verdict = outcome::Verdict::faster;
  judgement.predicted = true;
  judgement.message = "predicted to be faster";
  judgement.speedup = outcome::Speedup{speedup, speedup * 0.9, speedup * 1.1};
  judgement.workloads.push_back({{{"N", 1024}}, 0.5, 0.5 / speedup, *judgement.speedup, 0, 0, 0.8, "memory bandwidth"});
  judgement.resources.push_back({"fast", 18, 0, 0, 0, 0, 0, 1024, ""});
  judgement.occupancy = 1;
  judgement.occupancy_limited_by = "threads";
  judgement.counters.warp_instructions = 1000;
  judgement.counters.fp32_flops = 1e6;
  judgement.counters.dram_read_bytes = judgement.counters.dram_write_bytes = 4e6 / speedup;
  return judgement;
}

// A run of two rounds: one wrong answer with hostile text, one faster, one faster still and confirmed.
store::Run example_run() {
  store::Run run;
  run.folder = "cudal1-runs/copy-01234567";
  run.identity.task_name = "copy";
  run.identity.task_path = "copy.cu";
  run.identity.task_digest = std::string(64, 'a');
  run.identity.task_source = task_source;
  run.identity.device = "sim:H200";
  run.identity.version = "0.1.0";
  run.identity.models = {"builtin"};
  run.identity.samples = 2;
  run.complete = true;
  run.best_file = "cudal1-runs/copy-01234567/best.cu";
  auto& result = run.result;
  result.start.device.name = "NVIDIA H200";
  result.start.device.memory_bytes_per_second = 4.8e12;
  result.start.device.fp32_flops = 6.7e13;
  result.start.reference.predicted = true;
  result.start.reference.oracle = true;
  result.start.reference.times.push_back({"N=1024", 0.5, 0.05, "latency"});
  result.start.reference.judgement = faster(1);
  result.start.reference.judgement.counters.warp_instructions = 123456;

  search::Variant wrong;
  wrong.id = "r01-s01";
  wrong.model = "builtin";
  wrong.key = {1, 1, 0};
  wrong.analysis = "<script>alert(1)</script>";
  wrong.judgement.verdict = outcome::Verdict::wrong_result;
  wrong.judgement.message = "C[3] is 1, expected 2 | 5 of 1024 elements differ";
  wrong.judgement.first_wrong = outcome::WrongElement{"C", {3}, 2, 1};
  search::Variant first;
  first.id = "r01-s02";
  first.model = "builtin";
  first.key = {1, 2, 0};
  first.source = task_source;
  first.analysis = "Vectorised loads.\x1b[31m";
  first.techniques = {"vectorisation"};
  first.judgement = faster(2);
  search::Variant best = first;
  first.judgement.tunables = {{"BLOCK", 64}, {"VEC", 4}};
  first.judgement.members = {{{{"BLOCK", 64}, {"VEC", 4}}, 0.25, ""}, {{{"BLOCK", 128}, {"VEC", 4}}, 0.3, ""}, {{{"BLOCK", 128}, {"VEC", 8}}, 0, "C[3] is 1"}};
  best.id = "r02-s01";
  best.key = {2, 1, 0};
  best.exemplars = {"r01-s02"};
  best.source = std::string(task_source) + "// wider\n";
  best.judgement = faster(4);
  best.confirmation = faster(3.9);
  best.confirmation->level = outcome::Level::final_;
  result.variants = {wrong, first, best};
  result.best_index = 2;
  result.rounds = {{1, 2, 2, 2, 1, 1, 0}, {2, 4, 4, 1, 1, 1, 0}};
  result.reason = "both rounds are done";
  return run;
}

// A missing golden fails; CUDAL1_ACCEPT=1 writes what was drawn, for review in the diff.
void check_golden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(CUDAL1_SOURCE_DIR) / "tests/unit/report/golden" / name;
  if (std::getenv("CUDAL1_ACCEPT")) base::write_file(path, text);
  CHECK(text == base::read_file(path));
}

}  // namespace

TEST_CASE("a chart's points carry intervals, lead to their variants and tell models apart") {
  auto run = example_run();
  run.identity.models = {"builtin", "a<b"};
  run.result.variants[2].model = "a<b";
  const auto page = report::render(run, "html");
  CHECK_THAT(page, containing("<a href='#r01-s02'><line x1='"));
  CHECK_THAT(page, containing("class='interval m1'"));
  CHECK_THAT(page, containing("a&lt;b</text>"));
  run.identity.models.pop_back();
  CHECK(report::render(run, "html").find("a&lt;b</text>") == std::string::npos);
}

TEST_CASE("a roofline stands where arithmetic and bytes were counted") {
  auto run = example_run();
  const auto page = report::render(run, "html");
  CHECK_THAT(page, containing("aria-label='Roofline'"));
  CHECK_THAT(page, containing("FP32 67 TFLOP/s, 4.8 TB/s"));
  CHECK_THAT(page, containing("class='reference'><title>the reference: 2 GFLOP/s"));
  run.result.start.device.memory_bytes_per_second = 0;
  CHECK(report::render(run, "html").find("aria-label='Roofline'") == std::string::npos);
}

TEST_CASE("the page draws who was shown what, and marks those that led to the best") {
  auto run = example_run();
  auto page = report::render(run, "html");
  CHECK_THAT(page, containing("aria-label='Lineage of variants'") && containing("class='kin'"));
  CHECK(page.find("class='edge'") == std::string::npos);
  run.result.variants[0].exemplars = {"r02-s01"};
  CHECK_THAT(report::render(run, "html"), containing("class='edge'"));
  for (auto& variant : run.result.variants) variant.exemplars.clear();
  CHECK(report::render(run, "html").find("Lineage") == std::string::npos);
}

TEST_CASE("the page plots a family's times over each tunable that varies, with those that are not right") {
  auto run = example_run();
  const auto page = report::render(run, "html");
  CHECK_THAT(page, containing("aria-label='Time over BLOCK'") && containing("aria-label='Time over VEC'"));
  CHECK_THAT(page, containing("class='reference'><title>BLOCK=64 VEC=4: 0.250 ms") && containing("×<title>BLOCK=128 VEC=8</title>"));
  CHECK(outcome::judgement_from_json(outcome::to_json(run.result.variants[1].judgement)).members.at(2).problem == "C[3] is 1");
  for (auto& member : run.result.variants[1].judgement.members) member.tunables.erase("VEC");
  CHECK(report::render(run, "html").find("Time over VEC") == std::string::npos);
}

TEST_CASE("what was rejected is grouped by its reason, with links") {
  auto run = example_run();
  auto other = run.result.variants[0];
  other.id = "r01-s03";
  run.result.variants.push_back(other);
  CHECK_THAT(report::render(run, "html"), containing("<td><a href=\"#r01-s01\">r01-s01</a>, <a href=\"#r01-s03\">r01-s03</a></td>"));
  CHECK_THAT(report::render(run, "markdown"), containing("| WRONG\\_RESULT | 2 | r01-s01, r01-s03 | C\\[3\\] is 1"));
}

TEST_CASE("every format draws the same run as its golden") {
  const auto run = example_run();
  check_golden("run.txt", report::render(run, "terminal"));
  check_golden("run.md", report::render(run, "markdown"));
  check_golden("run.html", report::render(run, "html"));
  check_golden("run.json", report::render(run, "json"));
  check_golden("run.csv", report::render(run, "csv"));
}

TEST_CASE("what the winner's techniques brought is told, with what harmed") {
  auto run = example_run();
  auto& variants = run.result.variants;
  variants[2].techniques = {"tiling", "unrolling"};
  const auto revert = [&](int number, std::vector<std::string> undone, double speedup) {
    search::Variant variant;
    variant.key = {2, 1, 1 + number};
    variant.id = variant.key.text();
    variant.reverts = "r02-s01";
    variant.undone = std::move(undone);
    variant.source = variant.id;
    variant.judgement = faster(speedup);
    return variant;
  };
  variants.push_back(revert(1, {"tiling"}, 2));
  variants.push_back(revert(2, {"unrolling"}, 6));
  variants.push_back(revert(3, {"tiling", "unrolling"}, 1));
  variants.back().judgement.verdict = outcome::Verdict::wrong_result;
  const auto text = report::render(run, "markdown");
  CHECK_THAT(text, containing("What r02-s01's techniques brought") && containing("1.95x"));
  CHECK_THAT(text, containing("unrolling did harm: it cost 35 % of the time"));
  CHECK_THAT(text, containing("tiling and unrolling") && containing("WRONG"));
  CHECK_THAT(report::render(run, "terminal"), containing("The factors of single techniques multiply to"));
  variants[variants.size() - 2].judgement.verdict = outcome::Verdict::wrong_result;
  CHECK_THAT(report::render(run, "terminal"), containing("The factors of the 1 of 2 techniques that are known multiply to 1.95x"));
  const auto object = report::render(run, "json");
  CHECK_THAT(object, containing("\"winner\": \"r02-s01\"") && containing("\"together\": \"unknown\""));
}

TEST_CASE("PyTorch's times stand below the winner's, with why there is none of a way") {
  auto run = example_run();
  auto& winner = run.result.variants[2];
  outcome::Judgement& judgement = winner.confirmation ? *winner.confirmation : winner.judgement;
  CHECK_THAT(report::render(run, "markdown"), !containing("PyTorch"));
  judgement.baselines = {{"eager", 0.25, outcome::Speedup{2.5, 2.4, 2.6}, 0, ""}, {"compile", 0, std::nullopt, 0, "no compiler"}};
  const auto text = report::render(run, "markdown");
  CHECK_THAT(text, containing("| eager | 0.250 ms | 2.50x \\[2.40, 2.60\\] |") && containing("| compile |  | no compiler |"));
  CHECK_THAT(report::render(run, "json"), containing("\"name\": \"eager\""));
}

TEST_CASE("races stand in the report with what each racer took from them, void ones with the reason") {
  auto run = example_run();
  CHECK_THAT(report::render(run, "markdown"), !containing("Races"));
  run.result.races.push_back({1, {{"r01-s04", {}, 64, {2.04, 2, 2.08}}, {"r01-s02", {0.971, 0.97, 0.972}, 16, {1.98, 1.94, 2.02}}}, "", 0.4});
  run.result.races.push_back({2, {}, "TIMEOUT: one execution took longer than 10 s and was stopped", 12});
  const auto text = report::render(run, "markdown");
  CHECK_THAT(text, containing("Races") && containing("| 1 | r01-s02 | 0.971x \\[0.970, 0.972\\] | 16 | 1.980x \\[1.940, 2.020\\] |"));
  CHECK_THAT(text, containing("void: TIMEOUT: one execution"));
  const auto object = report::render(run, "json");
  CHECK_THAT(object, containing("\"over_fastest\": 0.971") && containing("\"problem\": \"TIMEOUT"));
}

TEST_CASE("what was not counted is left out or empty, not zero") {
  auto run = example_run();
  auto& winner = run.result.variants[2].judgement;
  run.result.start.reference.judgement.counters = {};
  winner.counters = {};
  winner.counters.warp_instructions = 5e6;
  winner.counters.shared_wavefronts = 7e6;  // as a GPU tells them, without how few would do
  run.result.variants[2].confirmation.reset();
  const auto text = report::render(run, "markdown");
  CHECK_THAT(text, containing("| warp instructions |  | 5.0 M |") && containing("| shared-memory wavefronts |  | 7.0 M |"));
  CHECK_THAT(text, !containing("bank conflicts"));
}

TEST_CASE("a table fits the terminal as far as its texts can be cut") {
  const auto widest = [](const std::string& text) {
    std::size_t result = 0;
    for (const auto& line : base::split_lines(text)) result = std::max(result, line.size());
    return result;
  };
  const report::Table table{{"variant", "techniques", "why"}, {{"r01-s01", std::string(80, 't'), std::string(40, 'w')}}, {false, false, false}};
  const auto drawn = [&](int width) { return report::draw_for_terminal({table}, {false, width}); };
  CHECK_THAT(drawn(0), containing(std::string(80, 't') + "  " + std::string(40, 'w')));
  CHECK(widest(drawn(100)) == 100 + 2);  // an ellipsis has three bytes
  CHECK(widest(drawn(20)) == 3 * 2 + 7 + 24 + 24 + 4);
}

TEST_CASE("text from a model can neither colour a terminal nor add markup") {
  const auto run = example_run();
  CHECK(report::render(run, "terminal").find('\x1b') == std::string::npos);
  CHECK(report::render(run, "html").find("<script>") == std::string::npos);
  CHECK(report::render(run, "markdown").find("expected 2 |") == std::string::npos);
}

TEST_CASE("tokens and what they cost stand in every format") {
  auto run = example_run();
  run.result.usage.input_tokens = 12345, run.result.usage.output_tokens = 678;
  run.result.usage.priced = true, run.result.usage.cost = 0.0648;
  for (const char* format : {"terminal", "markdown", "html", "json"}) {
    CAPTURE(format);
    const std::string text = report::render(run, format);
    CHECK_THAT(text, containing("12345"));
    CHECK_THAT(text, containing("0.0648"));
  }
}

TEST_CASE("a page shows every kernel with its lines, and names lead to them") {
  auto run = example_run();
  run.result.variants[0].source = "//@ launch k<<<1, 1>>>(A)\n__global__ void k(const float* A) { if (*A < 1 && \"</pre>\") return; }\n";
  const std::string page = report::render(run, "html");
  CHECK_THAT(page, containing("<span>__global__ void copy(const float* A, float* C, int N) {\n</span>"));
  CHECK_THAT(page, containing("<span>__global__ void k(const float* A) { if (*A &lt; 1 &amp;&amp; &quot;&lt;/pre&gt;&quot;) return; }\n</span>"));
  std::size_t links = 0;
  for (auto at = page.find("<a href=\"#"); at != std::string::npos; at = page.find("<a href=\"#", at + 1), ++links) {
    const std::string target = page.substr(at + 10, page.find('"', at + 10) - at - 10);
    CHECK_THAT(page, containing("<div id=\"" + target + "\">"));
  }
  CHECK(links >= 2);
}

TEST_CASE("a page can be read: by contrast, and with numbers in one piece") {
  const std::string page = report::render(example_run(), "html");
  const auto channel = [](int value) { return value / 255.0 <= 0.04045 ? value / 255.0 / 12.92 : std::pow((value / 255.0 + 0.055) / 1.055, 2.4); };
  const auto luminance = [&](const std::string& hex) {
    const std::string whole = hex.size() == 3 ? std::string{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]} : hex;
    const auto part = [&](std::size_t at) { return channel(std::stoi(whole.substr(at, 2), nullptr, 16)); };
    return 0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4);
  };
  const auto colour = [&](const std::string& name, std::size_t from) {
    const auto at = page.find("--" + name + ": #", from) + name.size() + 5;
    return luminance(page.substr(at, page.find(';', at) - at));
  };
  // WCAG's AA for text: 4.5, in the light and in the dark.
  for (const std::size_t scheme : {page.find(":root"), page.find("prefers-color-scheme: dark")}) {
    const double paper = colour("paper", scheme), code = colour("code", scheme);
    for (const char* name : {"ink", "faint", "accent", "warn", "gone"})
      for (const double behind : {paper, code}) {
        const double ink = colour(name, scheme);
        CAPTURE(name, ink, behind);
        CHECK((std::max(ink, behind) + 0.05) / (std::min(ink, behind) + 0.05) >= 4.5);
      }
  }
  CHECK_THAT(page, containing(".number { text-align: right; white-space: nowrap; }"));
  CHECK_THAT(page, containing("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"));
}

TEST_CASE("an unknown format is refused with the nearest name") {
  CHECK_THROWS_WITH(report::render(example_run(), "markdwon"), containing("did you mean \"markdown\""));
}

TEST_CASE("a failing variant is shown with its evidence") {
  auto run = example_run();
  const auto table = report::judgement_table({{"mine.cu", run.result.variants[0].judgement}}, {});
  CHECK_THAT(table, containing("WRONG_RESULT"));
  CHECK_THAT(table, containing("C[3] is 1, expected 2"));
}

TEST_CASE("a rejection without evidence is told in full below the table, and twice named only there") {
  outcome::Judgement judgement;
  judgement.verdict = outcome::Verdict::timeout;
  judgement.message = "one execution took longer than 120 s and was stopped, and more that no column of a table has room for";
  CHECK_THAT(report::judgement_table({{"mine.cu", judgement}}, {}), containing("mine.cu: " + judgement.message));
  judgement.message = "mine.cu:4: expected a \")\"";
  CHECK_THAT(report::judgement_table({{"mine.cu", judgement}}, {}), !containing("mine.cu: mine.cu"));
}

TEST_CASE("how far a variant was verified is said, and whether compute-sanitizer passed it") {
  auto judgement = faster(2);
  judgement.predicted = false;
  judgement.errors = {1.25e-7, 0, 2.5e-7, 22};
  judgement.sanitizer = "passed";
  const auto told = [&] { return report::judgement_table({{"mine.cu", judgement}}, {}); };
  CHECK_THAT(told(), containing("mine.cu: right in 22 trials, with a relative error of 1.2e-07 at most (the task's own kernel: 2.5e-07); "
                                "compute-sanitizer passed"));
  judgement.sanitizer = "absent";
  CHECK_THAT(told(), containing("compute-sanitizer is not installed") && !containing("passed"));
  judgement.sanitizer = "refused";
  CHECK_THAT(told(), containing("compute-sanitizer does not run here") && !containing("passed"));
  judgement.sanitizer = "";
  CHECK_THAT(told(), !containing("sanitizer"));
}

TEST_CASE("what makes a time less certain, and what the hardware counted, stand below the table") {
  auto judgement = faster(2);
  judgement.labels = {outcome::Label::tenant_suspect};
  judgement.hardware = {{"dram_share", 0.87}};
  const auto table = report::judgement_table({{"mine.cu", judgement}}, {}, true);
  CHECK_THAT(table, containing("TENANT_SUSPECT: another program seems to have used the GPU"));
  CHECK_THAT(table, containing("dram_share"));
  CHECK_THAT(table, containing("0.87"));
  judgement.hardware_problem = "this user may not read the GPU's counters";
  CHECK_THAT(report::judgement_table({{"mine.cu", judgement}}, {}, true), containing("Nothing was counted in hardware: this user may not"));
}

TEST_CASE("a unified diff shows changed lines with their surroundings") {
  CHECK(unified_diff("a\nb\nc\n", "a\nB\nc\n", "x", "y") == "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
  CHECK(unified_diff("same\n", "same\n", "x", "y").empty());
  std::string many, changed;
  for (int i = 0; i < 40; ++i) many += std::to_string(i) + "\n", changed += (i == 5 || i == 30 ? "new" : std::to_string(i)) + "\n";
  const auto diff = unified_diff(many, changed, "x", "y");
  CHECK_THAT(diff, containing("@@ -3,7 +3,7 @@"));
  CHECK_THAT(diff, containing("@@ -28,7 +28,7 @@"));
}

TEST_CASE("a speed-up is written with the digits that its interval deserves") {
  CHECK(report::text(outcome::Speedup{52.14, 40.2, 67.5}) == "52x [40, 68]");
  CHECK(report::text(outcome::Speedup{1.0031, 0.998, 1.0081}) == "1.003x [0.998, 1.008]");
}
