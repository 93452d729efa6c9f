// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "kernel/signature.hpp"
#include "kernel/source_lexer.hpp"
#include "record/declarations.hpp"
#include "record/device_source.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace cudal1::record {

namespace {

class Slicer {
 public:
  explicit Slicer(const Preprocessed& source) : source_(source), text_(source.text), all_(read_declarations(source.text)) {}

  DeviceSource run(const std::vector<std::string>& kernels) {
    settle_macros();
    return emit(kernels);
  }

 private:
  // Macros may stand for `__device__`: HD, DEVICE_FUNCTION.
  void settle_macros() {
    Names stands_for_device = {"__device__", "__global__"};
    for (bool grew = true; grew;) {
      grew = false;
      for (const Declaration& d : all_)
        if (d.sort == Declaration::Sort::macro && !stands_for_device.contains(*d.declares.begin()) &&
            std::any_of(d.mentions.begin(), d.mentions.end(), [&](const auto& word) { return stands_for_device.contains(word); }))
          grew |= stands_for_device.insert(*d.declares.begin()).second;
    }
    for (Declaration& d : all_) {
      if (d.specifiers.empty()) continue;
      for (const std::string& word : d.specifiers) d.says_device |= stands_for_device.contains(word);
      d.on_device |= d.says_device;
      // An operator or member function of host code stays out.
      if (!d.on_device) d.always = false;
    }
  }

