// SPDX-License-Identifier: Apache-2.0
#include "kernel/host_source.hpp"
#include "rewriter/item_kernel.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::rewriter {
namespace {

using Kind = Statement::Kind;

constexpr std::string_view combined_by_team =
    R"(// What the threads of a team hold, put together; MEMBERS threads side by side are one, a warp or a whole block.
template <int MEMBERS, typename Combine, typename T>
__device__ __forceinline__ T combined_by_team(T value) {
  const Combine combine;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (MEMBERS > 32) {
    __shared__ T parts[MEMBERS / 32];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
#pragma unroll
    for (int part = 1; part < MEMBERS / 32; ++part) value = combine(value, parts[part]);
    __syncthreads();
  }
  return value;
}

)";

// A loop's step that adds to, multiplies or compares with one variable: `sum += e`, `best = fmaxf(best, e)`.
struct Reduction {
  std::string name, neutral;  // neutral: empty where beginning with the value itself is right
  std::string combine;        // the name of a type that does it
};

// How two parts are put together, by the name of the type that does it.
const std::map<std::string, std::string>& combinations() {
  static const std::map<std::string, std::string> list = {
      {"Sum", "a + b"},          {"Product", "a * b"},      {"Larger", "a > b ? a : b"}, {"Smaller", "a < b ? a : b"},
      {"Fmaxf", "fmaxf(a, b)"},  {"Fminf", "fminf(a, b)"},  {"Max", "max(a, b)"},        {"Min", "min(a, b)"},
      {"Fmax", "fmax(a, b)"},    {"Fmin", "fmin(a, b)"},
  };
  return list;
}

std::optional<Reduction> reduction(const Statement& statement) {
  if (statement.kind == Kind::condition && statement.otherwise.empty() && statement.body.size() == 1) {
    // if (e > best) best = e
    const auto taken = assignment(statement.body[0].text);
    if (!taken || taken->op != "=") return std::nullopt;
    for (const bool larger : {true, false})
      for (const bool first : {true, false}) {
        const std::string asked = first ? fmt::format("{} {} {}", taken->value, larger ? ">" : "<", taken->target)
                                        : fmt::format("{} {} {}", taken->target, larger ? "<" : ">", taken->value);
        if (statement.text == asked && !names(taken->value, taken->target))
          return Reduction{taken->target, "", larger ? "Larger" : "Smaller"};
      }
    return std::nullopt;
  }
  if (statement.kind != Kind::expression) return std::nullopt;
  const auto changed = assignment(statement.text);
  if (!changed) return std::nullopt;
  const std::string& name = changed->target;
  if (changed->op == "+=" || changed->op == "-=" || changed->op == "*=") {
    if (names(changed->value, name)) return std::nullopt;
    return Reduction{name, changed->op == "*=" ? "1" : "0", changed->op == "*=" ? "Product" : "Sum"};
  }
  if (changed->op != "=") return std::nullopt;
  // best = fmaxf(best, e), or with the two the other way round
  const auto tokens = kernel::lex_code(changed->value);
  const bool call = tokens.size() > 3 && tokens[1].is("(") && kernel::matching_bracket(tokens, 1) + 1 == tokens.size();
  std::vector<std::string> both;
  if (call)
    for (const kernel::TokenRange& part : kernel::split_arguments(tokens, 2, tokens.size() - 1))
      both.push_back(kernel::source_text(changed->value, tokens, part.from, part.to));
  for (const std::size_t own : {0U, 1U}) {
    if (both.size() != 2 || both[own] != name || names(both[1 - own], name)) continue;
    for (const auto& [type, expression] : combinations())
      if (expression == fmt::format("{}(a, b)", tokens[0].text)) return Reduction{name, "", type};
  }
  if (changed->value.rfind(name + " + ", 0) == 0 && changed->value.find_first_of("?<>=&|") == std::string::npos &&
      !names(changed->value.substr(name.size() + 3), name))
    return Reduction{name, "0", "Sum"};
  return std::nullopt;
}

