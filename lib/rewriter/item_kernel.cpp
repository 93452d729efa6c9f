// SPDX-License-Identifier: Apache-2.0
#include "rewriter/item_kernel.hpp"

#include "base/text.hpp"
#include "kernel/source_lexer.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::rewriter {
namespace {

using Kind = Statement::Kind;

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 5 && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

// E of `ceil_div(E, block)` or `(E + block - 1) / block`.
std::string count_of(const std::string& grid, int block) {
  const std::string ending = fmt::format(", {})", block);
  if (grid.rfind("ceil_div(", 0) == 0 && grid.size() > ending.size() + 9 &&
      grid.compare(grid.size() - ending.size(), ending.size(), ending) == 0)
    return grid.substr(9, grid.size() - 9 - ending.size());
  for (const std::string& rest : {fmt::format(" + {}) / {}", block - 1, block), fmt::format(" + {0} - 1) / {0}", block)})
    if (grid.rfind('(', 0) == 0 && grid.size() > rest.size() && grid.compare(grid.size() - rest.size(), rest.size(), rest) == 0)
      return grid.substr(1, grid.size() - 1 - rest.size());
  return "";
}

// Variables of loops, and what loops, conditions and blocks declare.
std::set<std::string> inner_names(const std::vector<Statement>& body) {
  std::set<std::string> result;
  visit(body, [&](const Statement& each, int depth) {
    if (each.kind == Kind::loop || (each.kind == Kind::declaration && depth > 0)) result.insert(each.name);
  });
  return result;
}

bool reads_coordinates(const IndexForm& form) {
  for (const std::string& name : form.all_read())
    if (name.rfind("threadIdx.", 0) == 0 || name.rfind("blockIdx.", 0) == 0 || name.rfind("blockDim.", 0) == 0 || name.rfind("gridDim.", 0) == 0) return true;
  return false;
}

// Comparisons joined by `&&` (or `||`), as pairs of both sides of `comparison`; empty when there is anything else.
std::vector<std::pair<std::string, std::string>> comparisons(const std::string& condition, const char* joined, const char* comparison) {
  const auto tokens = kernel::lex_code(condition);
  std::vector<std::pair<std::string, std::string>> result;
  std::size_t start = 0, middle = 0;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    if (i < tokens.size() && (tokens[i].is("(") || tokens[i].is("["))) {
      i = kernel::matching_bracket(tokens, i);
      continue;
    }
    if (i == tokens.size() || tokens[i].is(joined)) {
      if (middle <= start) return {};
      result.emplace_back(kernel::source_text(condition, tokens, start, middle), kernel::source_text(condition, tokens, middle + 1, i));
      start = i + 1;
      middle = 0;
    } else if (tokens[i].is(comparison) && middle == 0) {
      middle = i;
    } else if (tokens[i].is("&&") || tokens[i].is("||") || tokens[i].is("<") || tokens[i].is(">") || tokens[i].is("=") ||
               tokens[i].is("==") || tokens[i].is("<=") || tokens[i].is(">=") || tokens[i].is("!=") || tokens[i].is("?") || tokens[i].is("!")) {
      return {};
    }
  }
  return result;
}

class Recogniser {
 public:
  explicit Recogniser(ItemKernel& kernel) : kernel_(kernel) {}

