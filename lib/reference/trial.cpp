// SPDX-License-Identifier: Apache-2.0
#include "reference/trial.hpp"

#include "base/defence.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "tensor/distribution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace cudal1::reference {

namespace {

using Kind = tensor::Distribution::Kind;

bool replaceable(const kernel::Buffer& buffer, const tensor::Distribution& declared) {
  return tensor::is_floating(buffer.dtype) && (declared.kind == Kind::normal || declared.kind == Kind::uniform);
}

// Fills with value(random words of element i).
template <typename Value>
void fill_each(tensor::Dtype dtype, std::uint64_t seed, std::uint64_t stream, Bytes& bytes, const Value& value) {
  const std::size_t size = tensor::size_of(dtype);
  for (std::size_t i = 0; i < bytes.size() / size; ++i)
    tensor::store(dtype, value(i, base::philox(seed, i, stream)), bytes.data() + i * size);
}

double unit(std::uint32_t word) { return word / 4294967296.0; }

double wide(const std::array<std::uint32_t, 4>& words) {
  return std::copysign(std::exp2(-10 + 20 * unit(words[0])), words[1] % 2 == 0 ? 1.0 : -1.0);
}

// Every element but the outermost from another stream.
void fill_inside(const kernel::Buffer& buffer, const tensor::Distribution& distribution, const Trial& trial,
                 std::size_t stream, Bytes& bytes, const std::filesystem::path& folder) {
  constexpr std::size_t outermost = 64;
  const std::size_t size = tensor::size_of(buffer.dtype);
  const std::size_t count = bytes.size() / size;
  const std::size_t edge = std::min(outermost, count / 4);
  Bytes fresh(bytes.size());
  tensor::fill(buffer.dtype, distribution, ~trial.seed, stream, count, fresh.data(), folder);
  std::copy(fresh.begin() + static_cast<std::ptrdiff_t>(edge * size),
            fresh.end() - static_cast<std::ptrdiff_t>(edge * size),
            bytes.begin() + static_cast<std::ptrdiff_t>(edge * size));
}

void move_one(tensor::Dtype dtype, const Trial& trial, std::size_t stream, Bytes& bytes) {
  if (!tensor::is_floating(dtype) || bytes.empty()) return;
  const std::size_t size = tensor::size_of(dtype);
  base::Random random(trial.seed, 0x0e0 + stream);
  std::byte* element = bytes.data() + random.below(bytes.size() / size) * size;
  const double value = tensor::load(dtype, element);
  tensor::store(dtype, value == 0 ? 0.5 : 1.5 * value, element);
}

}  // namespace

std::string_view name(Pattern pattern) {
  switch (pattern) {
    case Pattern::declared: return "the declared distribution";
    case Pattern::sibling: return "the same outermost elements, others inside";
    case Pattern::influence: return "one element of every input moved";
    case Pattern::normal: return "normal inputs";
    case Pattern::symmetric: return "inputs in [-1, 1)";
    case Pattern::positive: return "inputs in [0, 1)";
    case Pattern::wide: return "inputs of wide magnitude";
    case Pattern::outliers: return "inputs with outliers";
    case Pattern::sparse: return "inputs half of which are 0";
    case Pattern::near_one: return "inputs close to 1";
    case Pattern::integers: return "integer-valued inputs";
    case Pattern::wide_integers: return "integer-valued inputs of twelve bits";
  }
  return "";
}

std::vector<Trial> trials(std::uint64_t seed, int declared, bool every_pattern, outcome::Precision precision) {
  using base::Defence;
  using base::defended;
  base::Random random(seed, 0x7121a1);
  std::vector<Trial> result;
  for (int i = 0; i < declared; ++i) result.push_back({Pattern::declared, random.next()});
  if (!defended(Defence::fresh_values)) return {result.front()};
  if (defended(Defence::siblings)) result.push_back({Pattern::sibling, result.back().seed});
  if (defended(Defence::influence))
    for (int i = 0; i < (every_pattern ? 2 : 1); ++i) result.push_back({Pattern::influence, random.next()});
  std::vector<Pattern> patterns{Pattern::normal, Pattern::integers};
  if (every_pattern)
    patterns = {Pattern::normal, Pattern::symmetric, Pattern::positive, Pattern::wide,          Pattern::outliers,
                Pattern::sparse, Pattern::integers};
  if (!defended(Defence::patterns)) patterns.clear();
  if (every_pattern && !patterns.empty() && precision == outcome::Precision::fp32)
    patterns.insert(patterns.end(), {Pattern::near_one, Pattern::wide_integers});
  for (const Pattern pattern : patterns) result.push_back({pattern, random.next(), random.below(8)});
  if (!patterns.empty() && patterns.back() == Pattern::wide_integers)
    result.push_back({Pattern::wide_integers, random.next(), result.back().turn + 1});
  return result;
}

