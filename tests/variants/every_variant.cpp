// SPDX-License-Identifier: Apache-2.0
// every_variant [OPTION]... NAIVE.cuh LINES.cu...
// Every kernel that the built-in model can write for these torch lines, with every value of its tunables, is executed at the
// lines' check sizes on the simulator: against the line in double precision by the rule of `verify`, races and stray
// accesses looked for. A variant whose kernels are all executed in others is left out. Prints what is wrong, and fails when
// something is, or when there are too few kernels.
//
//   --only NAME           the line of this name
//   --label TEXT          variants whose id ends so
//   --holds TEXT          variants whose source has this text
//   --multiprocessors N   written for a GPU with so few that blocks have several tiles even of small sizes
//   --part I/N            every Nth of the variants; parts 1 to N together are all of them
//   --at-least N          so many kernels are expected
//   --done FILE           the kernels in this list are left out, and those that turn out right are added to it, so that a run that
//                         was cut off goes on. A run over everything leaves only present kernels in the list
//   --known FILE          the kernels in this list are left out
//   --again N             but every Nth variant is executed whatever the lists say
//   --times               also which variants took longest
//   --verbose             also which variants are right
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "kernel_list.hpp"
#include "outcome/verdict.hpp"
#include "sim/sim.hpp"
#include "verify/check.hpp"
#include "written_variant.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <sys/resource.h>

using namespace cudal1;
using variants::WrittenVariant;

namespace {

struct Options {
  std::vector<std::string> files;
  std::string only, done, known;
  variants::Wanted wanted;
  std::size_t part = 1, of = 1, at_least = 1, again = 0;
  bool times = false, verbose = false;

  bool everything() const { return only.empty() && wanted.label.empty() && wanted.holds.empty() && wanted.multiprocessors == 0 && of == 1; }
};

std::optional<Options> options_from(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (!option.starts_with("--")) {
      options.files.emplace_back(option);
    } else if (option == "--times") {
      options.times = true;
    } else if (option == "--verbose") {
      options.verbose = true;
    } else if (++i == argc) {
      return std::nullopt;
    } else if (option == "--only") {
      options.only = argv[i];
    } else if (option == "--label") {
      options.wanted.label = argv[i];
    } else if (option == "--holds") {
      options.wanted.holds = argv[i];
    } else if (option == "--multiprocessors") {
      options.wanted.multiprocessors = std::stoi(argv[i]);
    } else if (option == "--at-least") {
      options.at_least = std::stoul(argv[i]);
    } else if (option == "--done") {
      options.done = argv[i];
    } else if (option == "--known") {
      options.known = argv[i];
    } else if (option == "--again") {
      options.again = std::stoul(argv[i]);
    } else if (option != "--part" || std::sscanf(argv[i], "%zu/%zu", &options.part, &options.of) != 2 || options.of == 0) {
      return std::nullopt;
    }
  }
  return options.files.size() < 2 ? std::nullopt : std::optional(options);
}

std::vector<variants::TaskText> wanted_lines(const Options& options) {
  const std::string naive = base::read_file(options.files[0]);
  std::vector<variants::TaskText> lines;
  for (std::size_t i = 1; i < options.files.size(); ++i)
    for (variants::TaskText& text : variants::task_texts(options.files[i], naive))
      if (options.only.empty() || text.name == options.only) lines.push_back(std::move(text));
  return lines;
}

// What is wrong with a variant; nothing where it is right.
std::optional<std::string> fault_of(const WrittenVariant& variant, variants::Builder& builder) {
  const auto program = builder.build(variant.line->task(), *variant.file, variant.tunables);
  if (!program) return program.error();
  const auto simulator = sim::open({.gpu = "H200", .threads = 1});
  const auto module = simulator->load(program->binary);
  if (!module) return module.error().message;
  const auto& cases = variant.line->cases(variant.precision, builder);
  base::Random random(3);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    reference::Buffers buffers(*simulator, program->plans[i], random);
    const auto evidence = verify::check(*simulator, variant.line->task().file, {module->get(), &program->plans[i]}, cases[i], buffers, false);
    if (evidence.fault) return fmt::format("{}: {}", outcome::name(*evidence.fault), evidence.message);
    if (!evidence.findings.empty()) return evidence.findings.front().message;
  }
  return std::nullopt;
}

