// SPDX-License-Identifier: Apache-2.0
#include "sim/pipeline.hpp"

#include "sim/instruction_cost.hpp"

#include <algorithm>
#include <deque>

namespace cudal1::sim {

namespace {

// Cycles to the first-level cache, the L2 and DRAM, and of shared memory: an H100's in arXiv:2402.13499, and DRAM as a lone
// warp's dependent loop over global memory shows it on an H200.
constexpr double l1_cycles = 38, l2_cycles = 265, dram_cycles = 780, shared_cycles = 29, branch_cycles = 8, barrier_cycles = 20;

// Of one SM that has wgmma, all of them alike: operations of 16-bit elements a cycle; from the last product's end to its sums in registers, an estimate.
constexpr double products_per_cycle = 4096, warps_of_group = 4, products_end = 60;

// ptxas repeats the body of a small loop this often and moves its loads to the front, with so many registers waiting for loads.
constexpr std::size_t loop_copies = 4;
constexpr double registers_in_flight = 16;

struct Step {
  enum class Kind : std::uint8_t { plain, load, ordered_load, store, shared_load, shared_store, copy, commit, wait, product, product_commit, product_wait };
  Kind kind = Kind::plain;
  double slots = 1, latency = 4;
  const std::vector<std::uint32_t>*reads = nullptr, *writes = nullptr;
  unsigned keep = 0;  // wait: groups of copies, or of products, that may stay under way
  double busy = 0;    // product: cycles of the tensor cores, or of shared memory
};

Step step_of(const StatementFacts& facts) {
  Step step;
  const InstructionCost cost = cost_of(facts.opcode);
  step.slots = cost.slots;
  step.latency = cost.latency;
  step.reads = &facts.reads;
  step.writes = &facts.writes;
  if (facts.opcode == "cp.async.commit_group") step.kind = Step::Kind::commit;
  if (facts.opcode.starts_with("cp.async.wait")) step.kind = Step::Kind::wait;
  if (facts.opcode.starts_with("wgmma.mma_async")) step.kind = Step::Kind::product, step.busy = warps_of_group * std::max(cost.products / products_per_cycle, cost.operands);
  if (facts.opcode.starts_with("wgmma.commit_group")) step.kind = Step::Kind::product_commit;
  if (facts.opcode.starts_with("wgmma.wait_group")) step.kind = Step::Kind::product_wait;
  return step;
}

std::vector<Step> steps_of(const Program& program, const std::vector<SiteReach>& reach, const std::vector<SiteTotal>& totals) {
  std::vector<Step> steps;
  for (const StatementFacts& facts : program.statements) steps.push_back(step_of(facts));
  for (std::size_t s = 1; s < program.sites.size(); ++s) {
    const SiteFacts& site = program.sites[s];
    Step& step = steps[site.statement];
    const std::string& opcode = program.statements[site.statement].opcode;
    const SiteReach& far = reach[s];
    const double global = l1_cycles + far.past_l1 * (l2_cycles - l1_cycles) + far.past_l2 * (dram_cycles - l2_cycles) + 2 * (far.lines - 1);
    const bool store = opcode.starts_with("st") || opcode.find("store") != std::string::npos;
    if (opcode.starts_with("cp.")) {
      if (site.kind == SiteFacts::Kind::load) step.kind = Step::Kind::copy, step.latency = global;
      continue;
    }
    const bool conflicts = totals[s].ideal > 0;
    switch (site.kind) {
      case SiteFacts::Kind::shared:
        step.kind = store ? Step::Kind::shared_store : Step::Kind::shared_load;
        step.latency = shared_cycles + (conflicts ? totals[s].wavefronts / std::max(1.0, totals[s].requests) - 1 : 0);
        break;
      case SiteFacts::Kind::constant: step.latency = 8; break;
      case SiteFacts::Kind::atomic: step.kind = Step::Kind::store, step.latency = opcode.starts_with("red") ? 0 : l2_cycles + 60; break;
      default:
        step.kind = store ? Step::Kind::store : opcode.find(".nc") != std::string::npos ? Step::Kind::load : Step::Kind::ordered_load;
        // A generic access may have met shared memory only.
        step.latency = totals[s].sectors == 0 && conflicts ? shared_cycles : global;
    }
  }
  for (const Instruction& instruction : program.instructions)
    if (const Step::Kind kind = steps[instruction.statement].kind; kind == Step::Kind::wait || kind == Step::Kind::product_wait) steps[instruction.statement].keep = static_cast<unsigned>(std::max<std::int64_t>(0, instruction.immediate));
  return steps;
}

// Loads whose values nobody has used yet, oldest first: registers are few, so a new one waits for the use of old ones.
class InFlight {
 public:
  explicit InFlight(std::size_t registers) : owner_(registers, none) {}
  void use(std::uint32_t reg, double at) {
    if (owner_[reg] == none) return;
    Load& load = loads_[owner_[reg] - dropped_];
    load.used = std::max(load.used, at);
    owner_[reg] = none;
  }
  double add(const std::vector<std::uint32_t>& registers, double issue) {
    const auto count = static_cast<double>(registers.size());
    while (!loads_.empty() && held_ + count > registers_in_flight) {
      const Load& oldest = loads_.front();
      for (const std::uint32_t reg : *oldest.registers)
        if (owner_[reg] == dropped_) owner_[reg] = none;
      issue = std::max(issue, oldest.used);
      held_ -= static_cast<double>(oldest.registers->size());
      loads_.pop_front();
      ++dropped_;
    }
    for (const std::uint32_t reg : registers) owner_[reg] = dropped_ + loads_.size();
    loads_.push_back({&registers, 0});
    held_ += count;
    return issue;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct Load {
    const std::vector<std::uint32_t>* registers;
    double used;
  };
  std::deque<Load> loads_;
  std::vector<std::size_t> owner_;  // the load that a register waits for
  std::size_t dropped_ = 0;
  double held_ = 0;
};

// Groups of asynchronous copies, or of products, each with the time of its end.
class Groups {
 public:
  void reaches(double end) { open_ = std::max(open_, end); }
  double open() const { return open_; }
  void commit(double more) { ends_.push_back(open_ + more); }
  void forget_open() { open_ = 0; }
  // Until all but the newest `keep` have ended, from `at` on.
  double wait(std::size_t keep, double at) {
    for (std::size_t g = 0; g + keep < ends_.size(); ++g) at = std::max(at, ends_[g]);
    if (ends_.size() > keep) ends_.erase(ends_.begin(), ends_.end() - static_cast<std::ptrdiff_t>(keep));
    return at;
  }

