// SPDX-License-Identifier: Apache-2.0
#include "recorded_program.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "record/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace cudal1::cli {

namespace {

bool is_source(const std::string& word) {
  const std::string extension = std::filesystem::path(word).extension().string();
  return extension == ".cu" || extension == ".cpp" || extension == ".cc" || extension == ".c" || extension == ".cxx";
}

// An executable on PATH, or at one of the toolkit's usual places.
std::filesystem::path find_nvcc() {
  std::vector<std::filesystem::path> folders;
  if (const char* path = std::getenv("PATH"))
    for (std::string_view rest = path; !rest.empty();) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      folders.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* root = std::getenv(variable)) folders.push_back(std::filesystem::path(root) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  for (const auto& folder : folders)
    if (const auto nvcc = folder / "nvcc"; ::access(nvcc.c_str(), X_OK) == 0) return nvcc;
  throw base::Error(base::Fault::usage, "building the sources takes nvcc of the CUDA Toolkit, which is neither on PATH nor in /usr/local/cuda/bin");
}

// Where cudal1's own libraries lie: beside the folder of the binary, installed or built.
std::filesystem::path runtime_folder() {
  const auto own = base::own_executable();
  for (const auto& folder : {own.parent_path().parent_path() / "lib/cudal1", own.parent_path() / "lib/cudal1"})
    if (std::filesystem::exists(folder)) return folder;
  throw base::Error(base::Fault::usage, fmt::format("cudal1's CUDA runtime is missing: {} was expected beside this program",
                                                    (own.parent_path().parent_path() / "lib/cudal1").string()));
}

std::string architecture(const DeviceChoice& choice) { return fmt::format("compute_{}{}", choice.facts.major, choice.facts.minor); }

// Builds the sources so that they can be recorded: the runtime shared, PTX in the program, lines in the PTX.
std::filesystem::path build(const std::vector<std::string>& sources, const RecordedProgram& program, const RecordedTaskOptions& options,
                            const DeviceChoice& choice, const std::filesystem::path& folder, const Console& console) {
  const auto binary = folder / std::filesystem::path(sources.front()).stem();
  const std::string arch = architecture(choice);
  base::Program nvcc{find_nvcc(), {"-cudart", "shared", "-gencode", fmt::format("arch={},code={}", arch, arch), "-lineinfo", "-O2", "-w", "--extended-lambda", "--expt-relaxed-constexpr", "-std=c++17"}};
  auto& words = nvcc.arguments;
  for (const auto& include : options.include_folders) words.insert(words.end(), {"-I", include});
  for (const auto& definition : options.definitions) words.push_back("-D" + definition);
  words.insert(words.end(), sources.begin(), sources.end());
  words.insert(words.end(), program.nvcc_options.begin(), program.nvcc_options.end());
  words.insert(words.end(), {"-o", binary.string()});
  console.note(fmt::format("building {}", fmt::join(sources, " ")));
  const auto built = base::run(nvcc, {}, base::Seconds(600));
  if (built.exit_code != 0) {
    const std::string all = built.err + built.out;
    const std::size_t at = all.find("error");
    const std::size_t from = at == std::string::npos ? 0 : all.rfind('\n', at) == std::string::npos ? 0 : all.rfind('\n', at) + 1;
    throw base::Error(base::Fault::bad_input, fmt::format("nvcc does not build it: {}", base::trim(std::string_view(all).substr(from, all.find('\n', from) - from))));
  }
  return binary;
}

// A program that is there but holds its runtime itself cannot be recorded here.
void require_shared_runtime(const std::string& program) {
  if (program.find('/') == std::string::npos || !std::filesystem::exists(program)) return;
  const std::string bytes = base::read_file(program, std::size_t{4} << 30);
  if (!bytes.starts_with("\x7f" "ELF") || bytes.find(".nv_fatbin") == std::string::npos) return;
  if (record::linked_runtime(program).empty())
    throw base::Error(base::Fault::bad_input, fmt::format("{} has CUDA's runtime linked into it: build it with nvcc -cudart shared, for example with NVCC_APPEND_FLAGS=\"-cudart shared\" make", program));
}

const record::Kept* chosen(const record::Recording& recording, const record::Choice& choice, bool take_largest) {
  static const record::Kept none;
  if (choice.any()) {
    const auto found = recording.kept.find("");
    return found == recording.kept.end() ? &none : &found->second;
  }
  if (recording.kernels.empty() || (!take_largest && recording.kernels.size() > 1)) return nullptr;
  const auto largest = std::max_element(recording.kernels.begin(), recording.kernels.end(), [&](const auto& a, const auto& b) { return recording.ms(a) < recording.ms(b); });
  const auto found = recording.kept.find(largest->kernel);
  return found == recording.kept.end() ? &none : &found->second;
}

}  // namespace

