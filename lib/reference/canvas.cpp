// SPDX-License-Identifier: Apache-2.0
#include "reference/canvas.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cudal1::reference {

namespace {

using Kind = tensor::Distribution::Kind;

constexpr std::size_t outermost = 64;
constexpr std::uint32_t stray_share = 24;

// What a draw is for, so that no two share their random words.
enum Tag : std::uint64_t { stray_tag = 0x57a1, band_tag = 0xba9d, inside_tag = 0x1451, scale_tag = 0x5ca1e, tiny_tag = 0x7117, moved_tag = 0x30fed, repeat_tag = 0x4e9ea7 };

double sign(std::uint32_t word) { return word % 2 == 0 ? 1 : -1; }

// Near enough to N(0, 1) for values whose distribution nobody relies on.
double bell(const Words& words) { return 1.7320508 * (unit(words[0]) + unit(words[1]) + unit(words[2]) + unit(words[3]) - 2); }

}  // namespace

double unit(std::uint32_t word) { return word / 4294967296.0; }

// Of every magnitude; one in four evenly over the arguments for which an exponential is a float.
double wide_value(const Words& words) {
  return words[2] % 4 == 0 ? 208 * unit(words[0]) - 104 : sign(words[1]) * std::exp2(-10 + 20 * unit(words[0]));
}

double stray_value(const Words& words) {
  switch (words[1] % 7) {
    case 0: return 0;
    case 1: return 2 * unit(words[2]) - 1;
    case 2: return 6 * unit(words[2]) - 3;
    case 3: return sign(words[3]) * std::exp2(-10 + 20 * unit(words[2]));
    case 4: return sign(words[3]) * (90 + 20 * unit(words[2]));
    case 5: return sign(words[3]) * (8 + 16 * unit(words[2]));   // exponentials of others are small beside its own, and count
    default: return 2000 * unit(words[2]) - 1000;
  }
}

Canvas::Canvas(tensor::Dtype dtype, std::vector<std::int64_t> extents, tensor::Distribution declared, std::uint64_t seed, std::uint64_t stream,
               const std::filesystem::path& folder, Bytes& bytes)
    : dtype_(dtype), extents_(std::move(extents)), declared_(std::move(declared)), seed_(seed), stream_(stream), folder_(folder), bytes_(bytes) {
  for (const std::int64_t extent : extents_) count_ *= static_cast<std::size_t>(extent);
  bytes_.resize(count_ * tensor::size_of(dtype_));
}

double Canvas::at(std::size_t element) const { return tensor::load(dtype_, bytes_.data() + element * tensor::size_of(dtype_)); }

void Canvas::set(std::size_t element, double value) { tensor::store(dtype_, value, bytes_.data() + element * tensor::size_of(dtype_)); }

std::int64_t Canvas::index(std::size_t element, std::size_t axis) const {
  auto rest = static_cast<std::int64_t>(element);
  for (std::size_t i = extents_.size(); i-- > axis + 1;) rest /= extents_[i];
  return rest % extents_[axis];
}

Words Canvas::words(std::size_t number, std::uint64_t tag) const { return base::philox(seed_ ^ tag << 40, number, stream_); }

std::size_t Canvas::edge() const { return std::min(outermost, count_ / 4); }

void Canvas::fill() { fill(declared_); }

void Canvas::fill(const tensor::Distribution& distribution) { tensor::fill(dtype_, distribution, seed_, stream_, count_, bytes_.data(), folder_); }

void Canvas::fill_inside(std::uint64_t seed) {
  const auto part = static_cast<std::ptrdiff_t>(edge() * tensor::size_of(dtype_));
  Bytes fresh(bytes_.size());
  tensor::fill(dtype_, declared_, seed, stream_, count_, fresh.data(), folder_);
  std::copy(fresh.begin() + part, fresh.end() - part, bytes_.begin() + part);
}

void Canvas::fill_by(const std::function<double(const Words&)>& value) {
  for (std::size_t i = 0; i < count_; ++i) set(i, value(base::philox(seed_, i, stream_)));
}

void Canvas::move_one() {
  if (count_ == 0) return;
  base::Random random(seed_, 0x0e0 + stream_);
  const std::size_t element = random.below(count_);
  set(element, at(element) == 0 ? 0.5 : 1.5 * at(element));
}

void Canvas::move_all() {
  for (std::size_t i = 0; i < count_; ++i) {
    const double by = unit(words(i, moved_tag)[0]) - 0.5;
    set(i, at(i) == 0 ? by : at(i) * (1 + by));
  }
}

void Canvas::outliers(bool special) {
  fill(tensor::Distribution{});
  for (std::size_t i = 0; special && i < count_; ++i)
    if (base::philox(~seed_, i, stream_)[0] % 100 == 0) set(i, 1000 * at(i));
}

void Canvas::stray(const std::function<double(const Words&)>& value) {
  bool any = false;
  for (std::size_t i = edge(); i < count_ - edge(); ++i) {
    const Words drawn = words(i, stray_tag);
    if (drawn[0] % stray_share != 0) continue;
    set(i, value(drawn));
    any = true;
  }
  if (!any && count_ > 0) one(value(words(count_, stray_tag)));
}

