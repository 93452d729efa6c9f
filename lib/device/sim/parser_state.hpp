// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"
#include "sim/lexer.hpp"
#include "sim/module.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudal1::sim {

// The recursive-descent parser behind parse(): module items in parser.cpp, variables in parser_variable.cpp, functions and
// statements in parser_function.cpp, operands in parser_operand.cpp.
class Parser {
 public:
  struct Failure {
    base::Diagnostic diagnostic;
  };
  Parser(std::string_view source, const std::string& kernel_file) : lexer_(source), kernel_file_(kernel_file) {}
  Module run();  // throws Failure

 private:
  struct Location {
    int file = 0, line = 0, inlined_file = 0, inlined_line = 0;
  };
  // Names seen inside one pair of braces.
  struct Scope {
    int parent = -1;
    std::map<std::string, int, std::less<>> registers, labels;
    std::map<std::string, std::string, std::less<>> variables;  // name → unique name
  };
  struct LabelUse {
    std::size_t statement;
    std::size_t operand;
    int scope;
    Token token;
  };

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_at(const Token& token, const std::string& message) const;
  void advance();
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string word(std::string_view what);
  std::uint64_t integer();
  std::uint64_t size_below(std::uint64_t limit, std::string_view what);
  void skip_braces();

  void module_item();
  void file_directive();
  void settle_lines();

  std::optional<Space> variable_space() const;
  Variable variable(Space space, bool external);
  void variable_list(Space space, bool external, std::vector<Variable>& into);
  void initial_value(Variable& variable, Element element);

  void function(bool entry);
  void attributes(Function& function);
  std::vector<Variable> parameter_list();
  void body();
  void block();
  void register_list();
  void location();
  void statement();
  void call_statement(Statement& statement);
  void finish_labels();

  Operand operand();
  Operand address();
  Operand vector();
  Operand named(const Token& token);
  int find_register(std::string_view name) const;   // -1: none
  int new_register(const std::string& name, Element element);
  std::string variable_name(const std::string& name) const;

  Lexer lexer_;
  std::string kernel_file_;
  Token token_;
  Module module_;
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  int scope_ = -1;
  int depth_ = 0;
  std::vector<LabelUse> uses_;
  std::vector<Location> locations_;
  int location_ = 0;  // index + 1 of the location in force; 0: none
};

}  // namespace cudal1::sim
