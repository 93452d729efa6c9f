// SPDX-License-Identifier: Apache-2.0
#include "court.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include "catch.hpp"

using namespace cudal1;
using outcome::Verdict;

namespace {

std::string line(const outcome::Judgement& judgement) {
  return outcome::name(judgement.verdict, judgement.predicted) + ": " + judgement.message + "\n" +
         base::render(judgement.diagnostics);
}

}  // namespace

TEST_CASE("the reference is verified and its time predicted") {
  Court court(scale_task);
  const auto& facts = court.judge.reference();
  CHECK(court.judge.device().simulated);
  CHECK(facts.predicted);
  CHECK(facts.oracle);
  REQUIRE(facts.times.size() == 1);
  CHECK(facts.times[0].workload == "N=512 M=512");
  CHECK(facts.times[0].ms > 0);
  CHECK(facts.times[0].speed_of_light_ms > 0);
  CHECK(facts.times[0].speed_of_light_ms < facts.times[0].ms);
  CHECK_FALSE(facts.judgement.resources.empty());
  CHECK(facts.judgement.errors.trials >= 4);
}

TEST_CASE("a variant that is right and much faster is predicted faster") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(scale_fast, "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::faster);
  CHECK(judgement.predicted);
  REQUIRE(judgement.speedup);
  CHECK(judgement.speedup->value > 1.2);
  CHECK(judgement.speedup->low > 1);
  CHECK(judgement.speedup->high > judgement.speedup->value);
  REQUIRE(judgement.workloads.size() == 1);
  CHECK(judgement.workloads[0].pairs == 0);
  CHECK(judgement.errors.trials >= 4);
  CHECK(judgement.occupancy > 0);
}

TEST_CASE("the reference as its own variant is predicted equivalent") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(scale_task, "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::equivalent);
  CHECK(judgement.speedup->value == Approx(1));
}

TEST_CASE("answers whose text or names alone differ have the same code, and others have not") {
  Court court(scale_task);
  const auto code = [&](const std::string& source) { return court.judge.screen(source, "answer.cu").code; };
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
    return text;
  };
  const std::string own = code(scale_fast);
  CHECK(own.size() == 64);
  CHECK(code(replaced(replaced(scale_fast, "fast", "other_name"), "int i", "// one element\n\n  int i")) == own);
  CHECK(code(replaced(scale_fast, "2 * A[i]", "A[i] + A[i]")) == own);
  CHECK(code(replaced(scale_fast, "2 * A[i]", "2 * A[i] + 0 * i")) != own);
  CHECK(code(replaced(scale_fast, "256", "128")) != own);                     // the same instructions, launched otherwise
  CHECK(code(replaced(scale_fast, "2 * A[i]", "3 * A[i]")) != own);           // a constant
  CHECK(code("//@ launch  nothing<<<1, 1>>>(A)\n__global__ void nothing(const float* A) {").empty());
}

TEST_CASE("variables count in the code with their names, places and values") {
  Court court(scale_task);
  const auto code = [&](const std::string& variables, const std::string& body) {
    const auto judgement = court.judge.screen("//@ launch  fast<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)\n" + variables +
                                              "__global__ void fast(const float* A, float* C, int count) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " + body + "\n}\n", "answer.cu");
    INFO(line(judgement));
    CHECK(judgement.verdict >= Verdict::wrong_result);   // it ran
    return judgement.code;
  };
  const std::string body = "if (i < count) C[i] = one[i & 1] * A[i] + two[i & 1];";
  const std::string own = code("__constant__ float one[2] = {2, 2}, two[2] = {0, 0};\n", body);
  CHECK(own.size() == 64);
  CHECK(code("// the same\n__constant__ float one[2] = {2, 2}, two[2] = {0, 0};\n", body) == own);
  CHECK(code("__constant__ float two[2] = {2, 2}, one[2] = {0, 0};\n", body) != own);       // the same bytes under other names
  CHECK(code("__constant__ float one[2] = {2, 3}, two[2] = {0, 0};\n", body) != own);
  CHECK(code("__device__ const float one[2] = {2, 2}, two[2] = {0, 0};\n", body) != own);
  CHECK(code("", "__shared__ float row[256]; row[threadIdx.x] = i < count ? A[i] : 0; __syncthreads(); if (i < count) C[i] = 2 * row[threadIdx.x];").size() == 64);
}

TEST_CASE("a final verdict comes from a fresh worker and says so") {
  Court court(scale_task);
  const auto judgement = court.judge.confirm(scale_fast, "answer.cu", {});
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::faster);
  CHECK(judgement.level == outcome::Level::final_);
  CHECK(judgement.predicted);
}

