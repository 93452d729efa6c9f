// SPDX-License-Identifier: Apache-2.0
#include "rewriter/item_kernel.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::rewriter {
namespace {

using Kind = Statement::Kind;

std::string pack_of(const std::string& element) {
  if (element == "float") return "float4";
  if (element == "int") return "int4";
  if (element == "unsigned" || element == "unsigned int") return "uint4";
  return "";
}

struct Held {
  Access access;
  std::string key, name, element, pack;
  bool loaded = false, stored = false;
};

// The accesses that four neighbouring items make at four neighbouring places.
// None that only some items make.
std::vector<Held> neighbours(const ItemKernel& kernel, const OwnDraft& draft) {
  const std::string& x = kernel.axes[0].name;
  std::vector<Held> result;
  const auto find = [&](const Access& access) -> Held* {
    const std::string key = access.key();
    for (Held& each : result)
      if (each.key == key) return &each;
    const std::string pack = pack_of(kernel.elements.at(access.pointer));
    if (pack.empty() || !kernel.where(access).steps_by_one(x) || !kernel.movable(access)) return nullptr;
    std::string name = unused_name(draft.code, access.pointer + "_held");
    for (int i = 2; std::any_of(result.begin(), result.end(), [&](const Held& each) { return each.name == name; }); ++i)
      name = unused_name(draft.code, fmt::format("{}_held_{}", access.pointer, i));
    result.push_back({access, key, name, kernel.elements.at(access.pointer), pack, false, false});
    return &result.back();
  };
  for (const std::string& text : expressions(kernel.body)) {
    const auto store = assignment(text);
    for (const Access& access : accesses(text)) {
      Held* held = find(access);
      if (held == nullptr) continue;
      const bool target = store && access.begin == 0 && access.end <= store->target.size() + 1;
      if (target) held->stored = true;
      if (!target || store->op != "=") held->loaded = true;
    }
  }
  // What is written is written by every item, at one place, and read nowhere else.
  const std::set<std::string> certain = certain_accesses(kernel.body);
  const auto unfit = [&](const Held& each) {
    const std::string pointer = kernel.pointer(each.access);
    if (kernel.written.count(pointer) == 0) return certain.count(each.key) == 0;
    bool always = false;
    for (const Statement& statement : kernel.body)
      if (const auto store = assignment(statement.text); store && statement.kind == Kind::expression && store->target == each.key) always = true;
    for (const std::string& text : expressions(kernel.body))
      for (const Access& access : accesses(text))
        if (kernel.pointer(access) == pointer && access.key() != each.key) return true;
    return !always;
  };
  result.erase(std::remove_if(result.begin(), result.end(), unfit), result.end());
  return result;
}

std::optional<OwnRewrite> packed(const ItemKernel& kernel, OwnDraft& draft) {
  if (any_of(kernel.body, {Kind::loop})) return std::nullopt;
  const std::vector<Held> held = neighbours(kernel, draft);
  if (held.empty()) return std::nullopt;
  const ItemKernel::Axis& x = kernel.axes[0];
  const std::string first = unused_name(draft.code, x.name + "_0"), item = unused_name(draft.code, "item"),
                    whole = unused_name(draft.code, "whole");
  std::vector<std::string> indices, conditions{fmt::format("{} + 4 <= {}", first, x.bound)};
  std::string arrays, loads, stores;
  std::map<std::string, std::string> words;
  for (const Held& each : held) {
    indices.push_back(each.key);
    words[each.key] = fmt::format("{}[{}]", each.name, item);
    arrays += fmt::format("  __align__(16) {} {}[4];\n", each.element, each.name);
    if (kernel.where(each.access).value != kernel::Polynomial::atom(x.name))
      conditions.push_back(fmt::format("reinterpret_cast<size_t>(&{}) % 16 == 0", each.key));
    if (each.loaded)
      loads += fmt::format("      *reinterpret_cast<{0}*>({1}) = *reinterpret_cast<const {0}*>(&{2});\n", each.pack, each.name, each.key);
    if (each.stored)
      stores += fmt::format("    *reinterpret_cast<{0}*>(&{2}) = *reinterpret_cast<const {0}*>({1});\n", each.pack, each.name, each.key);
  }
  const std::string at_first = fmt::format("    const {} {} = {};\n", kernel.plain_type(0), x.name, first) + print(kernel.needed(indices), 4);
  const std::string each_item = fmt::format("const {} {} = {} + {};\n", kernel.plain_type(0), x.name, first, item);
  OwnRewrite result{kernel.head() + " {\n" + print(kernel.uniform, 2), kernel.launch};
  std::string outside = fmt::format("{} >= {}", first, x.bound);
  if (kernel.axes.size() == 2) {
    result.function += kernel.coordinate(1);
    outside += fmt::format(" || {} >= {}", kernel.axes[1].name, kernel.axes[1].bound);
  }
  result.function += fmt::format("  const {0} {1} = (static_cast<{0}>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;\n  if ({2}) return;\n",
                                 kernel.plain_type(0), first, outside);
  result.function += fmt::format("{}  bool {};\n  {{\n{}    {} = {};\n", arrays, whole, at_first, whole, fmt::join(conditions, " && "));
  if (!loads.empty()) result.function += fmt::format("    if ({}) {{\n{}    }}\n", whole, loads);
  result.function += fmt::format("  }}\n  if (!{}) {{\n", whole);
  result.function += fmt::format("    for (int {0} = 0; {0} < 4 && {1} + {0} < {2}; ++{0}) {{\n      {3}{4}    }}\n    return;\n  }}\n", item,
                                 first, x.bound, each_item, print(kernel.body, 6));
  result.function += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < 4; ++{0}) {{\n    {1}{2}  }}\n", item, each_item,
                                 print(with_accesses(kernel.body, words), 4));
  if (!stores.empty()) result.function += "  {\n" + at_first + stores + "  }\n";
  result.function += "}";
  if (kernel.axes.size() == 1) {
    const std::string block = tune(draft, "BLOCK", "256 | 128 | 512");
    result.launch.grid[0] = fmt::format("ceil_div({}, 4 * {})", x.count, block);
    result.launch.block[0] = block;
  } else {
    result.launch.grid[0] = fmt::format("ceil_div({}, 4 * {})", x.count, x.block);
  }
  return result;
}

}  // namespace

