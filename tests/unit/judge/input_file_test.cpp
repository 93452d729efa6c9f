// SPDX-License-Identifier: Apache-2.0
#include "judge/input_file.hpp"

#include "base/error.hpp"

#include "catch.hpp"

using namespace cudal1;

namespace {

kernel::Plan plan() {
  kernel::Plan result;
  for (const auto& [name, bytes, role] : {std::tuple{"x", 8, kernel::PlanBuffer::Role::input},
                                          {"y", 4, kernel::PlanBuffer::Role::output},
                                          {"targets", 16, kernel::PlanBuffer::Role::input}}) {
    kernel::PlanBuffer& buffer = result.buffers.emplace_back();
    buffer.name = name;
    buffer.bytes = static_cast<std::size_t>(bytes);
    buffer.role = role;
  }
  return result;
}

}  // namespace

TEST_CASE("one worker writes a plan's inputs and another reads them; outputs are left out") {
  const judge::InputFile file(plan());
  CHECK(judge::InputFile::bytes(plan()) == 24);
  const std::vector<reference::Bytes> given{reference::Bytes(8, std::byte{1}), {}, reference::Bytes(16, std::byte{2})};
  judge::InputFile::write(file.path(), given);
  CHECK(judge::InputFile::read(file.path(), plan()) == given);
}

TEST_CASE("a file that is gone or too short is an error") {
  std::string path;
  {
    const judge::InputFile file(plan());
    path = file.path();
  }
  CHECK_THROWS_AS(judge::InputFile::read(path, plan()), base::Error);
}
