// SPDX-License-Identifier: Apache-2.0
// What cudal1's timing shows on a GPU. Each command prints a table.
//   figure_measure aa final|screening [COUNT [RECORD [KERNEL]]]
//                                             false claims between identical kernels, in buffers laid out anew each time
//   figure_measure slow PERCENT [COUNT [KERNEL]]
//                                             final verdicts on kernels that do PERCENT more work
//   figure_measure width                      half-width of the interval after 250 ms of GPU time
//   figure_measure trace FILE                 records pairs of every kernel against itself
//   figure_measure coverage FILE              coverage and false claims on recorded pairs; needs no GPU
//   figure_measure latency                    source text to verdict, by step
//   figure_measure stream [COUNT]             screening verdicts a minute for distinct candidates
// CUDAL1_FIGURE_LIMIT, seconds (default 120): a command stops early and says so. `aa` goes on with RECORD's comparisons.
#include "trace.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "bench/comparison.hpp"
#include "bench/order.hpp"
#include "cuda/management.hpp"
#include "judge/candidate.hpp"
#include "judge/device_host.hpp"
#include "judge/judge.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include <fmt/format.h>

using namespace cudal1;
using outcome::Verdict;

namespace {

base::Seconds limit() {
  const char* given = std::getenv("CUDAL1_FIGURE_LIMIT");
  return base::Seconds(given != nullptr ? std::atof(given) : 120);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Kernel {
  std::string name, task, variant;   // the variant answers the task; for identical kernels it is the task's own text
};

Kernel example(const std::string& name) {
  const char* folder = std::getenv("CUDAL1_EXAMPLES");
  const std::string source = base::read_file((folder != nullptr ? folder : CUDAL1_SOURCE_DIR "/examples") + ("/" + name + ".cu"));
  return {name, source, source};
}

std::string header(long elements, long read) {
  return fmt::format("//@ task    work\n//@ size    N = {}, E = {}\n//@ check   N = 1000, E = 100\n"
                     "//@ input   X: float32[N + E]\n//@ output  Y: float32[N]\n",
                     elements, read);
}

// Doubles N elements; the variant doubles E more, into scratch memory.
Kernel traffic(long elements, double percent) {
  const long extra = std::max(std::lround(static_cast<double>(elements) * percent / 100), 1L);
  const std::string task = header(elements, extra) +
                           "//@ launch  plain<<<ceil_div(N, 256), 256>>>(X, Y, N)\n"
                           "__global__ void plain(const float* X, float* Y, int N) {\n"
                           "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < N) Y[i] = 2 * X[i];\n}\n";
  const std::string more = "//@ scratch S: float32[E]\n//@ launch  more<<<ceil_div(N + E, 256), 256>>>(X, Y, S, N, E)\n"
                           "__global__ void more(const float* X, float* Y, float* S, int N, int E) {\n"
                           "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < N) Y[i] = 2 * X[i];\n  else if (i < N + E) S[i - N] = 2 * X[i];\n}\n";
  return {fmt::format("traffic_{}k", elements >> 10), task, percent == 0 ? task : more};
}

// A chain of multiply-adds per element: percent more of them.
Kernel arithmetic(long steps, double percent) {
  const auto body = [](long count) {
    return fmt::format("//@ launch  chain<<<ceil_div(N, 256), 256>>>(X, Y, N)\n"
                       "__global__ void chain(const float* X, float* Y, int N) {{\n"
                       "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i >= N) return;\n  float y = X[i], z = y;\n"
                       "#pragma unroll 1\n  for (int k = 0; k < {}; ++k) {{ z = fmaf(z, 0.5f, 0.25f); z = fmaf(z, 0.5f, 0.25f);"
                       " z = fmaf(z, 0.5f, 0.25f); z = fmaf(z, 0.5f, 0.25f); }}\n"
                       "  Y[i] = y + (z > 2 ? 1.0f : 0.0f);\n}}\n", count);
  };
  const std::string task = header(1 << 20, 1) + body(steps);
  return {fmt::format("arithmetic_{}", steps), task,
          percent == 0 ? task : body(std::lround(static_cast<double>(steps) * (1 + percent / 100)))};
}

std::vector<Kernel> identical_kernels() {
  return {traffic(1 << 14, 0), traffic(1 << 20, 0), traffic(1 << 22, 0), arithmetic(160, 0), example("rms_norm"),
          example("gelu_bias"), example("transpose"), example("row_sum"), example("argmax"), arithmetic(12000, 0),
          arithmetic(22000, 0)};
}

// The judge's own worker and statistics around one kernel, with the samples in sight.
class Bench {
 public:
  explicit Bench(const Kernel& kernel)
      : task_(task::from_source(kernel.task, kernel.name + ".cu")), compiler_(compiler_options()), host_(worker("device")),
        random_(base::secret_seed()) {
    judge::OpenJob open;
    open.device = "cuda:0";
    open.source = task_.file.source;
    open.path = task_.path.string();
    open.workloads = task_.workloads;
    open.checks = task_.checks;
    open.seed = base::secret_seed();
    facts = ask<judge::OpenReply>(open).facts;
    auto own = judge::candidate_of(task_.file);
    if (!own) throw base::Error(base::Fault::internal, own.error().message);
    judge::ReferenceJob reference;
    reference.executable = build(*own);
    reference.declared_trials = 1;
    const auto reply = ask<judge::ReferenceReply>(reference);
    if (!reply.broken.empty()) throw base::Error(base::Fault::internal, kernel.name + ": " + reply.broken);
    auto candidate = judge::read_candidate(task_, kernel.variant, "variant.cu");
    if (!candidate) throw base::Error(base::Fault::internal, candidate.error().message);
    variant_ = build(*candidate);
  }

  static compile::CompilerOptions compiler_options() {
    compile::CompilerOptions options;
    options.worker = worker("compile");
    options.sandbox = compile::sandbox_state().available;
    return options;
  }
  static base::Program worker(const char* which) { return {base::own_executable(), {"worker", which}}; }

  judge::TimeReply time(int pairs, bool fresh) {
    judge::TimeJob job;
    job.executables = {variant_};
    job.order = bench::pair_order(pairs, random_);
    job.fresh = fresh;
    job.seed = random_.next();
    auto reply = ask<judge::TimeReply>(job);
    if (reply.evidence.fault) throw base::Error(base::Fault::internal, reply.evidence.message);
    return reply;
  }

  struct Result {
    Verdict verdict;
    bench::Estimate estimate;
    double reference_ms = 0, variant_ms = 0, seconds = 0;
  };
  // One comparison as the judge makes it.
  Result compare(bench::Purpose purpose) {
    const base::Seconds began = base::now();
    bench::Comparison comparison(purpose, {1}, judge::Options{}.gpu_budget_ms);
    bool fresh = true;
    std::optional<Verdict> verdict;
    while (!verdict) {
      if (const int pairs = comparison.wanted(0); pairs > 0) {
        const auto reply = time(pairs, std::exchange(fresh, false));
        comparison.add(0, reply.samples, reply.tick_ms);
      }
      verdict = comparison.look();
    }
    return {*verdict, comparison.estimate(), comparison.median_ms(0, 0), comparison.median_ms(0, 1), (base::now() - began).count()};
  }

  outcome::DeviceFacts facts;

 private:
  judge::Executable build(const judge::Candidate& candidate) {
    auto built = judge::build(task_, candidate, candidate.family.front(), compiler_, facts.arch());
    if (!built) throw base::Error(base::Fault::internal, built.error().message);
    return *std::move(built);
  }
  template <typename Reply>
  Reply ask(const judge::Job& job) {
    auto answer = host_.ask(job, base::Seconds{120}, base::Seconds{120});
    if (answer.reply)
      if (auto* reply = std::get_if<Reply>(&*answer.reply)) return std::move(*reply);
    throw base::Error(base::Fault::internal, "the worker did not answer: " + answer.last_words);
  }

  task::Task task_;
  compile::Compiler compiler_;
  judge::DeviceHost host_;
  base::Random random_;
  judge::Executable variant_;
};

// The upper end of the one-sided 95 % interval for `events` of `count` (Clopper and Pearson), by bisection.
double upper_bound(int events, int count) {
  double low = 0, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double p = 0.5 * (low + high);
    double term = std::pow(1 - p, count), sum = 0;
    for (int k = 0; k <= events; ++k) {
      sum += term;
      term *= (count - k) / (k + 1.0) * p / (1 - p);
    }
    (sum > 0.05 ? low : high) = p;
  }
  return high;
}

struct Tally {
  std::map<Verdict, int> verdicts;
  std::vector<double> speedups, pairs, seconds, milliseconds;
  int count = 0;
  void add(const std::string& verdict, double mean, double taken, double ms, double spent) {
    ++verdicts[*outcome::parse_verdict(verdict)];
    speedups.push_back(std::exp(mean));
    pairs.push_back(taken);
    milliseconds.push_back(ms);
    seconds.push_back(spent);
    ++count;
  }
  void print(const std::string& name) const {
    if (count == 0) return;
    auto sorted = speedups;
    std::sort(sorted.begin(), sorted.end());
    std::string list;
    for (const auto& [verdict, times] : verdicts) list += fmt::format(" {} {}", outcome::name(verdict), times);
    std::printf("%-18s %9.4f ms  %4d  median %.4f, 5 %% %.4f, 95 %% %.4f  %3.0f pairs  %.3f s %s\n", name.c_str(), median(milliseconds), count,
                median(speedups), sorted[sorted.size() / 20], sorted[sorted.size() - 1 - sorted.size() / 20], median(pairs),
                median(seconds), list.c_str());
    std::fflush(stdout);
  }
};

// Runs `count` comparisons spread over the kernels, adding to those that `record` holds already.
bool compare_all(const std::vector<Kernel>& kernels, bench::Purpose purpose, int count, const std::string& record) {
  const base::Seconds end = base::now() + limit();
  std::map<std::string, Tally> tallies;
  if (!record.empty()) {
    std::ifstream before(record);
    std::string name, verdict;
    double mean, pairs, ms, seconds;
    while (before >> name >> verdict >> mean >> pairs >> ms >> seconds) tallies[name].add(verdict, mean, pairs, ms, seconds);
  }
  const int each = (count + static_cast<int>(kernels.size()) - 1) / static_cast<int>(kernels.size());
  bool complete = true;
  for (const Kernel& kernel : kernels) {
    Tally& tally = tallies[kernel.name];
    if (tally.count < each && base::now() < end) {
      const base::Seconds began = base::now();
      Bench bench(kernel);
      const double ready = (base::now() - began).count();
      while (tally.count < each && base::now() < end) {
        const auto result = bench.compare(purpose);
        tally.add(outcome::name(result.verdict), result.estimate.mean, result.estimate.pairs, result.reference_ms, result.seconds);
        if (!record.empty()) {
          std::ofstream more(record, std::ios::app);
          more << fmt::format("{} {} {:.6f} {} {:.6f} {:.3f}\n", kernel.name, outcome::name(result.verdict), result.estimate.mean,
                              result.estimate.pairs, result.reference_ms, result.seconds);
        }
      }
      std::fprintf(stderr, "%s: ready after %.2f s, done after %.2f s\n", kernel.name.c_str(), ready, (base::now() - began).count());
    }
    complete = complete && tally.count >= each;
    tally.print(kernel.name);
  }
  int all = 0, faster = 0, slower = 0;
  for (auto& [name, tally] : tallies) {
    all += tally.count;
    faster += tally.verdicts[Verdict::faster];
    slower += tally.verdicts[Verdict::slower];
  }
  std::printf("%d comparisons: %d FASTER, %d SLOWER%s\n", all, faster, slower, complete ? "" : " (stopped early)");
  if (all > 0)
    std::printf("upper 95 %% bound of FASTER or SLOWER: %.2f %%\n", 100 * upper_bound(faster + slower, all));
  return complete;
}

int aa(const std::string& level, int count, const std::string& record, const std::string& only) {
  const auto purpose = level == "screening" ? bench::Purpose::screening : bench::Purpose::final_;
  std::vector<Kernel> kernels = identical_kernels();
  if (!only.empty()) std::erase_if(kernels, [&](const Kernel& kernel) { return kernel.name != only; });
  if (kernels.empty() && only.starts_with("arithmetic_")) kernels = {arithmetic(std::stol(only.substr(11)), 0)};
  return compare_all(kernels, purpose, count, record) ? 0 : 1;
}

int slow(double percent, int count, const std::string& only) {
  std::vector<Kernel> kernels{arithmetic(400, percent), arithmetic(2000, percent), arithmetic(8000, percent)};
  // More bytes do not cost their share of the time, part of which is start and end: their number is found by measuring.
  for (const long elements : {1L << 23, 1L << 24, 1L << 26}) {
    if (!only.empty() && traffic(elements, percent).name != only) continue;
    double extra = percent;
    for (int step = 0; step < 3; ++step) {
      Bench bench(traffic(elements, extra));
      const auto samples = bench.time(240, true).samples;
      const double slower = 100 * (bench::median_ms(samples, 1) / bench::median_ms(samples, 0) - 1);
      std::printf("traffic_%ldk: %.1f %% more bytes are %.2f %% slower\n", elements >> 10, extra, slower);
      if (std::fabs(slower - percent) < 0.02 * percent || slower <= 0) break;
      if (step < 2) extra *= percent / slower;
    }
    kernels.push_back(traffic(elements, extra));
  }
  if (!only.empty()) std::erase_if(kernels, [&](const Kernel& kernel) { return kernel.name != only; });
  return compare_all(kernels, bench::Purpose::final_, count, "") ? 0 : 1;
}

int width() {
  std::vector<double> inside;
  std::printf("%-18s %12s %6s %12s\n", "kernel", "t_R + t_C", "pairs", "half-width");
  for (const char* name : {"rms_norm", "gelu_bias", "transpose", "row_sum", "argmax", "causal_attention", "layer_norm", "traffic", "arithmetic"}) {
    Bench bench(std::string_view(name) == "traffic" ? traffic(1 << 24, 0) : std::string_view(name) == "arithmetic" ? arithmetic(400, 0) : example(name));
    const auto first = bench.time(12, true);
    const double both = bench::median_ms(first.samples, 0) + bench::median_ms(first.samples, 1);
    constexpr double flush_ms = 0.04;   // of each sample: the flush and the poisoned output
    const int pairs = std::max(12, static_cast<int>(250 / (both + 2 * flush_ms)) / 2 * 2);
    const auto reply = bench.time(pairs, false);
    const auto estimate = bench::estimate(bench::log_ratios(reply.samples), 0.05,
                                          bench::timer_guard(reply.tick_ms, bench::shortest_ms(reply.samples)));
    std::printf("%-18s %9.4f ms %6d %10.3f %%   speed-up %.4f, guard %.3f %%\n", name, both, pairs, 100 * estimate.half_width, std::exp(estimate.mean),
                100 * estimate.guard);
    std::fflush(stdout);
    if (both >= 0.04 && both <= 1) inside.push_back(100 * estimate.half_width);
  }
  std::printf("median where t_R + t_C lies between 40 us and 1 ms: %.3f %% of %zu kernels\n", median(inside), inside.size());
  return 0;
}

int trace(const std::string& path) {
  std::ofstream file(path);
  for (const Kernel& kernel : identical_kernels()) {
    Bench bench(kernel);
    const auto first = bench.time(12, true);
    const int pairs = std::clamp(static_cast<int>(800 / bench::median_ms(first.samples, 0)) / 96 * 96, 96, 480);
    const auto reply = bench.time(pairs, true);
    file << fmt::format("kernel {} tick_ns {:.3f} span_ns {:.0f}\n", kernel.name, 1e6 * reply.tick_ms, 1e6 * bench::shortest_ms(reply.samples));
    for (std::size_t i = 0; i + 1 < reply.samples.size(); i += 2) {
      const auto& a = reply.samples[i].arm == 0 ? reply.samples[i] : reply.samples[i + 1];
      const auto& b = reply.samples[i].arm == 0 ? reply.samples[i + 1] : reply.samples[i];
      file << fmt::format("{:.1f} {:.1f}\n", 1e6 * a.ms, 1e6 * b.ms);
    }
    std::printf("%s: %d pairs\n", kernel.name.c_str(), pairs);
    std::fflush(stdout);
  }
  return file ? 0 : 1;
}

int coverage(const std::string& path) {
  const auto traces = read_traces(path);
  std::printf("%-18s %9s %6s %8s %8s |", "kernel", "time, us", "pairs", "scatter", "lag 1");
  for (const int n : bench::looks) std::printf("  n=%-3d", n);
  std::printf(" | sequential\n");
  std::map<int, std::pair<int, int>> all;
  int claims = 0, runs = 0;
  std::vector<double> screened, fixed;
  for (const Trace& trace : traces) {
    std::vector<double> ratios, times;
    for (const auto& [reference, variant] : trace.pairs) {
      ratios.push_back(std::log(reference / variant));
      times.push_back(reference);
    }
    double mean = 0, square = 0, lag = 0;
    for (const double d : ratios) mean += d / static_cast<double>(ratios.size());
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      square += (ratios[i] - mean) * (ratios[i] - mean);
      if (i > 0) lag += (ratios[i] - mean) * (ratios[i - 1] - mean);
    }
    std::printf("%-18s %9.1f %6zu %6.2f %% %8.2f |", trace.kernel.c_str(), 1e3 * median(times), ratios.size(),
                100 * std::sqrt(square / static_cast<double>(ratios.size())), square > 0 ? lag / square : 0);
    for (const int n : bench::looks) {
      int held = 0, windows = 0;
      for (std::size_t from = 0; from + static_cast<std::size_t>(n) <= ratios.size(); from += static_cast<std::size_t>(n)) {
        const auto estimate = bench::estimate({ratios.data() + from, static_cast<std::size_t>(n)}, 0.05,
                                              bench::timer_guard(trace.tick_ms, trace.span_ms));
        held += estimate.low() <= 0 && 0 <= estimate.high();
        ++windows;
      }
      all[n].first += held;
      all[n].second += windows;
      std::printf(" %5.3f ", windows > 0 ? static_cast<double>(held) / windows : 0);
    }
    std::map<Verdict, int> verdicts;
    for (std::size_t from = 0; from + bench::looks.back() <= trace.pairs.size(); from += bench::looks.back()) {
      bench::Comparison comparison(bench::Purpose::screening, {1}, 1e9);
      std::optional<Verdict> verdict;
      std::size_t next = from;
      while (!verdict) {
        const auto more = static_cast<std::size_t>(comparison.wanted(0));
        comparison.add(0, trace.samples(next, next + more), trace.tick_ms);
        next += more;
        verdict = comparison.look();
      }
      screened.push_back(comparison.estimate().mean);
      bench::Comparison last(bench::Purpose::final_, {1}, 1e9);
      last.add(0, trace.samples(from, from + static_cast<std::size_t>(last.wanted(0))), trace.tick_ms);
      const Verdict fixed_verdict = *last.look();
      fixed.push_back(last.estimate().mean);
      claims += fixed_verdict == Verdict::faster || fixed_verdict == Verdict::slower;
      ++verdicts[*verdict];
      runs += 2;
      claims += *verdict == Verdict::faster || *verdict == Verdict::slower;
    }
    std::printf("|");
    for (const auto& [verdict, times_seen] : verdicts) std::printf(" %s %d", outcome::name(verdict).c_str(), times_seen);
    std::printf("\n");
  }
  std::printf("%-54s |", "all: share of 95 % intervals that hold 1");
  for (const int n : bench::looks) std::printf(" %5.3f ", all[n].second > 0 ? static_cast<double>(all[n].first) / all[n].second : 0);
  std::printf("| %d false claims of %d\n", claims, runs);
  const auto average = [](const std::vector<double>& values) {
    return std::exp(std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(std::max<std::size_t>(1, values.size())));
  };
  std::printf("what an equal kernel reads on average: %.5f after a screening, which stops early on low readings; %.5f after a fixed look\n",
              average(screened), average(fixed));
  return traces.empty() ? 1 : 0;
}

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

