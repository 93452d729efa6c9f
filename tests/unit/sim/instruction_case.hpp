// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench_device.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace cudal1::sim::test {

// A line of tests/ptx/instructions/table.tsv: an instruction, the operands of 32 lanes, and the results. generate.py
// explains the shape: a letter for each result and operand, p for a predicate, @ for a cell of memory.
struct InstructionCase {
  std::string opcode, shape, tolerance;
  std::vector<std::string> immediates;
  std::vector<std::vector<std::uint64_t>> operands, expected;  // by lane

  std::string results() const { return shape.substr(0, shape.find('=')); }
  std::string sources() const { return shape.substr(shape.find('=') + 1); }
  // Lanes depend on each other, so a warp runs it whole.
  bool whole_warp() const {
    for (const char* name : {"shfl.", "vote.", "match.", "activemask", "elect.", "redux.", "mma."})
      if (opcode.starts_with(name)) return true;
    return false;
  }
};

// The letters of a shape without its braces.
inline std::string letters(const std::string& shape) {
  std::string plain;
  for (const char c : shape)
    if (c != '{' && c != '}') plain += c;
  return plain;
}

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

inline std::vector<InstructionCase> instruction_cases() {
  const auto values = [](const std::string& text) {
    std::vector<std::uint64_t> list;
    for (const auto& value : split(text, ',')) list.push_back(std::stoull(value, nullptr, 16));
    return list;
  };
  std::vector<InstructionCase> cases;
  std::istringstream table(text_of("tests/ptx/instructions/table.tsv"));
  for (std::string line; std::getline(table, line);) {
    const auto columns = split(line, '\t');
    InstructionCase one{columns.at(0), columns.at(1), columns.at(3), {}, {}, {}};
    if (columns[2] != "-") one.immediates = split(columns[2], ',');
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const auto sides = split(columns.at(4 + lane), '=');
      one.operands.push_back(values(sides.at(0)));
      one.expected.push_back(values(sides.at(1)));
    }
    cases.push_back(one);
  }
  return cases;
}

// A module that runs the instruction once for each thread of its blocks. Every value has eight bytes in its array.
inline std::string ptx_of(const InstructionCase& one) {
  const auto registers = [](char letter) { return letter == '8' ? "b64" : letter == '2' || letter == '1' ? "b16" : "b32"; };
  const auto memory = [](char letter) { return letter == '8' ? "b64" : letter == '2' ? "b16" : letter == '1' ? "u8" : "b32"; };
  const std::string results = letters(one.results()), sources = letters(one.sources());
  const bool shared = one.opcode.find(".shared") != std::string::npos;
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry run(\n\t.param .u64 out0";
  for (std::size_t k = 1; k < results.size(); ++k) text += fmt::format(",\n\t.param .u64 out{}", k);
  for (std::size_t k = 0; k < sources.size(); ++k) text += fmt::format(",\n\t.param .u64 in{}", k);
  text += "\n)\n{\n\t.reg .b64 %at, %index, %cell, %was;\n\t.reg .b32 %t, %block, %size;\n\t.reg .pred %p;\n";
  if (shared) text += "\t.shared .align 8 .b8 cells[8192];\n";
  std::string operands;
  for (const char c : one.results()) {
    const auto k = operands.empty() ? 0 : static_cast<std::size_t>(std::count(operands.begin(), operands.end(), '%'));
    if (c == '{') operands += "{";
    else if (c == '}') operands += "}";
    else if (c == 'p') operands += operands.empty() ? "%p" : "|%p";
    else if (c != '@') operands += fmt::format("{}%d{}", k ? ", " : "", k);
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    text += fmt::format("\t.reg .{} %d{};\n", results[k] == '@' ? "b64" : registers(results[k]), k);
  for (std::size_t k = 0; k < sources.size(); ++k) text += fmt::format("\t.reg .{} %s{};\n\t.reg .pred %q{};\n", registers(sources[k]), k, k);
  text += "\tmov.u32 %t, %tid.x;\n\tmov.u32 %block, %ctaid.x;\n\tmov.u32 %size, %ntid.x;\n\tmad.lo.u32 %block, %block, %size, %t;\n";
  text += "\tmul.wide.u32 %index, %block, 8;\n";
  // The old value that an atomic returns and nobody asked for.
  if (results == "@" && one.opcode.starts_with("atom")) {
    text += fmt::format("\t.reg .{} %old;\n", registers(sources.back()));
    operands = "%old";
  }
  for (std::size_t k = 0; k < sources.size(); ++k) {
    text += fmt::format("\tld.param.u64 %at, [in{}];\n\tadd.s64 %at, %at, %index;\n", k);
    if (sources[k] == '@' && shared) {
      text += "\tld.global.b64 %was, [%at];\n\tmov.u64 %cell, cells;\n\tmul.wide.u32 %at, %t, 8;\n\tadd.s64 %cell, %cell, %at;\n\tst.shared.b64 [%cell], %was;\n";
    } else if (sources[k] == '@') {
      text += "\tmov.b64 %cell, %at;\n";
    } else {
      text += fmt::format("\tld.global.{} %s{}, [%at];\n", memory(sources[k]), k);
      if (sources[k] == 'p') text += fmt::format("\tsetp.ne.u32 %q{}, %s{}, 0;\n", k, k);
    }
  }
  std::size_t k = 0;
  for (const char c : one.sources()) {
    const bool opens = !operands.empty() && operands.back() != '{' && c != '}';
    if (opens) operands += ", ";
    if (c == '{' || c == '}') operands += c;
    else if (c == '@') operands += "[%cell]", ++k;
    else operands += fmt::format("%{}{}", c == 'p' ? 'q' : 's', k++);
  }
  for (const std::string& immediate : one.immediates) operands += (operands.empty() ? "" : ", ") + immediate;
  text += fmt::format("\t{} {};\n", one.opcode, operands);
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (results[r] == 'p') text += fmt::format("\tselp.b32 %d{}, 1, 0, %p;\n", r);
    if (results[r] == '@') text += fmt::format("\tld.{}.b64 %d{}, [%cell];\n", shared ? "shared" : "global", r);
    text += fmt::format("\tld.param.u64 %at, [out{}];\n\tadd.s64 %at, %at, %index;\n\tst.global.{} [%at], %d{};\n", r,
                        results[r] == '@' ? "b64" : memory(results[r]), r);
  }
  return text + "\tret;\n}\n";
}

// Whether a result is within `times` the case's tolerance of another.
inline bool agrees(const InstructionCase& one, std::size_t result, std::uint64_t got, std::uint64_t expected, int times = 1) {
  if (got == expected) return true;
  const char letter = letters(one.results()).at(result);
  const auto nan = [&](std::uint64_t v) {
    if (letter == '2') return (v & 0x7fff) > (one.opcode.ends_with("bf16") ? 0x7f80u : 0x7c00u);
    return letter == '4' ? std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(v))) : letter != 'p' && std::isnan(std::bit_cast<double>(v));
  };
  if (one.tolerance == "exact") return false;
  if (nan(got) && nan(expected)) return true;
  if (one.tolerance == "nan") return false;
  const float a = std::bit_cast<float>(static_cast<std::uint32_t>(got)), b = std::bit_cast<float>(static_cast<std::uint32_t>(expected));
  if (one.tolerance[0] == 'a') return std::fabs(a - b) <= times * std::ldexp(1.0, std::stoi(one.tolerance.substr(3)));
  if (one.tolerance[0] == 'b') return std::fabs(a - b) <= times * std::ldexp(std::max(1.0f, std::fabs(b)), std::stoi(one.tolerance.substr(3)));
  if (a == b) return true;
  if (std::signbit(a) != std::signbit(b)) return false;
  return std::llabs(static_cast<long long>(got) - static_cast<long long>(expected)) <= times * std::stoll(one.tolerance);
}