void Canvas::one(double value) { few(value, 1); }

void Canvas::few(double value, std::size_t count) {
  if (count_ == 0) return;
  base::Random random(seed_, 0x1e0 + stream_);
  for (std::size_t i = 0; i < count; ++i) set(edge() + random.below(count_ - 2 * edge()), value);
}

double Canvas::far_value(const Words& drawn) const { return (dtype_ == tensor::Dtype::float16 ? 0x1p15 : 0x1p20) * (0.25 + 0.75 * unit(drawn[0])); }

double Canvas::banded(std::size_t element, std::uint32_t regime) const {
  const Words drawn = words(element, inside_tag);
  switch (regime) {
    case 0: return at(element);
    case 1: return bell(drawn);
    case 2: return unit(drawn[0]);
    case 3: return 0;
    case 4: return wide_value(drawn);
    case 5: return (drawn[0] % 16 == 0 ? 1000 : 1) * bell(words(element, inside_tag + 1));
    case 6: return far_value(drawn);
    case 7: return -far_value(drawn);
    default: return 0x1p-20 * bell(drawn);
  }
}

void Canvas::bands(std::size_t axis, bool small, bool far) {
  fill();
  if (extents_.empty()) return;
  for (std::size_t i = edge(); i < count_ - edge(); ++i) {
    const auto regime = words(static_cast<std::size_t>(index(i, axis)), band_tag)[0] % (small ? 9 : 8);
    if (!far && (regime == 6 || regime == 7)) continue;
    set(i, banded(i, regime));
  }
}

void Canvas::magnitudes(std::size_t axis) {
  fill();
  if (extents_.empty()) return;
  const std::uint32_t powers = dtype_ == tensor::Dtype::float16 ? 9 : 31;   // of what float16 holds without loss
  for (std::size_t i = 0; i < count_; ++i) set(i, at(i) * std::exp2(-static_cast<double>(words(static_cast<std::size_t>(index(i, axis)), scale_tag)[0] % powers)));
}

void Canvas::tiny() {
  fill();
  for (std::size_t i = edge(); i < count_ - edge(); ++i) {
    const Words drawn = words(i, tiny_tag);
    // At some indices of the first axis all is next to nothing: what is added to a divisor counts there.
    if (!extents_.empty() && words(static_cast<std::size_t>(index(i, 0)), tiny_tag + 1)[0] % 4 == 0) {
      set(i, sign(drawn[1]) * std::exp2(-38 - 4 * unit(drawn[2])));
      continue;
    }
    const std::uint32_t kind = drawn[0] % 64;
    if (kind >= 32) continue;
    if (kind == 0) set(i, sign(drawn[1]) * 0.0);
    else if (kind == 1) set(i, sign(drawn[1]) * std::exp2(-127 - 20 * unit(drawn[2])));
    else if (kind < 6) set(i, sign(drawn[1]) * std::exp2(-30 - 90 * unit(drawn[2])));
    else set(i, sign(drawn[1]) * std::exp2(-18 - 12 * unit(drawn[2])));
  }
}

void Canvas::repeats(std::size_t turn) {
  using Kind = tensor::Distribution::Kind;
  if (extents_.empty() || count_ == 0) return;
  if (declared_.kind == Kind::arange) {   // in another order: each value stays one that occurs
    base::Random random(seed_, repeat_tag + stream_);
    for (std::size_t i = count_; i > 1; --i) {
      const std::size_t other = random.below(i);
      const double value = at(i - 1);
      set(i - 1, at(other));
      set(other, value);
    }
    return;
  }
  const bool truth = dtype_ == tensor::Dtype::bool_;
  const double low = truth ? 0 : declared_.low, high = truth ? 1 : declared_.high - 1;
  const auto some = [&](std::uint32_t word) { return std::floor(low + unit(word) * (high - low + 1)); };
  const Words few = words(count_, repeat_tag);
  const std::size_t axis = (extents_.size() - 1 + turn) % extents_.size();
  for (std::size_t i = 0; i < count_; ++i) {
    const Words drawn = words(i, inside_tag), band = words(static_cast<std::size_t>(index(i, axis)), repeat_tag + 1);
    switch (band[0] % 5) {
      case 0: set(i, some(drawn[0])); break;
      case 1: set(i, low); break;
      case 2: set(i, high); break;
      default: set(i, some(few[drawn[0] % 3]));
    }
  }
}

void Canvas::only(std::size_t axis, std::int64_t index) {
  for (std::size_t i = 0; i < count_; ++i)
    if (this->index(i, axis) != index) set(i, 0);
}

void Canvas::full_width(double limit, bool below) {
  const bool negative = declared_.kind != Kind::randint || declared_.low < 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const Words drawn = words(i, inside_tag);
    const double wide = unit(drawn[0]) + unit(drawn[1]) * 0x1p-32;
    if (below && negative && dtype_ != tensor::Dtype::uint8) set(i, -std::floor((1 + 7 * wide) / 8 * limit));
    else set(i, std::floor((negative && dtype_ != tensor::Dtype::uint8 ? 2 * wide - 1 : wide) * limit));
  }
}

}  // namespace cudal1::reference