std::vector<Bytes> inputs(const task::Task& task, const task::Workload& workload, const Trial& trial) {
  std::vector<Bytes> result;
  const auto distribution_of = [&](const kernel::Buffer& buffer) {
    return buffer.distribution.value_or(tensor::default_distribution(buffer.dtype));
  };
  std::size_t plain = 0;  // inputs that a pattern may replace
  for (const kernel::Buffer& buffer : task.file.buffers)
    if (buffer.role != kernel::Buffer::Role::output && replaceable(buffer, distribution_of(buffer))) ++plain;
  std::size_t next = 0;

  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    const kernel::Buffer& buffer = task.file.buffers[i];
    Bytes& bytes = result.emplace_back();
    if (buffer.role == kernel::Buffer::Role::output) continue;
    const auto extents = kernel::extents(buffer.shape, workload.environment);
    if (!extents) throw base::Error(base::Fault::bad_input, base::render(extents.error()));
    std::size_t count = 1;
    for (const std::int64_t extent : *extents) count *= static_cast<std::size_t>(extent);
    bytes.resize(count * tensor::size_of(buffer.dtype));

    tensor::Distribution distribution = distribution_of(buffer);
    const auto fill = [&] {
      tensor::fill(buffer.dtype, distribution, trial.seed, i, count, bytes.data(), task.folder());
    };
    const auto fill_by = [&](const auto& value) { fill_each(buffer.dtype, trial.seed, i, bytes, value); };
    if (!replaceable(buffer, distribution)) {
      fill();
      if (trial.pattern == Pattern::influence) move_one(buffer.dtype, trial, i, bytes);
      if (trial.pattern == Pattern::sibling && distribution.kind == Kind::randint)
        fill_inside(buffer, distribution, trial, i, bytes, task.folder());
      continue;
    }
    const bool special = next++ == trial.turn % plain;
    switch (trial.pattern) {
      case Pattern::declared: fill(); break;
      case Pattern::sibling:
        fill();
        fill_inside(buffer, distribution, trial, i, bytes, task.folder());
        break;
      case Pattern::influence:
        fill();
        move_one(buffer.dtype, trial, i, bytes);
        break;
      case Pattern::normal: distribution = {Kind::normal, 0, 1, ""}; fill(); break;
      case Pattern::symmetric: distribution = {Kind::uniform, -1, 1, ""}; fill(); break;
      case Pattern::positive: distribution = {Kind::uniform, 0, 1, ""}; fill(); break;
      case Pattern::integers: distribution = {Kind::randint, -3, 4, ""}; fill(); break;
      case Pattern::wide: fill_by([](std::size_t, const auto& words) { return wide(words); }); break;
      case Pattern::near_one:
        fill_by([](std::size_t, const auto& words) { return 1 + 0x1p-12 * unit(words[0]); });
        break;
      case Pattern::wide_integers:
        fill_by([&](std::size_t, const auto& words) { return special ? 2049 + 4.0 * (words[0] % 512) : words[1] % 2; });
        break;
      case Pattern::outliers:
      case Pattern::sparse: {
        distribution = {Kind::normal, 0, 1, ""};
        fill();
        const std::size_t size = tensor::size_of(buffer.dtype);
        for (std::size_t k = 0; k < count; ++k) {
          const auto words = base::philox(~trial.seed, k, i);
          std::byte* element = bytes.data() + k * size;
          const double value = tensor::load(buffer.dtype, element);
          if (trial.pattern == Pattern::sparse ? words[0] % 2 == 0 : special && words[0] % 100 == 0)
            tensor::store(buffer.dtype, trial.pattern == Pattern::sparse ? 0 : 1000 * value, element);
        }
        break;
      }
    }
  }
  return result;
}

}  // namespace cudal1::reference
