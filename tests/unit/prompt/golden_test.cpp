// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/file.hpp"
#include "catch.hpp"
#include "prompt/prompt.hpp"
#include "prompt/words.hpp"

#include <cstdlib>
#include <filesystem>

using namespace cudal1;

namespace {

// Compares with tests/unit/prompt/golden/NAME. With CUDAL1_ACCEPT=1 in the environment the golden is rewritten, and the
// change shows in the diff.
void check_golden(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(CUDAL1_SOURCE_DIR) / "tests/unit/prompt/golden" / name;
  if (std::getenv("CUDAL1_ACCEPT") != nullptr) base::write_file(path, text);
  INFO(path.string() << " (run with CUDAL1_ACCEPT=1 to accept)");
  REQUIRE(std::filesystem::exists(path));
  CHECK(base::read_file(path) == text);
}

// A task put together by hand: what the prompt shows of it, without the parser.
task::Task sample_task() {
  task::Task task;
  task.file.name = "scale.cu";
  task.file.task = "scale";
  task.file.source = "//@ task scale\n//@ torch Y = 2 * X\n//@ size N = 4096\n//@ input X: float32[N]\n//@ output Y: float32[N]\n"
                     "//@ launch scale<<<ceil_div(N, 32), 32>>>(X, Y, N)\n\n__global__ void scale(const float* X, float* Y, int N) "
                     "{\n  int i = blockIdx.x * 32 + threadIdx.x;\n  if (i < N) Y[i] = 2 * X[i];\n}\n";
  task.file.torch = {"Y = 2 * X", kernel::Place{2, 11}};
  task.path = "scale.cu";
  task::Workload workload;
  workload.environment = {{"N", std::int64_t{4096}}};
  workload.sizes = {{"N", 4096}};
  workload.declared = {"N"};
  task.workloads.push_back(workload);
  workload.environment = {{"N", std::int64_t{33}}};
  workload.sizes = {{"N", 33}};
  task.checks.push_back(workload);
  return task;
}

outcome::Judgement right(double score) {
  outcome::Judgement judgement;
  judgement.verdict = outcome::Verdict::faster;
  judgement.predicted = true;
  judgement.speedup = outcome::Speedup{score, score * 0.97, score * 1.03};
  outcome::WorkloadTiming timing;
  timing.sizes = {{"N", 4096}};
  timing.reference_ms = 0.012;
  timing.variant_ms = 0.012 / score;
  timing.speedup = *judgement.speedup;
  timing.share_of_limit = 0.1 * score;
  timing.limited_by = "memory bandwidth";
  judgement.workloads = {timing};
  judgement.resources = {{"scale", 18, 1024, 0, 0, 0, 380, 1024, ""}};
  judgement.occupancy = 0.75;
  judgement.occupancy_limited_by = "registers";
  judgement.tunables = {{"BLOCK", 256}};
  judgement.counters.warp_instructions = 2048;
  judgement.counters.lane_instructions = 60000;
  judgement.counters.dram_read_bytes = 16384;
  judgement.counters.dram_write_bytes = 16384;
  judgement.counters.global_load_requests = 128;
  judgement.counters.global_load_sectors = 512;
  judgement.hot_lines[5].warp_instructions = 1024;
  judgement.hardware = {{"issue_active_share", 0.12}, {"warps_active_share", 0.62}};
  return judgement;
}

outcome::Judgement wrong() {
  outcome::Judgement judgement;
  judgement.verdict = outcome::Verdict::wrong_result;
  judgement.message = "Y differs from 2 * X at N=33";
  judgement.first_wrong = outcome::WrongElement{"Y", {32}, 1.5, 0};
  judgement.worst_wrong = outcome::WrongElement{"Y", {32}, 1.5, 0};
  judgement.errors = {0.2, 1.5, 1e-8, 3};
  return judgement;
}

outcome::Judgement uncompiled() {
  outcome::Judgement judgement;
  judgement.verdict = outcome::Verdict::compile_failed;
  judgement.message = "identifier \"blockDimm\" is undefined";
  base::Diagnostic diagnostic;
  diagnostic.file = "r01-s01.cu";
  diagnostic.line = 4;
  diagnostic.column = 11;
  diagnostic.message = "identifier \"blockDimm\" is undefined";
  diagnostic.line_text = "  int i = blockDimm.x;";
  judgement.diagnostics = {diagnostic};
  return judgement;
}

outcome::Judgement crashed() {
  outcome::Judgement judgement;
  judgement.verdict = outcome::Verdict::sanitizer_failed;
  judgement.message = "a load outside X";
  outcome::Finding finding;
  finding.kind = outcome::Finding::Kind::out_of_bounds;
  finding.kernel = "scale";
  finding.line = 4;
  finding.block = {1, 0, 0};
  finding.thread = {31, 0, 0};
  finding.message = "a 4-byte load 4 bytes behind the end of X";
  judgement.findings = {finding};
  return judgement;
}

const std::string source = "//@ launch scale<<<ceil_div(N, BLOCK), BLOCK>>>(X, Y, N)\n\n__global__ void scale(const float* X, float* Y, "
                           "int N) {\n  int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i < N) Y[i] = X[i] + X[i];\n}\n";

struct Scene {
  task::Task task = sample_task();
  prompt::Templates templates;
  prompt::Setting setting;

