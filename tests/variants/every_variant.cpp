// SPDX-License-Identifier: Apache-2.0
// every_variant [--only NAME] [--label TEXT] [--holds TEXT] [--multiprocessors N] [--part I/N] [--at-least N] [--times] [--done FILE] NAIVE.cuh LINES.cu…
// Every kernel that the built-in model can write for these torch lines, with every value of its tunables, executed at the
// lines' check sizes on the simulator: against the line in double precision by the rule of `verify`, races and stray
// accesses looked for. A variant whose kernels were all executed in others of its line is left out. Prints what is wrong,
// and fails when something is, or when there were fewer than N kernels. --times: also what took longest. --part: every Nth of
// a line's variants, of neighbouring lines others, so that parts 1 to N together are all of them. --label: those whose id ends so. --holds: those whose source has this text.
// --multiprocessors: written for a GPU with so few that blocks have several tiles even of small sizes. --done: a line for each variant
// that was executed and is right; what stands in it already is left out, so that a run that was cut off goes on.
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "compile/compiler.hpp"
#include "kernel/plan.hpp"
#include "kernel_units.hpp"
#include "playbook/candidate.hpp"
#include "sim/sim.hpp"
#include "verify/check.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include <fmt/format.h>

using namespace cudal1;

namespace {

struct Line {
  std::string name, source;
};

// The tasks of a file of lines: each begins with its `//@ task`, and all share the functions of NAIVE.cuh.
std::vector<Line> lines_of(const std::string& path, const std::string& naive) {
  std::vector<Line> lines;
  std::string head, code;
  const auto close = [&] {
    if (!lines.empty()) lines.back().source = head + naive + code;
    head.clear();
    code.clear();
  };
  for (const std::string& text : base::split_lines(base::read_file(path))) {
    if (text.starts_with("//@ task ")) {
      close();
      lines.push_back({std::string(base::trim(text.substr(9))), ""});
    }
    (text.starts_with("//@") ? head : code) += text + "\n";
  }
  close();
  return lines;
}

struct Tally {
  std::size_t variants = 0, executed = 0;  // of variants
  std::size_t kernels = 0;
  std::vector<std::string> wrong;
  double compiling = 0, running = 0;       // seconds, over all threads
  std::vector<std::pair<double, std::string>> times;

  void add(Tally other) {
    variants += other.variants;
    executed += other.executed;
    kernels += other.kernels;
    wrong.insert(wrong.end(), other.wrong.begin(), other.wrong.end());
    compiling += other.compiling;
    running += other.running;
    times.insert(times.end(), other.times.begin(), other.times.end());
  }
};

class Clock {
 public:
  explicit Clock(double& total) : total_(total), begun_(std::chrono::steady_clock::now()) {}
  ~Clock() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count(); }

 private:
  double& total_;
  std::chrono::steady_clock::time_point begun_;
};

// Every `of`th variant, when its turn comes.
struct Part {
  std::size_t turn = 0, of = 1;
};

// What was executed and is right, in a file that outlives the run.
class Done {
 public:
  explicit Done(const std::string& path) {
    if (path.empty()) return;
    if (std::filesystem::exists(path))
      for (const std::string& line : base::split_lines(base::read_file(path))) earlier_.insert(line);
    file_.open(path, std::ios::app);
  }

  bool has(const std::string& variant) const { return earlier_.contains(variant); }

  void add(const std::string& variant) {
    const std::lock_guard lock(mutex_);
    if (file_.is_open()) file_ << variant << '\n' << std::flush;
  }

 private:
  std::set<std::string> earlier_;
  std::ofstream file_;
  std::mutex mutex_;
};

// The variants that are asked for.
struct Wanted {
  Part part;
  std::string label, holds;
  int multiprocessors = 0;  // 0: the GPU's own
};

class Examination {
 public:
  Examination(const Line& line, compile::Compiler& compiler, const Wanted& wanted, Done& done)
      : task_(task::from_source(line.source, line.name + ".cu")), compiler_(compiler),
        simulator_(sim::open({.gpu = "H200", .threads = 1})), part_(wanted.part), wanted_(wanted), done_(done) {}

  Tally run() {
    try {
      for (const auto precision : {outcome::Precision::fp32, outcome::Precision::tf32}) all_at(precision);
    } catch (const std::exception& problem) {
      complain("the line", problem.what());
    }
    return std::move(tally_);
  }

