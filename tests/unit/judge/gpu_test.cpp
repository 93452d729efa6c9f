// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "court.hpp"
#include "cuda/cuda.hpp"

#include "catch.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

using namespace cudal1;
using outcome::Verdict;

namespace {

// Says why a test does nothing here. Opening the driver leaves no context behind.
bool no_gpu() {
  static const std::string problem = cuda::inventory().problem;
  if (!problem.empty()) WARN("skipped: " << problem);
  return !problem.empty();
}

std::string resized(std::string source, const std::string& size) {
  const std::size_t start = source.find("//@ size");
  return source.replace(start, source.find('\n', start) - start, "//@ size    " + size);
}

outcome::Judgement show(outcome::Judgement judgement) {
  std::printf("  %s: %s%s%s, %.2f s", outcome::name(judgement.verdict, judgement.predicted).c_str(),
              judgement.message.c_str(), judgement.sanitizer.empty() ? "" : ", sanitizer ", judgement.sanitizer.c_str(),
              judgement.seconds);
  for (const auto& workload : judgement.workloads)
    std::printf(" | %.4f ms against %.4f ms, %d pairs, %.0f %% of the limit, %s", workload.variant_ms,
                workload.reference_ms, workload.pairs, 100 * workload.share_of_limit, workload.limited_by.c_str());
  std::printf("\n");
  std::fflush(stdout);
  return judgement;
}

}  // namespace

TEST_CASE("a GPU measures a faster variant, an equal one, and confirms", "[gpu]") {
  if (no_gpu()) return;
  Court court(resized(scale_task, "N = 4096, M = 4096"), "cuda:0");
  const auto& facts = court.judge.reference();
  CHECK_FALSE(facts.predicted);
  CHECK(facts.oracle);
  std::printf("  reference %.4f ms, speed of light %.4f ms, %s, %.2f s\n", facts.times[0].ms,
              facts.times[0].speed_of_light_ms, facts.times[0].limited_by.c_str(), facts.judgement.seconds);
  const auto fast = show(court.judge.screen(scale_fast, "answer.cu"));
  CHECK(fast.verdict == Verdict::faster);
  CHECK_FALSE(fast.predicted);
  CHECK(fast.speedup->value > 3);
  show(court.judge.screen(scale_fast, "answer.cu"));
  const auto same = show(court.judge.screen(scale_task.substr(scale_task.find("//@ launch")), "answer.cu"));
  CHECK(same.verdict != Verdict::faster);
  CHECK(same.verdict != Verdict::slower);
  CHECK(same.speedup->value == Approx(1).epsilon(0.02));
  const auto final_verdict = show(court.judge.confirm(scale_fast, "answer.cu", {}));
  CHECK(final_verdict.verdict == Verdict::faster);
  CHECK(final_verdict.level == outcome::Level::final_);
  CHECK(final_verdict.sanitizer != "found");
  CHECK_FALSE(final_verdict.sanitizer.empty());
}

