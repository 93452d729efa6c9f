// SPDX-License-Identifier: Apache-2.0
#include "kernel/host_source.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Kind = SourceToken::Kind;

// Includes that the compiler of variants has stand-ins or the toolkit's own files for.
bool is_device_include(std::string_view line) {
  static const std::set<std::string, std::less<>> known = {
      "cuda_runtime.h", "cuda_fp16.h",  "cuda_bf16.h", "cuda_fp8.h", "mma.h",    "cooperative_groups.h", "cuda_pipeline.h",
      "cstdint",        "stdint.h",     "cmath",       "math.h",     "math_constants.h", "cfloat",       "float.h",
      "climits",        "limits.h",     "limits",      "cstddef",    "stddef.h", "type_traits",          "cuda.h",
      "cassert",        "assert.h",     "cuda_runtime_api.h", "device_launch_parameters.h", "vector_types.h"};
  const std::size_t open = line.find_first_of("<\"");
  if (open == std::string_view::npos) return false;
  const std::size_t close = line.find_first_of(">\"", open + 1);
  const std::string_view name = line.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
  return known.contains(name) || name.starts_with("cooperative_groups/") || name.starts_with("cuda/");
}

bool is_host_word(std::string_view word) {
  static const std::set<std::string_view> words = {
      "torch",         "at",            "c10",          "vector",       "string",   "ostream",    "iostream", "cublasHandle_t",
      "cudnnHandle_t", "chrono",        "cudaStream_t", "cudaEvent_t",  "thrust",   "FILE",       "pybind11", "cudaDeviceProp",
      "mt19937",       "cudaError_t",   "unique_ptr",   "shared_ptr",   "function", "map",        "cublas",   "random_device",
      "cublasLtHandle_t", "unordered_map"};
  return words.contains(word);
}

// What device code has of the namespace std.
bool is_device_name(std::string_view name) {
  return name == "numeric_limits" || name == "size_t" || name == "min" || name == "max" || name == "is_same" || name == "conditional" || name == "enable_if" ||
         name == "isnan" || name == "isinf" || name == "swap";
}

class Splitter {
 public:
  explicit Splitter(std::string_view source) {
    host_.source = source;
    all_ = lex_source(source);
    host_.tokens = lex_code(source);
  }

  HostSource run() {
    includes();
    items(0, host_.tokens.size());
    std::sort(host_.set_aside.begin(), host_.set_aside.end(), [](const SetAside& a, const SetAside& b) { return a.from < b.from; });
    return std::move(host_);
  }

 private:
  const SourceToken& token(std::size_t i) const {
    static const SourceToken none;
    return i < host_.tokens.size() ? host_.tokens[i] : none;
  }

  void includes() {
    for (const SourceToken& line : all_) {
      if (line.kind != Kind::preprocessor) continue;
      std::string_view text = base::trim(line.text.substr(1));
      if (!text.starts_with("include") || is_device_include(text)) continue;
      const std::size_t end = std::min(text.find("//"), text.find("/*"));
      host_.set_aside.push_back({line.offset, line.end(), fmt::format("#{} (line {})", base::trim(text.substr(0, end)), line.line)});
    }
  }

  // One declaration after the other at namespace scope.
  void items(std::size_t from, std::size_t to) {
    std::size_t i = from;
    while (i < to) {
      if (token(i).is("}") || token(i).is(";")) {
        ++i;
        continue;
      }
      // Scopes are entered; what is inside is judged by itself.
      std::size_t scope = i;
      if (token(i).is("inline") && token(i + 1).is("namespace")) ++scope;
      if (token(scope).is("namespace") || (token(i).is("extern") && token(i + 1).kind == Kind::string && token(i + 2).is("{"))) {
        while (scope < to && !token(scope).is("{") && !token(scope).is(";")) ++scope;
        if (token(scope).is("{")) {
          const std::size_t close = std::min(matching_bracket(host_.tokens, scope), to);
          items(scope + 1, close);
          i = close + 1;
          continue;
        }
      }
      i = item(i, to);
    }
  }

