// SPDX-License-Identifier: Apache-2.0
#include "reference/trial.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "tensor/distribution.hpp"

#include <cmath>

namespace cudal1::reference {

namespace {

using Kind = tensor::Distribution::Kind;

bool replaceable(const kernel::Buffer& buffer, const tensor::Distribution& declared) {
  return tensor::is_floating(buffer.dtype) && (declared.kind == Kind::normal || declared.kind == Kind::uniform);
}

void fill_wide(tensor::Dtype dtype, std::uint64_t seed, std::uint64_t stream, std::size_t count, std::byte* out) {
  const std::size_t size = tensor::size_of(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const auto words = base::philox(seed, i, stream);
    const double exponent = -10 + 20 * (words[0] / 4294967296.0);
    tensor::store(dtype, std::copysign(std::exp2(exponent), words[1] % 2 == 0 ? 1.0 : -1.0), out + i * size);
  }
}

}  // namespace

std::string_view name(Pattern pattern) {
  switch (pattern) {
    case Pattern::declared: return "the declared distribution";
    case Pattern::normal: return "normal inputs";
    case Pattern::symmetric: return "inputs in [-1, 1)";
    case Pattern::wide: return "inputs of wide magnitude";
    case Pattern::integers: return "integer-valued inputs";
  }
  return "";
}

std::vector<Trial> trials(std::uint64_t seed, int declared) {
  base::Random random(seed, 0x7121a1);
  std::vector<Trial> result;
  for (int i = 0; i < declared; ++i) result.push_back({Pattern::declared, random.next()});
  for (const Pattern pattern : {Pattern::normal, Pattern::symmetric, Pattern::wide, Pattern::integers})
    result.push_back({pattern, random.next()});
  return result;
}

std::vector<Bytes> inputs(const task::Task& task, const task::Workload& workload, const Trial& trial) {
  std::vector<Bytes> result;
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
    const kernel::Buffer& buffer = task.file.buffers[i];
    Bytes& bytes = result.emplace_back();
    if (buffer.role == kernel::Buffer::Role::output) continue;
    const auto extents = kernel::extents(buffer.shape, workload.environment);
    if (!extents) throw base::Error(base::Fault::bad_input, base::render(extents.error()));
    std::size_t count = 1;
    for (const std::int64_t extent : *extents) count *= static_cast<std::size_t>(extent);
    bytes.resize(count * tensor::size_of(buffer.dtype));

    tensor::Distribution distribution = buffer.distribution.value_or(tensor::default_distribution(buffer.dtype));
    if (replaceable(buffer, distribution)) {
      switch (trial.pattern) {
        case Pattern::declared: break;
        case Pattern::normal: distribution = {Kind::normal, 0, 1, ""}; break;
        case Pattern::symmetric: distribution = {Kind::uniform, -1, 1, ""}; break;
        case Pattern::integers: distribution = {Kind::randint, -3, 4, ""}; break;
        case Pattern::wide: fill_wide(buffer.dtype, trial.seed, i, count, bytes.data()); continue;
      }
    }
    tensor::fill(buffer.dtype, distribution, trial.seed, i, count, bytes.data(), task.folder());
  }
  return result;
}

}  // namespace cudal1::reference