TEST_CASE("hostile variants on a GPU earn their verdict and leave the next one alone", "[gpu]") {
  if (no_gpu()) return;
  Court court(scale_task, "cuda:0", 2);
  const auto kernel = [](const std::string& body) {
    return "//@ launch  k<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)\n"
           "__global__ void k(const float* A, float* C, int count) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + body + "}\n";
  };
  const auto wrong = show(court.judge.screen(kernel("if (i < count && i % 64) C[i] = 2 * A[i];\n"), "answer.cu"));
  CHECK(wrong.verdict == Verdict::wrong_result);
  const auto beyond = show(court.judge.screen(kernel("if (i <= count) C[i] = 2 * A[i < count ? i : 0];\n"), "answer.cu"));
  CHECK(beyond.verdict == Verdict::tampered);
  const auto input = show(court.judge.screen(kernel("if (i < count) { C[i] = 2 * A[i]; const_cast<float*>(A)[i] = 0; }\n"), "answer.cu"));
  CHECK(input.verdict == Verdict::tampered);
  const auto fault = show(court.judge.screen(kernel("if (i < count) C[i + (1LL << 40)] = 2 * A[i];\n"), "answer.cu"));
  CHECK(fault.verdict == Verdict::runtime_failed);
  const auto trap = show(court.judge.screen(kernel("if (i == 3) __trap();\n"), "answer.cu"));
  CHECK(trap.verdict == Verdict::runtime_failed);
  const std::string endless = kernel("volatile float* out = C; while (true) *out = 1;\n");
  const auto hang = show(court.judge.screen(endless, "answer.cu"));
  CHECK(hang.verdict == Verdict::timeout);
  CHECK(hang.seconds < 20);
  const auto again = show(court.judge.screen(endless, "answer.cu"));
  CHECK(again.verdict == Verdict::timeout);
  CHECK(again.seconds < 1);
  const auto memory = show(court.judge.screen("//@ scratch S: float32[N * 1000000000]\n" + kernel("if (i < count) C[i] = 2 * A[i];\n"), "answer.cu"));
  CHECK(memory.verdict == Verdict::runtime_failed);
  const auto fine = show(court.judge.screen(scale_fast, "answer.cu"));
  CHECK(outcome::is_right(fine.verdict));
}

TEST_CASE("a family is raced on a GPU", "[gpu]") {
  if (no_gpu()) return;
  Court court(resized(scale_task, "N = 2048, M = 4096"), "cuda:0");
  const auto judgement = show(court.judge.screen(R"(//@ tune    BLOCK = 32 | 128 | 512
//@ tune    STEP = 1 | 8
//@ launch  fast<<<ceil_div(N * M, BLOCK * STEP), BLOCK>>>(A, C, N * M)
__global__ void fast(const float* A, float* C, int count) {
  for (int k = 0; k < STEP; ++k) {
    int i = (blockIdx.x * STEP + k) * BLOCK + threadIdx.x;
    if (i < count) C[i] = 2 * A[i];
  }
}
)", "answer.cu"));
  CHECK(judgement.verdict == Verdict::faster);
  CHECK(judgement.tunables.contains("BLOCK"));
  for (const auto& [name, value] : judgement.tunables) std::printf("  %s = %lld\n", name.c_str(), static_cast<long long>(value));
}

TEST_CASE("a GPU runs the cubin, so a driver that does not know the PTX's version is no hindrance", "[gpu]") {
  if (no_gpu()) return;
  compile::Compiler compiler(Court::compiler_options());
  const auto device = cuda::open(0);
  compile::Request request;
  request.name = "fast.cu";
  request.source = scale_fast;
  request.kernels = {"fast"};
  request.arch = device->facts().arch();
  auto compiled = compiler.compile(request);
  REQUIRE(compiled);
  outcome::Binary newer = compiled->binary;
  newer.ptx = ".version 99.0\n.target sm_75\n";
  CHECK(device->load(newer).has_value());
  newer.cubin.clear();
  const auto refused = device->load(newer);
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error().message, containing("cannot be loaded"));
}

TEST_CASE("what is right on a GPU is also timed warm, and counted where that is allowed", "[gpu]") {
  if (no_gpu()) return;
  Court court(resized(scale_task, "N = 2048, M = 4096"), "cuda:0");
  const auto judgement = show(court.judge.confirm(scale_fast, "answer.cu", {}));
  REQUIRE(judgement.workloads.size() == 1);
  CHECK(judgement.workloads[0].hot_speedup > 0);
  CHECK(judgement.workloads[0].share_of_bandwidth > 0.2);
  CHECK(judgement.step_seconds.contains("time"));
  CHECK(judgement.hardware.empty() != judgement.hardware_problem.empty());
  if (judgement.hardware.empty()) return;
  const double bytes = 2.0 * 2048 * 4096 * 4;
  CHECK(judgement.counters.dram_read_bytes == Approx(bytes / 2).epsilon(0.1));
  CHECK(judgement.hardware.at("warps_active_share") > 0.3);
  CHECK(judgement.hardware.at("clock_per_second") > 5e8);
}

