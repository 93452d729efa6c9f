// SPDX-License-Identifier: Apache-2.0
#include "compile/ptx_scan.hpp"

#include "compile/clock_flow.hpp"
#include "compile/ptx_statements.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <set>

#include <cxxabi.h>

namespace cudal1::compile {
namespace {

using Words = Statement;

bool has(const Words& words, std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); }

// Functions of the device's run-time that print or stop, and keep nothing.
bool is_harmless(std::string_view name) { return name == "vprintf" || name == "__assertfail"; }

bool is_forbidden(std::string_view name) {
  static constexpr std::string_view names[] = {"malloc", "free", "realloc", "calloc", "memalign", "aligned_alloc"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names) || name.starts_with("cuda") ||
         name.starts_with("__cuda") || name.starts_with("cnp") || name.starts_with("__cnp");
}

// The symbols that one declaration declares: the words in front of "[", "=", "<", a comma or the end.
Words declared(const Words& words) {
  Words names;
  int depth = 0;
  bool named = false;
  for (std::size_t i = 0; i <= words.size(); ++i) {
    const std::string_view word = i < words.size() ? words[i] : ",";
    if (!named && i > 0 && depth == 0 && (word == "[" || word == "=" || word == "<" || word == ",")) {
      names.push_back(words[i - 1]);
      named = true;
    }
    if (depth == 0 && word == ",") named = false;
    if (word == "{" || word == "(" || word == "[") ++depth;
    if (word == "}" || word == ")" || word == "]") --depth;
  }
  return names;
}

// What a function returns: the names in parentheses in front of its own.
std::set<std::string_view> results_of(const Words& words) {
  std::set<std::string_view> names;
  auto i = std::find(words.begin(), words.end(), ".func");
  if (i == words.end() || ++i == words.end() || *i != "(") return names;
  for (; i != words.end() && *i != ")"; ++i) names.insert(*i);
  return names;
}

// The symbol of an .entry or .func: behind the word and, for functions, the result in parentheses.
std::string_view function_name(const Words& words, std::string_view kind) {
  auto i = std::find(words.begin(), words.end(), kind);
  if (i == words.end()) return {};
  ++i;
  if (i != words.end() && *i == "(") {
    i = std::find(i, words.end(), ")");
    if (i != words.end()) ++i;
  }
  return i != words.end() ? *i : std::string_view();
}

int thread_bound(const Words& words) {
  const auto i = std::find(words.begin(), words.end(), ".maxntid");
  long long product = 1;
  if (i == words.end()) return 0;
  for (auto j = i + 1; j != words.end(); ++j) {
    int number = 0;
    const auto [end, fault] = std::from_chars(j->data(), j->data() + j->size(), number);
    if (*j == ",") continue;
    if (fault != std::errc() || end != j->data() + j->size()) break;
    product = std::min<long long>(product * number, 1 << 20);
  }
  return static_cast<int>(product);
}

using Variables = std::set<int>;

// Follows addresses of global variables through the registers of one function.
class AddressFlow {
 public:
  AddressFlow(const std::map<std::string_view, int>& variables, std::set<std::string_view> results, std::vector<bool>& written)
      : variables_(variables), results_(std::move(results)), written_(written) {}

  void run(const std::vector<const Words*>& body) {
    // Registers only gain variables, so this ends; loops need a second look, chains through them seldom a third.
    do {
      changed_ = false;
      passed_.clear();
      for (const Words* words : body) visit(*words);
    } while (changed_);
    for (const auto& [parameter, found] : passed_) mark(found);  // no call took them
    if (looks_at_its_own_) mark(kept_);
  }

 private:
  // The thread's own memory: what is kept there for printf gets nowhere unless the function looks at that memory.
  static constexpr int own_memory = -1;

  Variables in(const Operand& operand) const {
    Variables found;
    for (const std::string_view word : operand.words) {
      if (const auto variable = variables_.find(word); variable != variables_.end()) found.insert(variable->second);
      if (word.starts_with("__local_depot")) found.insert(own_memory);
      if (const auto held = registers_.find(word); held != registers_.end()) found.insert(held->second.begin(), held->second.end());
    }
    return found;
  }

  void mark(const Variables& found) {
    for (const int variable : found) {
      if (variable == own_memory) looks_at_its_own_ = true;
      else written_[static_cast<std::size_t>(variable)] = true;
    }
  }

