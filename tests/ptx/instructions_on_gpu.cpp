// SPDX-License-Identifier: Apache-2.0
// Every case of the instruction table on a GPU: its 32 lanes against the table, then many more operands against the simulator.
//   instructions_on_gpu [--values N] [--only OPCODE]
// Integers, IEEE arithmetic and conversions have to be equal bit for bit; of two approximations each may err by its bound.
#include "instruction_case.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "cuda/cuda.hpp"

#include <cstdio>
#include <map>
#include <set>

using namespace cudal1;
using namespace cudal1::sim::test;

namespace {

struct Tally {
  std::size_t cases = 0, right = 0, values = 0, equal = 0, within = 0, wrong = 0;
  double worst = 0;  // distance of approximations, in units of their bound
};

bool is_approximate(const InstructionCase& one) { return one.tolerance != "exact" && one.tolerance != "nan"; }

float single(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

// Where the bound of an approximation is promised.
bool in_domain(const InstructionCase& one, const std::vector<std::uint64_t>& operands) {
  const auto magnitude = [&](std::size_t k) { return std::fabs(single(operands.at(k))); };
  if (one.opcode.starts_with("sin") || one.opcode.starts_with("cos")) return magnitude(0) <= 3.1415927f;
  if (one.opcode.starts_with("div.approx")) return magnitude(1) >= 0x1p-126f && magnitude(1) <= 0x1p126f;
  if (one.opcode.starts_with("lg2")) return single(operands[0]) > 0x1p-126f;
  return true;
}

std::uint64_t operand(base::Random& random, const InstructionCase& one, std::size_t k) {
  const std::string sources = letters(one.sources());
  const char letter = sources[k];
  if (letter == 'p') return random.next() & 1;
  const unsigned bytes = letter == '@' ? static_cast<unsigned>(sources.back() - '0') : static_cast<unsigned>(letter - '0');
  const std::uint64_t all = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  const std::uint64_t known = one.operands[random.next() % 32][k];
  std::uint64_t value = known;
  switch (random.next() % 8) {
    case 0: case 1: value = known; break;
    case 2: value = known ^ (random.next() & 0xff); break;
    case 3: value = random.next() % 70; break;
    case 4: value = bytes == 8 ? std::bit_cast<std::uint64_t>((random.uniform() - 0.5) * 64) : std::bit_cast<std::uint32_t>(static_cast<float>((random.uniform() - 0.5) * 64)); break;
    case 5: value = known ^ std::uint64_t{1} << random.next() % (8 * bytes); break;
    default: value = random.next();
  }
  if ((one.opcode.starts_with("div.") || one.opcode.starts_with("rem.")) && k == 1 && one.tolerance == "exact" && (value & all) == 0) value = 3;
  return value & all;
}

double distance(const InstructionCase& one, std::uint64_t a, std::uint64_t b) {
  if (single(a) == single(b)) return 0;
  if (one.tolerance[0] == 'b') return std::fabs(single(a) - single(b)) / std::ldexp(std::max(1.0f, std::fabs(single(a))), std::stoi(one.tolerance.substr(3)));
  if (one.tolerance[0] == 'a') return std::fabs(single(a) - single(b)) / std::ldexp(1.0, std::stoi(one.tolerance.substr(3)));
  return static_cast<double>(std::llabs(static_cast<long long>(a) - static_cast<long long>(b))) / std::stod(one.tolerance);
}

void sweep(device::Device& simulator, device::Device& gpu, const InstructionCase& one, std::size_t count, Tally& tally) {
  base::Random random(1);
  std::vector<std::vector<std::uint64_t>> operands(count);
  for (auto& lane : operands)
    for (std::size_t k = 0; k < letters(one.sources()).size(); ++k) lane.push_back(operand(random, one, k));
  const auto blocks = static_cast<std::uint32_t>(count / 128);
  const auto expected = results_of(simulator, one, operands, blocks, 128), got = results_of(gpu, one, operands, blocks, 128);
  int shown = 0;
  for (std::size_t lane = 0; lane < count; ++lane)
    for (std::size_t r = 0; r < expected.size(); ++r) {
      ++tally.values;
      const std::uint64_t a = expected[r][lane], b = got[r][lane];
      if (a == b) {
        ++tally.equal;
        continue;
      }
      const bool outside = is_approximate(one) && !in_domain(one, operands[lane]);
      if (agrees(one, r, b, a, 2) || outside) {
        ++tally.within;
        if (is_approximate(one) && !outside && std::isfinite(single(a)) && std::isfinite(single(b))) tally.worst = std::max(tally.worst, distance(one, a, b));
        continue;
      }
      ++tally.wrong;
      if (++shown > 3) continue;
      std::string text;
      for (const std::uint64_t v : operands[lane]) text += fmt::format(" {:#x}", v);
      fmt::print("  {} ({}){}: GPU {:#x}, simulator {:#x}\n", one.opcode, one.shape, text, b, a);
    }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 65536;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--values") count = std::max<std::size_t>(128, std::stoull(argv[i + 1]) / 128 * 128);
    if (option == "--only") only = argv[i + 1];
  }
  const auto present = cuda::inventory();
  if (present.devices.empty()) {
    fmt::print("skipped: {}\n", present.problem);
    return 77;
  }
  auto gpu = cuda::open(0);
  auto simulator = sim::open({.gpu = "H200", .threads = 2});
  std::map<std::string, Tally> groups;
  std::set<std::string> swept;
  for (const auto& one : instruction_cases()) {
    if (one.opcode.find(only) == std::string::npos) continue;
    Tally& tally = groups[one.opcode.substr(0, one.opcode.find('.'))];
    ++tally.cases;
    try {
      const std::string difference = run_case(*gpu, one, 32);
      if (difference.empty()) ++tally.right;
      else fmt::print("  table: {}\n", difference);
      const bool again = !swept.insert(one.opcode + one.shape + (one.immediates.empty() ? "" : one.immediates[0])).second;
      if (!again && !letters(one.sources()).empty() && !one.opcode.starts_with("mma.")) sweep(*simulator, *gpu, one, count, tally);
    } catch (const std::exception& problem) {
      fmt::print("  {}: {}\n", one.opcode, problem.what());
    }
    std::fflush(stdout);
  }
  fmt::print("{:12} {:>6} {:>6} {:>10} {:>10} {:>8} {:>6}  worst distance in bounds\n", "instruction", "cases", "right", "values", "equal", "within", "wrong");
  Tally all;
  for (const auto& [name, t] : groups) {
    fmt::print("{:12} {:6} {:6} {:10} {:10} {:8} {:6}  {:.2f}\n", name, t.cases, t.right, t.values, t.equal, t.within, t.wrong, t.worst);
    all.cases += t.cases, all.right += t.right, all.values += t.values, all.equal += t.equal, all.within += t.within, all.wrong += t.wrong;
  }
  fmt::print("{:12} {:6} {:6} {:10} {:10} {:8} {:6}\n", "all", all.cases, all.right, all.values, all.equal, all.within, all.wrong);
  return all.right == all.cases && all.wrong == 0 ? 0 : 1;
}
