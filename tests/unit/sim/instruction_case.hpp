// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench_device.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace cudal1::sim::test {

// A line of tests/ptx/instructions/table.tsv: an instruction, the operands of 32 lanes, and the results.
struct InstructionCase {
  std::string opcode, shape, tolerance;  // shape "4=44": bytes of the result and of each operand, p for a predicate
  std::vector<std::string> immediates;
  std::vector<std::vector<std::uint64_t>> operands;  // by lane
  std::vector<std::uint64_t> expected;
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

inline std::vector<InstructionCase> instruction_cases() {
  std::vector<InstructionCase> cases;
  std::istringstream table(text_of("tests/ptx/instructions/table.tsv"));
  for (std::string line; std::getline(table, line);) {
    const auto columns = split(line, '\t');
    InstructionCase one{columns.at(0), columns.at(1), columns.at(3), {}, {}, {}};
    if (columns[2] != "-") one.immediates = split(columns[2], ',');
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const auto sides = split(columns.at(4 + lane), '=');
      one.operands.emplace_back();
      for (const auto& value : split(sides.at(0), ',')) one.operands.back().push_back(std::stoull(value, nullptr, 16));
      one.expected.push_back(std::stoull(sides.at(1), nullptr, 16));
    }
    cases.push_back(one);
  }
  return cases;
}

// A module that runs the instruction once for each thread. Every value has eight bytes in its array.
inline std::string ptx_of(const InstructionCase& one) {
  const auto registers = [](char width) { return width == '8' ? "b64" : width == '4' ? "b32" : "b16"; };
  const auto memory = [](char width) { return width == '8' ? "b64" : width == '4' ? "b32" : width == '2' ? "b16" : "u8"; };
  const char result = one.shape[0];
  const std::string sources = one.shape.substr(2);
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry run(\n\t.param .u64 out";
  for (std::size_t k = 0; k < sources.size(); ++k) text += fmt::format(",\n\t.param .u64 in{}", k);
  text += "\n)\n{\n\t.reg .b64 %at, %lane;\n\t.reg .b32 %t;\n\t.reg .pred %p;\n";
  text += fmt::format("\t.reg .{} %d;\n", result == 'p' ? "b32" : registers(result));
  for (std::size_t k = 0; k < sources.size(); ++k) text += fmt::format("\t.reg .{} %s{};\n", registers(sources[k]), k);
  text += "\tmov.u32 %t, %tid.x;\n\tmul.wide.u32 %lane, %t, 8;\n";
  std::string operands = result == 'p' ? "%p" : "%d";
  for (std::size_t k = 0; k < sources.size(); ++k) {
    text += fmt::format("\tld.param.u64 %at, [in{}];\n\tadd.s64 %at, %at, %lane;\n\tld.global.{} %s{}, [%at];\n", k, memory(sources[k]), k);
    operands += fmt::format(", %s{}", k);
  }
  for (const std::string& immediate : one.immediates) operands += ", " + immediate;
  text += fmt::format("\t{} {};\n", one.opcode, operands);
  if (result == 'p') text += "\tselp.b32 %d, 1, 0, %p;\n";
  text += fmt::format("\tld.param.u64 %at, [out];\n\tadd.s64 %at, %at, %lane;\n\tst.global.{} [%at], %d;\n\tret;\n}}\n", memory(result == 'p' ? '4' : result));
  return text;
}

inline bool agrees(const InstructionCase& one, std::uint64_t got, std::uint64_t expected) {
  if (got == expected) return true;
  const auto nan = [&](std::uint64_t v) {
    return one.shape[0] == '8' ? std::isnan(std::bit_cast<double>(v)) : one.shape[0] == '4' && std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(v)));
  };
  if (one.tolerance == "exact") return false;
  if (nan(got) && nan(expected)) return true;
  if (one.tolerance == "nan") return false;
  const float a = std::bit_cast<float>(static_cast<std::uint32_t>(got)), b = std::bit_cast<float>(static_cast<std::uint32_t>(expected));
  if (one.tolerance[0] == 'a') return std::fabs(a - b) <= std::ldexp(1.0, std::stoi(one.tolerance.substr(3)));
  if (a == b) return true;
  if (std::signbit(a) != std::signbit(b)) return false;
  return std::llabs(static_cast<long long>(got) - static_cast<long long>(expected)) <= std::stoll(one.tolerance);
}

// Runs the case with `threads` lanes and returns what differs, in words; empty: nothing.
inline std::string run_case(device::Device& device, const InstructionCase& one, std::uint32_t threads) {
  Bench bench(device);
  bench.load(ptx_of(one), "");
  const auto out = bench.input(std::vector<std::uint64_t>(32, 0));
  const std::size_t count = one.shape.size() - 2;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<std::uint64_t> values;
    for (const auto& lane : one.operands) values.push_back(lane.at(k));
    bench.input(values);
  }
  const auto result = bench.run("run", {1, 1, 1}, {threads, 1, 1});
  if (result.status != device::RunResult::Status::ok) return fmt::format("{}: {}", one.opcode, result.message);
  const auto values = bench.read<std::uint64_t>(out);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::uint64_t expected = lane < threads ? one.expected[lane] : 0;
    const bool right = lane < threads ? agrees(one, values[lane], expected) : values[lane] == 0;
    if (right) continue;
    std::string operands;
    for (const std::uint64_t v : one.operands[lane]) operands += fmt::format(" {:#x}", v);
    return fmt::format("{} ({}) lane {}:{} gives {:#x}, expected {:#x}", one.opcode, one.shape, lane, operands, values[lane], expected);
  }
  return "";
}

}  // namespace cudal1::sim::test
