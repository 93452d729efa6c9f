// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "rewriter/item_kernel.hpp"

#include <algorithm>

#include <fmt/format.h>

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
      if (any_of({kernel.body[i]}, {Kind::loop})) return std::nullopt;
    }
  }
  if (loops != 1) return std::nullopt;
  const Statement& loop = kernel.body[plan.loop];
  if (any_of(loop.body, {Kind::loop, Kind::leave})) return std::nullopt;
  for (const std::string& bound : {loop.value, loop.below})
    for (const std::string& name : index_form(bound, kernel.definitions).all_read())
      if (kernel.axis(name) != nullptr || declaration(kernel.body, name) != nullptr || kernel.elements.count(name) != 0) return std::nullopt;
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

std::string indented(const std::string& lines, const std::string& space) {
  std::string result;
  std::size_t at = 0;
  while (at < lines.size()) {
    const std::size_t end = lines.find('\n', at);
    result += space + lines.substr(at, end - at + 1);
    at = end + 1;
  }
  return result;
}

// The kernel with its loads staged. In a plane blocks of 16 by 16 threads and tiles of 16 steps, on a line 128 of both.
class StagedKernel {
 public:
  StagedKernel(const ItemKernel& kernel, OwnDraft& draft, const Plan& plan)
      : kernel_(kernel), plan_(plan), loop_(kernel.body[plan.loop]), plane_(kernel.axes.size() == 2),
        after_(kernel.body.begin() + static_cast<std::ptrdiff_t>(plan.loop) + 1, kernel.body.end()) {
    const auto unused = [&](const std::string& name) { return unused_name(draft.code, name); };
    steps_ = unused("STEPS"), item_ = unused("item_x"), item_y_ = unused("item_y"), start_ = unused(loop_.name + "_0"), step_ = unused("step"),
    line_ = unused("line"), place_ = unused("place"), count_ = unused("steps"), walk_ = unused("walk");
    code_ = draft.code;
  }

  // Nothing between the declarations and the loop but arithmetic on locals.
  bool can_hold() {
    for (std::size_t i = 0; i < plan_.loop; ++i) {
      const Statement& each = kernel_.body[i];
      const bool constant = each.kind == Kind::declaration && (kernel_.definitions.count(each.name) != 0 || kernel_.aliases.count(each.name) != 0);
      if (each.kind == Kind::declaration && !constant && each.type.find('*') != std::string::npos) return false;
      (constant ? kept_ : started_).push_back(each);
    }
    return true;
  }

  OwnRewrite write(OwnDraft& draft) {
    items_ = tune(draft, "ITEMS", plane_ ? "8 | 4 | 2" : "4 | 2 | 1");
    width_ = plane_ ? fmt::format("16 * {}", items_) : fmt::format("128 * {}", items_);
    std::string text = kernel_.head() + " {\n" + tiles() + print(kernel_.uniform, 2);
    text += held();
    text += started();
    // One tile after the other.
    text += plane_ ? fmt::format("  const int {} = threadIdx.y * 16 + threadIdx.x;\n", line_) : fmt::format("  const int {} = threadIdx.x;\n", line_);
    text += fmt::format("  for ({0} {1} = {2}; {1} < {3}; {1} += {4}) {{\n", loop_.type, start_, loop_.value, loop_.below, steps_);
    for (const Staged& each : plan_.staged) text += filled(each);
    text += walked();
    text += for_items(2, fmt::format("    if ({}) {{\n{}{}{}    }}\n", kernel_.inside(), print(kept_, 6), indented(references_, "      "), print(after_, 6))) + "}";
    OwnRewrite result{text, kernel_.launch};
    for (const ItemKernel::Axis& axis : kernel_.axes)
      result.launch.grid[static_cast<std::size_t>(axis.letter - 'x')] = fmt::format("ceil_div({}, {})", axis.count, width_);
    result.launch.block = plane_ ? std::vector<std::string>{"16", "16"} : std::vector<std::string>{"128"};
    return result;
  }

