// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "base/file.hpp"
#include "compile/compiler.hpp"
#include "cuda_code/device_code.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace cudal1;
using cuda_code::DeviceFile;

namespace {

constexpr const char* own_header = "hopper.cuh";  // among the compiler's headers, for compute capability 9.0

// All files by name.
std::map<std::string, DeviceFile> device_files() {
  std::map<std::string, DeviceFile> result;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(CUDAL1_SOURCE_DIR) / "lib/cuda_code/device"))
    result.emplace(entry.path().filename().string(), cuda_code::read_device_file(base::read_file(entry.path())));
  return result;
}

// What a file is compiled as: the files that it needs, and its own code with a sample in each hole. Functions that are
// templates are only read; the kernels call them.
std::string source_of(const DeviceFile& file, const std::map<std::string, DeviceFile>& all) {
  std::string source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";
  for (const std::string& needed : file.needs) {
    if (needed == own_header) {
      source += "#include <hopper.cuh>\n";
      continue;
    }
    REQUIRE(all.count(needed) == 1);
    source += cuda_code::fill(all.at(needed).code, all.at(needed).samples);
  }
  return source + cuda_code::fill(file.code, file.samples) + "__global__ void nothing() {}\n";
}

}  // namespace

TEST_CASE("every file of device code compiles alone, with what it says it needs") {
  if (compile::find_nvrtc().library.empty()) CUDAL1_SKIP("NVRTC was not found");
  if (!compile::sandbox_state().available) CUDAL1_SKIP("no sandbox on this machine");
  compile::CompilerOptions options;
  options.worker = {CUDAL1_WORKER, {}};
  compile::Compiler compiler(options);
  const auto all = device_files();
  REQUIRE(all.size() > 30);
  for (const auto& [name, file] : all) {
    INFO(name);
    compile::Request request;
    request.source = source_of(file, all);
    request.name = name;
    request.arch = std::find(file.needs.begin(), file.needs.end(), own_header) == file.needs.end() ? "sm_80" : "sm_90";
    request.cubin = false;
    const auto compiled = compiler.compile(request);
    INFO((compiled ? "" : compiled.error().message + "\n" + base::render(compiled.error().diagnostics)));
    CHECK(compiled);
  }
}

TEST_CASE("a file of device code that has a mistake in it is found") {
  if (compile::find_nvrtc().library.empty()) CUDAL1_SKIP("NVRTC was not found");
  if (!compile::sandbox_state().available) CUDAL1_SKIP("no sandbox on this machine");
  compile::CompilerOptions options;
  options.worker = {CUDAL1_WORKER, {}};
  compile::Compiler compiler(options);
  auto all = device_files();
  DeviceFile broken = all.at("pack.cuh");
  broken.code += "__device__ float twice(float value) { return valeu * 2; }\n";
  compile::Request request;
  request.source = source_of(broken, all);
  request.name = "pack.cuh";
  CHECK_FALSE(compiler.compile(request));
}
