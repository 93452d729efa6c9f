// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "kernel/directives.hpp"
#include "kernel/expression_node.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

// An element's value that the type can hold exactly enough: integers whole and in range.
void check_initial(const TokenStream& stream, const Token& at, tensor::Dtype dtype, double value) {
  if (tensor::is_floating(dtype)) return;
  std::byte element[8] = {};
  tensor::store(dtype, value, element);
  if (tensor::load(dtype, element) != value)
    stream.fail_at(at, fmt::format("{} is not a value of {}", value, tensor::name(dtype)));
}

// The kernel's name up to `<<<`: a qualified name, and template arguments made of names, numbers and operators.
std::string parse_kernel_name(TokenStream& stream) {
  const std::size_t from = stream.position();
  stream.accept("::");
  do stream.expect_name("a kernel's name");
  while (stream.accept("::"));
  int depth = 0;
  while (!stream.peek().is("<<<")) {
    const Token token = stream.peek();
    if (stream.at_end() || (depth == 0 && !token.is("<")))
      stream.fail(fmt::format("expected `<<<grid, block>>>` after the kernel's name, found {}", describe(token)),
                  token.is("(") ? "write name<<<grid, block>>>(arguments)" : "");
    if (token.kind == Token::Kind::string || token.kind == Token::Kind::real || token.is("{") || token.is("[") || token.is(";"))
      stream.fail(fmt::format("unexpected {} in a template argument: they are integers, booleans and types", describe(token)));
    stream.take();
    if (token.is("<")) ++depth;
    if (token.is(">")) --depth;
    if (token.is(">>>")) depth -= 3;
    if (token.is("(")) depth += 1000;
    if (token.is(")")) depth -= 1000;
    if (depth < 0) stream.fail_at(token, fmt::format("{} closes nothing", describe(token)));
  }
  if (depth != 0) stream.fail("expected `>` to close the template arguments before `<<<`");
  return stream.text(from, stream.position());
}

Dim3Expression parse_dim3(TokenStream& stream, std::string_view what) {
  Dim3Expression dim;
  if (!stream.accept("dim3")) {
    dim.x = parse_expression(stream);
    return dim;
  }
  stream.expect("(", "after dim3");
  Expression* const parts[] = {&dim.x, &dim.y, &dim.z};
  std::size_t count = 0;
  do {
    if (count == 3) stream.fail(fmt::format("the {} has three dimensions at most", what));
    *parts[count++] = parse_expression(stream);
  } while (stream.accept(","));
  stream.expect(")", fmt::format("to close the {}'s dim3", what));
  return dim;
}

}  // namespace

bool begins_step(const Token& token) {
  return token.is("launch") || token.is("memset") || token.is("copy") || token.is("for") || token.is("when") || token.is("}");
}

void OpenPlan::add(File& file, Step step) {
  while (true) {
    if (repeats.empty()) {
      file.plan.push_back(std::move(step));
      return;
    }
    Repeat& innermost = repeats.back();
    innermost.step.body.push_back(std::move(step));
    if (innermost.braces) return;
    Step whole;
    whole.step = std::move(innermost.step);
    step = std::move(whole);
    repeats.pop_back();
  }
}

