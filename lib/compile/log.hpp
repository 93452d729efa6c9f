// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "outcome/resource_facts.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::compile {

// Names in a compile. NVRTC sees the kernel file under a plain alias, because it turns names with folders into paths.
struct SourceNames {
  std::string alias;       // what #line and NVRTC say: "k.cu"
  std::string name;        // what the user says: "kernels/k.cu"
  std::string tunables;    // the prelude's alias
};

// NVRTC's and ptxas's complaints, at most `limit` of them, errors first and then in the order of the log. line_text comes
// from `source`, never from the log. What is said about any other file than the kernel file loses its wording, since it
// may quote that file; only embedded and toolkit headers (below `trusted`) keep it. Warnings about headers and the prelude
// are dropped.
base::Diagnostics parse_diagnostics(std::string_view log, const std::string& source, const SourceNames& names,
                                    const std::vector<std::string>& trusted, std::size_t limit = 20);

// What `ptxas -v` says about each entry, by its lowered symbol.
std::map<std::string, outcome::ResourceFacts> parse_resources(std::string_view log);

}  // namespace cudal1::compile
