// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/file.hpp"
#include "bench/comparison.hpp"
#include "bench/limit.hpp"
#include "bench/race.hpp"
#include "cuda/management.hpp"
#include "judge/beside.hpp"
#include "judge/candidate.hpp"
#include "judge/device_host.hpp"
#include "judge/gpu_lock.hpp"
#include "judge/input_file.hpp"
#include "judge/judge.hpp"
#include "judge/made_ahead.hpp"
#include "judge/pytorch_turns.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include <fmt/format.h>

namespace cudal1::judge {

// The parent's side of one run. Private to the part: judge.cpp holds the flow, the other sources one step each.
struct Judge::State {
  State(const task::Task& task, compile::Compiler& compiler, Options options);

  const task::Task& task;
  compile::Compiler& compiler;
  Options options;
  std::vector<task::Workload> nearby;           // sizes that nobody declared
  DeviceHost host;                              // warm; candidates are screened in it
  DeviceHost counter;                           // warm; only counts
  std::mutex mutex;
  std::uint64_t seed;
  base::Random random;
  outcome::DeviceFacts facts;
  std::string arch;                             // that variants are compiled for; read by several threads
  bool ready = false;                           // host holds the task and its reference
  Executable reference;
  outcome::Binary meant_reference;                // build_meant(); empty where something else says what is right
  std::optional<ReferenceFacts> reference_facts;
  std::vector<PredictReply> reference_predictions;  // simulator only, per workload
  ReferenceReply reference_reply;
  std::string reference_note;                   // how PyTorch's truth was taken
  std::set<std::string> hung;                   // what must not run again, by hang_key()
  std::string hang_key(const std::string& key) const;
  void remember_hang(const std::string& key);
  std::optional<Rejected> remembered_hang(const std::string& key) const;
  std::string gpu_uuid;                         // empty on the simulator
  std::optional<cuda::Management> management;   // of a GPU
  bool tenants = false;                         // somebody else computes on the GPU
  std::vector<std::string> warnings;
  std::string counting_problem;                 // why counting is not tried again
  std::map<std::string, double> steps;          // seconds of the judgement under way
  double waited = 0;                            // of it, for other users of the GPU

