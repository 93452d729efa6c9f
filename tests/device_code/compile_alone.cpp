// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "base/file.hpp"
#include "compile/compiler.hpp"
#include "cuda_code/device_code.hpp"
#include "kernel/plan.hpp"
#include "playbook/candidate.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace cudal1;
using cuda_code::DeviceFile;

namespace {

const std::filesystem::path& tree() {
  static const std::filesystem::path path = CUDAL1_SOURCE_DIR;
  return path;
}

// All files by name.
std::map<std::string, DeviceFile> device_files() {
  std::map<std::string, DeviceFile> result;
  for (const auto& entry : std::filesystem::directory_iterator(tree() / "lib/cuda_code/device"))
    result.emplace(entry.path().filename().string(), cuda_code::read_device_file(base::read_file(entry.path())));
  return result;
}

// A file without holes, with what it needs in front of it, each once. Functions that are templates are only read; the kernels call them.
std::string source_of(const DeviceFile& file, const std::map<std::string, DeviceFile>& all, std::set<std::string>& seen) {
  std::string source;
  for (const std::string& needed : file.needs) {
    if (!seen.insert(needed).second) continue;
    source += all.count(needed) == 0 ? "#include <" + needed + ">\n" : source_of(all.at(needed), all, seen);
  }
  return source + file.code;
}

// Every kernel file that the built-in model writes for the tasks of its golden files, for GPUs with and without products of warpgroups.
std::vector<std::string> written_files() {
  std::vector<std::string> result;
  outcome::DeviceFacts hopper;
  hopper.major = 9;
  for (const auto& entry : std::filesystem::directory_iterator(tree() / "tests/unit/playbook/golden")) {
    if (!entry.path().filename().string().ends_with(".before.cu")) continue;
    const task::Task task = task::load(entry.path());
    for (const outcome::Precision precision : {outcome::Precision::fp32, outcome::Precision::tf32})
      for (const outcome::DeviceFacts& gpu : {outcome::DeviceFacts{}, hopper})
        for (playbook::Candidate& candidate : playbook::candidates_for(task, precision, gpu).list) result.push_back(std::move(candidate.source));
  }
  return result;
}

// Whether the lines of a file that have no hole are all in a generated one.
bool is_in(const DeviceFile& file, const std::string& written) {
  std::size_t from = 0;
  for (std::size_t end = file.code.find('\n'); end != std::string::npos; from = end + 1, end = file.code.find('\n', from)) {
    const std::string line = file.code.substr(from, end - from + 1);
    if (line.find('$') == std::string::npos && written.find(line) == std::string::npos) return false;
  }
  return true;
}

compile::Request request_of(const std::string& source, const std::string& name) {
  compile::Request request;
  request.source = source;
  request.name = name;
  request.arch = source.find("hopper.cuh") == std::string::npos ? "sm_80" : "sm_90";
  request.cubin = false;
  return request;
}

// The first member of the family that a kernel file is.
compile::Request request_of_written(const std::string& written, const std::string& name) {
  const auto file = kernel::parse(written, name);
  REQUIRE(file);
  const auto members = kernel::family(*file);
  REQUIRE(members);
  compile::Request request = request_of(file->source, name);
  request.prelude = kernel::tunable_prelude(members->front());
  return request;
}

void check_compiles(compile::Compiler& compiler, const compile::Request& request) {
  const auto compiled = compiler.compile(request);
  INFO((compiled ? "" : compiled.error().message + "\n" + base::render(compiled.error().diagnostics)));
  CHECK(compiled);
}

compile::CompilerOptions own_worker() {
  compile::CompilerOptions options;
  options.worker = {CUDAL1_WORKER, {}};
  return options;
}

}  // namespace

TEST_CASE("every file of device code compiles: alone with what it says it needs, or with its holes filled by the model") {
  if (compile::find_nvrtc().library.empty()) CUDAL1_SKIP("NVRTC was not found");
  if (!compile::sandbox_state().available) CUDAL1_SKIP("no sandbox on this machine");
  compile::Compiler compiler(own_worker());
  const auto all = device_files();
  REQUIRE(all.size() > 30);
  const std::vector<std::string> written = written_files();
  std::set<std::string> compiled;
  for (const auto& [name, file] : all) {
    INFO(name);
    if (cuda_code::holes_of(file.code).empty()) {
      std::set<std::string> seen;
      check_compiles(compiler, request_of(source_of(file, all, seen) + "__global__ void nothing() {}\n", name));
      continue;
    }
    const auto has = [&, &of = file](const std::string& each) { return is_in(of, each); };
    const bool done = std::any_of(compiled.begin(), compiled.end(), has);
    const auto found = std::find_if(written.begin(), written.end(), has);
    if (!done) REQUIRE(found != written.end());
    if (!done && compiled.insert(*found).second) check_compiles(compiler, request_of_written(*found, name));
  }
}

TEST_CASE("a file of device code that has a mistake in it is found") {
  if (compile::find_nvrtc().library.empty()) CUDAL1_SKIP("NVRTC was not found");
  if (!compile::sandbox_state().available) CUDAL1_SKIP("no sandbox on this machine");
  compile::Compiler compiler(own_worker());
  const auto all = device_files();
  DeviceFile broken = all.at("pack.cuh");
  broken.code += "__device__ float twice(float value) { return valeu * 2; }\n";
  std::set<std::string> seen;
  CHECK_FALSE(compiler.compile(request_of(source_of(broken, all, seen), "pack.cuh")));
  broken.code = "a kernel that the model does not write\n";
  CHECK_FALSE(is_in(broken, written_files().front()));
}
