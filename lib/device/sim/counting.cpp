// SPDX-License-Identifier: Apache-2.0
#include "sim/counting.hpp"

#include "sim/instruction_cost.hpp"

#include <algorithm>
#include <array>

namespace cudal1::sim {

namespace {

constexpr std::array pipe_members{&PipeWork::slots, &PipeWork::fp32, &PipeWork::integer, &PipeWork::special,
                                  &PipeWork::fp64,  &PipeWork::half, &PipeWork::memory, &PipeWork::products, &PipeWork::operands, &PipeWork::product_flops};

void add_work(PipeWork& into, const InstructionCost& cost, double warps) {
  into.slots += warps * cost.slots, into.fp32 += warps * cost.fp32, into.integer += warps * cost.integer;
  into.special += warps * cost.special, into.fp64 += warps * cost.fp64, into.half += warps * cost.half, into.memory += warps * cost.memory;
  into.products += warps * cost.products, into.operands += warps * cost.operands, into.product_flops += warps * cost.product_flops;
}

void add_statement(outcome::Counters& into, const StatementFacts& facts, const SegmentCount& runs) {
  const auto warps = static_cast<double>(runs.warps), lanes = static_cast<double>(runs.lanes);
  into.warp_instructions += warps;
  into.lane_instructions += lanes;
  switch (facts.work) {
    case Work::fp32: into.fp32_flops += facts.flops * lanes; break;
    case Work::fp64: into.fp64_flops += facts.flops * lanes; break;
    case Work::fp16: into.fp16_flops += facts.flops * lanes; break;
    case Work::tensor: into.tensor_flops += facts.flops * warps; break;
    case Work::special: into.special_instructions += warps, into.fp32_flops += facts.flops * lanes; break;
    case Work::integer: into.integer_instructions += warps; break;
    case Work::control: into.control_instructions += warps; break;
    default: break;
  }
}

void add_site(outcome::Counters& into, SiteFacts::Kind kind, const Site& site, double access_bytes) {
  const auto requests = static_cast<double>(site.requests), sectors = static_cast<double>(site.sectors);
  const auto wavefronts = static_cast<double>(site.wavefronts), ideal = static_cast<double>(site.ideal);
  const double bytes = static_cast<double>(site.lane_accesses) * access_bytes;
  // Generic addresses may have landed in shared memory.
  into.shared_requests += ideal;
  into.shared_wavefronts += wavefronts;
  switch (kind) {
    case SiteFacts::Kind::load:
      into.global_load_requests += requests, into.global_load_sectors += sectors, into.global_load_bytes += bytes;
      break;
    case SiteFacts::Kind::store:
      into.global_store_requests += requests, into.global_store_sectors += sectors, into.global_store_bytes += bytes;
      break;
    case SiteFacts::Kind::atomic:
      into.atomic_requests += requests, into.atomic_serial_steps += static_cast<double>(site.serial_steps);
      into.global_store_sectors += sectors, into.global_store_requests += requests, into.global_store_bytes += bytes;
      break;
    case SiteFacts::Kind::shared:
      if (site.serial_steps) into.atomic_requests += requests, into.atomic_serial_steps += static_cast<double>(site.serial_steps);
      break;
    case SiteFacts::Kind::local: into.local_sectors += sectors; break;
    case SiteFacts::Kind::constant: break;
  }
}

// Bytes of one lane's access, from its opcode: "ld.global.v4.f32" → 16. A bulk copy counts each of its bytes.
double access_bytes(const std::string& opcode) {
  if (opcode.find("async.bulk") != std::string::npos) return 1;
  double lanes = 1, bytes = 4;
  std::size_t start = 0;
  while (start < opcode.size()) {
    const std::size_t dot = std::min(opcode.find('.', start), opcode.size());
    const std::string part = opcode.substr(start, dot - start);
    if (part == "v2") lanes = 2;
    if (part == "v4") lanes = 4;
    if (part == "v8") lanes = 8;
    if (const auto element = parse_element(part); element && *element != Element::pred) bytes = bytes_of(*element);
    start = dot + 1;
  }
  return lanes * bytes;
}

}  // namespace

void Tally::scale(double factor) {
  total = total.scaled(factor);
  for (auto& [line, counters] : lines) counters = counters.scaled(factor);
  for (SiteTotal& site : sites) site.requests *= factor, site.sectors *= factor, site.wavefronts *= factor, site.ideal *= factor;
  for (const auto member : pipe_members) work.*member *= factor;
  for (auto& [id, buffer] : buffers) buffer.load_sectors *= factor, buffer.store_sectors *= factor;
}

void Tally::add(const Tally& other) {
  total += other.total;
  for (const auto& [line, counters] : other.lines) lines[line] += counters;
  sites.resize(std::max(sites.size(), other.sites.size()));
  for (std::size_t s = 0; s < other.sites.size(); ++s) {
    sites[s].requests += other.sites[s].requests, sites[s].sectors += other.sites[s].sectors;
    sites[s].wavefronts += other.sites[s].wavefronts, sites[s].ideal += other.sites[s].ideal;
  }
  for (const auto member : pipe_members) work.*member += other.work.*member;
  for (const auto& [id, buffer] : other.buffers) {
    buffers[id].bytes = buffer.bytes;
    buffers[id].load_sectors += buffer.load_sectors, buffers[id].store_sectors += buffer.store_sectors;
  }
}

void Tally::finish() {
  total.l2_bytes = 32 * (total.global_load_sectors + total.global_store_sectors + total.local_sectors);
  for (const auto& [id, buffer] : buffers) {
    total.dram_read_bytes += std::min(buffer.bytes, 32 * buffer.load_sectors);
    total.dram_write_bytes += std::min(buffer.bytes, 32 * buffer.store_sectors);
  }
}

Tally count(const Launch& launch, const std::vector<std::unique_ptr<Worker>>& workers, std::uint64_t blocks) {
  const Program& program = *launch.program;
  Tally tally;
  std::vector<SegmentCount> segments(program.segments.size());
  std::vector<Site> sites(program.sites.size());
  for (const auto& worker : workers) {
    for (std::size_t s = 0; s < segments.size(); ++s) {
      segments[s].warps += worker->segments[s].warps;
      segments[s].lanes += worker->segments[s].lanes;
      segments[s].divergent += worker->segments[s].divergent;
    }
    for (std::size_t s = 0; s < sites.size(); ++s) {
      const Site& from = worker->sites[s];
      sites[s].requests += from.requests, sites[s].sectors += from.sectors, sites[s].lane_accesses += from.lane_accesses;
      sites[s].wavefronts += from.wavefronts, sites[s].serial_steps += from.serial_steps, sites[s].ideal += from.ideal;
    }
    tally.total.barriers += static_cast<double>(worker->barriers);
    for (std::size_t s = 1; s < sites.size(); ++s) {
      const Site& site = worker->sites[s];
      if (!site.last || !site.sectors) continue;
      Tally::Buffer& buffer = tally.buffers[site.last->id];
      buffer.bytes = static_cast<double>(site.last->bytes);
      (program.sites[s].kind == SiteFacts::Kind::load ? buffer.load_sectors : buffer.store_sectors) += static_cast<double>(site.sectors);
    }
  }
  const auto both = [&](const StatementFacts& facts, auto apply) {
    apply(tally.total);
    if (facts.source_line > 0) apply(tally.lines[facts.source_line]);
  };
  for (const StatementFacts& facts : program.statements) {
    const SegmentCount& runs = segments[facts.segment];
    if (!runs.warps) continue;
    both(facts, [&](outcome::Counters& c) { add_statement(c, facts, runs); });
    add_work(tally.work, cost_of(facts.opcode), static_cast<double>(runs.warps));
  }
  for (const Site& site : sites)
    tally.sites.push_back({static_cast<double>(site.requests), static_cast<double>(site.sectors), static_cast<double>(site.wavefronts), static_cast<double>(site.ideal)});
  for (std::size_t s = 1; s < sites.size(); ++s) {
    if (!sites[s].requests) continue;
    const StatementFacts& facts = program.statements[program.sites[s].statement];
    both(facts, [&](outcome::Counters& c) { add_site(c, program.sites[s].kind, sites[s], access_bytes(facts.opcode)); });
  }
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& segment = program.segments[s];
    if (segment.end != Segment::End::branch || !segments[s].warps) continue;
    const StatementFacts& facts = program.statements[segment.statement];
    both(facts, [&](outcome::Counters& c) {
      c.branches += static_cast<double>(segments[s].warps);
      c.divergent_branches += static_cast<double>(segments[s].divergent);
    });
  }
  tally.total.blocks = static_cast<double>(blocks);
  tally.total.threads = static_cast<double>(blocks) * launch.threads_per_block;
  return tally;
}

}  // namespace cudal1::sim
