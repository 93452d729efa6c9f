// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "record/device_source.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace cudal1::record {

namespace {

// What a host compiler has to be told to take the branches of device code.
const std::vector<std::string>& device_words() {
  static const std::vector<std::string> words = {"-D__CUDACC__=1", "-D__NVCC__=1", "-D__CUDA_ARCH__=900", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
                                                 "-D__CUDACC_EXTENDED_LAMBDA__=1", "-D__CUDACC_RELAXED_CONSTEXPR__=1"};
  return words;
}

struct Marker {
  std::string file;
  bool system = false, entered = false;
};

// `# 12 "file.h" 1 3`: what follows comes from there.
bool read_marker(std::string_view line, Marker& marker) {
  if (!line.starts_with("# ") || line.size() < 5 || line[2] < '0' || line[2] > '9') return false;
  const std::size_t open = line.find('"'), close = line.rfind('"');
  if (open == std::string_view::npos || close <= open) return false;
  marker.file = std::string(line.substr(open + 1, close - open - 1));
  const std::string_view flags = line.substr(close + 1);
  marker.entered = flags.find(" 1") != std::string_view::npos;
  marker.system = flags.find(" 3") != std::string_view::npos;
  return true;
}

// "/usr/include/c++/12/cmath" → "cmath", by the last folder called include and what the compilers put below it.
std::string include_name(const std::string& path) {
  const std::size_t at = path.rfind("/include/");
  std::string name = at == std::string::npos ? std::filesystem::path(path).filename().string() : path.substr(at + 9);
  if (name.starts_with("c++/")) {
    name = name.substr(4);
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos) name = name.substr(slash + 1);
  }
  if (const std::size_t cccl = name.rfind("cccl/"); cccl != std::string::npos) name = name.substr(cccl + 5);
  return name;
}

}  // namespace

tl::expected<Preprocessed, std::string> preprocess(const std::filesystem::path& source, const PreprocessOptions& options) {
  const char* const chosen = std::getenv("CXX");
  base::Program compiler{chosen != nullptr && *chosen != '\0' ? chosen : "c++", {"-E", "-fdirectives-only", "-x", "c++", "-std=c++17", "-w"}};
  auto& words = compiler.arguments;
  words.insert(words.end(), device_words().begin(), device_words().end());
  for (const auto& folder : options.include_folders) words.insert(words.end(), {"-I", folder});
  for (const auto& definition : options.definitions) words.push_back("-D" + definition);
  for (const char* toolkit : {std::getenv("CUDA_PATH"), std::getenv("CUDA_HOME"), const_cast<char*>("/usr/local/cuda")})
    if (toolkit != nullptr && std::filesystem::exists(std::filesystem::path(toolkit) / "include/cuda_runtime.h")) {
      words.insert(words.end(), {"-isystem", std::string(toolkit) + "/include", "-isystem", std::string(toolkit) + "/include/cccl"});
      break;
    }
  words.push_back(source.string());
  base::Finished finished;
  try {
    finished = base::run(compiler, {}, base::Seconds(60), std::size_t{64} << 20);
  } catch (const base::Error&) {
    return tl::unexpected(fmt::format("reading {} takes a C++ compiler: install g++, or name one in CXX", source.string()));
  }
  // A header of the toolkit may complain about a compiler that is not nvcc; only what is missing matters.
  if (const std::size_t at = finished.err.find("fatal error"); finished.exit_code != 0 && at != std::string::npos) {
    const std::size_t from = finished.err.rfind('\n', at) == std::string::npos ? 0 : finished.err.rfind('\n', at) + 1;
    return tl::unexpected(std::string(base::trim(std::string_view(finished.err).substr(from, finished.err.find('\n', at) - from))));
  }

  Preprocessed result;
  Marker marker{source.string(), false, false};
  bool was_system = false;
  std::string_view rest = finished.out;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (Marker next; read_marker(line, next)) {
      if (next.system && next.entered && !was_system) {
        const std::string name = include_name(next.file);
        if (std::find(result.includes.begin(), result.includes.end(), name) == result.includes.end()) result.includes.push_back(name);
      }
      marker = std::move(next);
      was_system = marker.system;
      continue;
    }
    if (marker.system || marker.file == "<built-in>") continue;
    if (marker.file == "<command-line>") {
      // The user's own definitions are part of the source; those above are the compiler's.
      const bool ours = std::any_of(device_words().begin(), device_words().end(), [&](const std::string& word) {
        return line.starts_with("#define " + word.substr(2, word.find('=') - 2));
      });
      if (ours || !std::any_of(options.definitions.begin(), options.definitions.end(), [&](const std::string& d) {
            return line.starts_with("#define " + d.substr(0, d.find('=')));
          }))
        continue;
    }
    result.text.append(line).push_back('\n');
  }
  return result;
}

}  // namespace cudal1::record
