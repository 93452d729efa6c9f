// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "device/lender.hpp"
#include "outcome/judgement.hpp"
#include "outcome/precision.hpp"
#include "outcome/task_finding.hpp"
#include "pytorch/scales.hpp"
#include "reference/stored_case.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace cudal1::pytorch {

// Interpreters that may have PyTorch, in the order in which they are asked.
inline constexpr const char* interpreters[] = {"python3", "/usr/bin/python3"};

struct Options {
  std::string python;           // the interpreter; empty: the first of `interpreters` that has PyTorch
  std::string device = "cpu";   // "cpu" or "cuda:N"
  std::size_t input_limit = 0;  // bytes of one set of inputs and weights; 0: none
  std::stop_token stop = {};    // ends a question, and the process with it
  int sharers = 1;              // tasks at a time on the GPU
  base::Seconds limit{1800};    // of one question about a task: a large module on a CPU takes its time
};

// Why a task is a bad measure.
struct Defect {
  std::string kind;             // "constant", "unstable", "range identity"
  outcome::TaskFinding finding;
};

// Inputs of one trial, drawn from a secret seed; with `weights` those of another seed than KernelBench's, and none of them
// 0 or 1 because a constructor says so.
struct Trial {
  reference::Pattern pattern = reference::Pattern::declared;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> weights;
  std::size_t turn = 0;         // as reference::Trial has it
  bool given = false;           // an answer is given the weights, instead of constructing its own from the same seed
  double numbers = 1;           // by which real numbers that forward takes by value are multiplied, of an answer alone
};

// What a variant left in the outputs of a trial, against what is right.
struct Comparison {
  bool finite = true;           // false: the reference itself gives NaN or infinity, and the trial says nothing
  bool right = true;
  std::string why;              // one line when not right
  std::optional<outcome::WrongElement> first, worst;
  outcome::ErrorFigures errors;
  double kernelbench_tolerance = -1;
  std::string precision;        // how the truth was taken
  base::Seconds closer{0};      // that went to what a first look doubted
};

// A process of the user's own Python that holds one task in KernelBench's form, and nothing from a model. It stays warm
// from task to task; what it computes it hands over in shared memory. When it dies, the next question starts another.
class Host {
 public:
  explicit Host(Options options);  // throws base::Error(usage) when no Python with PyTorch is found
  ~Host();

  const std::string& python() const;   // the interpreter
  std::string version() const;     // "PyTorch 2.1.0, Python 3.11.2"

  // Of the next tasks: bytes of a GPU's memory that PyTorch may take, as others take the rest, 0: all; and their weight where it is known.
  void limit_to(std::size_t bytes, const std::optional<Weight>& weight);
  // Reads a module; `overrides` replace its whole-number constants. The task's source is its interface as directives,
  // with the module as comment. Throws base::Error(bad_input) that names what is wrong with the module.
  task::Task open(const std::filesystem::path& path, const std::map<std::string, std::int64_t>& overrides,
                  std::size_t memory_limit);
  void close();                        // the open task; nothing of it stays in a GPU's memory
  std::uint64_t secret() const;        // drawn when the task was opened: who judges several answers to it gives all of them the same inputs
  void heed(std::stop_token stop);     // another one than in Options, from now on
  std::size_t bytes() const;           // of one set of inputs, weights and outputs of the open task
  void hold_to(outcome::Precision precision);   // what is right, from now on; at first the reference's own
  void pause(bool paused);             // the process, but for children of its own; from any thread

  void import_compiler();              // what the first torch.compile would read; uses no GPU, and opens no task again
  // A module's text of which only times are wanted: prepare() and time().
  void hold(const std::string& name, const std::string& source);
  const std::vector<std::string>& notes() const;   // of the open task: what a reader should know, one sentence each

  // The trials of the open task, from one secret seed, `declared` of them with inputs as declared; those whose expected outputs are not finite are left out, and
  // named in `dropped`. Valid until the next call.
  struct Cases {
    std::vector<reference::StoredCase> cases;
    std::vector<std::string> dropped;
    std::string precision;         // "PyTorch in float64"
  };
  static constexpr int usual_declared = 2;   // trials with inputs as declared
  Cases cases(std::uint64_t seed, int declared = usual_declared);

  // Trials of the open task for a device whose memory this process maps, or shares: with several sets of weights and
  // patterns, fewer where a set of inputs is large.
  bool takes_numbers() const;   // whether forward takes real numbers by value, which a trial may multiply
  std::vector<Trial> trials(base::Random& random) const;
  // Inputs as declared, with secret weights: what variants are timed on.
  Trial timed_trial(base::Random& random) const;
  void attach(const std::vector<std::vector<device::Lent>>& sets);   // a device worker's memory, from now on
  enum class Truths { kept, forgotten };                             // of trials, where there is room
  void detach(Truths truths = Truths::forgotten);
  // Instead of a device worker's: memory of this process's own, one set, for one that runs an answer. What that must be
  // told, as JSON.
  std::string offer();
  // For what was offered: makes the inputs of a trial where nobody sees them; shows them; takes the outputs that are there
  // now, which are what compare_taken() judges. Resembles: they are about what PyTorch gives, at first sight.
  void make_ready(const Trial& trial);
  void show();
  void take();
  void ask_nothing();   // takes what asking takes
  bool resembles();
  Comparison compare_taken(const Trial& trial);
  bool expect(const Trial& trial);   // computes beforehand what a comparison will need; false: there is no room to keep it
  void fill(std::size_t set, const Trial& trial);                    // makes the inputs in a set
  Comparison compare(std::size_t set, const Trial& trial);           // judges the outputs in a set

  // Makes models for those of these baselines that are compiled, and then compiles them, which takes no times and runs nothing on
  // the GPU. prepare() runs them.
  void make_ahead(const std::vector<std::string>& baselines);
  void compile_ahead();
  // Ways to run the open task on a GPU: "eager", "compile", "reduce-overhead", "graph"; "/fp32" or "/tf32" behind a name
  // instead of PyTorch's default flags. Made ready once; one that cannot be had says why.
  outcome::BaselineTiming prepare(const std::string& baseline);
  struct Times {
    std::vector<double> ms;   // one sample per name, without what an empty measurement takes; NaN of one that failed
    double empty_ms = 0;      // what it takes
    std::map<std::string, std::string> failed;   // from now on, and why
  };
  // Where memory ends, the others make room for `keep`. Not `cold`: each call follows one on the same inputs.
  Times time(const std::vector<std::string>& order, const std::string& keep, bool cold = true);

  // What makes the open task unfit as a measure, most severe first; judged on the reference alone.
  std::vector<Defect> examine(double tolerance);

  // A verified answer to the open task for the users of PyTorch, from its output file (kernel/output.hpp):
  // "kernelbench", a module whose ModelNew KernelBench's own scripts take, or "torch", a module with a function.
  std::string exported(const std::string& format, const std::string& output_file);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A path that names a module instead of a kernel file.
bool is_module(const std::filesystem::path& path);

}  // namespace cudal1::pytorch
