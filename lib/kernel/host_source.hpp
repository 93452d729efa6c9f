// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/source_lexer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::kernel {

// A range of tokens [from, to).
struct TokenRange {
  std::size_t from = 0, to = 0;
};

// A function that runs on the host, as an ordinary .cu defines it.
struct HostFunction {
  std::string name;
  TokenRange parameters, body;  // without their brackets
};

// What of an ordinary .cu belongs to the host: functions, includes that device code cannot have, variables.
struct SetAside {
  std::size_t from = 0, to = 0;  // bytes of the source
  std::string what;              // "host function main (lines 20-58)"
};

struct HostSource {
  std::string_view source;
  std::vector<SourceToken> tokens;  // lex_code(source)
  std::vector<HostFunction> functions;
  std::vector<SetAside> set_aside;  // in order of the source
};
HostSource split_host(std::string_view source);

// The tokens between commas that stand outside every bracket, template lists included.
std::vector<TokenRange> split_arguments(const std::vector<SourceToken>& tokens, std::size_t from, std::size_t to);

// `kernel<T><<<grid, block, shared, stream>>>(arguments)` found in a host function.
struct HostLaunch {
  std::string kernel;              // as written
  std::size_t at = 0;              // token of the kernel's name
  std::vector<TokenRange> configuration, arguments;
  std::size_t function = 0;        // index into HostSource::functions
  bool in_loop = false, conditional = false;
};
std::vector<HostLaunch> find_launches(const HostSource& host);

}  // namespace cudal1::kernel