 private:
  std::string type(const ItemKernel::Axis& axis) const { return kernel_.plain_type(static_cast<std::size_t>(&axis - kernel_.axes.data())); }
  std::string corner(const ItemKernel::Axis& axis) const {
    return fmt::format("static_cast<{}>(blockIdx.{}) * ({})", type(axis), axis.letter, width_);
  }

  std::string tiles() const {
    std::string text = fmt::format("  constexpr int {} = {};\n", steps_, plane_ ? 16 : 128);
    for (const Staged& each : plan_.staged)
      text += each.axis == nullptr ? fmt::format("  __shared__ {} {}[{}];\n", kernel_.elements.at(each.access.pointer), each.tile, steps_)
                                   : fmt::format("  __shared__ __align__(16) {} {}[{}][{} + 4];\n", kernel_.elements.at(each.access.pointer), each.tile, steps_, width_);
    return text;
  }

  // What each item of a thread holds from before the loop on.
  std::string held() {
    const std::string at = plane_ ? fmt::format("[{}][{}]", item_y_, item_) : fmt::format("[{}]", item_);
    std::string arrays;
    for (const Statement& each : started_) {
      if (each.kind != Kind::declaration) continue;
      const std::string all = unused_name(code_, each.name + "_of");
      const std::string plain(base::trim(with_words(each.type, {{"const", ""}})));
      arrays += fmt::format("  {} {}{} = {{}};\n", plain, all, plane_ ? fmt::format("[{0}][{0}]", items_) : fmt::format("[{}]", items_));
      references_ += fmt::format("{} &{} = {}{};\n", plain, each.name, all, at);
    }
    return arrays;
  }

