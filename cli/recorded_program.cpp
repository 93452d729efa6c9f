// SPDX-License-Identifier: Apache-2.0
#include "recorded_program.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "record/program.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
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

// A library of cudal1's own, which an installation or a build has beside it.
std::filesystem::path own_library(const std::string& name, const std::string& why_not) {
  const auto library = runtime_folder() / name;
  if (!std::filesystem::exists(library)) throw base::Error(base::Fault::usage, why_not);
  return library;
}

// Builds the sources so that they can be recorded: without a GPU the runtime shared, PTX in the program, lines in the PTX.
std::filesystem::path build(const std::vector<std::string>& sources, const RecordedProgram& program, const RecordedTaskOptions& options,
                            const DeviceChoice& choice, const std::filesystem::path& folder, const Console& console) {
  const auto binary = folder / std::filesystem::path(sources.front()).stem();
  const std::string arch = architecture(choice);
  base::Program nvcc{find_nvcc(), {"-lineinfo", "-O2", "-w", "--extended-lambda", "--expt-relaxed-constexpr", "-std=c++17"}};
  auto& words = nvcc.arguments;
  if (choice.device == "sim") words.insert(words.end(), {"-cudart", "shared", "-gencode", fmt::format("arch={},code={}", arch, arch)});
  else words.push_back(fmt::format("-arch=sm_{}{}", choice.facts.major, choice.facts.minor));
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
    const std::string_view first = base::trim(std::string_view(all).substr(from, all.find('\n', from) - from));
    throw base::Error(base::Fault::bad_input, fmt::format("nvcc does not build it: {}{}", first, first.ends_with(": No such file or directory") ? "; cudal1 record --include FOLDER names a folder of headers" : ""));
  }
  return binary;
}

// What stands in for CUDA's runtime: "libcudart.so.13". A build of the program alone has none, and a program would silently take NVIDIA's.
std::string own_runtime() {
  const auto folder = runtime_folder();
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string name = entry.path().filename().string(); name.starts_with("libcudart.so.")) return name;
  throw base::Error(base::Fault::usage, fmt::format("cudal1's CUDA runtime is missing: there is no libcudart.so in {}; build all of cudal1, with cmake --build --preset release", folder.string()));
}

// A program that is there but holds its runtime itself, or wants one of another version, cannot be recorded here.
void require_shared_runtime(const std::string& program) {
  const std::string own = own_runtime();
  if (program.find('/') == std::string::npos || !std::filesystem::exists(program)) return;
  const std::string bytes = base::read_file(program, std::size_t{4} << 30);
  if (!bytes.starts_with("\x7f" "ELF") || bytes.find(".nv_fatbin") == std::string::npos) return;
  const std::string linked = record::linked_runtime(program);
  if (!linked.empty() && linked != own)
    throw base::Error(base::Fault::bad_input, fmt::format("{} takes {}, and this cudal1 stands in for {} only: build the program with the CUDA Toolkit that cudal1 was built with", program, linked, own));
  if (linked.empty())
    throw base::Error(base::Fault::bad_input, fmt::format("{} has CUDA's runtime linked into it: build it with nvcc -cudart shared, for example with NVCC_APPEND_FLAGS=\"-cudart shared\" make", program));
}

// Whether a kernel's name stands in one of the files, as a word.
bool stands_in(const std::vector<std::string>& texts, const std::string& kernel) {
  std::string name = kernel.substr(0, kernel.find('<'));
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !letter(text[at - 1])) && (end == text.size() || !letter(text[end]))) return true;
    }
    return false;
  });
}

// The sources and, of those beside them, what may hold kernels.
std::vector<std::string> source_texts(const std::vector<std::string>& sources) {
  std::vector<std::string> texts;
  for (const auto& source : sources) {
    if (!std::filesystem::exists(source)) throw base::Error(base::Fault::bad_input, fmt::format("{}: there is no such file", source));
    texts.push_back(base::read_file(source));
    const auto folder = std::filesystem::absolute(source).parent_path();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, std::filesystem::directory_options::skip_permission_denied)) {
      constexpr std::size_t most_files = 2000;
      const std::string extension = entry.path().extension().string();
      if (texts.size() > most_files || !entry.is_regular_file() || entry.file_size() > (std::size_t{4} << 20)) continue;
      if (extension == ".cuh" || extension == ".h" || extension == ".hpp" || extension == ".cu" || extension == ".inl") texts.push_back(base::read_file(entry.path()));
    }
  }
  return texts;
}

