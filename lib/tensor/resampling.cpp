// SPDX-License-Identifier: Apache-2.0
#include "tensor/dense.hpp"
#include "tensor/function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

// PyTorch lists the padding from the last axis backwards, two numbers for each.
Type pad_type(const Call& call) {
  Type type = call.type(0);
  const std::vector<Quantity> pad = call.quantities("pad");
  const std::string mode = call.word("mode");
  if (mode != "constant" && mode != "reflect" && mode != "replicate" && mode != "circular") throw Refusal("mode is 'constant', 'reflect', 'replicate' or 'circular'");
  if (pad.size() % 2 != 0 || pad.size() / 2 > type.shape.size()) throw Refusal("pad holds two numbers for each padded dimension");
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    Extent& extent = type.shape[type.shape.size() - 1 - i];
    for (std::size_t at = 0; at < extent.values.size(); ++at)
      for (const Quantity& side : {pad[2 * i], pad[2 * i + 1]}) {
        if (side.values[at].real) throw Refusal("pad holds integers");
        const std::int64_t room = mode == "reflect" ? extent.values[at] - 1 : mode == "circular" ? extent.values[at] : INT64_MAX;
        if (mode != "constant" && (side.values[at].integer < 0 || side.values[at].integer > room || extent.values[at] == 0))
          throw Refusal(fmt::format("padding {} does not fit the dimension {} in mode '{}'", side.text, extent.text, mode));
      }
    extent = (Quantity::of(extent) + (pad[2 * i] + pad[2 * i + 1])).extent();
  }
  return type;
}
void pad(const Evaluation& e) {
  const Array& in = *e.in[0];
  const std::vector<std::int64_t> pad = e.call.integers("pad");
  const std::string mode = e.call.word("mode");
  const double value = e.call.has("value") ? e.call.number("value") : 0;
  const std::size_t rank = in.shape.size();
  const Extents own = strides(in.shape);
  // Per axis, the offset in the input that an index of the result reads, or -1 in the border.
  std::vector<Extents> offsets(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::size_t pair = rank - 1 - axis;
    const std::int64_t before = pair < pad.size() / 2 ? pad[2 * pair] : 0, n = in.shape[axis];
    for (std::int64_t i = 0; i < e.out.shape[axis]; ++i) {
      std::int64_t from = i - before;
      if (mode == "reflect") from = from < 0 ? -from : from >= n ? 2 * n - 2 - from : from;
      if (mode == "replicate") from = std::clamp<std::int64_t>(from, 0, n - 1);
      if (mode == "circular") from = (from + n) % n;
      offsets[axis].push_back(from < 0 || from >= n ? -1 : from * own[axis]);
    }
  }
  std::vector<std::int64_t> index(rank);
  for (double& out : e.out.values) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < rank && offset >= 0; ++axis) {
      const std::int64_t step = offsets[axis][static_cast<std::size_t>(index[axis])];
      offset = step < 0 ? -1 : offset + step;
    }
    out = offset < 0 ? value : in.values[static_cast<std::size_t>(offset)];
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < e.out.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

