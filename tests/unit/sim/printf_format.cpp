// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "sim/printf_format.hpp"

#include <bit>
#include <string>
#include <vector>

using namespace cudal1;

namespace {

// The arguments in order, as 8 bytes each whatever their size.
std::string said(const std::string& format, std::vector<std::uint64_t> values = {}) {
  std::size_t next = 0;
  sim::PrintfArguments arguments;
  arguments.take = [&](std::size_t bytes) {
    const std::uint64_t value = next < values.size() ? values[next] : 0;
    ++next;
    return bytes == 4 ? value & 0xffffffff : value;
  };
  arguments.text = [](std::uint64_t address) { return "text " + std::to_string(address); };
  return sim::printf_text(format, arguments);
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

}  // namespace

TEST_CASE("printf's conversions print what C prints") {
  CHECK(said("%d %i %u", {static_cast<std::uint64_t>(-7), 7, static_cast<std::uint64_t>(-1)}) == "-7 7 4294967295");
  CHECK(said("%lld %llu %#llx", {static_cast<std::uint64_t>(-1), 1ULL << 40, 255}) == "-1 1099511627776 0xff");
  CHECK(said("[%5d|%-5d|%05d|%+d|% d|%.3d]", {42, 42, 42, 42, 42, 4}) == "[   42|42   |00042|+42| 42|004]");
  CHECK(said("%x %X %o %#o", {255, 255, 8, 8}) == "ff FF 10 010");
  CHECK(said("%hd %hhu", {0x1ffff, 0x1ff}) == "-1 255");
  CHECK(said("%f %.2f %e %g %G", {bits(1.5), bits(-2.345), bits(12345.0), bits(1e-10), bits(1e-10)}) == "1.500000 -2.35 1.234500e+04 1e-10 1E-10");
  CHECK(said("%a %8.1f|%-8.1f|%08.1f", {bits(1.0), bits(2.5), bits(2.5), bits(-2.5)}) == "0x1p+0      2.5|2.5     |-00002.5");
  CHECK(said("%f %F %05f", {bits(1.0 / 0.0), bits(-1.0 / 0.0), bits(1.0 / 0.0)}) == "inf -INF   inf");
  CHECK(said("%c%c %s %.4s|%9s", {'a', 'b', 3, 4, 5}) == "ab text 3 text|   text 5");
  CHECK(said("%p %%", {0x1234}) == "0x1234 %");
  CHECK(said("%*d %-*d|%.*f", {5, 1, 3, 2, 1, bits(0.25)}) == "    1 2  |0.2");
}

TEST_CASE("what CUDA's printf does not know is printed as it stands, and takes no argument") {
  CHECK(said("%n %d", {7}) == "%n 7");
  CHECK(said("%lln|%5hhn|%S|%C|%m|%y %d", {7}) == "%lln|%5hhn|%S|%C|%m|%y 7");
  CHECK(said("ends in %") == "ends in %");
  CHECK(said("ends in %-12.") == "ends in %-12.");
}

TEST_CASE("widths and precisions are bounded") {
  CHECK(said("%2147483647d", {1}).size() == 1000);
  CHECK(said("%99999999999999999999d", {1}).size() == 1000);
  CHECK(said("%*d", {0x80000000, 1}).size() == 1000);
  CHECK(said("%.2000000000f", {bits(1.0)}).size() < 300);
  CHECK(said("%.*d", {static_cast<std::uint64_t>(-1), 1}) == "1");
  CHECK(said("%.400f", {bits(1.7976931348623157e308)}).size() < 800);
}