TEST_CASE("waiting for another user of the GPU is not charged to a variant", "[gpu]") {
  if (no_gpu()) return;
  Court court(scale_task, "cuda:0");
  court.judge.reference();
  std::atomic<bool> held{false};
  std::jthread other([&] {
    const base::FileLock lock(base::cache_folder() / ("gpu-" + court.judge.device().uuid + ".lock"));
    held = true;
    std::this_thread::sleep_for(std::chrono::seconds(2));
  });
  while (!held) std::this_thread::yield();
  const auto judgement = show(court.judge.screen(scale_fast, "answer.cu"));
  CHECK(judgement.step_seconds.at("wait") > 1.5);
  CHECK(judgement.seconds < 1.5);
}

TEST_CASE("a race on a GPU puts variants into the order of their work, and does not count when one of them fails", "[gpu]") {
  if (no_gpu()) return;
  Court court(resized(scale_task, "N = 4096, M = 4096"), "cuda:0");
  std::string less = scale_fast;   // two threads of three have nothing to do
  less.replace(less.find("N * M, 256"), 10, "N * M * 3, 256");
  const auto raced = court.judge.race({{less, "less.cu", {}}, {scale_fast, "fast.cu", {}}});
  REQUIRE(raced);
  INFO(raced->problem);
  REQUIRE(raced->standings.size() == 2);
  CHECK(raced->fastest == 1);
  CHECK(raced->standings[0].over_fastest.high < 1);
  CHECK(raced->standings[1].over_fastest.value == 1);
  std::string wrong = scale_fast;
  wrong.replace(wrong.find("2 * A[i]"), 8, "3 * A[i]");
  const auto nothing = court.judge.race({{wrong, "wrong.cu", {}}, {scale_fast, "fast.cu", {}}});
  REQUIRE(nothing);
  CHECK(nothing->standings.empty());
  CHECK_THAT(nothing->problem, containing("WRONG_RESULT"));
}

TEST_CASE("a slow reference rests once a fast variant is known, and the chain of ratios is told", "[gpu]") {
  if (no_gpu()) return;
  Court court(resized(scale_task, "N = 8192, M = 8192"), "cuda:0");
  REQUIRE(court.judge.reference().times[0].ms > 1);
  const auto first = show(court.judge.screen(scale_fast, "answer.cu"));
  const auto second = show(court.judge.screen(scale_fast + "// again\n", "answer.cu"));
  CHECK(second.verdict == Verdict::faster);
  CHECK_THAT(second.message, containing("the fastest before"));
  CHECK(second.speedup->value == Approx(first.speedup->value).epsilon(0.05));
}

TEST_CASE("every example is its own equal on a GPU", "[gpu]") {
  if (no_gpu()) return;
  for (const char* name : {"row_sum", "softmax", "layer_norm", "transpose", "argmax", "gelu_bias", "rms_norm", "matmul", "diag_matmul"}) {
    const std::string path = std::string(CUDAL1_SOURCE_DIR) + "/examples/" + name + ".cu";
    const std::string source = base::read_file(path);
    Court court(source, "cuda:0");
    std::printf("  %s:\n", name);
    const auto& facts = court.judge.reference();
    std::printf("  reference %.4f ms, oracle %s, %.2f s\n", facts.times[0].ms, facts.oracle ? "yes" : "no",
                facts.judgement.seconds);
    for (int repetition = 0; repetition < 3; ++repetition) {
      const auto judgement = show(court.judge.screen(source, "answer.cu"));
      CHECK(outcome::is_right(judgement.verdict));
      CHECK(judgement.verdict != Verdict::faster);
      CHECK(judgement.verdict != Verdict::slower);
    }
  }
}