// A thread takes four neighbouring items and reads and writes what lies side by side as one.
bool own_vectors(const task::Task& task, OwnDraft& draft) {
  return rewrite_kernels(task, draft, packed,
                         {{Technique::vectorised_access, "A thread takes four neighbouring items in 16-byte accesses, and one at a time where they do not fit."}});
}

namespace {

std::optional<OwnRewrite> coarser(const ItemKernel& kernel, OwnDraft& draft) {
  if (any_of(kernel.body, {Statement::Kind::loop})) return std::nullopt;
  const ItemKernel::Axis& x = kernel.axes[0];
  const std::string items = tune(draft, "ITEMS", "4 | 2 | 8"), item = unused_name(draft.code, "item");
  OwnRewrite result{kernel.head() + " {\n" + print(kernel.uniform, 2), kernel.launch};
  if (kernel.axes.size() == 2) result.function += kernel.coordinate(1);
  result.function += fmt::format(R"(#pragma unroll
  for (int {0} = 0; {0} < {1}; ++{0}) {{
    const {2} {3} = (static_cast<{2}>(blockIdx.x) * {1} + {0}) * blockDim.x + threadIdx.x;
    if ({4}) {{
{5}    }}
  }}
}})",
                                 item, items, kernel.plain_type(0), x.name, kernel.inside(), print(kernel.body, 6));
  result.launch.grid[0] = fmt::format("ceil_div({}, {} * {})", x.count, x.block, items);
  return result;
}

}  // namespace

// A thread takes several items, each a block's width from the next, so that their loads overlap.
bool own_coarsening(const task::Task& task, OwnDraft& draft) {
  return rewrite_kernels(task, draft, coarser,
                         {{Technique::thread_coarsening, "A thread takes several items a block's width apart: their loads overlap, and fewer blocks start."}});
}

}  // namespace cudal1::rewriter