  // Items: neighbours along x to neighbouring threads, along y to one thread.
  std::string for_items(int indent, const std::string& body_of_item) const {
    const std::string space(static_cast<std::size_t>(indent), ' ');
    const ItemKernel::Axis& x = kernel_.axes[0];
    std::string loops;
    if (plane_)
      loops += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1})\n", space, item_y_, items_);
    loops += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", space, item_, items_);
    loops += fmt::format("{}  const {} {} = {} + {} * {} + threadIdx.x;\n", space, type(x), x.name, corner(x), item_, plane_ ? 16 : 128);
    if (plane_)
      loops += fmt::format("{}  const {} {} = {} + threadIdx.y * {} + {};\n", space, type(kernel_.axes[1]), kernel_.axes[1].name, corner(kernel_.axes[1]), items_, item_y_);
    return loops + body_of_item + space + "}\n";
  }

  std::string started() const {
    std::vector<Statement> statements;  // declarations become assignments to what is held
    for (Statement each : started_) {
      if (each.kind == Kind::declaration) {
        if (each.value.empty()) continue;
        each.kind = Kind::expression;
        each.text = each.name + " = " + each.value;
      }
      statements.push_back(each);
    }
    if (statements.empty()) return "";
    return for_items(2, fmt::format("    if ({}) {{\n{}{}{}    }}\n", kernel_.inside(), print(kept_, 6), indented(references_, "      "), print(statements, 6)));
  }

  std::string filled(const Staged& each) const {
    const int threads = plane_ ? 256 : 128;
    const std::string needed = print(kernel_.needed({each.key}), 6);
    if (each.axis == nullptr)
      return fmt::format("    for (int {0} = {1}; {0} < {2}; {0} += {3}) {{\n      const {4} {5} = {6} + {0};\n{7}      {8}[{0}] = {5} < {9} ? {10} : 0;\n    }}\n",
                         place_, line_, steps_, threads, loop_.type, loop_.name, start_, needed, each.tile, loop_.below, each.key);
    const std::string of_step = each.along_loop ? fmt::format("{} % {}", place_, steps_) : fmt::format("{} / ({})", place_, width_),
                      of_line = each.along_loop ? fmt::format("{} / {}", place_, steps_) : fmt::format("{} % ({})", place_, width_);
    return fmt::format(R"(#pragma unroll
    for (int {place} = {line}; {place} < {steps} * ({width}); {place} += {threads}) {{
      const {type} {name} = {corner} + {of_line};
      const {loop_type} {k} = {start} + {of_step};
{needed}      {tile}[{of_step}][{of_line}] = {name} < {bound} && {k} < {below} ? {key} : 0;
    }}
)",
                       fmt::arg("place", place_), fmt::arg("line", line_), fmt::arg("steps", steps_), fmt::arg("width", width_), fmt::arg("threads", threads),
                       fmt::arg("type", type(*each.axis)), fmt::arg("name", each.axis->name), fmt::arg("corner", corner(*each.axis)),
                       fmt::arg("of_line", of_line), fmt::arg("loop_type", loop_.type), fmt::arg("k", loop_.name), fmt::arg("start", start_),
                       fmt::arg("of_step", of_step), fmt::arg("needed", needed), fmt::arg("tile", each.tile), fmt::arg("bound", each.axis->bound),
                       fmt::arg("below", loop_.below), fmt::arg("key", each.key));
  }

  // The steps of one tile.
  std::string walked() const {
    std::string holds;
    std::map<std::string, std::string> words;
    for (const Staged& each : plan_.staged) {
      const std::string element = kernel_.elements.at(each.access.pointer);
      if (each.axis == nullptr) {
        holds += fmt::format("      const {} {} = {}[{}];\n", element, each.held, each.tile, step_);
        words[each.key] = each.held;
        continue;
      }
      const bool of_x = each.axis == &kernel_.axes[0];
      const std::string at = of_x ? fmt::format("{} * {} + threadIdx.x", item_, plane_ ? 16 : 128) : fmt::format("threadIdx.y * {} + {}", items_, item_);
      holds += fmt::format("      {0} {1}[{2}];\n#pragma unroll\n      for (int {3} = 0; {3} < {2}; ++{3}) {1}[{3}] = {4}[{5}][{6}];\n", element, each.held, items_, item_,
                           each.tile, step_, at);
      words[each.key] = fmt::format("{}[{}]", each.held, of_x ? item_ : item_y_);
    }
    std::string inner = print(kept_, 8) + indented(references_, "        ") + print(with_accesses(loop_.body, words), 8);
    if (plan_.rest) inner = fmt::format("        if ({}) {{\n{}        }}\n", kernel_.inside(), inner);
    std::string text = fmt::format("    __syncthreads();\n    const auto {} = [&](int {}) {{\n{}", walk_, step_, holds);
    if (names(inner, loop_.name)) text += fmt::format("      const {} {} = {} + {};\n", loop_.type, loop_.name, start_, step_);
    text += for_items(6, inner) + "    };\n";
    return text + fmt::format(R"(    const int {0} = {1} - {2} < {3} ? static_cast<int>({1} - {2}) : {3};
    if ({0} == {3}) {{
#pragma unroll
      for (int {4} = 0; {4} < {3}; ++{4}) {5}({4});
    }} else {{
      for (int {4} = 0; {4} < {0}; ++{4}) {5}({4});
    }}
    __syncthreads();
  }}
)",
                              count_, loop_.below, start_, steps_, step_, walk_);
  }

  const ItemKernel& kernel_;
  const Plan& plan_;
  const Statement& loop_;
  const bool plane_;
  const std::vector<Statement> after_;
  std::vector<Statement> kept_, started_;  // declared anew in each scope; held for each item
  std::string code_;                       // the draft's, whose names are taken
  std::string steps_, item_, item_y_, start_, step_, line_, place_, count_, walk_, items_, width_;
  std::string references_;                 // to what an item holds
};

std::optional<OwnRewrite> staged(const ItemKernel& kernel, OwnDraft& draft) {
  const auto plan = plan_of(kernel, draft);
  if (!plan) return std::nullopt;
  StagedKernel staged(kernel, draft, *plan);
  if (!staged.can_hold()) return std::nullopt;
  return staged.write(draft);
}

}  // namespace

// Loads that many items make in a loop are made once per block, and each thread takes several items for them.
bool own_staging(const task::Task& task, OwnDraft& draft) {
  return rewrite_kernels(task, draft, staged,
                         {{Technique::shared_memory_tiling, "What the items of a block read alike in a loop is loaded once, into shared memory, some steps at a time."},
                          {Technique::register_tiling, "A thread takes several items and holds what they share in registers."}});
}

}  // namespace cudal1::rewriter
