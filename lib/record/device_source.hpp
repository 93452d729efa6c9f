// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::record {

// A CUDA source and the files beside it that it includes, conditions resolved as for device code, macros still written
// as such. Files of the system and of the toolkit are named only.
struct Preprocessed {
  std::string text;
  std::vector<std::string> includes;   // of the system and the toolkit, as in <…>
};

struct PreprocessOptions {
  std::vector<std::string> include_folders, definitions;   // "N=4"
};

// By the host's C++ compiler (CXX, or c++). The error is its first message, or says that there is no compiler.
tl::expected<Preprocessed, std::string> preprocess(const std::filesystem::path& source, const PreprocessOptions& options);

// What of a source is needed to compile kernels, in the order written: their definitions, and whatever these or the template
// arguments of their names ("ns::k<Traits<4>>") mention.
struct DeviceSource {
  std::string text;
  std::set<std::string> missing;                       // kernels that it does not define
  struct DeviceVariable {
    std::string type;                                  // as written: "float", "Params"
    std::size_t at = 0, bytes = 0;                     // of its initialiser in `text`; 0 bytes: where one may stand
    std::string parameter, extents;                    // of a template with one type: "T", and "[WIDTH]"
    std::size_t end = 0;                               // of the declaration in `text`
  };
  std::map<std::string, DeviceVariable> variables;     // `__constant__` and `__device__`, one declarator each
  bool needs_default_device = false;                   // a function without `__device__` is among it
};
DeviceSource slice(const Preprocessed& source, const std::vector<std::string>& kernels);

}  // namespace cudal1::record
