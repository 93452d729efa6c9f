// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "model/answer.hpp"

using cudal1::model::parse_answer;

namespace {

const std::string good = R"(## Performance Analysis

The second one reads A once.

## Algorithm Design

1. One thread per element.

**Techniques:** Algebra, coalesced access.

## Code Implementation

```cuda
//@ launch k<<<1, 32>>>(A)
__global__ void k(float* A) {}
```
)";

std::string problem(const std::string& reply) {
  const auto answer = parse_answer(reply);
  return answer ? "" : answer.error();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a reply is taken apart at its three headings") {
  const auto answer = parse_answer(good);
  REQUIRE(answer);
  CHECK(answer->analysis == "The second one reads A once.");
  CHECK_THAT(answer->design, containing("One thread per element."));
  CHECK(answer->source == "//@ launch k<<<1, 32>>>(A)\n__global__ void k(float* A) {}\n");
  CHECK(answer->techniques == std::vector<std::string>{"algebra", "coalesced access"});
}

TEST_CASE("line ends of Windows, decorated headings and a preface are read") {
  std::string windows;
  for (const char c : good) windows += c == '\n' ? "\r\n" : std::string(1, c);
  CHECK(parse_answer(windows)->source == parse_answer(good)->source);
  CHECK(problem(replaced(good, "## Algorithm Design", "## 2. **Algorithm Design**:")).empty());
  CHECK(problem("Sure, here it is.\n\n" + good).empty());
}

TEST_CASE("reasoning in front of the answer is ignored") {
  CHECK(parse_answer("<think>\n## Code Implementation\n</think>\n" + good)->analysis == "The second one reads A once.");
  CHECK(problem("<think> and then it ended " + good) == "the reply holds reasoning only");
}

TEST_CASE("the last code block of the third section is the kernel file") {
  const auto two = good + "\nBetter:\n\n~~~~\nsecond\n```\nstill second\n~~~~\n";
  CHECK(parse_answer(two)->source == "second\n```\nstill second\n");
}

TEST_CASE("headings inside code blocks are no headings") {
  CHECK(problem(replaced(good, "The second one", "```\n## Algorithm Design\n```\nThe second one")).empty());
}

TEST_CASE("a reply that breaks the protocol is told how") {
  CHECK(problem("") == "the reply is empty");
  CHECK(problem("  \n") == "the reply is empty");
  CHECK(problem("No.") == "the heading «## Performance Analysis» is missing");
  CHECK(problem(replaced(good, "## Algorithm Design", "## Design")) ==
        "the heading «## Code Implementation» comes where «## Algorithm Design» was expected");
  CHECK(problem(replaced(good, "## Code Implementation", "### Code Implementation")) ==
        "the heading «## Code Implementation» is missing");
  CHECK(problem(good + good) == "the heading «## Performance Analysis» appears twice");
  CHECK(problem(good.substr(0, good.find("```cuda"))) ==
        "the section «## Code Implementation» holds no fenced code block");
  CHECK(problem(good.substr(0, good.rfind("```"))) == "the code block of «## Code Implementation» is not closed");
  CHECK(problem(replaced(good, "//@ launch k<<<1, 32>>>(A)\n__global__ void k(float* A) {}\n", " \n")) ==
        "the code block of «## Code Implementation» is empty");
}

TEST_CASE("every beginning of a reply is read without a fault") {
  for (std::size_t length = 0; length <= good.size(); ++length) parse_answer(good.substr(0, length));
  SUCCEED();
}