 private:
  std::vector<double> ends_;
  double open_ = 0;
};

}  // namespace

double warp_cycles(const Program& program, const Recording::Log& log, const std::vector<SiteReach>& reach, const std::vector<SiteTotal>& totals,
                   unsigned warps_per_block) {
  const std::vector<Step> steps = steps_of(program, reach, totals);
  struct Stretch {
    std::uint32_t first = nowhere, last = 0;
    bool stores = false;
  };
  std::vector<Stretch> stretches(program.segments.size());
  std::uint32_t registers = 0;
  for (std::uint32_t s = 0; s < program.statements.size(); ++s) {
    Stretch& stretch = stretches[program.statements[s].segment];
    stretch.first = std::min(stretch.first, s), stretch.last = s + 1;
    const Step::Kind kind = steps[s].kind;
    stretch.stores |= kind == Step::Kind::store || kind == Step::Kind::shared_store || kind == Step::Kind::copy || kind == Step::Kind::wait;
    for (const auto* list : {&program.statements[s].reads, &program.statements[s].writes})
      for (const std::uint32_t reg : *list) registers = std::max(registers, reg + 1);
  }
  std::vector<double> ready(registers);
  InFlight in_flight(registers);
  Groups copies_under_way, products;
  double now = 0;
  for (std::size_t at = 0; at < log.segments.size();) {
    const std::uint32_t segment = log.segments[at];
    const Stretch& stretch = stretches[segment];
    const double start = now;
    double end = start, slots = 0, stored = start, shared_stored = start;
    const std::size_t copies = stretch.stores || program.segments[segment].end != Segment::End::branch ? 1 : loop_copies;
    for (std::size_t copy = 0; copy < copies && at < log.segments.size() && log.segments[at] == segment; ++copy, ++at) {
      for (std::uint32_t s = stretch.first; s != nowhere && s < stretch.last; ++s) {
        const Step& step = steps[s];
        double issue = start;
        for (const std::uint32_t reg : *step.reads) issue = std::max(issue, ready[reg]);
        switch (step.kind) {
          case Step::Kind::ordered_load: issue = std::max(issue, stored); break;
          case Step::Kind::store: stored = issue = std::max(issue, stored); break;
          case Step::Kind::shared_load: issue = std::max(issue, shared_stored); break;
          case Step::Kind::shared_store: shared_stored = issue = std::max(issue, shared_stored); break;
          case Step::Kind::copy: copies_under_way.reaches(issue + step.latency); break;
          case Step::Kind::commit: copies_under_way.commit(0), copies_under_way.forget_open(); break;
          case Step::Kind::wait: shared_stored = std::max(shared_stored, issue = copies_under_way.wait(step.keep, issue)); break;
          case Step::Kind::product: products.reaches(std::max(products.open(), issue) + step.busy); break;
          case Step::Kind::product_commit: products.commit(products_end); break;
          case Step::Kind::product_wait: issue = products.wait(step.keep, issue); break;
          default: break;
        }
        for (const std::uint32_t reg : *step.reads) in_flight.use(reg, issue);
        if (step.kind == Step::Kind::load || step.kind == Step::Kind::ordered_load || step.kind == Step::Kind::shared_load)
          issue = in_flight.add(*step.writes, issue);
        for (const std::uint32_t reg : *step.writes) ready[reg] = issue + step.latency;
        end = std::max(end, issue);
        slots += step.slots;
      }
    }
    now = std::max(end + 1, start + slots);
    switch (program.segments[segment].end) {
      case Segment::End::barrier: now += barrier_cycles + warps_per_block; break;
      case Segment::End::branch:
      case Segment::End::jump: now += branch_cycles; break;
      default: break;
    }
  }
  return now;
}

}  // namespace cudal1::sim