struct Court {
  explicit Court(const std::string& name)
      : task(task::from_source(example(name).task, name + ".cu")), compiler(Bench::compiler_options()), judge(task, compiler, options()) {}
  static judge::Options options() {
    judge::Options result;
    result.device = "cuda:0";
    result.worker = Bench::worker("device");
    return result;
  }
  task::Task task;
  compile::Compiler compiler;
  judge::Judge judge;
};

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

int latency() {
  const base::Seconds end = base::now() + limit();
  for (const char* name : {"diag_matmul", "softmax"}) {
    const base::Seconds began = base::now();
    Court court(name);
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
    Court court(name);
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

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto word = [&](std::size_t i, const char* otherwise) { return i < words.size() ? words[i] : std::string(otherwise); };
  try {
    if (word(0, "") == "worker") return word(1, "") == "compile" ? compile::worker_main() : judge::worker_main();
    if (word(0, "") == "aa") return aa(word(1, "final"), std::atoi(word(2, "1000").c_str()), word(3, ""), word(4, ""));
    if (word(0, "") == "slow") return slow(std::atof(word(1, "5").c_str()), std::atoi(word(2, "200").c_str()), word(3, ""));
    if (word(0, "") == "width") return width();
    if (word(0, "") == "trace") return trace(word(1, "trace.txt"));
    if (word(0, "") == "coverage") return coverage(word(1, CUDAL1_SOURCE_DIR "/tests/figures/traces/h200.txt"));
    if (word(0, "") == "latency") return latency();
    if (word(0, "") == "stream") return stream(std::atoi(word(1, "200").c_str()));
  } catch (const base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: figure_measure aa|slow|width|trace|coverage|latency|stream …\n");
  return 2;
}
