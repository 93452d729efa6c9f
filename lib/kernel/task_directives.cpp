// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "kernel/directives.hpp"
#include "kernel/expression_node.hpp"
#include "kernel/names.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::kernel {

std::string parse_new_name(TokenStream& stream, std::string_view what) {
  const Token token = stream.expect_name(fmt::format("{}'s name", what));
  if (const auto reason = reserved_for(token.text); !reason.empty())
    stream.fail_at(token, fmt::format("{} cannot be called `{}`: it is {}", what, token.text, reason));
  return token.text;
}

namespace {

// Unsigned integers are held as the signed type of their width: the same bits.
std::optional<tensor::Dtype> unsigned_dtype(std::string_view name) {
  if (name == "uint16") return tensor::Dtype::int16;
  if (name == "uint32") return tensor::Dtype::int32;
  if (name == "uint64") return tensor::Dtype::int64;
  return std::nullopt;
}

}  // namespace

tensor::Dtype parse_dtype_word(TokenStream& stream) {
  const Token token = stream.expect_name("a type such as float32");
  if (const auto dtype = tensor::parse_dtype(token.text)) return *dtype;
  if (const auto dtype = unsigned_dtype(token.text)) return *dtype;
  // What CUDA and others call the types.
  static const std::vector<std::pair<std::string_view, std::string_view>> other_names = {
      {"float", "float32"},  {"double", "float64"},  {"half", "float16"},    {"__half", "float16"},   {"int", "int32"},
      {"char", "int8"},      {"long", "int64"},      {"size_t", "int64"},    {"int32_t", "int32"},    {"int64_t", "int64"},
      {"uint8_t", "uint8"},  {"int8_t", "int8"},     {"int16_t", "int16"},   {"short", "int16"},      {"fp16", "float16"},
      {"fp32", "float32"},   {"fp64", "float64"},    {"bf16", "bfloat16"},   {"nv_bfloat16", "bfloat16"}, {"f32", "float32"},
      {"__nv_bfloat16", "bfloat16"}};
  std::string hint;
  for (const auto& [other, ours] : other_names)
    if (other == token.text) hint = fmt::format("types carry PyTorch's names: write `{}`", ours);
  if (const auto near = base::nearest(token.text, tensor::dtype_names()); hint.empty() && near)
    hint = fmt::format("did you mean `{}`?", *near);
  if (hint.empty()) hint = fmt::format("known types: {}", fmt::join(tensor::dtype_names(), " "));
  stream.fail_at(token, fmt::format("unknown type `{}`", token.text), hint);
}

std::vector<Expression> parse_shape(TokenStream& stream) {
  std::vector<Expression> shape;
  if (!stream.accept("[")) return shape;
  if (stream.accept("]")) return shape;
  do shape.push_back(parse_expression(stream));
  while (stream.accept(","));
  stream.expect("]", "after the shape");
  return shape;
}