Type interpolate_type(const Call& call) {
  Type type = call.type(0);
  const int axes = rank(type) - 2;
  if (axes < 1 || axes > 3) throw Refusal("the input needs a batch, channels and one to three more dimensions");
  if (call.word("mode") != "nearest") throw Refusal("only mode 'nearest' is known to the evaluator");
  if (call.has("size") == call.has("scale_factor")) throw Refusal("either size or scale_factor is given");
  const std::vector<Quantity> list = call.has("size") ? call.quantities("size", axes) : std::vector<Quantity>(static_cast<std::size_t>(axes), call.quantity("scale_factor"));
  for (std::size_t i = 0; i < list.size(); ++i) {
    Extent& extent = type.shape[2 + i];
    if (call.has("size")) extent = list[i].extent();
    else {
      Quantity scaled = Quantity::of(extent) * list[i];
      for (Number& value : scaled.values) {
        if (!(std::abs(value.value) < 0x1p40)) throw Refusal("scale_factor is too large");
        if (value.real) scaled.text = fmt::format("(long long)({})", Quantity{Quantity::of(extent) * list[i]}.text);
        value = Number::of(static_cast<std::int64_t>(std::floor(value.value)));
      }
      extent = scaled.extent();
    }
    for (std::size_t at = 0; at < extent.values.size(); ++at)
      if (extent.values[at] < 1 || call.type(0).shape[2 + i].values[at] < 1) throw Refusal("the input or the result is empty");
  }
  return type;
}
void interpolate(const Evaluation& e) {
  const Array& in = *e.in[0];
  const std::size_t rank = in.shape.size();
  const Extents own = strides(in.shape);
  std::vector<Extents> offsets(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    double scale = static_cast<double>(in.shape[axis]) / static_cast<double>(e.out.shape[axis]);
    if (axis > 1 && e.call.has("scale_factor")) scale = 1 / e.call.number("scale_factor");
    for (std::int64_t i = 0; i < e.out.shape[axis]; ++i) {
      const std::int64_t from = axis < 2 ? i : std::min(static_cast<std::int64_t>(std::floor(static_cast<double>(i) * scale)), in.shape[axis] - 1);
      offsets[axis].push_back(from * own[axis]);
    }
  }
  std::vector<std::int64_t> index(rank);
  for (double& out : e.out.values) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) offset += offsets[axis][static_cast<std::size_t>(index[axis])];
    out = in.values[static_cast<std::size_t>(offset)];
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < e.out.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

template <bool up>
Type shuffle_type(const Call& call) {
  Type type = call.type(0);
  if (type.shape.size() < 3) throw Refusal("the input needs channels and two more dimensions");
  const Quantity r = call.quantity(up ? "upscale_factor" : "downscale_factor");
  const std::size_t c = type.shape.size() - 3;
  for (std::size_t at = 0; at < r.values.size(); ++at) {
    const std::int64_t factor = r.values[at].integer;
    if (r.values[at].real || factor < 1 || factor > (1 << 20)) throw Refusal("the factor must be positive");
    if (up ? type.shape[c].values[at] % (factor * factor) != 0 : type.shape[c + 1].values[at] % factor != 0 || type.shape[c + 2].values[at] % factor != 0)
      throw Refusal(fmt::format("{} does not divide by the factor", to_string(type.shape)));
  }
  type.shape[c] = (up ? Quantity::of(type.shape[c]) / (r * r) : Quantity::of(type.shape[c]) * r * r).extent();
  for (const std::size_t axis : {c + 1, c + 2}) type.shape[axis] = (up ? Quantity::of(type.shape[axis]) * r : Quantity::of(type.shape[axis]) / r).extent();
  return type;
}
template <bool up>
void shuffle(const Evaluation& e) {
  const std::int64_t r = e.call.integer(up ? "upscale_factor" : "downscale_factor");
  // Both directions walk the small-channel side, which is the result or the input.
  const Extents &fine = up ? e.out.shape : e.in[0]->shape, &coarse = up ? e.in[0]->shape : e.out.shape;
  const std::size_t c = fine.size() - 3;
  const std::int64_t channels = fine[c], height = fine[c + 1], width = fine[c + 2], ch = coarse[c + 1], cw = coarse[c + 2];
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(e.out.values.size()); ++i) {
    const std::int64_t x = i % width, y = i / width % height, channel = i / width / height % channels, n = i / width / height / channels;
    const std::int64_t packed = (((n * channels + channel) * r * r + y % r * r + x % r) * ch + y / r) * cw + x / r;
    if (up) e.out.values[static_cast<std::size_t>(i)] = e.in[0]->values[static_cast<std::size_t>(packed)];
    else e.out.values[static_cast<std::size_t>(packed)] = e.in[0]->values[static_cast<std::size_t>(i)];
  }
}

double nothing(const Call&, const Type&) { return 0; }

}  // namespace

std::vector<Row> resampling_rows() {
  return {
      {"pad(input, pad: ints, mode: word = 'constant', value: number = None)", "F", pad_type, pad, nothing},
      {"interpolate(input, size: ints = None, scale_factor: number = None, mode: word = 'nearest')", "F", interpolate_type, interpolate, nothing},
      {"pixel_shuffle(input, upscale_factor: int)", "torch F", shuffle_type<true>, shuffle<true>, nothing},
      {"pixel_unshuffle(input, downscale_factor: int)", "torch F", shuffle_type<false>, shuffle<false>, nothing},
  };
}

}  // namespace cudal1::tensor
