// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/compiler.hpp"
#include "compile/log.hpp"
#include "compile/messages.hpp"

#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::compile {

// The name under which NVRTC sees the request's source, and the prelude's.
SourceNames names_of(const Request& request);

// What is sent to the child: the prelude in front, #line marks, and the options.
Job job_of(const Request& request, const SourceNames& names, const NvrtcIdentity& identity);

// What NVRTC said, turned into a value: diagnostics, the rules for device code, resource facts, entries.
tl::expected<Compiled, Rejection> assemble(const Request& request, const SourceNames& names, const Product& product,
                                           const std::vector<std::string>& trusted);

}  // namespace cudal1::compile
