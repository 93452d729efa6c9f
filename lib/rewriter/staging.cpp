// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "rewriter/item_kernel.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::rewriter {
namespace {

using Kind = Statement::Kind;

// A load in the loop that many items make: it depends on the loop's variable and at most one of the coordinates.
struct Staged {
  Access access;
  std::string key, tile, held;
  const ItemKernel::Axis* axis = nullptr;  // null: the same for all items
  bool along_loop = false;                 // neighbouring steps lie side by side in memory
};

struct Plan {
  std::size_t loop = 0;  // in the body
  std::vector<Staged> staged;
  bool rest = false;     // the loop also loads what is not staged
};

// The one loop of the body that loads anything, when its bounds are the same for all items.
std::optional<Plan> plan_of(const ItemKernel& kernel, const OwnDraft& draft) {
  Plan plan;
  int loops = 0;
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    const Kind kind = kernel.body[i].kind;
    if (kind == Kind::loop) plan.loop = i, ++loops;
    else if (kind != Kind::declaration && kind != Kind::expression) {
      if (any_of({kernel.body[i]}, [](const Statement& each) { return each.kind == Kind::loop; })) return std::nullopt;
    }
  }
  if (loops != 1) return std::nullopt;
  const Statement& loop = kernel.body[plan.loop];
  if (any_of(loop.body, [](const Statement& each) { return each.kind == Kind::loop || each.kind == Kind::leave; })) return std::nullopt;
  for (const std::string& bound : {loop.value, loop.below})
    for (const std::string& name : index_form(bound, kernel.definitions).all_read()) {
      const bool axis = std::any_of(kernel.axes.begin(), kernel.axes.end(), [&](const auto& each) { return each.name == name; });
      const bool local = std::any_of(kernel.body.begin(), kernel.body.end(),
                                     [&](const Statement& each) { return each.kind == Kind::declaration && each.name == name; });
      if (axis || local || kernel.elements.count(name) != 0) return std::nullopt;
    }
  if (changed_names(loop.body).count(loop.name) != 0) return std::nullopt;
  const std::set<std::string> certain = certain_accesses(loop.body);
  for (const std::string& text : expressions(loop.body)) {
    if (const auto store = assignment(text); store && !accesses(store->target).empty()) return std::nullopt;
    for (const Access& access : accesses(text)) {
      const std::string key = access.key();
      if (std::any_of(plan.staged.begin(), plan.staged.end(), [&](const Staged& each) { return each.key == key; })) continue;
      const IndexForm where = kernel.where(access);
      Staged staged;
      staged.access = access;
      staged.key = key;
      int axes = 0;
      for (const ItemKernel::Axis& axis : kernel.axes)
        if (where.reads(axis.name)) staged.axis = &axis, ++axes;
      // On a line, what depends on the item is read by that item alone.
      const bool alone = axes == static_cast<int>(kernel.axes.size());
      if (alone || certain.count(key) == 0 || !where.reads(loop.name) || !kernel.movable(access, {loop.name}) || kernel.written.count(kernel.pointer(access)) != 0) {
        plan.rest = true;
        continue;
      }
      staged.along_loop = where.steps_by_one(loop.name);
      const std::string number = plan.staged.empty() ? "" : fmt::format("_{}", plan.staged.size() + 1);
      staged.tile = unused_name(draft.code, fmt::format("{}_tile{}", access.pointer, number));
      staged.held = unused_name(draft.code, fmt::format("{}_held{}", access.pointer, number));
      plan.staged.push_back(std::move(staged));
    }
  }
  if (plan.staged.empty() || plan.staged.size() > 4) return std::nullopt;
  return plan;
}

