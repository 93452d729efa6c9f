// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "record/fat_binary.hpp"

#include <cstdint>
#include <string>

using namespace cudal1;

namespace {

template <typename T>
void put(std::string& text, std::size_t offset, T value) {
  text.replace(offset, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
}

// One entry as nvcc lays it out; `plain` bytes when `flags` say that the content is compressed.
std::string entry(std::uint16_t kind, std::uint32_t arch, std::uint64_t flags, const std::string& content, std::uint64_t plain) {
  std::string header(64, '\0');
  put<std::uint16_t>(header, 0, kind);
  put<std::uint32_t>(header, 4, 64);
  put<std::uint64_t>(header, 8, content.size());
  put<std::uint32_t>(header, 16, static_cast<std::uint32_t>(content.size()));
  put<std::uint32_t>(header, 28, arch);
  put<std::uint64_t>(header, 40, flags);
  put<std::uint64_t>(header, 56, plain);
  return header + content;
}

std::string fat(const std::string& entries) {
  std::string header(16, '\0');
  put<std::uint32_t>(header, 0, 0xba55ed50);
  put<std::uint16_t>(header, 4, 1);
  put<std::uint16_t>(header, 6, 16);
  put<std::uint64_t>(header, 8, entries.size());
  return header + entries;
}

}  // namespace

TEST_CASE("the newest PTX of a fat binary is taken") {
  const auto entries = record::read_fat_binary(fat(entry(1, 80, 0, "old", 0) + entry(2, 90, 0, "\x7f" "ELF", 0) + entry(1, 90, 0, std::string("new\0\0", 5), 0)));
  REQUIRE(entries);
  CHECK(entries->size() == 3);
  CHECK(record::newest_ptx(*entries).value() == "new");
}

TEST_CASE("PTX that LZ4 packed is unpacked") {
  // Four literals, a match of twelve bytes four back, five literals.
  const std::string packed("\x48" "abcd" "\x04\x00" "\x50" "fghij", 13);
  const auto entries = record::read_fat_binary(fat(entry(1, 90, 0x2000, packed, 21)));
  REQUIRE(entries);
  CHECK(entries->front().content == "abcdabcdabcdabcdfghij");
}

TEST_CASE("damaged fat binaries are refused in one sentence") {
  CHECK(record::read_fat_binary("nothing").error() == "it is no fat binary");
  CHECK(record::read_fat_binary(fat(entry(1, 90, 0x2000, std::string("\x48" "abcd" "\x09\x00" "\x50" "fghij", 13), 21))).error() == "its LZ4 data is damaged");
  std::string cut = fat(entry(1, 90, 0, "text", 0));
  put<std::uint64_t>(cut, 16 + 8, 4000);
  CHECK(record::read_fat_binary(cut).error() == "its fat binary is cut off");
  CHECK_THAT(record::newest_ptx(*record::read_fat_binary(fat(entry(2, 90, 0, "x", 0)))).error(), containing("without PTX"));
}