  bool plain() {
    const auto& block = kernel_.launch.block;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (!is_number(block[i])) return false;
      blocks_.push_back(std::atoi(block[i].c_str()));
    }
    for (const kernel::Parameter& parameter : kernel_.tree.signature.parameters)
      if (parameter.pointer) kernel_.elements[parameter.name] = element(parameter.type);
    changed_ = changed_names(kernel_.tree.body);
    return coordinates() && axes() && contents();
  }

 private:
  static std::string element(const std::string& type) {
    std::string result;
    for (const auto& token : kernel::lex_code(type))
      if (!token.is("const") && !token.is("*") && !token.is("__restrict__") && !token.is("restrict"))
        result += (result.empty() ? "" : " ") + std::string(token.text);
    return result;
  }

  // The declarations and the guard in front of what is done.
  bool coordinates() {
    const auto& statements = kernel_.tree.body;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const Statement& each = statements[i];
      const bool only_declared = std::all_of(kernel_.body.begin(), kernel_.body.end(), [](const Statement& before) {
        return before.kind == Kind::declaration && accesses(before.value).empty();
      });
      if (each.kind == Kind::declaration && !guarded_all_ && coordinate(each)) continue;
      if (each.kind == Kind::condition && each.otherwise.empty() && only_declared) {
        const bool leaves = each.body.size() == 1 && each.body[0].kind == Kind::leave && each.body[0].text == "return";
        if (leaves && guards(comparisons(each.text, "||", ">="))) {
          guarded_all_ = true;
          continue;
        }
        if (i + 1 == statements.size() && guards(comparisons(each.text, "&&", "<"))) {
          kernel_.body.insert(kernel_.body.end(), each.body.begin(), each.body.end());
          continue;
        }
      }
      kernel_.body.push_back(each);
    }
    return true;
  }

  bool coordinate(const Statement& statement) {
    if (statement.value.empty() || statement.type.find('*') != std::string::npos || changed_.count(statement.name) != 0 ||
        names(statement.type, "auto") || statement.type.find("float") != std::string::npos || !accesses(statement.value).empty())
      return false;
    const IndexForm form = index_form(statement.value, kernel_.definitions);
    for (const char letter : {'x', 'y'}) {
      const auto at = static_cast<std::size_t>(letter - 'x');
      const auto atom = [&](const char* of) { return kernel::Polynomial::atom(fmt::format("{}.{}", of, letter)); };
      const auto threads = kernel::Polynomial::constant(at < blocks_.size() ? blocks_[at] : 0);
      const auto by_size = atom("blockIdx") * atom("blockDim") + atom("threadIdx"), by_number = atom("blockIdx") * threads + atom("threadIdx");
      if (form.value != by_size && form.value != by_number) continue;
      kernel_.axes.push_back({statement.type, statement.name, "", letter, at < blocks_.size() ? blocks_[at] : 1, ""});
      return true;
    }
    // A part of a coordinate (`int tx = threadIdx.x`) is only known to the coordinates.
    if (form.all_read().size() == 1 && form.value.terms().size() == 1 && reads_coordinates(form) && form.opaque.empty()) {
      kernel_.definitions[statement.name] = form;
      parts_[statement.name] = statement;
      return true;
    }
    return false;
  }

  bool guards(const std::vector<std::pair<std::string, std::string>>& pairs) {
    if (pairs.empty()) return false;
    std::vector<std::pair<ItemKernel::Axis*, std::string>> found;
    for (const auto& [left, right] : pairs) {
      const auto axis = std::find_if(kernel_.axes.begin(), kernel_.axes.end(), [&, name = &left](const auto& each) { return each.name == *name; });
      if (axis == kernel_.axes.end() || !axis->bound.empty() || reads_coordinates(index_form(right, kernel_.definitions)) ||
          !accesses(right).empty())
        return false;
      for (const auto& other : kernel_.axes)
        if (names(right, other.name)) return false;
      found.emplace_back(&*axis, right);
    }
    for (auto& [axis, bound] : found) axis->bound = bound;
    return true;
  }

  bool axes() {
    auto& axes = kernel_.axes;
    std::sort(axes.begin(), axes.end(), [](const auto& a, const auto& b) { return a.letter < b.letter; });
    if (axes.empty() || axes.size() > 2 || axes[0].letter != 'x' || (axes.size() == 2 && axes[1].letter != 'y')) return false;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (i >= axes.size() && blocks_[i] != 1) return false;
    for (auto& axis : axes) {
      const auto at = static_cast<std::size_t>(axis.letter - 'x');
      if (axis.bound.empty() || at >= kernel_.launch.grid.size()) return false;
      axis.count = count_of(kernel_.launch.grid[at], axis.block);
      if (axis.count.empty() || changed_.count(axis.name) != 0) return false;
    }
    // What is left of the coordinates' parts is a matter of blocks that have no axis, the same for all threads.
    for (auto& [name, statement] : parts_) {
      const std::string read = *kernel_.definitions.at(name).all_read().begin();
      const bool block = read.rfind("blockIdx.", 0) == 0 && static_cast<std::size_t>(read.back() - 'x') >= axes.size();
      if (block) kernel_.uniform.push_back(statement);
      else hidden_.insert(name);
    }
    return true;
  }

  bool contents() {
    bool plain = !any_of(kernel_.body, {Kind::other});
    visit(kernel_.body, [&](const Statement& each, int) { plain = plain && (each.kind != Kind::leave || each.text != "return"); });
    if (!plain) return false;
    for (const Statement& statement : kernel_.body) {
      if (statement.kind != Kind::declaration || changed_.count(statement.name) != 0 || statement.value.empty()) continue;
      if (statement.type.find('*') != std::string::npos) {
        if (!alias(statement)) return false;
      } else if (statement.type.find("float") == std::string::npos && accesses(statement.value).empty()) {
        kernel_.definitions[statement.name] = index_form(statement.value, kernel_.definitions);
      }
    }
    for (const std::string& text : expressions(kernel_.body)) {
      const auto tokens = kernel::lex_code(text);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string word(tokens[i].text);
        const bool own_block = word == "blockIdx" && i + 2 < tokens.size() && static_cast<std::size_t>(tokens[i + 2].text[0] - 'x') >= kernel_.axes.size();
        if (word == "threadIdx" || word == "blockDim" || word == "gridDim" || (word == "blockIdx" && !own_block) || hidden_.count(word) != 0 ||
            word.rfind("__sync", 0) == 0 || word.rfind("__shfl", 0) == 0 || word.rfind("__ballot", 0) == 0 || word.rfind("atomic", 0) == 0 ||
            word == "printf" || word == "clock" || word == "clock64")
          return false;
        const bool pointer = kernel_.elements.count(word) != 0;
        if (pointer && !(i + 1 < tokens.size() && tokens[i + 1].is("[")) && aliased_.count(text) == 0) return false;
      }
      if (const auto store = assignment(text))
        for (const Access& access : accesses(store->target))
          if (access.begin == 0) kernel_.written.insert(kernel_.pointer(access));
      for (const Access& access : accesses(text)) {
        if (kernel_.elements.count(access.pointer) == 0) return false;
        const bool step = text.compare(access.end, 2, "++") == 0 || text.compare(access.end, 2, "--") == 0 ||
                          (access.begin >= 2 && (text.compare(access.begin - 2, 2, "++") == 0 || text.compare(access.begin - 2, 2, "--") == 0));
        if (step) return false;
      }
    }
    return true;
  }

  // `const float* x = X + offset`
  bool alias(const Statement& statement) {
    const auto tokens = kernel::lex_code(statement.value);
    if (tokens.empty() || kernel_.elements.count(std::string(tokens[0].text)) == 0) return false;
    const std::string from(tokens[0].text);
    if (tokens.size() > 1 && !tokens[1].is("+")) return false;
    const std::string offset = tokens.size() > 1 ? kernel::source_text(statement.value, tokens, 2, tokens.size()) : "0";
    for (const auto& [name, type] : kernel_.elements)
      if (names(offset, name)) return false;
    ItemKernel::Alias result{from, index_form(offset, kernel_.definitions)};
    if (const auto known = kernel_.aliases.find(from); known != kernel_.aliases.end())
      result = {known->second.pointer, sum(known->second.offset, result.offset)};
    kernel_.aliases[statement.name] = result;
    kernel_.elements[statement.name] = element(statement.type);
    aliased_.insert(statement.value);
    return kernel_.elements[statement.name] == kernel_.elements[from];
  }

  ItemKernel& kernel_;
  std::vector<int> blocks_;
  std::set<std::string> changed_, hidden_, aliased_;
  std::map<std::string, Statement> parts_;
  bool guarded_all_ = false;
};

}  // namespace