  Scene() {
    setting.task = &task;
    setting.device.name = "NVIDIA H200";
    setting.device.simulated = true;
    setting.device.major = 9;
    setting.device.sm_count = 132;
    setting.device.clock_hz = 1.98e9;
    setting.device.memory_bytes_per_second = 4.8e12;
    setting.device.l2_bytes = std::size_t{50} << 20;
    setting.device.shared_bytes_per_sm = 233472;
    setting.device.shared_bytes_per_block_optin = 232448;
    setting.device.fp32_flops = 6.7e13;
    setting.times = {{"N=4096", 0.012, 0.004, "latency"}};
    setting.predicted = true;
    setting.reference = right(1);
  }

  prompt::Request contrast() const {
    prompt::Request request;
    request.key = {2, 2, 0};
    request.exemplars = {{"reference", task.file.source, "", right(1)}, {"r01-s02", source, "Blocks of 256 hide latency.", right(2.5)}};
    request.failure = model::Exemplar{"r01-s01", source, "", wrong()};
    request.lessons = {"tensor cores: tried 1×, right 0×, last fault WRONG_RESULT"};
    request.technique = "vectorised access";
    return request;
  }

  prompt::Request repair(outcome::Judgement judgement) const {
    prompt::Request request;
    request.key = {1, 1, 1};
    request.failure = model::Exemplar{"r01-s01", source, "", std::move(judgement)};
    return request;
  }

  std::string user(const prompt::Request& request) const { return prompt::render(templates, setting, request).user; }
};

}  // namespace

TEST_CASE("the system prompt is the golden one") {
  const Scene scene;
  check_golden("system.md", prompt::render(scene.templates, scene.setting, {}).system);
}

TEST_CASE("the first round's prompt is the golden one") {
  Scene scene;
  scene.setting.hint = "N is always a multiple of 4.";
  check_golden("first_round.md", scene.user({}));
}

TEST_CASE("the first round's prompt for a PyTorch module is the golden one") {
  Scene scene;
  scene.task.path = "level1/19_ReLU.py";
  scene.task.file.source = "//@ task scale\n//@ torch Y = 2 * X\n//@ input X: float32[4096]\n//@ output Y: float32[4096]\n\n// The interface of 19_ReLU.py:\n//\n// class Model(nn.Module):\n";
  scene.setting.times = {{"fixed sizes", 0.012, 0.004, "DRAM bandwidth"}};
  scene.setting.predicted = false;
  scene.setting.reference.baselines = {{"eager", 0.02, {}, 0, ""}, {"compile", 0.012, {}, 0, ""}, {"graph", 0, {}, 0, "no memory"}};
  check_golden("module_first_round.md", scene.user({}));
  scene.setting.precision = outcome::Precision::reference;
  CHECK_THAT(prompt::render(scene.templates, scene.setting, {}).system, containing("as three products"));
  scene.setting.times.clear();
  CHECK(scene.user({}).find("Nobody knows PyTorch's time") != std::string::npos);
  auto timed = right(2);
  timed.workloads.front().sizes.clear();
  CHECK_THAT(prompt::describe_facts(timed), containing("- the fixed sizes: "));
}

TEST_CASE("a contrast round's prompt is the golden one") {
  const Scene scene;
  check_golden("contrast_round.md", scene.user(scene.contrast()));
}

TEST_CASE("repair prompts are the golden ones") {
  Scene scene;
  check_golden("repair_compile.md", scene.user(scene.repair(uncompiled())));
  check_golden("repair_wrong.md", scene.user(scene.repair(wrong())));
  check_golden("repair_run.md", scene.user(scene.repair(crashed())));
  outcome::Judgement stateful;
  stateful.verdict = outcome::Verdict::stateful;
  stateful.message = "a second run gives another result";
  check_golden("repair_forbidden.md", scene.user(scene.repair(stateful)));
  auto malformed = scene.repair({});
  malformed.failure_format = "the heading «## Algorithm Design» is missing";
  malformed.failure_reply = "```cuda\nint x;\n```\n";
  check_golden("repair_format.md", scene.user(malformed));
}

TEST_CASE("the prompt that takes techniques out is the golden one") {
  const Scene scene;
  prompt::Request request;
  request.key = {2, 2, 2};
  request.exemplars = {{"r02-s02", source, "", right(2.5)}};
  request.undo = {"fusion", "vectorised access"};
  check_golden("ablation.md", scene.user(request));
}

