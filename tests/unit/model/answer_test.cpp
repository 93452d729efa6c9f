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

TEST_CASE("the last code block of the third section that holds a kernel is the kernel file") {
  const auto two = good + "\nBetter:\n\n~~~~\n//@ launch second<<<1, 1>>>()\n```\nstill second\n~~~~\n";
  CHECK(parse_answer(two)->source == "//@ launch second<<<1, 1>>>()\n```\nstill second\n");
  CHECK(parse_answer(two + "\n```\nnvcc best.cu\n```\n")->source == parse_answer(two)->source);
}

TEST_CASE("headings inside code blocks are no headings") {
  CHECK(problem(replaced(good, "The second one", "```\n## Algorithm Design\n```\nThe second one")).empty());
}

TEST_CASE("what costs no guess is read") {
  const std::string code = parse_answer(good)->source;
  const auto source = [](const std::string& reply) {
    const auto answer = parse_answer(reply);
    return answer ? answer->source : "not read: " + answer.error();
  };
  const auto all = [](std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
    return text;
  };
  CHECK(source(all(good, "## ", "### ")) == code);
  CHECK(source(all(good, "## ", "# ")) == code);
  const auto bold = all(all(all(good, "## Performance Analysis", "**Performance Analysis**"), "## Algorithm Design", "**Algorithm Design:**"), "## Code Implementation",
                        "**Code Implementation**");
  CHECK(source(bold) == code);
  CHECK(parse_answer(bold)->analysis == "The second one reads A once.");
  CHECK(source("```cuda\n" + code + "```\n") == code);
  CHECK(source("Here it is:\n\n```\n" + code + "```\nIt reads once.\n") == code);
  CHECK(parse_answer("It reads once.\n\n```\n" + code + "```\n")->analysis == "It reads once.");
  CHECK(source(code) == code);
  CHECK(source("```markdown\n" + good + "```\n") == code);
  CHECK(source("```\n" + good + "```") == code);
  CHECK(source(good + "\nUsage:\n\n```cpp\nk<<<1, 32>>>(A);\n```\n") == code);
  CHECK(source("A sketch:\n```\n__global__ void k(float*);\n```\n" + good) == code);
  CHECK(source(replaced(good, "## Algorithm Design\n", "")) == code);
  CHECK(source(good + good) == code);
  CHECK(source(all(all(good, "```cuda\n", ""), "```\n", "")) == code);
}

TEST_CASE("code without a fence begins at its first line, whatever that is") {
  const std::string code = parse_answer(good)->source;
  const auto source = [](const std::string& reply) { return parse_answer(reply).value_or(cudal1::model::Answer{}).source; };
  for (const std::string first : {"struct Pair { float a, b; };", "__constant__ float table[4] = {1, 2, 3, 4};", "float twice(float x) { return 2 * x; }", "#if 1\n#endif", "typedef float real;"})
    CHECK(source(first + "\n" + code) == first + "\n" + code);
  CHECK(source("Here is the kernel, as you asked.\n\n" + code) == code);
}

TEST_CASE("a reply that breaks the protocol is told how") {
  CHECK(problem("") == "the reply is empty");
  CHECK(problem("  \n") == "the reply is empty");
  CHECK_THAT(problem("No."), containing("the reply holds no code"));
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