const ItemKernel::Axis* ItemKernel::axis(const std::string& name) const {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const Axis& each) { return each.name == name; });
  return found == axes.end() ? nullptr : &*found;
}

std::string ItemKernel::plain_type(std::size_t axis) const {
  return std::string(base::trim(with_words(axes[axis].type, {{"const", ""}})));
}

std::string ItemKernel::coordinate(std::size_t axis) const {
  return fmt::format("  const {0} {1} = static_cast<{0}>(blockIdx.{2}) * blockDim.{2} + threadIdx.{2};\n", plain_type(axis), axes[axis].name, axes[axis].letter);
}

std::string ItemKernel::head() const {
  std::vector<std::string> parameters;
  for (const kernel::Parameter& parameter : tree.signature.parameters) parameters.push_back(parameter.type + " " + parameter.name);
  return fmt::format("__global__ void {}({})", tree.signature.name, fmt::join(parameters, ", "));
}

std::string ItemKernel::inside() const {
  std::vector<std::string> parts;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) parts.push_back(axis->name + " < " + axis->bound);
  return fmt::format("{}", fmt::join(parts, " && "));
}

std::string ItemKernel::pointer(const Access& access) const {
  const auto alias = aliases.find(access.pointer);
  return alias == aliases.end() ? access.pointer : alias->second.pointer;
}

IndexForm ItemKernel::where(const Access& access) const {
  const IndexForm index = index_form(access.index, definitions);
  const auto alias = aliases.find(access.pointer);
  return alias == aliases.end() ? index : sum(alias->second.offset, index);
}