// Runs it where it is wanted, and says what was wrong.
record::Ended run_recorded(const RecordedProgram& program, const RecordedTaskOptions& options, const DeviceChoice& choice, const Console& console,
                           record::Recording& recording) {
  const auto say = [&](const std::string& text) { console.warn(text); };
  if (choice.device == "sim") {
    record::SimulatedOptions simulated;
    simulated.gpu = choice.gpu;
    simulated.own_gpu = choice.own_gpu;
    simulated.choice = program.choice;
    simulated.source = options.sources.size() == 1 ? options.sources.front() : "";
    simulated.say = say;
    return record::record_simulated({program.words, {}}, runtime_folder(), simulated, recording);
  }
  record::ObservedOptions observed;
  observed.choice = program.choice;
  observed.keep = program.choice.any() || !options.output.empty();
  observed.separate_tensors = observed.keep;
  if (!options.sources.empty()) observed.wanted = [texts = source_texts(options.sources)](const std::string& kernel) { return stands_in(texts, kernel); };
  observed.say = say;
  record::RunningProgram running{program.words, {}};
  if (const std::string index = choice.device.substr(choice.device.find(':') + 1); index != "0" && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr)
    running.environment.emplace_back("CUDA_VISIBLE_DEVICES", index);
  return record::record_observed(running, own_library("libcudal1_inject.so", "this cudal1 was built without CUPTI's headers, which recording on a GPU takes: "
                                                                             "build it with a CUDA Toolkit that has cupti.h, or use --device sim"),
                                 observed, recording);
}

std::string why_no_kernel(bool simulated) {
  if (!simulated) return "the program launched no kernel; arguments of the program stand behind --";
  return "the program launched no kernel through a shared CUDA runtime; arguments of the program stand behind --, "
         "and a program that launches through the driver (cuLaunchKernel) is recorded on a GPU only";
}

const record::Kept* chosen(const record::Recording& recording, const record::Choice& choice, bool take_largest) {
  static const record::Kept none;
  if (choice.any()) {
    const auto found = recording.kept.find("");
    return found == recording.kept.end() ? &none : &found->second;
  }
  if (!take_largest) return nullptr;
  // Of those that may become a task: a kernel of a library has no source here.
  const record::Kept* largest = nullptr;
  double most = -1;
  for (const auto& total : recording.kernels) {
    const auto found = recording.kept.find(total.kernel);
    if (found == recording.kept.end() || recording.ms(total) <= most) continue;
    most = recording.ms(total);
    largest = &found->second;
  }
  return largest == nullptr ? &none : largest;
}

}  // namespace

ExitCode record_and_write(RecordedProgram program, RecordedTaskOptions options, const DeviceChoice& choice, const Console& console) {
  const std::string command = fmt::format("{}", fmt::join(program.words, " "));
  const base::TemporaryFolder folder("cudal1-build");
  std::vector<std::string> sources;
  const auto end_of_sources = std::find_if_not(program.words.begin(), program.words.end(), is_source);
  if (std::any_of(program.words.begin(), end_of_sources, [](const std::string& word) { return std::filesystem::path(word).extension() == ".cu"; })) {
    sources.assign(program.words.begin(), end_of_sources);
    program.words.erase(program.words.begin(), end_of_sources);
  }
  if (options.sources.empty()) options.sources = sources;
  for (const auto& source : sources)
    if (!std::filesystem::exists(source)) throw base::Error(base::Fault::missing, fmt::format("cannot read {}: No such file or directory", source));
  require_place(options, options.output);
  if (!sources.empty()) program.words.insert(program.words.begin(), build(sources, program, options, choice, folder.path(), console).string());
  if (choice.device == "sim") require_shared_runtime(program.words.front());

  record::Recording recording;
  const record::Ended end = run_recorded(program, options, choice, console, recording);
  if (end.signal != 0) console.warn(fmt::format("the program was ended by signal {}", end.signal));
  else if (end.exit_code != 0) console.warn(fmt::format("the program ended with {}", end.exit_code));
  if (!recording.predicted)
    console.note(fmt::format("the program ran for {:.3g} s{}", end.seconds, recording.kept_seconds > 0 ? fmt::format(", {:.3g} s of them waiting while memory was copied", recording.kept_seconds) : ""));
  const ExitCode when_done = recording.findings.empty() ? ExitCode::success : ExitCode::failed_items;

  if (recording.kernels.empty()) {
    const std::string why = recording.problems.empty() ? why_no_kernel(choice.device == "sim") : recording.problems.front();
    throw base::Error(base::Fault::bad_input, "no task: " + why);
  }
  const bool writes = !options.output.empty();
  const record::Kept* kept = chosen(recording, program.choice, writes);
  if (kept == nullptr || !program.choice.any()) console.result(launch_table(recording));
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
  if (!write_recorded_task(*kept, options, choice, console)) {
    std::filesystem::remove_all(folder.path());
    std::fflush(nullptr);
    std::_Exit(static_cast<int>(when_done));  // in an orderly end the driver waits for it
  }
  return when_done;
}

}  // namespace cudal1::cli