// The results of `operands` (by thread) on a device: by result, then by thread. Throws what the run says when it fails.
inline std::vector<std::vector<std::uint64_t>> results_of(device::Device& device, const InstructionCase& one,
                                                          const std::vector<std::vector<std::uint64_t>>& operands, std::uint32_t blocks, std::uint32_t threads) {
  Bench bench(device);
  bench.load(ptx_of(one), "");
  const std::size_t results = letters(one.results()).size();
  for (std::size_t r = 0; r < results; ++r) bench.input(std::vector<std::uint64_t>(operands.size(), 0));
  for (std::size_t k = 0; k < letters(one.sources()).size(); ++k) {
    std::vector<std::uint64_t> values;
    for (const auto& lane : operands) values.push_back(lane.at(k));
    bench.input(values);
  }
  const auto run = bench.run("run", {blocks, 1, 1}, {threads, 1, 1});
  if (run.status != device::RunResult::Status::ok) throw std::runtime_error(fmt::format("{}: {}", one.opcode, run.message));
  std::vector<std::vector<std::uint64_t>> values;
  for (std::size_t r = 0; r < results; ++r) values.push_back(bench.read<std::uint64_t>(r));
  return values;
}

// Runs the case with `threads` lanes and returns what differs, in words; empty: nothing.
inline std::string run_case(device::Device& device, const InstructionCase& one, std::uint32_t threads) {
  const auto values = results_of(device, one, one.operands, 1, threads);
  for (std::size_t lane = 0; lane < 32; ++lane)
    for (std::size_t r = 0; r < values.size(); ++r) {
      const std::uint64_t expected = lane < threads ? one.expected[lane].at(r) : 0;
      if (lane < threads ? agrees(one, r, values[r][lane], expected) : values[r][lane] == 0) continue;
      std::string operands;
      for (const std::uint64_t v : one.operands[lane]) operands += fmt::format(" {:#x}", v);
      return fmt::format("{} ({}) lane {}:{} gives {:#x}, expected {:#x}", one.opcode, one.shape, lane, operands, values[r][lane], expected);
    }
  return "";
}

}  // namespace cudal1::sim::test