std::optional<OwnRewrite> staged(const ItemKernel& kernel, OwnDraft& draft) {
  const auto plan = plan_of(kernel, draft);
  if (!plan) return std::nullopt;
  const bool plane = kernel.axes.size() == 2;
  const Statement& loop = kernel.body[plan->loop];
  const std::vector<Statement> before(kernel.body.begin(), kernel.body.begin() + static_cast<std::ptrdiff_t>(plan->loop)),
      after(kernel.body.begin() + static_cast<std::ptrdiff_t>(plan->loop) + 1, kernel.body.end());
  // Nothing between the declarations and the loop but arithmetic on locals.
  std::vector<Statement> kept, started;  // declared anew in each scope; held for each item
  for (const Statement& each : before) {
    const bool constant = each.kind == Kind::declaration && (kernel.definitions.count(each.name) != 0 || kernel.aliases.count(each.name) != 0);
    if (each.kind == Kind::declaration && !constant && each.type.find('*') != std::string::npos) return std::nullopt;
    (constant ? kept : started).push_back(each);
  }
  // In a plane blocks of 16 by 16 threads and tiles of 16 steps, on a line 128 of both.
  const int threads = plane ? 256 : 128;
  const std::string STEPS = unused_name(draft.code, "STEPS"), item = unused_name(draft.code, "item_x"), item_y = unused_name(draft.code, "item_y"),
                    start = unused_name(draft.code, loop.name + "_0"), step = unused_name(draft.code, "step"), line = unused_name(draft.code, "line"),
                    place = unused_name(draft.code, "place"), count = unused_name(draft.code, "steps"), walk = unused_name(draft.code, "walk");
  const std::string items = tune(draft, "ITEMS", plane ? "8 | 4 | 2" : "4 | 2 | 1");
  const std::string width = plane ? fmt::format("16 * {}", items) : fmt::format("128 * {}", items);
  const auto type = [&](const ItemKernel::Axis& axis) { return kernel.plain_type(static_cast<std::size_t>(&axis - kernel.axes.data())); };
  const auto corner = [&](const ItemKernel::Axis& axis) { return fmt::format("static_cast<{}>(blockIdx.{}) * ({})", type(axis), axis.letter, width); };

  std::string text = kernel.head() + " {\n";
  text += fmt::format("  constexpr int {} = {};\n", STEPS, plane ? 16 : 128);
  for (const Staged& each : plan->staged)
    text += each.axis == nullptr ? fmt::format("  __shared__ {} {}[{}];\n", kernel.elements.at(each.access.pointer), each.tile, STEPS)
                                 : fmt::format("  __shared__ __align__(16) {} {}[{}][{} + 4];\n", kernel.elements.at(each.access.pointer), each.tile, STEPS, width);
  text += print(kernel.uniform, 2);

  // Items: neighbours along x to neighbouring threads, along y to one thread.
  const ItemKernel::Axis& x = kernel.axes[0];
  const std::string held_at = plane ? fmt::format("[{}][{}]", item_y, item) : fmt::format("[{}]", item);
  std::string arrays, references;
  for (const Statement& each : started) {
    if (each.kind != Kind::declaration) continue;
    const std::string all = unused_name(draft.code, each.name + "_of");
    const std::string plain(base::trim(with_words(each.type, {{"const", ""}})));
    arrays += fmt::format("  {} {}{} = {{}};\n", plain, all, plane ? fmt::format("[{0}][{0}]", items) : fmt::format("[{}]", items));
    references += fmt::format("{} &{} = {}{};\n", plain, each.name, all, held_at);
  }
  const auto for_items = [&](int indent, const std::string& body_of_item) {
    const std::string space(static_cast<std::size_t>(indent), ' ');
    std::string loops;
    if (plane)
      loops += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1})\n", space, item_y, items);
    loops += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", space, item, items);
    loops += fmt::format("{}  const {} {} = {} + {} * {} + threadIdx.x;\n", space, type(x), x.name, corner(x), item, plane ? 16 : 128);
    if (plane)
      loops += fmt::format("{}  const {} {} = {} + threadIdx.y * {} + {};\n", space, type(kernel.axes[1]), kernel.axes[1].name, corner(kernel.axes[1]), items, item_y);
    return loops + body_of_item + space + "}\n";
  };
  const auto indented = [](const std::string& lines, const std::string& space) {
    std::string result;
    std::size_t at = 0;
    while (at < lines.size()) {
      const std::size_t end = lines.find('\n', at);
      result += space + lines.substr(at, end - at + 1);
      at = end + 1;
    }
    return result;
  };
  text += arrays;
  std::vector<Statement> start_items;  // declarations become assignments to what is held
  for (Statement each : started) {
    if (each.kind == Kind::declaration) {
      if (each.value.empty()) continue;
      each.kind = Kind::expression;
      each.text = each.name + " = " + each.value;
    }
    start_items.push_back(each);
  }
  if (!start_items.empty())
    text += for_items(2, fmt::format("    if ({}) {{\n{}{}{}    }}\n", kernel.inside(), print(kept, 6), indented(references, "      "), print(start_items, 6)));

  // One tile after the other.
  text += plane ? fmt::format("  const int {} = threadIdx.y * 16 + threadIdx.x;\n", line) : fmt::format("  const int {} = threadIdx.x;\n", line);
  text += fmt::format("  for ({0} {1} = {2}; {1} < {3}; {1} += {4}) {{\n", loop.type, start, loop.value, loop.below, STEPS);
  for (const Staged& each : plan->staged) {
    const std::string needed = print(kernel.needed({each.key}), 6);
    if (each.axis == nullptr) {
      text += fmt::format("    for (int {0} = {1}; {0} < {2}; {0} += {3}) {{\n      const {4} {5} = {6} + {0};\n{7}      {8}[{0}] = {5} < {9} ? {10} : 0;\n    }}\n",
                          place, line, STEPS, threads, loop.type, loop.name, start, needed, each.tile, loop.below, each.key);
      continue;
    }
    const std::string of_step = each.along_loop ? fmt::format("{} % {}", place, STEPS) : fmt::format("{} / ({})", place, width),
                      of_line = each.along_loop ? fmt::format("{} / {}", place, STEPS) : fmt::format("{} % ({})", place, width);
    text += fmt::format(R"(#pragma unroll
    for (int {place} = {line}; {place} < {steps} * ({width}); {place} += {threads}) {{
      const {type} {name} = {corner} + {of_line};
      const {loop_type} {k} = {start} + {of_step};
{needed}      {tile}[{of_step}][{of_line}] = {name} < {bound} && {k} < {below} ? {key} : 0;
    }}
)",
                        fmt::arg("place", place), fmt::arg("line", line), fmt::arg("steps", STEPS), fmt::arg("width", width), fmt::arg("threads", threads),
                        fmt::arg("type", type(*each.axis)), fmt::arg("name", each.axis->name), fmt::arg("corner", corner(*each.axis)),
                        fmt::arg("of_line", of_line), fmt::arg("loop_type", loop.type), fmt::arg("k", loop.name), fmt::arg("start", start),
                        fmt::arg("of_step", of_step), fmt::arg("needed", needed), fmt::arg("tile", each.tile), fmt::arg("bound", each.axis->bound),
                        fmt::arg("below", loop.below), fmt::arg("key", each.key));
  }
  std::string holds;
  std::map<std::string, std::string> words;
  for (const Staged& each : plan->staged) {
    const std::string element = kernel.elements.at(each.access.pointer);
    if (each.axis == nullptr) {
      holds += fmt::format("      const {} {} = {}[{}];\n", element, each.held, each.tile, step);
      words[each.key] = each.held;
      continue;
    }
    const bool of_x = each.axis == &x;
    const std::string at = of_x ? fmt::format("{} * {} + threadIdx.x", item, plane ? 16 : 128) : fmt::format("threadIdx.y * {} + {}", items, item);
    holds += fmt::format("      {0} {1}[{2}];\n#pragma unroll\n      for (int {3} = 0; {3} < {2}; ++{3}) {1}[{3}] = {4}[{5}][{6}];\n", element, each.held, items, item,
                         each.tile, step, at);
    words[each.key] = fmt::format("{}[{}]", each.held, of_x ? item : item_y);
  }
  std::string inner = print(kept, 8) + indented(references, "        ") + print(with_accesses(loop.body, words), 8);
  if (plan->rest) inner = fmt::format("        if ({}) {{\n{}        }}\n", kernel.inside(), inner);
  text += fmt::format("    __syncthreads();\n    const auto {} = [&](int {}) {{\n{}", walk, step, holds);
  if (names(inner, loop.name)) text += fmt::format("      const {} {} = {} + {};\n", loop.type, loop.name, start, step);
  text += for_items(6, inner) + "    };\n";
  text += fmt::format(R"(    const int {0} = {1} - {2} < {3} ? static_cast<int>({1} - {2}) : {3};
    if ({0} == {3}) {{
#pragma unroll
      for (int {4} = 0; {4} < {3}; ++{4}) {5}({4});
    }} else {{
      for (int {4} = 0; {4} < {0}; ++{4}) {5}({4});
    }}
    __syncthreads();
  }}
)",
                      count, loop.below, start, STEPS, step, walk);
  text += for_items(2, fmt::format("    if ({}) {{\n{}{}{}    }}\n", kernel.inside(), print(kept, 6), indented(references, "      "), print(after, 6))) + "}";

  OwnRewrite result{text, kernel.launch};
  for (const ItemKernel::Axis& axis : kernel.axes)
    result.launch.grid[static_cast<std::size_t>(axis.letter - 'x')] = fmt::format("ceil_div({}, {})", axis.count, width);
  result.launch.block = plane ? std::vector<std::string>{"16", "16"} : std::vector<std::string>{"128"};
  return result;
}

}  // namespace

// Loads that many items make in a loop are made once per block, and each thread takes several items for them.
bool own_staging(const task::Task& task, OwnDraft& draft) {
  if (!rewrite_kernels(task, draft, staged)) return false;
  draft.technique(Technique::shared_memory_tiling, "What the items of a block read alike in a loop is loaded once, into shared memory, some steps at a time.");
  draft.technique(Technique::register_tiling, "A thread takes several items and holds what they share in registers.");
  return true;
}

}  // namespace cudal1::rewriter