TEST_CASE("a wrong element is named, first and worst") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(R"(//@ launch  fast<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void fast(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = i == 75 ? A[i] : 2 * A[i];
}
)", "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::wrong_result);
  CHECK_FALSE(judgement.speedup);
  REQUIRE(judgement.first_wrong);
  CHECK(judgement.first_wrong->output == "C");
  CHECK(judgement.first_wrong->index == std::vector<std::int64_t>{1, 5});
  CHECK_THAT(judgement.message, containing("C[1, 5]"));
}

TEST_CASE("a kernel that leaves its output as it was is wrong") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(R"(//@ launch  idle<<<1, 32>>>(A, C)
__global__ void idle(const float* A, float* C) {}
)", "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::wrong_result);
  CHECK_THAT(judgement.message, containing("never written"));
}

TEST_CASE("a kernel that writes past its output is rejected with the finding") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(R"(//@ launch  fast<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void fast(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 2 * A[i];
  if (i == 0) C[count] = 1;
}
)", "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::sanitizer_failed);
  REQUIRE_FALSE(judgement.findings.empty());
  CHECK(judgement.findings[0].kind == outcome::Finding::Kind::out_of_bounds);
  CHECK(judgement.findings[0].line == 5);
}

TEST_CASE("a missing barrier is a race") {
  Court court(row_sum_task);
  const auto judgement = court.judge.screen(R"(//@ launch  rows<<<N, 64>>>(A, C, M)
__global__ void rows(const float* A, float* C, int M) {
  __shared__ float part[64];
  float sum = 0;
  for (int column = threadIdx.x; column < M; column += 64) sum += A[blockIdx.x * M + column];
  part[threadIdx.x] = 0;
  __syncthreads();
  part[threadIdx.x] = sum;
  if (threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < 64; ++i) total += part[i];
    C[blockIdx.x] = total;
  }
}
)", "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::sanitizer_failed);
  REQUIRE_FALSE(judgement.findings.empty());
  CHECK(judgement.findings[0].kind == outcome::Finding::Kind::shared_race);
}

TEST_CASE("an endless loop is a timeout, is not run again, and the next variant is unaffected") {
  Court court(scale_task, "sim", 4);
  const std::string endless = R"(//@ launch  loop<<<1, 32>>>(A, C)
__global__ void loop(const float* A, float* C) {
  volatile float* out = C;
  while (true) *out = 1;
}
)";
  const auto first = court.judge.screen(endless, "answer.cu");
  INFO(line(first));
  CHECK(first.verdict == Verdict::timeout);
  const auto again = court.judge.screen(endless, "answer.cu");
  INFO(line(again));
  CHECK(again.verdict == Verdict::timeout);
  CHECK_THAT(again.message, containing("not run again"));
  CHECK(court.judge.screen(scale_fast, "answer.cu").verdict == Verdict::faster);
}

TEST_CASE("predictions do not race") {
  Court court(scale_task);
  CHECK_FALSE(court.judge.race({{scale_fast, "a.cu", {}}, {scale_fast + "// once more", "b.cu", {}}}));
}

TEST_CASE("what did not end is not run again by the run that goes on either") {
  const base::TemporaryFolder folder;
  auto options = Court::options("sim", 3);
  options.hangs = folder.path() / "hangs";
  const std::string endless = R"(//@ launch  loop<<<1, 32>>>(A, C)
__global__ void loop(const float* A, float* C) {
  volatile float* out = C;
  while (true) *out = 1;
}
)";
  CHECK(Court(scale_task, options).judge.screen(endless, "answer.cu").verdict == Verdict::timeout);
  const auto again = Court(scale_task, options).judge.screen(endless, "answer.cu");
  CHECK(again.verdict == Verdict::timeout);
  CHECK_THAT(again.message, containing("not run again; what " + folder.path().filename().string() + "/hangs remembers"));
  std::string other_sizes = scale_task;
  other_sizes.replace(other_sizes.find("N = 33"), 6, "N = 34");
  const auto elsewhere = Court(other_sizes, options).judge.screen(endless, "answer.cu");
  CHECK_THAT(elsewhere.message, !containing("not run again"));
}