  // The declaration that begins at `from`; returns the token after it.
  std::size_t item(std::size_t from, std::size_t to) {
    std::size_t end = from;
    std::optional<std::size_t> parameters, body;
    bool assigned = false;
    while (end < to) {
      const SourceToken& current = token(end);
      if (current.is(";")) break;
      if (current.is("=")) assigned = true;
      if (current.is("<") && end > from && (token(end - 1).is("template") || token(end - 1).kind == Kind::identifier))
        if (const std::size_t after = after_template_list(host_.tokens, end); after > end) {
          end = after;
          continue;
        }
      if (current.is("(") || current.is("[") || current.is("{")) {
        const std::size_t close = matching_bracket(host_.tokens, end);
        // An attribute's brackets are no list of parameters: `struct __align__(8) Pair { … };`
        const bool attribute = end > from && (token(end - 1).is("__align__") || token(end - 1).is("alignas") || token(end - 1).is("__attribute__") ||
                                              token(end - 1).is("__declspec") || token(end - 1).is("__launch_bounds__"));
        if (current.is("(") && !assigned && !attribute) parameters = end;
        if (current.is("{")) {
          body = end;
          // A function's body ends its declaration; a class and an initialiser go on to the `;`.
          if (parameters && !assigned) {
            end = std::min(close, to - 1);
            break;
          }
        }
        end = close;
        if (end >= to) break;
      }
      // A macro call at namespace scope has no `;`: the next declaration begins on a line of its own.
      ++end;
    }
    end = std::min(end, to - 1);
    classify(from, end, parameters && !assigned ? parameters : std::nullopt, body);
    return end + 1;
  }

  bool contains(std::size_t from, std::size_t to, std::string_view word) const {
    for (std::size_t i = from; i <= to && i < host_.tokens.size(); ++i)
      if (host_.tokens[i].is(word)) return true;
    return false;
  }

  void classify(std::size_t from, std::size_t end, std::optional<std::size_t> parameters, std::optional<std::size_t> body) {
    const std::size_t head = body ? *body : end;
    const bool device = contains(from, head, "__global__") || contains(from, head, "__device__") || contains(from, head, "__constant__");
    if (device) return;
    const bool aggregate = contains(from, head, "struct") || contains(from, head, "class") || contains(from, head, "union") || contains(from, head, "enum");
    if (parameters && body && !(aggregate && *body < *parameters)) {
      std::string name = "?";
      if (*parameters > from && token(*parameters - 1).kind == Kind::identifier) name = std::string(token(*parameters - 1).text);
      for (std::size_t back = 2; name == "?" && back <= 3 && *parameters >= from + back; ++back)   // `operator<<`
        if (token(*parameters - back).is("operator")) name = source_text(host_.source, host_.tokens, *parameters - back, *parameters);
      if (contains(from, head, "constexpr") && !contains_host_word(from, end)) return;
      const std::size_t close = matching_bracket(host_.tokens, *parameters), body_close = matching_bracket(host_.tokens, *body);
      host_.functions.push_back({name, {*parameters + 1, close}, {*body + 1, body_close}});
      if (token(end + 1).is(";")) ++end;
      put_aside(from, end, fmt::format("host function {}", name));
    } else if (parameters && !body && !contains(from, end, "using") && !contains(from, end, "typedef") && !contains(from, end, "static_assert")) {
      put_aside(from, end, fmt::format("declaration of {}", name_before(*parameters, from)));
    } else if (contains_host_word(from, end) || (aggregate && contains(from, end, "virtual") && !contains(from, end, "__device__"))) {
      put_aside(from, end, "host declaration");
    } else if (token(from).is("namespace")) {  // an alias: `namespace cg = cooperative_groups;` is one of device code
      if (!contains(from, end, "cooperative_groups") && !contains(from, end, "nvcuda") && !contains(from, end, "cuda") && !contains(from, end, "cub")) put_aside(from, end, "namespace alias");
    } else if (token(from).is("using") && token(from + 1).is("std") && !is_device_name(token(end - 1).text)) {
      put_aside(from, end, "using declaration");
    } else if (token(from).is("using") && token(from + 1).is("namespace")) {
      if (!contains(from, end, "nvcuda") && !contains(from, end, "cooperative_groups") && !contains(from, end, "wmma")) put_aside(from, end, "using directive");
    } else if (!aggregate && !token(from).is("using") && !token(from).is("typedef") && !token(from).is("template") && !token(from).is("namespace") &&
               !token(from).is("static_assert") && !contains(from, head, "const") && !contains(from, head, "constexpr")) {
      put_aside(from, end, "host variable");
    }
  }

  // The name in front of a list of parameters, a template's list left out: `std::function<void(int)> f(…)`.
  std::string_view name_before(std::size_t parameters, std::size_t from) const {
    std::size_t at = parameters;
    int depth = 0;
    while (at > from) {
      --at;
      if (token(at).is(">")) ++depth;
      else if (token(at).is("<")) --depth;
      else if (depth == 0 && token(at).kind == Kind::identifier) return token(at).text;
      else if (depth == 0 && !token(at).is("::") && !token(at).is("*") && !token(at).is("&")) break;
    }
    return "a name that is not read";
  }

  bool contains_host_word(std::size_t from, std::size_t end) const {
    for (std::size_t i = from; i <= end && i < host_.tokens.size(); ++i)
      if (host_.tokens[i].kind == Kind::identifier && is_host_word(host_.tokens[i].text)) return true;
    return false;
  }