// What the threads tell.
class Report {
 public:
  explicit Report(bool verbose) : verbose_(verbose) {}
  void wrong(const std::string& name, const std::string& what) {
    const std::lock_guard lock(mutex_);
    fmt::print("WRONG: {}: {}\n", name, what);
    std::fflush(stdout);
    ++wrong_;
  }
  void right(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (verbose_) fmt::print("RIGHT: {}\n", name);
  }
  void took(double seconds, const std::string& name) {
    const std::lock_guard lock(mutex_);
    times_.emplace_back(seconds, name);
  }
  std::size_t wrong_count() const { return wrong_; }
  void print_times() {
    std::sort(times_.rbegin(), times_.rend());
    for (std::size_t i = 0; i < std::min<std::size_t>(times_.size(), 40); ++i) fmt::print("{:.2f} s {}\n", times_[i].first, times_[i].second);
  }

 private:
  const bool verbose_;
  std::mutex mutex_;
  std::size_t wrong_ = 0;
  std::vector<std::pair<double, std::string>> times_;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double processor_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

std::vector<WrittenVariant> all_variants(const std::vector<variants::TaskText>& lines, const variants::Wanted& wanted, Report& report) {
  std::vector<std::vector<WrittenVariant>> of_line(lines.size());
  base::in_parallel(lines.size(), [&](std::size_t i) {
    try {
      of_line[i] = variants::written_variants(std::make_shared<variants::TorchLine>(lines[i]), wanted);
    } catch (const std::exception& problem) {
      report.wrong(lines[i].name, problem.what());
    }
  });
  std::vector<WrittenVariant> all;
  for (auto& each : of_line) std::move(each.begin(), each.end(), std::back_inserter(all));
  return all;
}

// The places of those to execute.
std::vector<std::size_t> chosen(const std::vector<WrittenVariant>& all, const Options& options, const variants::KernelList& done) {
  std::unordered_set<std::string> left_out = variants::KernelList(options.known).earlier();
  left_out.insert(done.earlier().begin(), done.earlier().end());
  std::vector<std::size_t> places = variants::with_every_kernel(all, std::move(left_out));
  if (options.again > 0) {
    const std::vector<std::size_t> every = variants::with_every_kernel(all, {});
    for (std::size_t i = 0; i < every.size(); i += options.again) places.push_back(every[i]);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
  }
  std::size_t turn = options.of - options.part;
  std::erase_if(places, [&](std::size_t) { return turn++ % options.of != 0; });
  return places;
}

void execute(std::vector<WrittenVariant>& all, const std::vector<std::size_t>& places, variants::KernelList& done, Report& report) {
  variants::Builder builder;
  base::in_parallel(places.size(), [&](std::size_t i) {
    const WrittenVariant variant = std::move(all[places[i]]);  // what is right for a line is dropped with the line's last variant
    const double begun = now();
    try {
      if (const auto fault = fault_of(variant, builder)) {
        report.wrong(variant.name, *fault);
      } else {
        report.right(variant.name);
        done.add(variant.kernels);
      }
    } catch (const std::exception& problem) {
      report.wrong(variant.name, problem.what());
    }
    report.took(now() - begun, variant.name);
  });
}

int run(const Options& options) {
  Report report(options.verbose);
  const auto lines = wanted_lines(options);
  auto all = all_variants(lines, options.wanted, report);
  variants::KernelList done(options.done);
  const auto places = chosen(all, options, done);
  std::unordered_set<std::string> every, executed;
  for (const WrittenVariant& variant : all) every.insert(variant.kernels.begin(), variant.kernels.end());
  for (const std::size_t i : places) executed.insert(all[i].kernels.begin(), all[i].kernels.end());
  const std::size_t written = all.size();
  const double writing = processor_seconds(RUSAGE_SELF);
  execute(all, places, done, report);
  if (options.everything()) done.keep(every);

  if (options.times) report.print_times();
  fmt::print("{} of {} kernels of {} lines were executed, in {} of {} variants; {} of these are wrong "
             "(processor time: {:.0f} s writing, {:.0f} s compiling, {:.0f} s running)\n",
             executed.size(), every.size(), lines.size(), places.size(), written, report.wrong_count(), writing, processor_seconds(RUSAGE_CHILDREN),
             processor_seconds(RUSAGE_SELF) - writing);
  if (executed.size() < options.at_least) fmt::print("at least {} kernels were expected\n", options.at_least);
  return report.wrong_count() == 0 && executed.size() >= options.at_least ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "compile") return compile::worker_main();
  const auto options = options_from(argc, argv);
  if (!options) {
    fmt::print(stderr, "usage: every_variant [--only NAME] [--label TEXT] [--holds TEXT] [--multiprocessors N] [--part I/N] [--at-least N] [--done FILE] [--known FILE] "
                       "[--again N] [--times] [--verbose] NAIVE.cuh LINES.cu...\n");
    return 2;
  }
  if (compile::find_nvrtc().library.empty()) {
    fmt::print("skipped: NVRTC is not installed\n");
    return 77;
  }
  return run(*options);
}