std::string shape_text(const std::vector<Expression>& shape) {
  if (shape.empty()) return {};
  std::vector<std::string> parts;
  for (const Expression& extent : shape) parts.push_back(extent.text());
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string parse_output_name(TokenStream& stream) {
  std::string name = stream.expect_name("an output's name").text;
  if (stream.accept(".")) name += "." + stream.expect_name("a member of the structure").text;
  return name;
}

double parse_number(TokenStream& stream, std::string_view what) {
  const Token first = stream.peek();
  const bool negative = stream.accept("-");
  const Token token = stream.take();
  double value = 0;
  const char* const end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  const bool number = token.kind == Token::Kind::integer || token.kind == Token::Kind::real;
  if (!number || error != std::errc() || stop != end || !std::isfinite(value))
    stream.fail_at(negative ? first : token, fmt::format("expected {}, found {}", what, describe(token)));
  return negative ? -value : value;
}

void parse_task(Directive& directive, File& file, OpenPlan&) {
  if (!file.task.empty()) directive.tokens.fail(fmt::format("the task is already named {}", file.task));
  file.task = parse_new_name(directive.tokens, "a task");
}

void parse_torch(Directive& directive, File& file, OpenPlan&) {
  const std::string_view text = base::trim(directive.raw);
  if (text.empty()) directive.tokens.fail("expected an expression such as C = A @ B after `torch`");
  if (file.torch) directive.tokens.fail("a second torch line", fmt::format("the first is on line {}; several statements are joined by `;`", file.torch->second.line));
  const auto blanks = static_cast<int>(directive.raw.find_first_not_of(" \t"));
  file.torch = {std::string(text), Place{directive.raw_place.line, directive.raw_place.column + blanks}};
}

namespace {

SizeLine parse_assignments(Directive& directive) {
  TokenStream& stream = directive.tokens;
  SizeLine line;
  line.place = directive.place;
  do {
    const Token at = stream.peek();
    std::string name = parse_new_name(stream, "a size");
    for (const auto& [other, value] : line.values)
      if (other == name) stream.fail_at(at, fmt::format("size {} is given twice on this line", name));
    stream.expect("=", fmt::format("after the size's name {}", name));
    line.values.emplace_back(std::move(name), parse_expression(stream));
  } while (stream.accept(","));
  return line;
}

}  // namespace

void parse_size(Directive& directive, File& file, OpenPlan&) {
  SizeLine line = parse_assignments(directive);
  if (directive.tokens.accept("weight")) {
    const Token at = directive.tokens.peek();
    line.weight = parse_number(directive.tokens, "a weight");
    if (!(line.weight > 0)) directive.tokens.fail_at(at, "a weight is greater than 0");
  }
  file.sizes.push_back(std::move(line));
}

void parse_check(Directive& directive, File& file, OpenPlan&) {
  SizeLine line = parse_assignments(directive);
  if (directive.tokens.peek().is("weight")) directive.tokens.fail("check lines have no weight: each must be right");
  file.checks.push_back(std::move(line));
}

void parse_scalar(Directive& directive, File& file, OpenPlan&) {
  TokenStream& stream = directive.tokens;
  Scalar scalar;
  scalar.place = directive.place;
  scalar.name = parse_new_name(stream, "a scalar");
  stream.expect(":", "and a type after the scalar's name");
  scalar.dtype = parse_dtype_word(stream);
  if (stream.peek().is("[")) stream.fail("a scalar has no shape", "declare it as an input to pass a pointer");
  stream.expect("=", "and a value after the scalar's type");
  scalar.value = parse_expression(stream);
  file.scalars.push_back(std::move(scalar));
}

namespace {

// What stands after `~`: the words up to the end, or to a comma outside of brackets.
tensor::Distribution parse_values(TokenStream& stream, const File& file) {
  static const std::vector<std::string> kinds = {"normal", "uniform", "randint", "zeros", "ones", "arange", "file", "constant", "sorted", "permutation", "offsets"};
  const Token kind = stream.expect_name("a distribution such as normal");
  if (std::find(kinds.begin(), kinds.end(), kind.text) == kinds.end()) {
    const auto near = base::nearest(kind.text, kinds);
    stream.fail_at(kind, fmt::format("unknown distribution `{}`", kind.text),
                   near ? fmt::format("did you mean `{}`?", *near)
                        : "known: normal[(mean, deviation)] uniform(lo, hi) randint(lo, hi) sorted(lo, hi) constant(x) permutation offsets(total) zeros ones arange file(\"x.npy\")");
  }
  const std::size_t from = stream.position();
  int depth = 0;
  while (!stream.at_end() && (depth > 0 || !stream.peek().is(","))) {
    const Token token = stream.take();
    depth += token.is("(") ? 1 : token.is(")") ? -1 : 0;
  }
  auto distribution = tensor::parse_distribution(kind.text + stream.text(from, stream.position()));
  if (!distribution) stream.fail_at(kind, distribution.error());
  for (std::string* bound : {&distribution->low_text, &distribution->high_text}) {
    if (bound->empty()) continue;
    const auto expression = Expression::parse(*bound, file.name, kind.line, kind.column);
    if (!expression) stream.fail_at(kind, fmt::format("{} is neither a number nor an expression of sizes", *bound), expression.error().message);
    *bound = expression->text();
  }
  return *std::move(distribution);
}

constexpr tensor::Distribution::Kind randint = tensor::Distribution::Kind::randint;

// `bodies: Body[N] ~ position: normal, id: randint(0, 8)`, from the type on.
void parse_members(TokenStream& stream, File& file, const Buffer& whole, const Structure& structure) {
  const Token type = stream.take();
  const std::vector<Expression> shape = parse_shape(stream);
  const std::size_t first = file.buffers.size();
  for (const Structure::Member& member : structure.members) {
    Buffer buffer = whole;
    buffer.name = whole.name + "." + member.name;
    buffer.dtype = member.dtype;
    buffer.shape = shape;
    if (member.count > 0) buffer.shape.push_back(*Expression::parse(fmt::format("{}", member.count), file.name, type.line, type.column));
    buffer.within = {whole.name, structure.name, member.offset, structure.bytes, tensor::size_of(member.dtype) * static_cast<std::size_t>(std::max<std::int64_t>(1, member.count))};
    file.buffers.push_back(std::move(buffer));
  }
  if (!stream.accept("~")) return;
  if (whole.role == Buffer::Role::output) stream.fail("an output has no distribution", "a buffer that is read and written is `inout`");
  do {
    const Token name = stream.expect_name("a member of the structure");
    const std::string full = whole.name + "." + name.text;
    const auto found = std::find_if(file.buffers.begin() + static_cast<std::ptrdiff_t>(first), file.buffers.end(), [&](const Buffer& b) { return b.name == full; });
    if (found == file.buffers.end()) stream.fail_at(name, fmt::format("{} has no member {}", structure.name, name.text));
    if (found->distribution) stream.fail_at(name, fmt::format("the values of {} are given twice", full));
    stream.expect(":", "and a distribution after the member's name");
    found->distribution = parse_values(stream, file);
  } while (stream.accept(","));
}

}  // namespace

void parse_struct(Directive& directive, File& file, OpenPlan&) {
  TokenStream& stream = directive.tokens;
  Structure structure;
  structure.place = directive.place;
  const Token name = stream.peek();
  structure.name = parse_new_name(stream, "a structure");
  for (const Structure& other : file.structures)
    if (other.name == structure.name) stream.fail_at(name, fmt::format("a second structure {}", structure.name));
  if (tensor::parse_dtype(structure.name)) stream.fail_at(name, fmt::format("{} is a type already", structure.name));
  stream.expect("=", "and members after the structure's name");
  std::size_t alignment = 1;
  do {
    const Token at = stream.peek();
    Structure::Member member;
    member.name = stream.expect_name("a member's name").text;
    for (const auto& other : structure.members)
      if (other.name == member.name) stream.fail_at(at, fmt::format("a second member {}", member.name));
    stream.expect(":", "and a type after the member's name");
    member.dtype = parse_dtype_word(stream);
    if (stream.accept("[")) {
      const Token count = stream.peek();
      const double number = parse_number(stream, "a number of elements");
      if (!(number >= 1 && number <= 65536) || number != std::floor(number)) stream.fail_at(count, "a member's extent is a whole number from 1 to 65536");
      member.count = static_cast<std::int64_t>(number);
      stream.expect("]", "after the extent");
    }
    const std::size_t size = tensor::size_of(member.dtype);
    alignment = std::max(alignment, size);
    member.offset = (structure.bytes + size - 1) / size * size;
    if (stream.accept("at")) {
      const Token place = stream.peek();
      const double number = parse_number(stream, "the member's first byte");
      if (!(number >= static_cast<double>(structure.bytes) && number <= 65536) || number != std::floor(number))
        stream.fail_at(place, fmt::format("{} begins at byte {} at the earliest", member.name, structure.bytes));
      member.offset = static_cast<std::size_t>(number);
    }
    structure.bytes = member.offset + size * static_cast<std::size_t>(std::max<std::int64_t>(1, member.count));
    structure.members.push_back(std::move(member));
  } while (stream.accept(","));
  structure.bytes = (structure.bytes + alignment - 1) / alignment * alignment;
  if (stream.accept("bytes")) {
    const Token place = stream.peek();
    const double number = parse_number(stream, "the structure's bytes");
    if (!(number >= static_cast<double>(structure.members.back().offset) && number <= 1 << 20) || number != std::floor(number) ||
        static_cast<std::size_t>(number) < structure.members.back().offset + tensor::size_of(structure.members.back().dtype) * static_cast<std::size_t>(std::max<std::int64_t>(1, structure.members.back().count)))
      stream.fail_at(place, fmt::format("the members of {} take more bytes", structure.name));
    structure.bytes = static_cast<std::size_t>(number);
  }
  file.structures.push_back(std::move(structure));
}

void parse_buffer(Directive& directive, File& file, OpenPlan&) {
  TokenStream& stream = directive.tokens;
  Buffer buffer;
  buffer.place = directive.place;
  buffer.role = directive.word == "input" ? Buffer::Role::input : directive.word == "output" ? Buffer::Role::output : Buffer::Role::inout;
  buffer.name = parse_new_name(stream, fmt::format("an {}", directive.word));
  stream.expect(":", "and a type after the buffer's name");
  for (const Structure& structure : file.structures)
    if (stream.peek().is(structure.name)) return parse_members(stream, file, buffer, structure);
  if (unsigned_dtype(stream.peek().text) && buffer.role != Buffer::Role::output)
    buffer.distribution = tensor::Distribution{randint, 0, 8, "", "", ""};
  buffer.dtype = parse_dtype_word(stream);
  buffer.shape = parse_shape(stream);
  if (stream.peek().is("~")) {
    if (buffer.role == Buffer::Role::output) stream.fail("an output has no distribution", "a buffer that is read and written is `inout`");
    stream.take();
    buffer.distribution = parse_values(stream, file);
  }
  file.buffers.push_back(std::move(buffer));
}

void parse_tolerance(Directive& directive, File& file, OpenPlan&) {
  TokenStream& stream = directive.tokens;
  Tolerance tolerance;
  tolerance.place = directive.place;
  if (stream.peek().kind == Token::Kind::identifier && !stream.peek().is("relative") && !stream.peek().is("absolute"))
    tolerance.output = parse_output_name(stream);
  if (stream.accept("=")) {
    tolerance.relative = tolerance.absolute = parse_number(stream, "a tolerance such as 1e-3");
  } else {
    stream.accept(":");
    bool relative = false, absolute = false;
    while (!stream.at_end()) {
      if (!relative && stream.accept("relative")) {
        relative = true;
        tolerance.relative = parse_number(stream, "a relative tolerance such as 1e-3");
      } else if (!absolute && stream.accept("absolute")) {
        absolute = true;
        tolerance.absolute = parse_number(stream, "an absolute tolerance such as 1e-5");
      } else {
        stream.fail(fmt::format("expected `= 1e-3` or `: relative 1e-3 absolute 1e-5`, found {}", describe(stream.peek())));
      }
    }
    if (!relative && !absolute) stream.fail("expected `= 1e-3` or `: relative 1e-3 absolute 1e-5` after `tolerance`");
  }
  if (tolerance.relative < 0 || tolerance.absolute < 0) stream.fail("a tolerance is not negative");
  file.tolerances.push_back(std::move(tolerance));
}

void parse_include(Directive& directive, File& file, OpenPlan&) {
  std::string_view path = base::trim(directive.raw);
  if (path.size() >= 2 && path.front() == '"' && path.back() == '"') path = path.substr(1, path.size() - 2);
  if (path.empty() || path.find('"') != std::string_view::npos)
    directive.tokens.fail("expected a folder after `include`", "write //@ include \"folder\"");
  file.includes.emplace_back(path);
}

void parse_option(Directive& directive, File& file, OpenPlan&) {
  std::string_view text = base::trim(directive.raw);
  if (text.empty()) directive.tokens.fail("expected compiler options after `option`, such as --use_fast_math");
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    file.options.emplace_back(text.substr(0, end));
    text = base::trim(text.substr(end));
  }
}

}  // namespace cudal1::kernel