 private:
  void all_at(outcome::Precision precision) {
    cases_.clear();
    outcome::DeviceFacts facts = simulator_->facts();
    if (wanted_.multiprocessors > 0) facts.sm_count = wanted_.multiprocessors;
    const playbook::Candidates candidates = playbook::candidates_for(task_, precision, facts);
    if (candidates.list.empty()) complain("the line", candidates.refusal);
    for (const playbook::Candidate& candidate : candidates.list) {
      if (!candidate.id.ends_with(wanted_.label) || candidate.source.find(wanted_.holds) == std::string::npos) continue;
      const auto file = kernel::bind(task_.file, kernel::parse(candidate.source, "answer.cu").value()).value();
      const variants::KernelUnits units(file);
      const auto members = kernel::family(file).value();
      for (const kernel::Environment& member : members) {
        ++tally_.variants;
        const std::size_t before = executed_.size();
        executed_.merge(units.of(member));
        if (executed_.size() == before || ++part_.turn % part_.of != 0) continue;
        tally_.kernels += executed_.size() - before;
        ++tally_.executed;
        const auto begun = std::chrono::steady_clock::now();
        const std::string name = candidate.id + " " + text(member);
        const std::string entry = fmt::format("{} {}: {}", task_.name(), precision == outcome::Precision::fp32 ? "fp32" : "tf32", name);
        if (done_.has(entry)) continue;
        const std::size_t complaints = tally_.wrong.size();
        examine(name, file, member, precision);
        if (tally_.wrong.size() == complaints) done_.add(entry);
        tally_.times.emplace_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(), task_.name() + ": " + name);
      }
    }
  }

  void examine(const std::string& name, const kernel::File& file, const kernel::Environment& member, outcome::Precision precision) {
    std::vector<kernel::Plan> plans;
    const auto binary = built(name, file, member, plans);
    if (!binary) return;
    const auto module = simulator_->load(*binary);
    if (!module) return complain(name, module.error().message);
    const auto& cases = cases_at(precision);
    const Clock clock(tally_.running);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      reference::Buffers buffers(*simulator_, plans[i], random_);
      const auto evidence = verify::check(*simulator_, task_.file, {module->get(), &plans[i]}, cases[i], buffers, false);
      if (evidence.fault) return complain(name, fmt::format("{}: {}", outcome::name(*evidence.fault), evidence.message));
      if (!evidence.findings.empty()) return complain(name, evidence.findings.front().message);
    }
  }

  std::optional<outcome::Binary> built(const std::string& name, const kernel::File& file, const kernel::Environment& member,
                                       std::vector<kernel::Plan>& plans) {
    const Clock clock(tally_.compiling);
    std::set<std::string> kernels;
    for (const task::Workload& check : task_.checks) {
      kernel::Environment environment = check.environment;
      environment.insert(member.begin(), member.end());
      auto plan = kernel::resolve(file, environment);
      if (!plan) return complain(name, plan.error().message), std::nullopt;
      for (std::string& kernel : plan->kernels()) kernels.insert(std::move(kernel));
      plans.push_back(*std::move(plan));
    }
    compile::Request request;
    request.source = file.source;
    request.name = "answer.cu";
    request.prelude = kernel::tunable_prelude(member);
    request.kernels.assign(kernels.begin(), kernels.end());
    request.arch = "sm_90";
    request.options = task_.file.options;
    request.cubin = false;  // the simulator reads PTX
    auto compiled = compiler_.compile(request);
    if (!compiled) return complain(name, compiled.error().message), std::nullopt;
    return std::move(compiled->binary);
  }

  // What is right at each check size, once for all variants; the line's own kernel is run for it, too.
  const std::vector<verify::Case>& cases_at(outcome::Precision precision) {
    if (!cases_.empty()) return cases_;
    std::vector<kernel::Plan> plans;
    const auto binary = built("the line's own kernel", task_.file, {}, plans);
    if (!binary) throw base::Error(base::Fault::bad_input, "the line's own kernel does not compile");
    const auto module = simulator_->load(*binary);
    const Clock clock(tally_.running);
    for (std::size_t i = 0; i < task_.checks.size(); ++i) {
      verify::CaseOptions options;
      options.assignment = task_.workloads.size() + i;
      options.precision = precision;
      auto subject = verify::make_case(*simulator_, task_, task_.checks[i], {reference::Pattern::declared, 11},
                                       {module->get(), &plans[i]}, random_, options);
      if (!subject) throw base::Error(base::Fault::bad_input, subject.error());
      if (!subject->oracle) throw base::Error(base::Fault::bad_input, "the line has no oracle");
      cases_.push_back(*std::move(subject));
    }
    return cases_;
  }

  static std::string text(const kernel::Environment& member) {
    std::string result;
    for (const auto& [name, value] : member) result += fmt::format("{}={} ", name, std::get<std::int64_t>(value));
    return result;
  }

  void complain(const std::string& name, const std::string& what) {
    tally_.wrong.push_back(fmt::format("{}: {}: {}", task_.name(), name, what));
  }

  const task::Task task_;
  compile::Compiler& compiler_;
  std::unique_ptr<device::Device> simulator_;
  base::Random random_{3};
  std::vector<verify::Case> cases_;
  std::set<std::string> executed_;  // kernels; or left to another part
  Part part_;
  const Wanted& wanted_;
  Done& done_;
  Tally tally_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "compile") return compile::worker_main();
  std::vector<std::string> files;
  std::string only, done_path;
  std::size_t at_least = 1;
  Wanted wanted;
  Part& part = wanted.part;
  bool times = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--only" && i + 1 < argc) only = argv[++i];
    else if (option == "--at-least" && i + 1 < argc) at_least = std::stoul(argv[++i]);
    else if (option == "--label" && i + 1 < argc) wanted.label = argv[++i];
    else if (option == "--holds" && i + 1 < argc) wanted.holds = argv[++i];
    else if (option == "--done" && i + 1 < argc) done_path = argv[++i];
    else if (option == "--multiprocessors" && i + 1 < argc) wanted.multiprocessors = std::stoi(argv[++i]);
    else if (option == "--times") times = true;
    else if (option == "--part" && i + 1 < argc && std::sscanf(argv[++i], "%zu/%zu", &part.turn, &part.of) != 2) return 2;
    else if (option == "--part") continue;
    else files.emplace_back(option);
  }
  if (compile::find_nvrtc().library.empty()) {
    fmt::print("skipped: NVRTC is not installed\n");
    return 77;
  }
  compile::CompilerOptions options;
  options.worker = {"/proc/self/exe", {"compile"}};
  options.sandbox = compile::sandbox_state().available;
  options.limits.time = base::Seconds(600);  // a busy machine is no fault of a kernel
  compile::Compiler compiler(options);

  const std::string naive = base::read_file(files.at(0));
  std::vector<Line> lines;
  for (std::size_t i = 1; i < files.size(); ++i)
    for (Line& line : lines_of(files[i], naive))
      if (only.empty() || line.name == only) lines.push_back(std::move(line));

  // Long lines have most variants: they come first, so that no core waits for another at the end.
  const auto length = [](const Line& line) { return line.source.substr(line.source.find("//@ torch"), 400).find('\n'); };
  std::stable_sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) { return length(a) > length(b); });

  Done done(done_path);
  Tally all;
  std::mutex mutex;
  base::in_parallel(lines.size(), [&](std::size_t i) {
    Tally tally;
    try {
      Wanted own = wanted;
      own.part.turn += i;
      tally = Examination(lines[i], compiler, own, done).run();
    } catch (const std::exception& problem) {
      tally.wrong.push_back(lines[i].name + ": " + problem.what());
    }
    const std::lock_guard lock(mutex);
    for (const std::string& wrong : tally.wrong) fmt::print("WRONG: {}\n", wrong);
    std::fflush(stdout);
    all.add(std::move(tally));
  });
  std::sort(all.times.rbegin(), all.times.rend());
  for (std::size_t i = 0; times && i < std::min<std::size_t>(all.times.size(), 40); ++i) fmt::print("{:.2f} s {}\n", all.times[i].first, all.times[i].second);
  fmt::print("{} kernels of {} lines were executed, in {} of {} variants; {} of these are wrong ({:.0f} s compiling, {:.0f} s running)\n", all.kernels,
             lines.size(), all.executed, all.variants, all.wrong.size(), all.compiling, all.running);
  if (all.kernels < at_least) fmt::print("at least {} kernels were expected\n", at_least);
  return all.wrong.empty() && all.kernels >= at_least ? 0 : 1;
}
