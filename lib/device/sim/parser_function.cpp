// SPDX-License-Identifier: Apache-2.0
#include "sim/parser_state.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::size_t most_registers = 1 << 18;
constexpr std::size_t most_statements = 1 << 20;

}  // namespace

std::vector<Variable> Parser::parameter_list() {
  std::vector<Variable> parameters;
  expect("(");
  while (!token_.is(")")) {
    if (accept(".reg")) fail("parameters in registers are not executed");
    expect(".param");
    parameters.push_back(variable(Space::param, false));
    if (!accept(",")) break;
  }
  expect(")");
  return parameters;
}

void Parser::attributes(Function& function) {
  const auto numbers = [&] {
    std::uint64_t product = size_below(1 << 20, "a limit");
    while (accept(",")) product *= size_below(1 << 10, "a limit");
    return product;
  };
  while (token_.kind == Token::Kind::word && token_.text.front() == '.') {
    if (accept(".maxntid") || accept(".reqntid")) function.max_threads = static_cast<unsigned>(numbers());
    else if (accept(".reqnctapercluster")) {
      function.cluster = {1, 1, 1};
      std::size_t axis = 0;
      do function.cluster[std::min<std::size_t>(axis++, 2)] = static_cast<unsigned>(size_below(1 << 10, "a cluster's side"));
      while (accept(","));
    } else if (accept(".minnctapersm") || accept(".maxnreg") || accept(".maxnctapersm") || accept(".maxclusterrank"))
      numbers();
    else if (accept(".noreturn") || accept(".explicitcluster")) continue;
    else if (accept(".pragma")) {
      while (!token_.is(";") && token_.kind != Token::Kind::end) advance();
      expect(";");
    } else {
      fail(fmt::format("sim does not know the function attribute \"{}\"", token_.text));
    }
  }
}

void Parser::function(bool entry) {
  Function function;
  function.entry = entry;
  function.line = token_.line;
  accept(".attribute");
  if (!entry && token_.is("(")) function.results = parameter_list();
  function.name = word("a function's name");
  if (token_.is("(")) function.parameters = parameter_list();
  attributes(function);
  function.defined = token_.is("{");
  module_.functions.push_back(std::move(function));
  if (!module_.functions.back().defined) return expect(";");
  function_ = &module_.functions.back();
  body();
  function_ = nullptr;
}

void Parser::body() {
  scopes_.assign(1, Scope{});
  scope_ = 0;
  uses_.clear();
  location_ = 0;
  depth_ = 0;
  for (const auto* list : {&function_->parameters, &function_->results})
    for (const Variable& parameter : *list) scopes_[0].variables[parameter.name] = parameter.name;
  expect("{");
  block();
  finish_labels();
}

// The items up to the closing brace, which is taken too.
void Parser::block() {
  while (!accept("}")) {
    if (token_.kind == Token::Kind::end) fail("the text ends inside a function");
    if (token_.is("{")) {
      advance();
      if (++depth_ > 64) fail("braces are nested too deeply");
      Scope scope;
      scope.parent = scope_;
      const int outer = scope_;
      scopes_.push_back(std::move(scope));
      scope_ = static_cast<int>(scopes_.size()) - 1;
      block();
      scope_ = outer;
      --depth_;
    } else if (accept(";")) {
      continue;
    } else if (accept(".reg")) {
      register_list();
    } else if (accept(".loc")) {
      location();
    } else if (accept(".file")) {
      file_directive();
    } else if (accept(".pragma")) {
      while (!token_.is(";") && token_.kind != Token::Kind::end) advance();
      expect(";");
    } else if (token_.is(".extern") || variable_space()) {
      const bool external = accept(".extern");
      const auto space = variable_space();
      if (!space) fail("expected a state space");
      advance();
      std::vector<Variable> declared;
      variable_list(*space, external, declared);
      for (Variable& variable : declared) {
        const std::string plain = variable.name;
        // The same name in another pair of braces is another variable.
        if (scope_ > 0) variable.name = fmt::format("{}@{}", plain, scope_);
        scopes_[static_cast<std::size_t>(scope_)].variables[plain] = variable.name;
        function_->variables.push_back(std::move(variable));
      }
    } else {
      statement();
    }
  }
}

int Parser::new_register(const std::string& name, Element element) {
  if (function_->registers.size() >= most_registers) fail("a function declares too many registers");
  function_->registers.push_back({name, element});
  const int index = static_cast<int>(function_->registers.size()) - 1;
  scopes_[static_cast<std::size_t>(scope_)].registers[name] = index;
  return index;
}

