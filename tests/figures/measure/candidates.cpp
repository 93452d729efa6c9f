// SPDX-License-Identifier: Apache-2.0
// Candidates from source text to verdict: one at a time, and as a stream.
#include "court.hpp"
#include "figures.hpp"

#include "cuda/management.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include <fmt/format.h>

namespace figures {

namespace {

// A fast answer whose text differs with the number.
std::string answer(const std::string& name, int number) {
  if (name == "diag_matmul")
    return fmt::format("// {0}\n//@ launch  scale<<<dim3(ceil_div(M, 1024), N), 256>>>(A, B, C, N, M)\n"
                       "__global__ void scale(const float* A, const float* B, float* C, int N, int M) {{\n"
                       "  int column = (blockIdx.x * 256 + threadIdx.x) * 4;\n  size_t at = size_t(blockIdx.y) * M + column;\n"
                       "  float a = A[blockIdx.y];\n"
                       "  if (column + 3 < M && M % 4 == 0) {{\n    float4 b = *reinterpret_cast<const float4*>(B + at);\n"
                       "    *reinterpret_cast<float4*>(C + at) = make_float4(a * b.x, a * b.y, a * b.z, a * b.w);\n"
                       "  }} else {{\n    for (int i = 0; i < 4; ++i) if (column + i < M) C[at + i] = a * B[at + i];\n  }}\n}}\n", number);
  return fmt::format("// {0}\n//@ launch  rows<<<N, 256>>>(X, Y, M)\n"
                     "__global__ void rows(const float* X, float* Y, int M) {{\n"
                     "  __shared__ float part[8];\n  const float* x = X + size_t(blockIdx.x) * M;\n  float* y = Y + size_t(blockIdx.x) * M;\n"
                     "  float largest = -3e38f;\n  for (int i = threadIdx.x; i < M; i += 256) largest = fmaxf(largest, x[i]);\n"
                     "  for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));\n"
                     "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = largest;\n  __syncthreads();\n"
                     "  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, part[i]);\n  __syncthreads();\n"
                     "  float sum = 0;\n  for (int i = threadIdx.x; i < M; i += 256) sum += __expf(x[i] - largest);\n"
                     "  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);\n"
                     "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;\n  __syncthreads();\n"
                     "  sum = 0;\n  for (int i = 0; i < 8; ++i) sum += part[i];\n"
                     "  for (int i = threadIdx.x; i < M; i += 256) y[i] = __expf(x[i] - largest) / sum;\n}}\n", number);
}

void print(const outcome::Judgement& judgement) {
  std::printf("  %-9s %-12s %6.2f s:", std::string(outcome::name(judgement.level)).c_str(), outcome::name(judgement.verdict).c_str(), judgement.seconds);
  for (const auto& [step, seconds] : judgement.step_seconds) std::printf("  %s %.3f", step.c_str(), seconds);
  std::printf("\n             %s%s%s", judgement.message.c_str(), judgement.sanitizer.empty() ? "" : ", sanitizer ", judgement.sanitizer.c_str());
  for (const auto& label : judgement.labels) std::printf(", %s", std::string(outcome::name(label)).c_str());
  for (const auto& workload : judgement.workloads)
    std::printf(", %.4f ms, %.0f %% of bandwidth, %s", workload.variant_ms, 100 * workload.share_of_bandwidth, workload.limited_by.c_str());
  for (const auto& workload : judgement.workloads)
    if (workload.hot_speedup > 0) std::printf(", hot %.2fx", workload.hot_speedup);
  std::printf("\n");
  if (judgement.hardware.empty()) std::printf("             no counters: %s\n", judgement.hardware_problem.c_str());
  std::fflush(stdout);
}

}  // namespace

int latency() {
  const base::Seconds end = base::now() + limit();
  for (const char* name : {"diag_matmul", "softmax"}) {
    const base::Seconds began = base::now();
    Court court(example(name));
    court.judge.reference();
    std::printf("%s: the reference after %.2f s\n", name, (base::now() - began).count());
    for (const auto& warning : court.judge.warnings()) std::printf("  %s\n", warning.c_str());
    std::vector<double> seconds;
    outcome::Judgement last;
    for (int i = 0; i < 6; ++i) {
      last = court.judge.screen(answer(name, i), "answer.cu");
      if (i == 0 || i == 5) print(last);
      if (i > 0) seconds.push_back(last.seconds);
    }
    std::printf("  source text to screening verdict, warm: median %.3f s, longest %.3f s\n", median(seconds), *std::max_element(seconds.begin(), seconds.end()));
    for (const auto& [counter, value] : last.hardware) std::printf("  %s %.4g\n", counter.c_str(), value);
    std::printf("  DRAM bytes read %.4g, written %.4g\n", last.counters.dram_read_bytes, last.counters.dram_write_bytes);
    if (base::now() > end) return 1;
    print(court.judge.confirm(answer(name, 5), "answer.cu", {}));
  }
  return 0;
}

int stream(int count) {
  const base::Seconds end = base::now() + limit();
  for (const char* name : {"diag_matmul", "softmax"}) {
    Court court(example(name));
    court.judge.reference();
    const cuda::Management management(court.judge.device().uuid);
    std::atomic<int> next{0}, done{0}, right{0};
    std::atomic<bool> over{false};
    std::vector<double> busy;
    std::thread watcher([&] {
      while (!over) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        busy.push_back(management.utilisation());
      }
    });
    const base::Seconds began = base::now();
    std::map<std::string, double> steps;
    std::mutex mutex;
    {
      std::vector<std::jthread> askers;
      for (unsigned i = 0; i < std::max(2U, std::thread::hardware_concurrency() / 2); ++i)
        askers.emplace_back([&] {
          for (int number = next++; number < count && base::now() < end; number = next++) {
            const auto judgement = court.judge.screen(answer(name, 1000 + number), "answer.cu");
            ++done;
            right += outcome::is_right(judgement.verdict);
            const std::lock_guard lock(mutex);
            for (const auto& [step, seconds] : judgement.step_seconds) steps[step] += seconds;
          }
        });
    }
    const double seconds = (base::now() - began).count();
    over = true;
    watcher.join();
    std::printf("%s: %d distinct candidates, %d right, %.1f s: %.0f verdicts a minute; GPU idle %.0f %% of the time (NVML)\n", name, done.load(),
                right.load(), seconds, 60 * done / seconds, 100 * (1 - std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(std::max<std::size_t>(1, busy.size()))));
    for (const auto& [step, spent] : steps) std::printf("  %s %.3f s a candidate\n", step.c_str(), spent / std::max(1, done.load()));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace figures