bool is_scalar_type(const std::string& type) {
  return type == "float" || type == "double" || type == "int" || type == "unsigned" || type == "long long";
}

// The loop as a team walks it: each of its steps a reduction, a value of the step's own, or a store of its own.
std::optional<std::string> shared_loop(const ItemKernel& kernel, const Statement& loop, const OwnDraft& draft) {
  std::vector<Reduction> reductions;
  for (const Statement& step : loop.body) {
    if (step.kind == Kind::declaration && !step.value.empty()) continue;
    if (const auto found = reduction(step)) {
      const Statement* declared = declaration(kernel.body, found->name);
      if (declared != nullptr && is_scalar_type(declared->type)) {
        reductions.push_back(*found);
        continue;
      }
    }
    const auto store = step.kind == Kind::expression ? assignment(step.text) : std::nullopt;
    const auto target = store ? accesses(store->target) : std::vector<Access>{};
    // Steps of different threads write to different places.
    if (target.empty() || target[0].begin != 0 || !kernel.where(target[0]).steps_by_one(loop.name)) return std::nullopt;
  }
  // Nothing but its own step reads what is being reduced, and no step reads what another writes.
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    const auto here = [&](const Statement& step) {
      const auto found = reduction(step);
      return found && found->name == reductions[i].name;
    };
    if (std::count_if(loop.body.begin(), loop.body.end(), here) != 1) return std::nullopt;
    for (const Statement& step : loop.body)
      if (!here(step))
        for (const std::string& text : expressions({step}))
          if (names(text, reductions[i].name)) return std::nullopt;
    if (names(loop.below, reductions[i].name) || names(loop.value, reductions[i].name)) return std::nullopt;
  }
  for (const std::string& name : changed_names(loop.body))
    if (std::none_of(reductions.begin(), reductions.end(), [&](const Reduction& each) { return each.name == name; })) return std::nullopt;
  std::string text;
  std::map<std::string, std::string> parts;
  for (const Reduction& each : reductions) {
    const std::string part = unused_name(draft.code, each.name + "_part");
    parts[each.name] = part;
    text += fmt::format("  {} {} = {};\n", declaration(kernel.body, each.name)->type, part, each.neutral.empty() ? each.name : each.neutral);
  }
  text += fmt::format("#pragma unroll 4\n  for ({0} {1} = ({2}) + lane_of_team; {1} < {3}; {1} += TEAM_SIZE) {{\n{4}  }}\n", loop.type, loop.name,
                      loop.value, loop.below, print(rewritten(loop.body, parts), 4));
  for (const Reduction& each : reductions) {
    const std::string all = fmt::format("combined_by_team<TEAM_SIZE, {}>({})", each.combine, parts[each.name]);
    text += each.neutral.empty()  ? fmt::format("  {} = {};\n", each.name, all)
            : each.neutral == "1" ? fmt::format("  {} *= {};\n", each.name, all)
                                  : fmt::format("  {} += {};\n", each.name, all);
  }
  return text;
}

// Whether each place of a buffer that is written belongs to one thread of the team: either the same loops' same steps
// touch it, or one store outside of loops does.
bool own_places(const ItemKernel& kernel) {
  std::map<std::string, std::vector<std::string>> places;  // of a pointer: how it is accessed
  const auto visit = [&](const Statement& statement, const Statement* loop) {
    for (const std::string& text : expressions({statement}))
      for (const Access& access : accesses(text)) {
        const std::string pointer = kernel.pointer(access);
        if (kernel.written.count(pointer) == 0) continue;
        ItemKernel renamed = kernel;
        if (loop != nullptr) renamed.definitions[loop->name] = {kernel::Polynomial::atom("step of a loop from " + loop->value)};
        std::string place = loop == nullptr ? "once" : "";
        const IndexForm where = renamed.where(access);
        for (const auto& [factors, times] : where.value.terms()) place += fmt::format(" {}*{}", times, fmt::join(factors, "*"));
        places[pointer].push_back(place);
      }
  };
  for (const Statement& statement : kernel.body) visit(statement, statement.kind == Kind::loop ? &statement : nullptr);
  return std::all_of(places.begin(), places.end(), [](const auto& of) {
    const auto& [pointer, list] = of;
    if (list[0].rfind("once", 0) == 0) return list.size() == 1;
    return std::all_of(list.begin(), list.end(), [&](const std::string& place) { return place == list[0]; });
  });
}

