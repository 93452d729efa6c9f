// SPDX-License-Identifier: Apache-2.0
#include "sim/machine.hpp"

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::size_t most_findings = 200;  // per worker

std::array<std::uint32_t, 3> thread_index(const Launch& launch, std::uint32_t linear) {
  return {linear % launch.block[0], linear / launch.block[0] % launch.block[1], linear / launch.block[0] / launch.block[1]};
}

}  // namespace

void report_at(Warp& warp, std::uint32_t statement, outcome::Finding::Kind kind, int lane, std::uint64_t address,
               const std::string& message) {
  Worker& worker = *warp.worker;
  Launch& launch = *worker.launch;
  launch.finding_count.fetch_add(1, std::memory_order_relaxed);
  if (worker.reported[{static_cast<int>(kind), statement}]++ > 0 || worker.findings.size() >= most_findings) return;
  const StatementFacts& facts = launch.program->statements[statement];
  outcome::Finding finding;
  finding.kind = kind;
  finding.kernel = launch.program->name;
  finding.file = launch.file;
  finding.line = facts.source_line;
  finding.block = warp.block->index;
  finding.thread = thread_index(launch, warp.index * 32 + static_cast<std::uint32_t>(lane < 0 ? 0 : lane));
  finding.address = address;
  if (const Allocation* near = address > 4096 ? launch.memory->nearest(address) : nullptr; near && address < shared_window) {
    finding.buffer = near->name;
    finding.offset = static_cast<std::int64_t>(address - near->base);
  } else if (facts.opcode.find(".shared") != std::string::npos || (address >= shared_window && address < local_window)) {
    finding.buffer = "shared memory";
    finding.offset = static_cast<std::int64_t>(address >= shared_window ? address - shared_window : address);
  } else if (facts.opcode.find(".local") != std::string::npos || address >= local_window) {
    finding.buffer = "local memory";
    finding.offset = static_cast<std::int64_t>(address >= local_window ? address - local_window : address);
  }
  finding.message = facts.source_line > 0 ? message : fmt::format("{} (PTX line {}: {})", message, facts.line, facts.opcode);
  worker.findings.push_back(std::move(finding));
}

void report(Warp& warp, const Instruction& instruction, outcome::Finding::Kind kind, int lane, std::uint64_t address,
            const std::string& message) {
  report_at(warp, instruction.statement, kind, lane, address, message);
}

}  // namespace cudal1::sim