  void visit(const Words& words) {
    std::size_t first = 0;
    if (!words.empty() && words[0].starts_with("@")) {  // a guard: "@", "%p1" or "@", "!", "%p1"
      first = words.size() > 1 && words[1] == "!" ? 3 : 2;
    }
    if (first >= words.size()) return;
    if (words[first].starts_with(".")) return initialised(words);
    const std::string_view opcode = words[first];
    const std::vector<Operand> all = operands(words, first + 1);
    const std::string_view verb = opcode.substr(0, opcode.find('.'));
    const auto contains = [&](std::string_view part) { return opcode.find(part) != std::string_view::npos; };

    // What lies in a parameter is not followed any further, so nobody may look at it there.
    if (opcode.starts_with("ld.param"))
      for (const Operand& operand : all)
        for (const std::string_view word : operand.words)
          if (const auto held = ever_passed_.find(word); held != ever_passed_.end()) mark(held->second);
    if (verb == "ld" || verb == "ldu" || verb == "prefetch" || verb == "prefetchu" || verb == "ldmatrix" ||
        (verb == "wmma" && contains(".load"))) {
      if (contains(".local")) looks_at_its_own_ = true;
      for (std::size_t i = 1; i < all.size(); ++i)
        if (in(all[i]).contains(own_memory)) looks_at_its_own_ = true;
      return;
    }
    if (verb == "st" && opcode.starts_with("st.param")) {
      Variables found;
      for (std::size_t i = 1; i < all.size(); ++i) found.merge(in(all[i]));
      if (all[0].words.empty() || results_.count(all[0].words[0]) != 0) mark(found);  // the caller has it
      else if (!found.empty()) {
        ever_passed_[all[0].words[0]].insert(found.begin(), found.end());
        passed_[all[0].words[0]].merge(found);
      }
      return;
    }
    if (verb == "st" && !all.empty() && (contains(".local") || in(all[0]) == Variables{own_memory})) {
      for (std::size_t i = 1; i < all.size(); ++i) kept_.merge(in(all[i]));
      Variables place = in(all[0]);
      place.erase(own_memory);
      return mark(place);
    }
    if (verb == "call" || verb == "call_uni") return called(all);
    if (verb == "cp" && contains(".shared") && contains(".global") && !contains(".global.shared")) return;  // global is the source
    const bool stores = std::any_of(all.begin(), all.end(), [](const Operand& operand) { return operand.address; });
    if (stores) {  // st, atom, red, cp and whatever else works on memory
      for (const Operand& operand : all) mark(in(operand));
      return;
    }
    Variables sources;
    for (std::size_t i = 1; i < all.size(); ++i) sources.merge(in(all[i]));
    if (sources.empty() || all.empty()) return;
    for (const std::string_view word : all[0].words) {
      Variables& held = registers_[word];
      const std::size_t before = held.size();
      held.insert(sources.begin(), sources.end());
      changed_ = changed_ || held.size() != before;
    }
  }

  // The result, if any, stands first in parentheses; then comes the function.
  void called(const std::vector<Operand>& all) {
    bool harmless = false;
    for (const Operand& operand : all) harmless = harmless || (operand.words.size() == 1 && is_harmless(operand.words[0]));
    if (harmless) {
      for (const Operand& operand : all)
        for (const std::string_view word : operand.words) passed_.erase(word);
      return;
    }
    for (const Operand& operand : all) mark(in(operand));
    for (const auto& [parameter, found] : passed_) mark(found);
    passed_.clear();
  }

  // A variable of any space that is initialised with another's address: what is loaded from it is not followed.
  void initialised(const Words& words) {
    for (auto word = std::find(words.begin(), words.end(), "="); word != words.end(); ++word)
      if (const auto variable = variables_.find(*word); variable != variables_.end()) mark({variable->second});
  }