  void put_aside(std::size_t from, std::size_t end, const std::string& what) {
    std::size_t begin = token(from).offset;
    // A comment that ends on the line above speaks of what is set aside.
    for (auto comment = all_.rbegin(); comment != all_.rend(); ++comment) {
      if (comment->offset >= begin) continue;
      const bool is_comment = comment->kind == Kind::line_comment || comment->kind == Kind::block_comment;
      const std::string_view between = host_.source.substr(comment->end(), begin - comment->end());
      const bool alone = comment->offset == 0 || host_.source[comment->offset - 1] == '\n';
      if (!is_comment || !alone || std::count(between.begin(), between.end(), '\n') > 1) break;
      begin = comment->offset;
    }
    const std::size_t stop = std::min(token(end).end(), host_.source.size());
    const int last = token(end).line + static_cast<int>(std::count(token(end).text.begin(), token(end).text.end(), '\n'));
    const std::string lines = token(from).line == last ? fmt::format("line {}", last) : fmt::format("lines {}-{}", token(from).line, last);
    host_.set_aside.push_back({begin, std::max(begin, stop), fmt::format("{} ({})", what, lines)});
  }

  HostSource host_;
  std::vector<SourceToken> all_;
};

}  // namespace

HostSource split_host(std::string_view source) { return Splitter(source).run(); }

std::vector<TokenRange> split_arguments(const std::vector<SourceToken>& tokens, std::size_t from, std::size_t to) {
  std::vector<TokenRange> parts;
  std::size_t begin = from;
  for (std::size_t i = from; i < to; ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{")) {
      i = std::min(matching_bracket(tokens, i), to);
    } else if (tokens[i].is("<") && i > from && tokens[i - 1].kind == SourceToken::Kind::identifier) {
      const std::size_t after = after_template_list(tokens, i);
      if (after > i && after < to && tokens[after].is("(")) i = after - 1;
    } else if (tokens[i].is(",")) {
      parts.push_back({begin, i});
      begin = i + 1;
    }
  }
  if (begin < to) parts.push_back({begin, to});
  return parts;
}

std::vector<HostLaunch> find_launches(const HostSource& host) {
  std::vector<HostLaunch> launches;
  const auto& tokens = host.tokens;
  for (std::size_t f = 0; f < host.functions.size(); ++f) {
    const TokenRange body = host.functions[f].body;
    for (std::size_t i = body.from; i < body.to; ++i) {
      if (!tokens[i].is("<<<")) continue;
      HostLaunch launch;
      launch.function = f;
      std::size_t begin = i;
      if (begin > body.from && tokens[begin - 1].is(">")) {
        int depth = 0;
        while (begin > body.from) {
          --begin;
          if (tokens[begin].is(">")) ++depth;
          if (tokens[begin].is("<") && --depth == 0) break;
        }
      }
      while (begin > body.from && (tokens[begin - 1].is("::") || (tokens[begin - 1].kind == Kind::identifier && (begin == i || !(tokens[begin].kind == Kind::identifier))))) {
        if (tokens[begin - 1].is("return") || tokens[begin - 1].is("else")) break;
        --begin;
      }
      launch.at = begin;
      launch.kernel = source_text(host.source, tokens, begin, i);
      std::size_t close = i + 1;
      while (close < body.to && !tokens[close].is(">>>")) {
        if (tokens[close].is("(") || tokens[close].is("{") || tokens[close].is("[")) close = matching_bracket(tokens, close);
        ++close;
      }
      if (close + 1 >= body.to || !tokens[close + 1].is("(")) continue;
      const std::size_t end = std::min(matching_bracket(tokens, close + 1), body.to);
      launch.configuration = split_arguments(tokens, i + 1, close);
      launch.arguments = split_arguments(tokens, close + 2, end);
      for (std::size_t k = body.from; k < i; ++k) {
        const bool loop = tokens[k].is("for") || tokens[k].is("while");
        if (!loop && !tokens[k].is("if") && !tokens[k].is("switch")) continue;
        const std::size_t head = matching_bracket(tokens, k + 1);
        if (head >= body.to) continue;
        std::size_t stop = head + 1;
        if (stop < body.to && tokens[stop].is("{")) stop = matching_bracket(tokens, stop);
        else while (stop < body.to && !tokens[stop].is(";")) ++stop;
        (loop ? launch.in_loop : launch.conditional) |= head < i && i < stop;
      }
      if (!launch.kernel.empty()) launches.push_back(std::move(launch));
      i = end;
    }
  }
  return launches;
}

}  // namespace cudal1::kernel