void Parser::register_list() {
  const std::string type = word("a register type");
  const auto element = type.size() > 1 ? parse_element(std::string_view(type).substr(1)) : std::nullopt;
  if (!element) fail(fmt::format("sim does not know registers of type \"{}\"", type));
  do {
    const std::string name = word("a register's name");
    if (accept("<")) {
      const std::uint64_t count = size_below(most_registers, "a register count");
      expect(">");
      for (std::uint64_t i = 0; i < count; ++i) new_register(name + std::to_string(i), *element);
    } else {
      new_register(name, *element);
    }
  } while (accept(","));
  expect(";");
}

void Parser::location() {
  Location location;
  location.file = static_cast<int>(size_below(1 << 20, "a file number"));
  location.line = static_cast<int>(size_below(1 << 28, "a line number"));
  if (token_.kind == Token::Kind::integer) integer();
  while (accept(",")) {
    if (accept("function_name")) {
      word("a name");
      if (accept("+")) integer();
    } else if (accept("inlined_at")) {
      location.inlined_file = static_cast<int>(size_below(1 << 20, "a file number"));
      location.inlined_line = static_cast<int>(size_below(1 << 28, "a line number"));
      if (token_.kind == Token::Kind::integer) integer();
    } else {
      fail("expected function_name or inlined_at");
    }
  }
  // Line 0 means "made by the compiler": the last real line stays in force.
  if (location.line == 0) return;
  locations_.push_back(location);
  location_ = static_cast<int>(locations_.size());
}

void Parser::call_statement(Statement& statement) {
  const auto names = [&] {
    std::vector<std::string> list;
    expect("(");
    while (!token_.is(")")) {
      list.push_back(variable_name(word("a .param variable")));
      if (!accept(",")) break;
    }
    expect(")");
    return list;
  };
  if (token_.is("(")) {
    statement.results = names();
    expect(",");
  }
  Operand callee;
  callee.kind = Operand::Kind::label;
  callee.name = word("a function's name");
  callee.reg = find_register(callee.name);
  if (callee.reg >= 0) callee.kind = Operand::Kind::reg;
  statement.operands.push_back(callee);
  if (accept(",")) {
    if (token_.is("(")) statement.arguments = names();
    if (accept(",")) word("a prototype");
  }
}

void Parser::statement() {
  Statement statement;
  if (accept("@")) {
    statement.guard_negated = accept("!");
    const Token at = token_;
    statement.guard = find_register(word("a predicate register"));
    if (statement.guard < 0) fail_at(at, fmt::format("\"{}\" is not declared", at.text));
    if (function_->registers[static_cast<std::size_t>(statement.guard)].element != Element::pred)
      fail_at(at, "a guard is a predicate register");
  }
  const Token start = token_;
  statement.opcode = word("an instruction");
  statement.line = start.line;
  statement.column = start.column;
  statement.source_line = location_;
  if (accept(":")) {
    auto& labels = scopes_[static_cast<std::size_t>(scope_)].labels;
    if (statement.guard >= 0 || labels.contains(statement.opcode)) fail_at(start, "a label stands twice or behind a guard");
    labels[statement.opcode] = static_cast<int>(function_->body.size());
    if (token_.is(".callprototype") || token_.is(".branchtargets") || token_.is(".calltargets"))
      while (!accept(";")) {
        if (token_.kind == Token::Kind::end) fail("the text ends inside a prototype");
        advance();
      }
    return;
  }
  if (function_->body.size() >= most_statements) fail("a function is too long");
  if (statement.opcode == "call" || statement.opcode.starts_with("call.")) {
    call_statement(statement);
  } else {
    const bool branch = statement.opcode == "bra" || statement.opcode.starts_with("bra.");
    while (!token_.is(";")) {
      if (statement.operands.size() >= 32) fail("an instruction has too many operands");
      if (branch) {
        Operand target;
        target.kind = Operand::Kind::label;
        const Token at = token_;
        target.name = word("a label");
        uses_.push_back({function_->body.size(), statement.operands.size(), scope_, at});
        statement.operands.push_back(target);
      } else {
        statement.operands.push_back(operand());
      }
      if (!accept(",")) break;
    }
  }
  expect(";");
  function_->body.push_back(std::move(statement));
}

void Parser::finish_labels() {
  for (const LabelUse& use : uses_) {
    Operand& operand = function_->body[use.statement].operands[use.operand];
    for (int scope = use.scope; scope >= 0 && operand.label < 0; scope = scopes_[static_cast<std::size_t>(scope)].parent) {
      const auto& labels = scopes_[static_cast<std::size_t>(scope)].labels;
      if (const auto found = labels.find(operand.name); found != labels.end()) operand.label = found->second;
    }
    if (operand.label < 0) fail_at(use.token, fmt::format("there is no label \"{}\"", operand.name));
  }
}

}  // namespace cudal1::sim