std::optional<OwnRewrite> by_team(const ItemKernel& kernel, OwnDraft& draft) {
  if (kernel.axes.size() != 1) return std::nullopt;
  const ItemKernel::Axis& x = kernel.axes[0];
  // Loops must walk along memory, and neighbouring items must not: else they are coalesced as they are.
  int walked = 0, beside = 0;
  for (const Statement& statement : kernel.body) {
    if (statement.kind != Kind::loop) continue;
    for (const std::string& text : expressions(statement.body))
      for (const Access& access : accesses(text)) {
        if (kernel.where(access).steps_by_one(x.name)) ++beside;
        else if (kernel.where(access).steps_by_one(statement.name) && kernel.where(access).reads(x.name)) ++walked;
      }
  }
  if (walked == 0 || beside > 0 || !own_places(kernel)) return std::nullopt;
  std::string body;
  for (const Statement& statement : kernel.body) {
    if (statement.kind == Kind::loop) {
      const auto shared = shared_loop(kernel, statement, draft);
      if (!shared) return std::nullopt;
      body += *shared;
      continue;
    }
    const auto store = statement.kind == Kind::expression ? assignment(statement.text) : std::nullopt;
    const bool writes = store && !accesses(store->target).empty();
    if (writes) {  // every thread of a team knows the same; one of them tells it
      body += fmt::format("  if (lane_of_team == 0) {};\n", statement.text);
    } else if (statement.kind == Kind::declaration || (store && statement.kind == Kind::expression)) {
      body += print({statement}, 2);
    } else {
      return std::nullopt;
    }
  }
  const std::string team = tune(draft, "TEAM", "32 | 128 | 512"), lane = unused_name(draft.code, "lane");
  OwnRewrite result{"", kernel.launch};
  for (const auto& [type, expression] : combinations())
    if (names(body, type) && !names(draft.code, type))
      result.function += fmt::format("struct {} {{\n  template <typename T>\n  __device__ T operator()(T a, T b) const {{ return {}; }}\n}};\n", type, expression);
  if (!names(draft.code, "combined_by_team")) result.function += combined_by_team;
  result.function += kernel.head() + " {\n" + print(kernel.uniform, 2);
  result.function += fmt::format("  const {0} {1} = (static_cast<{0}>(blockIdx.x) * blockDim.x + threadIdx.x) / {2};\n", kernel.plain_type(0), x.name, team);
  result.function += fmt::format("  const int {} = threadIdx.x % {};\n  if ({} >= {}) return;\n", lane, team, x.name, x.bound);
  result.function += with_words(body, {{"lane_of_team", lane}, {"TEAM_SIZE", team}}) + "}";
  const std::string block = fmt::format("max({}, 128)", team);
  result.launch.grid[0] = fmt::format("ceil_div(({}) * {}, {})", x.count, team, block);
  result.launch.block[0] = block;
  return result;
}

}  // namespace

// What one thread did alone along a row is done by a warp or a block, whose threads read neighbours.
bool own_teams(const task::Task& task, OwnDraft& draft) {
  return rewrite_kernels(task, draft, by_team,
                         {{Technique::coalesced_access, "Along a row that one thread walked alone, neighbouring threads read neighbours."},
                          {Technique::warp_reduction, "Their parts are put together by shuffles, in a fixed order."}});
}

}  // namespace cudal1::rewriter