TEST_CASE("a task that rewards no work is refused before anybody is asked, or earns nothing") {
  std::string constant = scale_task;
  constant.replace(constant.find("C = 2 * A"), 9, "C = 0 * A");
  constant.replace(constant.find("2 * A[row"), 1, "0");
  try {
    Court(constant).judge.reference();
    FAIL("it was accepted");
  } catch (const base::Error& error) {
    CHECK(error.fault() == base::Fault::bad_task);
    CHECK_THAT(error.what(), containing("TASK_DEGENERATE: 100 % of C is 0"));
    CHECK_THAT(error.what(), containing("--accept-degenerate"));
  }
  auto options = Court::options("sim", 20);
  options.accept_degenerate = true;
  Court court(constant, options);
  std::string fast = scale_fast;
  fast.replace(fast.find("2 * A"), 1, "0");
  const auto judgement = court.judge.screen(fast, "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::inconclusive);
  CHECK_THAT(judgement.message, containing("no speed-up is earned"));
}

TEST_CASE("a compile error keeps the compiler's diagnostics") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(R"(//@ launch  fast<<<1, 32>>>(A, C)
__global__ void fast(const float* A, float* C) { C[0] = B[0]; }
)", "answer.cu");
  CHECK(judgement.verdict == Verdict::compile_failed);
  REQUIRE_FALSE(judgement.diagnostics.empty());
  CHECK(judgement.diagnostics[0].line == 2);
  CHECK_THAT(judgement.diagnostics[0].message, containing("\"B\""));
}

TEST_CASE("an answer cannot change the task") {
  Court court(scale_task);
  const auto judgement = court.judge.screen("//@ size N = 1, M = 1\n" + scale_fast, "answer.cu");
  CHECK(judgement.verdict == Verdict::invalid_plan);
  CHECK_FALSE(judgement.diagnostics.empty());
}

TEST_CASE("a plan that cannot be is told so") {
  Court court(scale_task);
  const auto zero = court.judge.screen("//@ launch fast<<<N - N, 256>>>(A, C, N)\n__global__ void fast(const float* A, float* C, int n) {}\n", "answer.cu");
  INFO(line(zero));
  CHECK(zero.verdict == Verdict::invalid_plan);
  const auto none = court.judge.screen("__global__ void fast(const float* A, float* C, int n) {}\n", "answer.cu");
  INFO(line(none));
  CHECK(none.verdict == Verdict::invalid_plan);
}

TEST_CASE("state kept between launches is refused before it runs") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(R"(//@ launch  fast<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__device__ float kept[4096];
__global__ void fast(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) kept[i % 4096] = C[i] = 2 * A[i];
}
)", "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::stateful);
}

TEST_CASE("the best member of a family is found and verified") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(R"(//@ tune    BLOCK = 32 | 64 | 128 | 256 | 512
//@ tune    STEP = 1 | 8
//@ launch  fast<<<ceil_div(N * M, BLOCK * STEP), BLOCK>>>(A, C, N * M)
__global__ void fast(const float* A, float* C, int count) {
  for (int k = 0; k < STEP; ++k) {
    int i = (blockIdx.x * STEP + k) * BLOCK + threadIdx.x;
    if (i < count) C[i] = 2 * A[i];
  }
}
)", "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::faster);
  CHECK(judgement.tunables.contains("BLOCK"));
  CHECK(judgement.tunables.contains("STEP"));
}

TEST_CASE("a family whose fast member is wrong is not called right by its slow one") {
  Court court(scale_task);
  const auto judgement = court.judge.screen(R"(//@ tune    HALF = 0 | 1
//@ launch  fast<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)
__global__ void fast(const float* A, float* C, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count / (1 + HALF)) C[i] = 2 * A[i];
}
)", "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::faster);
  CHECK(judgement.tunables.at("HALF") == 0);
}

TEST_CASE("a task whose own kernel is wrong is refused") {
  std::string broken = scale_task;
  broken.replace(broken.find("2 * A[row"), 1, "3");
  Court court(broken);
  try {
    court.judge.reference();
    FAIL("it was accepted");
  } catch (const base::Error& error) {
    CHECK(error.fault() == base::Fault::bad_task);
    CHECK_THAT(error.what(), containing("C[0, 0]"));
  }
}

TEST_CASE("without a torch line the verdict carries the label") {
  std::string bare = scale_task;
  bare.replace(bare.find("//@ torch   C = 2 * A\n"), 22, "");
  Court court(bare);
  const auto judgement = court.judge.screen(scale_fast, "answer.cu");
  INFO(line(judgement));
  CHECK(judgement.verdict == Verdict::faster);
  CHECK(judgement.labels.contains(outcome::Label::shadow_oracle));
  CHECK_FALSE(judgement.labels.contains(outcome::Label::no_oracle));
}

TEST_CASE("a device worker that cannot start is the tool's failure, not a verdict") {
  const auto task = task::from_source(scale_task, "task.cu");
  compile::Compiler compiler(Court::compiler_options());
  judge::Options options = Court::options("sim", 5);
  options.worker.arguments = {"nonsense"};
  CHECK_THROWS_AS(judge::Judge(task, compiler, options), base::Error);
}