TEST_CASE("a hole that nothing fills and a value that nothing uses both fail") {
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "failure.md", "{{id}} {{evidence}} {{sauce}} {{source}}");
  CHECK_THROWS_WITH(prompt::Templates(folder.path()).fill("failure.md", {{"id", ""}, {"evidence", ""}, {"source", ""}}),
                    containing("failure.md: nothing is called {{sauce}}"));
  base::write_file(folder.path() / "failure.md", "{{id}} {{evidence}}");
  CHECK_THROWS_WITH(prompt::Templates(folder.path()).fill("failure.md", {{"id", ""}, {"evidence", ""}, {"source", ""}}),
                    containing("{{source}} is not used"));
}

TEST_CASE("a folder replaces some prompts and leaves the others") {
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "kernel_file_card.md", "My own card, with {{1, 2}, {3}} and {{ braces }}.");
  const prompt::Templates templates(folder.path());
  const Scene scene;
  CHECK_THAT(prompt::render(templates, scene.setting, {}).system,
             containing("My own card, with {{1, 2}, {3}} and {{ braces }}.") && containing("## Algorithm Design"));
  CHECK(templates.digest() != prompt::Templates().digest());
}

TEST_CASE("a prompt file with a misspelt name and a missing folder are refused") {
  const base::TemporaryFolder folder;
  base::write_file(folder.path() / "sytem.md", "");
  CHECK_THROWS_WITH(prompt::Templates(folder.path()), containing("did you mean system.md"));
  CHECK_THROWS_WITH(prompt::Templates(folder.path() / "none"), containing("is no folder"));
}

TEST_CASE("a value's own braces are not holes") {
  const prompt::Templates templates;
  CHECK_THAT(templates.fill("failure.md", {{"id", "{{evidence}}"}, {"evidence", "E"}, {"source", "S"}}), containing("{{evidence}}"));
}

TEST_CASE("a prompt that is too long gives way in order and says so") {
  const Scene scene;
  const auto whole = prompt::render(scene.templates, scene.setting, scene.contrast());
  CHECK(whole.cut.empty());
  const auto size = whole.system.size() + whole.user.size();
  const auto once = prompt::render(scene.templates, scene.setting, scene.contrast(), size - 1);
  CHECK(once.cut == std::vector<std::string>{"The list of what has been tried is left out."});
  CHECK_THAT(once.user, containing("To fit your context: The list of what has been tried is left out."));
  const auto least = prompt::render(scene.templates, scene.setting, scene.contrast(), 1);
  CHECK(least.cut.size() == 5);
  CHECK_THAT(least.user, containing(source) && !containing("Blocks of 256") && !containing("DRAM") && !containing("Variant 2"));
}

TEST_CASE("the signatures of hopper.cuh are shown for the GPUs that have its instructions, all of them, and for no others") {
  const std::filesystem::path headers = std::filesystem::path(CUDAL1_SOURCE_DIR) / "lib/compile/headers";
  const std::string header = base::read_file(headers / "hopper.cuh") + base::read_file(headers / "hopper_multiply.cuh");
  Scene scene;
  scene.setting.device.major = 9, scene.setting.device.minor = 0;
  const std::string shown = prompt::render(scene.templates, scene.setting, scene.contrast()).user;
  constexpr std::string_view mark = "__forceinline__ ";
  int functions = 0;
  for (std::size_t at = header.find(mark); at != std::string::npos; at = header.find(mark, at + 1), ++functions) {
    const std::size_t open = header.find('(', at), space = header.rfind(' ', open);
    const std::string name = header.substr(space + 1, open - space);  // with its parenthesis
    INFO(name);
    CHECK(shown.find(name) != std::string::npos);
  }
  CHECK(functions > 40);
  const std::string example = base::read_file(std::filesystem::path(CUDAL1_SOURCE_DIR) / "tests/kernels/hopper_example.cu");
  const std::string launch = example.substr(example.find("//@ launch"), example.find("#include") - example.find("//@ launch"));
  CHECK_THAT(shown, containing(launch) && containing(example.substr(example.find("#include"))));
  scene.setting.device.major = 10;
  CHECK_THAT(prompt::render(scene.templates, scene.setting, scene.contrast()).user, !containing("hopper.cuh"));
}

TEST_CASE("a fence is longer than what it holds") {
  CHECK(prompt::fenced("a ```` b", "text") == "`````text\na ```` b\n`````\n");
  CHECK(prompt::fenced("x\n", "") == "```\nx\n```\n");
}

TEST_CASE("every prompt file is embedded, and every embedded one is known") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(CUDAL1_SOURCE_DIR) / "prompts"))
    files += entry.path().extension() == ".md";
  CHECK(files == prompt::template_names().size());
  CHECK(prompt::Templates().digest().size() == 64);
}