  // Adds the time of its life to a step of the judgement under way, without what was spent on waiting.
  class Step {
   public:
    Step(State& state, const char* name) : state_(state), name_(name), waited_(state.waited) {}
    ~Step() { state_.steps[name_] += (base::now() - began_).count() - (state_.waited - waited_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    State& state_;
    const char* name_;
    double waited_;
    base::Seconds began_ = base::now();
  };

  // Held while a worker uses the GPU, across several runs of this program, too: what takes times runs alone.
  struct Hold {
    Beside::Wish wish;
    std::unique_ptr<GpuTurn> turn;
  };
  Hold hold_gpu(GpuTurn::Use use = GpuTurn::Use::alone);
  // A turn that is kept over several jobs, which then wait for it once. Whoever asks for the GPU alone meanwhile ends one that is shared.
  class Kept {
   public:
    Kept(State& state, GpuTurn::Use use);
    ~Kept();
    void give_way();   // a shared one that has lasted: those who wait come first
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;

   private:
    State& state_;
    const GpuTurn::Use use_;
    bool own_ = false;   // not a part of one that is kept already
    base::Seconds since_{0};
    void take();
  };
  Hold kept;
  GpuTurn::Use kept_use = GpuTurn::Use::shared;   // of it, while there is one
  bool ends_shared(Hold& hold, GpuTurn::Use use);   // ends the turn that a job had, and says whether others shared it just now
  bool crowded = false;                         // the last job that ran into its limit shared the GPU: it is no verdict
  std::filesystem::path gpu_lock() const;

  base::Seconds execution_limit(bool whole_workload) const;

  OpenJob open_job(std::uint64_t with_seed, bool bare) const;
  // Starts a worker and opens the device and the task in it.
  void open(DeviceHost& where, std::uint64_t with_seed, bool bare = false);
  ReferenceReply load_reference(DeviceHost& where);

  // A PyTorch module on a GPU (module.cpp): what of the worker's memory PyTorch has in hand, and for which trials.
  struct Lent {
    std::vector<pytorch::Trial> trials;         // that variants are verified on
    std::vector<pytorch::Trial> versions;       // that they are timed on, by set
    pytorch::Trial last;                        // that one is verified on after it was timed, before its final verdict
    std::vector<std::vector<std::uint64_t>> right;  // digests of right outputs of these
    bool filled = false;                        // the sets hold the versions
    int compared = 0;                           // timed outputs, by PyTorch
  };
  Lent lent;
  // Drawn once for all screenings, and for all fresh processes of a final verdict: the truth of a trial depends on its seeds alone, and
  // a process knows nothing of what an earlier one was given.
  std::optional<Lent> for_screening, for_confirming;
  Lent drawn(std::size_t sets);
  std::string chosen_baseline;                  // that 1.00 means
  bool lends() const;
  // While it holds the GPU: for what takes no times, as others do who only compute.
  void with_pytorch(const std::function<void(pytorch::Host&)>& work, GpuTurn::Use use = GpuTurn::Use::shared);
  void lend(DeviceHost& where);
  tl::expected<void, Rejected> fill(DeviceHost& where, std::size_t set, const pytorch::Trial& trial, GpuTurn::Use use);
  tl::expected<void, Rejected> fill_versions(DeviceHost& where);
  // Compares what a variant makes of the inputs that it is timed on, so that nobody who wants to take times waits for that.
  tl::expected<void, Rejected> look_ahead(DeviceHost& where, const Executable& executable, const std::string& key);
  std::optional<Rejected> failed(DeviceHost& where, const RunReply& reply, const pytorch::Trial& trial, const std::string& key);
  pytorch::Comparison compare(std::size_t set, const pytorch::Trial& trial);
  Rejected check_lent(DeviceHost& where, const Executable& executable, const std::string& key, CheckJob::Where on);
  Rejected check_trials(DeviceHost& where, const Executable& executable, const std::string& key, CheckJob::Where on, GpuTurn::Use use);
  // Samples of variants; where they are lent, with PyTorch's word on every output that was not seen before.
  tl::expected<TimeReply, Rejected> time_arms(DeviceHost& where, TimeJob job, const std::string& key);
  struct Turns {
    std::map<std::string, std::vector<device::Sample>> samples;   // pairs with each baseline
    std::map<std::string, std::string> failed;                    // those that cannot be timed any more, and why
    double tick_ms = 0;
  };
  tl::expected<Turns, Rejected> take_turns(DeviceHost& where, const Executable& executable, int pairs,
                                           std::vector<std::string> baselines, const std::string& key,
                                           std::size_t turn = pytorch_turn,   // samples in a row
                                           bool cold = true);
  // Speed-ups over those of `names` that could be timed; then those of `known` that cannot be had.
  std::vector<outcome::BaselineTiming> against_baselines(const std::vector<std::string>& names, Turns& turns,
                                                         const std::vector<outcome::BaselineTiming>& known) const;
  void give_up(const std::map<std::string, std::string>& failed);
  void compile_baselines();
  void time_baselines(ReferenceFacts& result);
  // A module's inputs for workers that PyTorch lends nothing to: by path, and made once from those that `where` holds.
  std::string spilled(DeviceHost& where);
  std::unique_ptr<InputFile> input_file;
  std::unique_ptr<Beside> beside;               // a kernel file; empty: PyTorch is not wanted
  void start_beside();
  std::vector<outcome::BaselineTiming> time_beside(DeviceHost& where, const Executable& executable, const std::string& key);
  void start(DeviceHost& fresh);                // both, with secret seeds of its own
  void watch_gpu();
  void ensure_ready();
  void restart(DeviceHost& where);              // a worker that was lost
  const ReferenceFacts& ensure_reference();
  const ReferenceFacts& ensure_module_reference();

  // Asks and unwraps. A worker that hung or died becomes a verdict; afterwards a fresh one must be made ready.
  template <typename Wanted>
  tl::expected<Wanted, Rejected> ask(DeviceHost& where, const Job& job, bool whole_workload, const std::string& key,
                                     GpuTurn::Use use = GpuTurn::Use::alone);
  void lost(const DeviceHost& where);

  // Of the members that a judgement begins with, as many as there are cores: compiled before it is the candidate's turn
  // at the device, and for other threads' candidates at the same time.
  Built build_ahead(const Candidate& candidate) const;
  outcome::Judgement judge(const Candidate& candidate, const std::string& source, Built ahead, bool timing_too);
  outcome::Judgement confirm(const Candidate& candidate, const kernel::Environment& tunables, const std::string& source);
  outcome::Judgement confirm_predicted(DeviceHost& fresh, outcome::Judgement judgement, const Executable& executable,
                                       const std::string& key);
  outcome::Judgement confirm_measured(outcome::Judgement judgement, const Executable& executable,
                                      const std::string& key);
  bool fits_twice() const;                      // the task, in two processes on the GPU at once
  // Make the inputs and truths that a variant is timed on, without times.
  std::vector<TimeJob> untimed_jobs(const Executable& executable) const;
  MadeAhead::Jobs fresh_jobs(const Executable& executable);
  ReferenceJob reference_job() const;
  CheckJob check_job(const Executable& executable, CheckJob::Where on, bool at_full_size) const;

  // Verification; the verdict stays inconclusive when nothing is wrong.
  // Executions that are timed later are compared at full size then.
  std::optional<Rejected> check(DeviceHost& where, const Executable& executable, const std::string& key,
                                CheckJob::Where on = CheckJob::Where::check_sizes, bool timed_later = true);
  void require_oracle(const ReferenceFacts& result) const;
  void judge_task(const std::vector<outcome::TaskFinding>& found, ReferenceFacts& reference_so_far) const;
  // The label SPECIALISED when sizes that nobody declared are too much for a variant that is right otherwise. Last of
  // all, because it may cost the worker.
  void try_neighbours(DeviceHost& where, const Executable& executable, outcome::Judgement& judgement);

  struct Timed {
    bench::Estimate estimate;
    outcome::Verdict verdict = outcome::Verdict::inconclusive;
    std::set<outcome::Label> labels;
    bool below_floor = false;      // faster than the task's bytes move: measured once more
    std::vector<outcome::WorkloadTiming> workloads;
    outcome::Counters counters;
    outcome::LineCounters lines;
    std::vector<PredictReply> predictions;      // simulator only, per workload
    std::string message;           // how the speed-up came about, where it was not measured directly
    std::vector<bench::Estimate> parts;
    std::vector<outcome::BaselineTiming> baselines;
  };
  tl::expected<Timed, Rejected> measure_lent(DeviceHost& where, const Executable& executable, bench::Purpose purpose,
                                             const std::string& key);
  void note_limits(Timed& timed, std::size_t workload) const;
  tl::expected<Timed, Rejected> predict(DeviceHost& where, const Executable& executable, const std::string& key);
  tl::expected<Timed, Rejected> measure(DeviceHost& where, const Executable& executable, bench::Purpose purpose,
                                        const std::string& key);
  // Against what a screening measures: the fastest variant so far where the reference would take most of the time.
  struct Incumbent {
    Executable executable;
    std::vector<bench::Estimate> parts;         // speed-ups over the reference, per workload
    double mean = 0;                            // over all
  };
  std::optional<Incumbent> incumbent;
  std::optional<Executable> against;            // what the user set against the variants
  void prepare_against();
  bool worth_chaining() const;
  static bool apart(const std::vector<Timed>& results);   // the last two processes
  void unite(std::vector<Timed>& results, outcome::Judgement& judgement) const;
  void measure_hot(DeviceHost& where, const Executable& executable, Timed& timed, const std::string& key);
  // Over all workloads, in the warm worker.
  tl::expected<bench::Race, Rejected> race(const std::vector<Executable>& members, const std::string& key, int most_rounds);
  std::vector<double> weights() const;          // of the workloads
  void apply(const Timed& timed, outcome::Judgement& judgement) const;

  outcome::Judgement describe(const Executable& executable, const kernel::Environment& tunables) const;
  void finish(outcome::Judgement& judgement, outcome::Level level, base::Seconds began);
  outcome::WorkloadTiming timing(std::size_t workload, double reference_ms, double variant_ms,
                                 const bench::Estimate& estimate) const;

  // The hardware's counters, where they may be read.
  void count(DeviceHost& where, outcome::Judgement& judgement, const Executable& executable);

  // compute-sanitizer's four tools over the check sizes, in a worker of its own each, at once.
  void sanitize(DeviceHost& where, outcome::Judgement& judgement, const Executable& executable);
};

template <typename Wanted>
tl::expected<Wanted, Rejected> Judge::State::ask(DeviceHost& where, const Job& job, bool whole_workload,
                                                 const std::string& key, GpuTurn::Use use) {
  crowded = false;
  auto hold = hold_gpu(use);
  DeviceHost::Answer answer;
  try {
    answer = where.ask(job, execution_limit(whole_workload), base::Seconds{1800});
  } catch (const base::Error& error) {
    if (error.fault() != base::Fault::no_memory || options.shares_memory) throw;
    Rejected full;
    full.verdict = outcome::Verdict::runtime_failed;
    full.message = error.what();
    return tl::unexpected(std::move(full));
  }
  if (answer.reply) {
    if (auto* wanted = std::get_if<Wanted>(&*answer.reply)) return std::move(*wanted);
    throw base::Error(base::Fault::internal, "the device worker answered something else than it was asked");
  }
  lost(where);
  Rejected judgement;
  if (answer.timed_out) {
    crowded = ends_shared(hold, use);
    if (!crowded) remember_hang(key);
    judgement.verdict = outcome::Verdict::timeout;
    judgement.message = fmt::format("one execution took longer than {:.3g} s and was stopped", execution_limit(whole_workload).count());
  } else {
    if (options.dead_worker_throws) throw base::Error(base::Fault::internal, answer.last_words);
    judgement.verdict = outcome::Verdict::runtime_failed;
    judgement.message = std::move(answer.last_words);
  }
  return tl::unexpected(std::move(judgement));
}

}  // namespace cudal1::judge
