// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/directive_lexer.hpp"
#include "kernel/file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

// A directive as it stands in the file, its word taken off.
struct Directive {
  std::string word;
  Place place;             // of the word
  std::string raw;         // the rest of its line, as written
  Place raw_place;
  TokenStream tokens;      // the rest in words, with the lines that go on with it; empty for directives read raw
};

// The steps being read: those of the file, or those of the innermost `for` or `when` that is still open.
struct OpenPlan {
  struct Repeat {
    RepeatStep step;
    bool braces = false;
  };
  std::vector<Repeat> repeats;

  void add(File& file, Step step);  // also closes every one without braces that the step completes
};

struct DirectiveKind {
  std::string_view word;
  bool raw;        // read as text to the end of the line, not as words
  bool interface;  // only a task decides it
  void (*parse)(Directive& directive, File& file, OpenPlan& open);
  void (*print)(const File& file, std::string& out);
};

// Every directive, in the order in which print() writes them.
const std::vector<DirectiveKind>& directive_kinds();
const DirectiveKind* find_directive(std::string_view word);

// `name`, `dtype[shape]` and the like, shared by several directives. All throw Complaint.
std::string parse_new_name(TokenStream& stream, std::string_view what);
tensor::Dtype parse_dtype_word(TokenStream& stream);
std::vector<Expression> parse_shape(TokenStream& stream);
std::string parse_output_name(TokenStream& stream);   // "C", or "bodies.position"
double parse_number(TokenStream& stream, std::string_view what);
std::string shape_text(const std::vector<Expression>& shape);

// "scale_rows<<<N, 128>>>(A, B)" and its attributes.
std::string launch_text(const LaunchStep& launch);

// Steps may share a line: is this the first word of the next one.
bool begins_step(const Token& token);

// One printed line: the word padded to a column, then the text.
void print_line(std::string& out, std::string_view word, std::string_view text);

// The two halves of the table.
void parse_task(Directive&, File&, OpenPlan&);
void parse_torch(Directive&, File&, OpenPlan&);
void parse_size(Directive&, File&, OpenPlan&);
void parse_check(Directive&, File&, OpenPlan&);
void parse_scalar(Directive&, File&, OpenPlan&);
void parse_struct(Directive&, File&, OpenPlan&);
void parse_buffer(Directive&, File&, OpenPlan&);
void parse_tolerance(Directive&, File&, OpenPlan&);
void parse_expect(Directive&, File&, OpenPlan&);
void parse_checker(Directive&, File&, OpenPlan&);
void parse_include(Directive&, File&, OpenPlan&);
void parse_option(Directive&, File&, OpenPlan&);
void parse_of(Directive&, File&, OpenPlan&);
void parse_tune(Directive&, File&, OpenPlan&);
void parse_scratch(Directive&, File&, OpenPlan&);
void parse_for(Directive&, File&, OpenPlan&);
void parse_when(Directive&, File&, OpenPlan&);
void parse_launch(Directive&, File&, OpenPlan&);
void parse_memset(Directive&, File&, OpenPlan&);
void parse_copy(Directive&, File&, OpenPlan&);
void parse_close(Directive&, File&, OpenPlan&);

void print_task(const File&, std::string&);
void print_torch(const File&, std::string&);
void print_sizes(const File&, std::string&);
void print_checks(const File&, std::string&);
void print_scalars(const File&, std::string&);
void print_structures(const File&, std::string&);
void print_buffers(const File&, std::string&);
void print_tolerances(const File&, std::string&);
void print_expectations(const File&, std::string&);
void print_checker(const File&, std::string&);
void print_includes(const File&, std::string&);
void print_options(const File&, std::string&);
void print_of(const File&, std::string&);
void print_tunables(const File&, std::string&);
void print_scratches(const File&, std::string&);
void print_plan(const File&, std::string&);

}  // namespace cudal1::kernel
