// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels.hpp"

#include "base/error.hpp"
#include "base/process.hpp"
#include "bench/comparison.hpp"
#include "bench/order.hpp"
#include "judge/candidate.hpp"
#include "judge/device_host.hpp"
#include "judge/judge.hpp"

#include <optional>
#include <utility>

namespace figures {

using outcome::Verdict;

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

}  // namespace figures