void parse_of(Directive& directive, File& file, OpenPlan&) {
  const std::string_view text = base::trim(directive.raw);
  const std::size_t space = text.find_last_of(" \t");
  const std::string_view digest = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
  const std::string_view digits = digest.starts_with("sha256:") ? digest.substr(7) : std::string_view{};
  if (digits.empty() || digits.size() > 64 || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    directive.tokens.fail("expected a file name and its digest after `of`", "write //@ of task.cu sha256:9c1e5b…, in lower-case hexadecimal");
  if (file.of) directive.tokens.fail("a second `of` line: an answer is to one task");
  file.of = {std::string(base::trim(text.substr(0, space))), std::string(digest)};
}

void parse_tune(Directive& directive, File& file, OpenPlan&) {
  TokenStream& stream = directive.tokens;
  Tunable tunable;
  tunable.place = directive.place;
  tunable.name = parse_new_name(stream, "a tunable");
  stream.expect("=", "and values after the tunable's name");
  do {
    const Token at = stream.peek();
    const Expression expression = parse_expression(stream);
    const auto value = expression.evaluate_integer({});
    if (!value)
      stream.fail_at(at, fmt::format("the values of {} are integer constants: {}", tunable.name, value.error().message));
    if (std::find(tunable.values.begin(), tunable.values.end(), *value) != tunable.values.end())
      stream.fail_at(at, fmt::format("{} has the value {} twice", tunable.name, *value));
    tunable.values.push_back(*value);
  } while (stream.accept("|"));
  if (stream.peek().is(",") || stream.peek().kind == Token::Kind::integer) stream.fail("the values of a tunable are separated by `|`");
  if (stream.accept("if")) tunable.condition = parse_expression(stream);
  file.tunables.push_back(std::move(tunable));
}

void parse_scratch(Directive& directive, File& file, OpenPlan&) {
  TokenStream& stream = directive.tokens;
  Scratch scratch;
  scratch.place = directive.place;
  scratch.name = parse_new_name(stream, "a scratch buffer");
  stream.expect(":", "and a type after the scratch buffer's name");
  scratch.dtype = parse_dtype_word(stream);
  scratch.shape = parse_shape(stream);
  if (stream.peek().is("~")) stream.fail("scratch has no distribution", "write `= 0` to initialise every element");
  if (stream.accept("=")) {
    const Token at = stream.peek();
    scratch.initial = parse_number(stream, "an initial value");
    check_initial(stream, at, scratch.dtype, *scratch.initial);
  }
  file.scratches.push_back(std::move(scratch));
}

void parse_for(Directive& directive, File&, OpenPlan& open) {
  TokenStream& stream = directive.tokens;
  OpenPlan::Repeat repeat;
  repeat.step.place = directive.place;
  repeat.step.variable = parse_new_name(stream, "a repeat's variable");
  stream.expect("in", "after the repeat's variable, as in for t in 0..T");
  repeat.step.from = parse_expression(stream);
  stream.expect("..", "between the first value and the one after the last, as in for t in 0..T");
  repeat.step.to = parse_expression(stream);
  repeat.braces = stream.accept("{");
  if (open.repeats.size() >= 16) stream.fail("`for` is nested too deeply");
  open.repeats.push_back(std::move(repeat));
}

void parse_when(Directive& directive, File&, OpenPlan& open) {
  TokenStream& stream = directive.tokens;
  OpenPlan::Repeat when;
  when.step.place = directive.place;
  when.step.from = parse_expression(stream);
  when.braces = stream.accept("{");
  if (open.repeats.size() >= 16) stream.fail("`when` is nested too deeply");
  open.repeats.push_back(std::move(when));
}

void parse_close(Directive& directive, File& file, OpenPlan& open) {
  if (open.repeats.empty() || !open.repeats.back().braces)
    directive.tokens.fail_at({Token::Kind::symbol, "}", directive.place.line, directive.place.column}, "`}` closes no `for … {` and no `when … {`");
  Step step;
  const bool empty = open.repeats.back().step.body.empty(), when = open.repeats.back().step.variable.empty();
  step.step = std::move(open.repeats.back().step);
  open.repeats.pop_back();
  if (empty) directive.tokens.fail_at({Token::Kind::symbol, "}", directive.place.line, directive.place.column}, when ? "this `when` has no steps" : "this `for` repeats nothing");
  open.add(file, std::move(step));
}

void parse_launch(Directive& directive, File& file, OpenPlan& open) {
  TokenStream& stream = directive.tokens;
  LaunchStep launch;
  launch.place = {stream.peek().line, stream.peek().column};
  launch.kernel = parse_kernel_name(stream);
  stream.expect("<<<", "after the kernel's name");
  launch.grid = parse_dim3(stream, "grid");
  stream.expect(",", "and a block after the grid");
  launch.block = parse_dim3(stream, "block");
  if (stream.accept(",")) {
    launch.shared_bytes = parse_expression(stream);
    if (stream.peek().is(",")) stream.fail("a launch names no stream", "the tool owns the streams; leave the fourth operand out");
  }
  stream.expect(">>>", "after the block");
  stream.expect("(", "and the kernel's arguments after `>>>`");
  if (!stream.accept(")")) {
    do launch.arguments.push_back(parse_expression(stream));
    while (stream.accept(","));
    stream.expect(")", "after the kernel's arguments");
  }
  while (!stream.at_end() && !begins_step(stream.peek())) {
    if (stream.accept("cooperative")) {
      launch.cooperative = true;
    } else if (stream.accept("cluster")) {
      if (!launch.cluster.x.empty()) stream.fail("a second cluster");
      stream.expect("(", "after cluster");
      Expression* const parts[] = {&launch.cluster.x, &launch.cluster.y, &launch.cluster.z};
      std::size_t count = 0;
      do {
        if (count == 3) stream.fail("a cluster has three dimensions at most");
        *parts[count++] = parse_expression(stream);
      } while (stream.accept(","));
      stream.expect(")", "after the cluster's dimensions");
    } else if (!stream.accept(";")) {
      const auto near = base::nearest(stream.peek().text, {"cooperative", "cluster"});
      stream.fail(fmt::format("expected `cooperative`, `cluster(x, y, z)` or the end of the line, found {}", describe(stream.peek())),
                  near ? fmt::format("did you mean `{}`?", *near) : "");
    }
  }
  open.add(file, Step{std::move(launch)});
}

void parse_memset(Directive& directive, File& file, OpenPlan& open) {
  TokenStream& stream = directive.tokens;
  MemsetStep memset;
  memset.place = {stream.peek().line, stream.peek().column};
  memset.buffer = stream.expect_name("a buffer's name").text;
  stream.expect("=", "and a byte's value after the buffer's name");
  const Token at = stream.peek();
  const auto value = parse_expression(stream).evaluate_integer({});
  if (!value) stream.fail_at(at, fmt::format("the value of memset is a constant: {}", value.error().message));
  if (*value < 0 || *value > 255) stream.fail_at(at, fmt::format("memset writes bytes: expected 0 to 255, found {}", *value));
  memset.value = *value;
  stream.accept(";");
  open.add(file, Step{std::move(memset)});
}

void parse_copy(Directive& directive, File& file, OpenPlan& open) {
  TokenStream& stream = directive.tokens;
  CopyStep copy;
  copy.place = {stream.peek().line, stream.peek().column};
  copy.variable = stream.expect_name("a `__constant__` variable's name").text;
  while (stream.accept("::")) copy.variable += "::" + stream.expect_name("a name after `::`").text;
  stream.expect("=", "and a buffer's name after the variable's");
  copy.buffer = stream.expect_name("a buffer's name").text;
  stream.accept(";");
  open.add(file, Step{std::move(copy)});
}

}  // namespace cudal1::kernel
