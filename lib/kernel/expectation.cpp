// SPDX-License-Identifier: Apache-2.0
#include "kernel/expectation.hpp"

#include "kernel/complaint.hpp"
#include "kernel/directive_lines.hpp"
#include "kernel/directives.hpp"

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

Expectation read_expectation(TokenStream& stream, Place place) {
  Expectation expectation;
  expectation.place = place;
  expectation.output = parse_output_name(stream);
  stream.expect("=", "and a file after the output's name");
  const Token word = stream.peek();
  const std::size_t from = stream.position();
  while (!stream.at_end()) stream.take();
  const auto source = tensor::parse_distribution(stream.text(from, stream.position()));
  if (!source || source->kind != tensor::Distribution::Kind::file)
    stream.fail_at(word, "what is expected stands in a file", fmt::format("write //@ expect {} = file(\"{}.npy\")", expectation.output, expectation.output));
  expectation.path = source->path;
  return expectation;
}

}  // namespace

// What it says is read again where it is used: the structure of a file has no place for it.
void parse_expect(Directive& directive, File&, OpenPlan&) { read_expectation(directive.tokens, directive.place); }

void print_expectations(const File& file, std::string& out) {
  for (const Expectation& expectation : expectations(file))
    print_line(out, "expect", fmt::format("{} = file(\"{}\")", expectation.output, expectation.path));
}

std::vector<Expectation> expectations(const File& task) {
  std::vector<Expectation> result;
  for (const DirectiveLine& line : directive_lines(task.source)) {
    const FirstWord first = first_word(line);
    if (first.text != "expect") continue;
    const std::string rest = line.text.substr(first.end);
    const int column = line.column + static_cast<int>(first.end);
    try {
      TokenStream stream(lex_directive(rest, task.name, line.line, column), task.name, line.line, column + static_cast<int>(rest.size()));
      result.push_back(read_expectation(stream, {line.line, first.column}));
    } catch (const Complaint&) {
      // parse() has said so.
    }
  }
  return result;
}

}  // namespace cudal1::kernel