std::vector<ItemKernel> item_kernels(const OwnDraft& draft) {
  std::map<std::string, int> launches;
  for (const std::string& line : draft.plan) {  // also those behind `for`
    const std::size_t launch = line.find("launch"), open = line.find("<<<");
    if (launch < open && open != std::string::npos) ++launches[std::string(base::trim(std::string_view(line).substr(launch + 6, open - launch - 6)))];
  }
  std::vector<ItemKernel> result;
  for (std::size_t i = 0; i < draft.plan.size(); ++i) {
    const auto launch = own_launch(draft.plan[i]);
    if (!launch || launches[launch->name] != 1) continue;
    auto tree = kernel_tree(draft.code, launch->name);
    if (!tree) continue;
    ItemKernel kernel;
    kernel.tree = std::move(*tree);
    kernel.launch = *launch;
    kernel.line = i;
    if (Recogniser(kernel).plain()) result.push_back(std::move(kernel));
  }
  return result;
}

bool ItemKernel::movable(const Access& access, const std::set<std::string>& more) const {
  for (const std::string& name : where(access).all_read()) {
    const bool parameter = std::any_of(tree.signature.parameters.begin(), tree.signature.parameters.end(),
                                       [&](const kernel::Parameter& each) { return !each.pointer && each.name == name; });
    if (axis(name) != nullptr || parameter || declaration(uniform, name) != nullptr || more.count(name) != 0) continue;
    // What is neither is a constant of the file or a loop's variable.
    if (declaration(body, name) != nullptr || inner_names(body).count(name) != 0 || elements.count(name) != 0) return false;
  }
  return true;
}

std::vector<Statement> ItemKernel::needed(const std::vector<std::string>& texts) const {
  std::vector<std::string> asked = texts;
  std::vector<Statement> result;
  for (auto each = body.rbegin(); each != body.rend(); ++each) {
    if (each->kind != Kind::declaration || (definitions.count(each->name) == 0 && aliases.count(each->name) == 0)) continue;
    if (std::none_of(asked.begin(), asked.end(), [&](const std::string& text) { return names(text, each->name); })) continue;
    asked.push_back(each->value);
    result.insert(result.begin(), *each);
  }
  return result;
}

namespace {

// Whether the buffers of every launch of a kernel are different ones, each passed from its start.
bool separate(const task::Task& task, const std::vector<kernel::Step>& plan, const ItemKernel& kernel) {
  for (const kernel::Step& step : plan) {
    if (const auto* repeat = std::get_if<kernel::RepeatStep>(&step.step)) {
      if (!separate(task, repeat->body, kernel)) return false;
      continue;
    }
    const auto* launch = std::get_if<kernel::LaunchStep>(&step.step);
    if (launch == nullptr || launch->kernel != kernel.launch.name) continue;
    if (launch->cooperative || launch->arguments.size() != kernel.tree.signature.parameters.size()) return false;
    std::set<std::string> buffers;
    for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
      if (!kernel.tree.signature.parameters[i].pointer) continue;
      const std::string text = launch->arguments[i].text();
      const auto is = [&](const auto& each) { return each.name == text; };
      const bool known = std::any_of(task.file.buffers.begin(), task.file.buffers.end(), is) ||
                         std::any_of(task.file.scratches.begin(), task.file.scratches.end(), is);
      if (!known || !buffers.insert(text).second) return false;
    }
  }
  return true;
}

}  // namespace

bool rewrite_kernels(const task::Task& task, OwnDraft& draft, std::optional<OwnRewrite> (*rewrite)(const ItemKernel&, OwnDraft&),
                     const std::vector<AppliedTechnique>& techniques) {
  bool any = false;
  std::set<std::string> seen;
  for (bool again = true; again;) {
    again = false;
    for (const ItemKernel& kernel : item_kernels(draft)) {
      if (!seen.insert(kernel.launch.name).second || !separate(task, task.file.plan, kernel)) continue;
      const auto changed = rewrite(kernel, draft);
      if (!changed) continue;
      draft.code.replace(kernel.tree.begin, kernel.tree.end - kernel.tree.begin, changed->function);
      draft.plan[kernel.line] = changed->launch.text();
      any = again = true;
      break;  // what lies behind has moved
    }
  }
  for (const AppliedTechnique& each : techniques)
    if (any) draft.technique(each.technique, each.sentence);
  return any;
}

}  // namespace cudal1::rewriter