  const std::map<std::string_view, int>& variables_;
  const std::set<std::string_view> results_;             // parameters that hold what the function returns
  std::vector<bool>& written_;
  std::map<std::string_view, Variables> registers_;
  std::map<std::string_view, Variables> passed_;         // by the parameter of a call to come
  std::map<std::string_view, Variables> ever_passed_;    // and of those that were
  Variables kept_;                                       // in the thread's own memory
  bool looks_at_its_own_ = false;                        // or lets its address get away
  bool changed_ = false;
};

// The table of a class's virtual functions, whose address each object holds. Whether somebody writes there is seen when it runs:
// all variables are digested before and after.
bool is_virtual_table(std::string_view name, const Words& declaration) { return name.starts_with("_ZTV") && has(declaration, "="); }

// What a module declares.
struct Declared {
  std::map<std::string_view, int> variables;     // with a place in the list of those that are written
  std::set<std::string_view> defined, called;    // functions
};

Declared declarations(const std::vector<Statement>& statements, PtxScan& scan) {
  Declared found;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Words& words = statements[i];
    const bool body = i + 1 < statements.size() && statements[i + 1] == Words{"{"};
    if (has(words, ".entry")) {
      if (body) scan.entries[std::string(function_name(words, ".entry"))] = thread_bound(words);
    } else if (has(words, ".func")) {
      const std::string_view name = function_name(words, ".func");
      if (body) found.defined.insert(name);
      else if (has(words, ".extern")) found.called.insert(name);
    } else if (has(words, ".const") && words[0].starts_with(".")) {
      for (const std::string_view name : declared(words)) scan.constants.emplace_back(name);
    } else if (has(words, ".global") && words[0].starts_with(".")) {
      const bool family = has(words, "<");  // v<4> stands for v0 … v3, whose uses are not followed
      for (const std::string_view name : declared(words)) {
        scan.variables.emplace_back(name);
        if (family) scan.written.emplace_back(name);
        else if (!is_virtual_table(name, words)) found.variables.emplace(name, static_cast<int>(found.variables.size()));
      }
    }
  }
  return found;
}

}  // namespace

PtxScan scan_ptx(std::string_view ptx) {
  const std::vector<Statement> statements = ptx_statements(ptx);
  PtxScan scan;
  auto [variables, defined, called] = declarations(statements, scan);
  std::vector<bool> written(variables.size());
  std::vector<const Words*> body, flow;   // instructions; with labels and inner blocks
  std::set<std::string_view> results;
  int depth = 0;
  std::set<std::string> clocks;
  for (const Words& words : statements) {
    if (depth > 0) flow.push_back(&words);
    if (words == Words{"{"}) {
      if (depth++ == 0) body.clear(), flow.clear();
    } else if (words == Words{"}"}) {
      if (--depth != 0) continue;
      if (!variables.empty()) AddressFlow(variables, results, written).run(body);
      flow.pop_back();
      for (std::string& clock : deciding_clocks(flow)) clocks.insert(std::move(clock));
    } else if (depth > 0) {
      if (is_label(words)) continue;
      body.push_back(&words);
      for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i].starts_with("call"))
          for (std::size_t j = i + 1; j < words.size(); ++j)
            if (is_forbidden(words[j])) called.insert(words[j]);
    } else if (has(words, ".func") || has(words, ".entry")) {
      results = results_of(words);
    } else {  // an initialiser that holds another variable's address lets that one get away, a constant's, too
      const auto equals = std::find(words.begin(), words.end(), "=");
      for (auto word = equals; word != words.end(); ++word)
        if (const auto variable = variables.find(*word); variable != variables.end())
          written[static_cast<std::size_t>(variable->second)] = true;
    }
  }
  scan.clocks.assign(clocks.begin(), clocks.end());
  for (const std::string_view name : called) {
    if (defined.count(name) != 0 || is_harmless(name)) continue;
    (is_forbidden(name) ? scan.forbidden : scan.unresolved).emplace_back(name);
  }
  for (const auto& [name, index] : variables)
    if (written[static_cast<std::size_t>(index)]) scan.written.emplace_back(name);
  return scan;
}

std::string readable_symbol(const std::string& symbol, bool parameters) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return symbol;
  std::string name = text.get();
  if (parameters || !name.ends_with(')')) return name;
  int depth = 0;
  std::size_t open = name.size();
  while (open > 0) {
    --open;
    depth += name[open] == ')' ? 1 : name[open] == '(' ? -1 : 0;
    if (depth == 0) break;
  }
  name.resize(open);
  // A template's symbol starts with its result: "void k<128>".
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

}  // namespace cudal1::compile