ExitCode record_and_write(RecordedProgram program, RecordedTaskOptions options, const DeviceChoice& choice, const Console& console) {
  if (choice.device != "sim") throw base::Error(base::Fault::usage, "record on a GPU is not there yet; use --device sim");
  const std::string command = fmt::format("{}", fmt::join(program.words, " "));
  const base::TemporaryFolder folder("cudal1-build");
  std::vector<std::string> sources;
  if (!program.words.empty() && std::filesystem::path(program.words.front()).extension() == ".cu") {
    const auto end = std::find_if_not(program.words.begin(), program.words.end(), is_source);
    sources.assign(program.words.begin(), end);
    program.words.erase(program.words.begin(), end);
    program.words.insert(program.words.begin(), build(sources, program, options, choice, folder.path(), console).string());
  } else {
    require_shared_runtime(program.words.front());
  }
  if (options.sources.empty()) options.sources = sources;

  record::SimulatedOptions simulated;
  simulated.gpu = choice.gpu;
  simulated.choice = program.choice;
  simulated.source = options.sources.size() == 1 ? options.sources.front() : "";
  simulated.say = [&](const std::string& text) { console.warn(text); };
  record::Recording recording;
  const record::Ended end = record::record_simulated({program.words, {}}, runtime_folder(), simulated, recording);
  if (end.signal != 0) console.warn(fmt::format("the program was ended by signal {}", end.signal));
  else if (end.exit_code != 0) console.warn(fmt::format("the program ended with {}", end.exit_code));
  const ExitCode when_done = recording.findings.empty() ? ExitCode::success : ExitCode::failed_items;

  if (recording.kernels.empty()) {
    const std::string why = recording.problems.empty() ? "the program launched no kernel through a shared CUDA runtime" : recording.problems.front();
    throw base::Error(base::Fault::bad_input, "no task: " + why);
  }
  const bool writes = !options.output.empty();
  const record::Kept* kept = chosen(recording, program.choice, writes);
  if (kept == nullptr || !program.choice.any()) console.result(launch_table(recording));
  // Who asked for no task is told of the faults, and is not refused one.
  if (kept != nullptr && !kept->why_not.empty() && !writes && !program.choice.any() && !recording.findings.empty()) return when_done;
  if (kept == nullptr) {
    console.note("choose with --kernel NAME or --launch N; -o FILE alone takes the first of these");
    return when_done;
  }
  if (kept->launches.empty() && kept->why_not.empty())
    throw base::Error(base::Fault::bad_input, fmt::format("no task: no launch was chosen; the kernels are: {}", [&] {
                        std::vector<std::string> names;
                        for (const auto& total : recording.kernels) names.push_back(total.kernel);
                        return fmt::format("{}", fmt::join(names, ", "));
                      }()));
  options.origin = fmt::format("Recorded from: {} (launch {} of {}, on {}{})", command, kept->launches.empty() ? 0 : kept->launches.front().number, recording.launches,
                               recording.predicted ? "the simulated " : "", recording.device);
  write_recorded_task(*kept, options, choice, console);
  return when_done;
}

}  // namespace cudal1::cli
