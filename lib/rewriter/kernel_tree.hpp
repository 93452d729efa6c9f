// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/signature.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::rewriter {

// A statement of a kernel, as far as the rules for a task's own kernel tell them apart.
struct Statement {
  enum class Kind {
    declaration,  // `type name = value`, one variable each
    expression,   // `text`
    condition,    // if (text) body else otherwise
    loop,         // for (type name = value; name < below; ++name) body
    leave,        // return, continue or break
    block,        // { body }
    other,        // anything else
  };
  Kind kind = Kind::other;
  std::string text, type, name, value, below;
  std::vector<Statement> body, otherwise;
};

// `__global__ void name(parameters) { body }` of a source, from `begin` to `end`.
struct KernelTree {
  kernel::Signature signature;
  std::size_t begin = 0, open = 0, end = 0;  // of `__global__`, of the `{`, and behind the `}`
  std::vector<Statement> body;
};

// Of an ordinary function: no template, no linkage and no launch bounds of its own. Nothing where it is not found.
std::optional<KernelTree> kernel_tree(const std::string& source, const std::string& name);
// Where the brackets of a kernel's parameters stand, of any kernel; nothing where they are not found.
std::optional<std::pair<std::size_t, std::size_t>> parameter_brackets(const std::string& source, const std::string& name);

std::string print(const std::vector<Statement>& body, int indent);

// `target op value`, where `op` is = or an operator with it, at the top of an expression.
struct Assignment {
  std::string target, op, value;
};
std::optional<Assignment> assignment(const std::string& expression);

// `pointer[index]` in a text, from `begin` to `end`.
struct Access {
  std::string pointer, index;
  std::size_t begin = 0, end = 0;

  std::string key() const { return pointer + "[" + index + "]"; }
};
std::vector<Access> accesses(const std::string& text);
// The keys of the accesses that are made whenever the statements are: in no condition, loop, `?:`, `&&` or `||`.
std::set<std::string> certain_accesses(const std::vector<Statement>& body);

// Calls `each` for every statement, the outermost with depth 0, those in its branches or loop with 1, and so on.
void visit(const std::vector<Statement>& body, const std::function<void(const Statement&, int depth)>& each, int depth = 0);
// Every text of the statements that holds an expression: values, conditions, bounds.
std::vector<std::string> expressions(const std::vector<Statement>& body);
// Names that some assignment, ++ or -- in the statements changes.
std::set<std::string> changed_names(const std::vector<Statement>& body);
bool any_of(const std::vector<Statement>& body, std::initializer_list<Statement::Kind> kinds);  // whether one is of such a kind
// The declaration of a name at the top of the statements; null: there is none.
const Statement* declaration(const std::vector<Statement>& body, const std::string& name);

bool names(std::string_view text, std::string_view word);  // whether a text has the word
// Words for words; what follows `.` or `->` is a member and stays.
std::string with_words(const std::string& text, const std::map<std::string, std::string>& words);
// Every expression of the statements with `change` applied.
std::vector<Statement> rewritten(std::vector<Statement> body, const std::map<std::string, std::string>& words);
// With every access whose text is a key replaced by what it stands for.
std::vector<Statement> with_accesses(std::vector<Statement> body, const std::map<std::string, std::string>& held);

}  // namespace cudal1::rewriter