  DeviceSource emit(const std::vector<std::string>& kernels) {
    DeviceSource result;
    std::multimap<std::string, std::size_t, std::less<>> by_name;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].on_device)
        for (const std::string& name : all_[i].declares) by_name.emplace(name, i);
    std::set<std::size_t> kept;
    std::vector<std::size_t> open;
    const auto keep = [&](std::size_t i) {
      if (kept.insert(i).second) open.push_back(i);
    };
    for (const std::string& launched : kernels) {
      const auto [kernel, template_arguments, templated] = kernel::split_kernel_name(launched);
      const std::size_t scope = kernel.rfind("::");
      const std::string name = scope == std::string::npos ? kernel : kernel.substr(scope + 2);
      // What a launch gives a template stands in no kernel's text.
      for (const std::string& argument : template_arguments)
        for (const kernel::SourceToken& token : kernel::lex_code(argument))
          for (auto [at, last] = by_name.equal_range(token.text); at != last; ++at) keep(at->second);
      bool found = false;
      for (auto [at, last] = by_name.equal_range(name); at != last; ++at)
        if (all_[at->second].sort == Declaration::Sort::function && all_[at->second].says_device && !all_[at->second].prototype) found = true, keep(at->second);
      if (!found) result.missing.insert(kernel);
    }
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].always) keep(i);
    while (!open.empty()) {
      const Declaration& d = all_[open.back()];
      open.pop_back();
      for (const std::string& word : d.mentions)
        for (auto [at, last] = by_name.equal_range(word); at != last; ++at) {
          if (!all_[at->second].prototype) keep(at->second);
        }
    }
    write(kept, result);
    return result;
  }

  void write(const std::set<std::size_t>& kept, DeviceSource& result) {
    Names words;
    for (const std::size_t i : kept) words.insert(all_[i].mentions.begin(), all_[i].mentions.end());
    bool integers = false;
    for (const std::string& name : source_.includes) {
      if (name == "cub/cub.cuh") {
        // The whole of CUB is more than NVRTC takes; each of its classes has a header of its own.
        for (const std::string& word : words)
          if (const std::string header = cub_header(word); words.contains("cub") && !header.empty()) result.text += fmt::format("#include <{}>\n", header);
        continue;
      }
      if (is_device_include(name, words)) result.text += fmt::format("#include <{}>\n", name);
      integers |= name == "cstdint" || name == "stdint.h";
    }
    // Headers of the host's bring these along.
    const bool sized = std::any_of(words.begin(), words.end(), [](const std::string& word) { return word.ends_with("_t") && word.find("int") != std::string::npos; });
    if (sized && !integers) result.text += "#include <cstdint>\n";
    if (!result.text.empty()) result.text += "\n";
    std::vector<std::string> scopes;
    for (const std::size_t i : kept) {
      const Declaration& d = all_[i];
      if (d.scopes != scopes) {
        for (std::size_t k = 0; k < scopes.size(); ++k) result.text += "}\n";
        for (const std::string& scope : d.scopes) result.text += scope + "\n";
        scopes = d.scopes;
      }
      if (!d.variable.empty()) {
        result.text += text_.substr(d.from, d.initialiser_from - d.from);
        const std::string old(base::trim(text_.substr(d.initialiser_from, d.initialiser_to - d.initialiser_from)));
        if (!old.empty()) result.text += " ";
        DeviceSource::DeviceVariable& variable = result.variables[d.variable] = {d.variable_type, result.text.size(), old.size(), d.template_parameter, d.extents, 0};
        result.text += old;
        result.text += text_.substr(d.initialiser_to, d.to - d.initialiser_to);
        variable.end = result.text.size();
      } else {
        result.text += text_.substr(d.from, d.to - d.from);
      }
      result.text += d.sort == Declaration::Sort::macro || (d.sort == Declaration::Sort::variable) ? "\n" : "\n\n";
      result.needs_default_device |= d.needs_default || (d.sort == Declaration::Sort::function && !d.says_device);
    }
    for (std::size_t k = 0; k < scopes.size(); ++k) result.text += "}\n";
  }

  // "BlockReduce" → "cub/block/block_reduce.cuh"; empty for what is no class of a block or warp.
  static std::string cub_header(const std::string& name) {
    for (const std::string_view level : {"Block", "Warp"}) {
      if (!name.starts_with(level) || name.size() == level.size() || std::isupper(static_cast<unsigned char>(name[level.size()])) == 0) continue;
      std::string snake;
      for (const char c : name) {
        if (std::isupper(static_cast<unsigned char>(c)) != 0 && !snake.empty()) snake += '_';
        snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
      return fmt::format("cub/{}/{}.cuh", snake.substr(0, level.size()), snake);
    }
    return {};
  }

  // What NVRTC has, or cudal1 stands in for.
  static bool is_device_include(const std::string& name, const Names& words) {
    // Large ones, and those that NVRTC can take only in part, where they are used.
    static const std::pair<std::string_view, std::string_view> wanted[] = {
        {"cub/", "cub"}, {"cooperative_groups", "cooperative_groups"}, {"cuda/", "cuda"}, {"mma.h", "wmma"}, {"cuda_pipeline", "cuda"}};
    for (const auto& [prefix, word] : wanted)
      if (name.starts_with(prefix) && !words.contains(word)) return false;
    // Of Thrust, what NVRTC takes.
    if (name == "thrust/pair.h" || name == "thrust/tuple.h" || name == "thrust/functional.h") return words.contains("thrust");
    if (name.starts_with("curand")) return std::any_of(words.begin(), words.end(), [](const std::string& word) { return word.starts_with("curand"); });
    static const std::set<std::string, std::less<>> known = {
        "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "mma.h", "cooperative_groups.h", "cuda_pipeline.h", "curand_kernel.h", "cuComplex.h", "math_constants.h",
        "cstdint", "stdint.h", "cfloat", "float.h", "climits", "limits.h", "limits", "cmath", "math.h", "cassert", "assert.h", "type_traits", "utility", "algorithm",
        "cstddef", "stddef.h", "cstdio", "stdio.h", "curand.h", "vector_types.h"};
    return known.contains(name) || name.starts_with("cooperative_groups/") || name.starts_with("cub/block/") || name.starts_with("cub/warp/") || name.starts_with("cuda/");
  }

  const Preprocessed& source_;
  const std::string_view text_;
  std::vector<Declaration> all_;
};

}  // namespace

DeviceSource slice(const Preprocessed& source, const std::vector<std::string>& kernels) { return Slicer(source).run(kernels); }

}  // namespace cudal1::record
