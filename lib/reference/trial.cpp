// SPDX-License-Identifier: Apache-2.0
#include "reference/trial.hpp"

#include "base/defence.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "kernel/input_values.hpp"
#include "reference/canvas.hpp"
#include "reference/survey.hpp"
#include "reference/truth.hpp"
#include "tensor/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace cudal1::reference {

namespace {

// `drawn`: from [0, 1). The last is where exponentials of the others are faint beside its own, but still count.
double lone_element(std::size_t turn, double drawn) { return turn == 0 ? 90 + 20 * drawn : turn == 1 ? -90 - 20 * drawn : 14 + 4 * drawn; }

using Kind = tensor::Distribution::Kind;
using Role = kernel::Buffer::Role;
using Shape = std::vector<std::int64_t>;

constexpr std::size_t several = 3;   // inputs or axes that one pattern goes through, at most

Shape shape_of(const kernel::Buffer& buffer, const task::Workload& workload) {
  const auto extents = kernel::extents(buffer.shape, workload.environment);
  if (!extents) throw base::Error(base::Fault::bad_task, base::render(extents.error()));
  return *extents;
}

// The task's inputs, as far as patterns ask.
class Inputs {
 public:
  Inputs(const task::Task& task, const task::Workload& workload) : task_(task) {
    for (std::size_t i = 0; i < task.file.buffers.size(); ++i) {
      const kernel::Buffer& buffer = task.file.buffers[i];
      shapes_.push_back(shape_of(buffer, workload));
      auto values = kernel::input_values(buffer, workload.environment);
      if (!values) throw base::Error(base::Fault::bad_task, base::render(values.error()));
      distributions_.push_back(*std::move(values));
      if (buffer.role == Role::output) continue;
      const Kind kind = distributions_.back().kind;
      if (!tensor::is_floating(buffer.dtype)) continue;
      if (kind == Kind::normal || kind == Kind::uniform) plain_.push_back(i);
      else if (kind == Kind::zeros || kind == Kind::ones || kind == Kind::arange || kind == Kind::constant) constants_.push_back(i);
    }
  }

  const std::vector<std::size_t>& plain() const { return plain_; }
  const std::vector<std::size_t>& constants() const { return constants_; }
  const Shape& shape(std::size_t buffer) const { return shapes_[buffer]; }
  const tensor::Distribution& distribution(std::size_t buffer) const { return distributions_[buffer]; }
  tensor::Dtype dtype(std::size_t buffer) const { return task_.file.buffers[buffer].dtype; }

  // Integers and truth values whose other values, and any order of them, are as good as the declared ones to a torch line.
  bool repeatable(std::size_t buffer) const {
    if (task_.file.buffers[buffer].role == Role::output || tensor::is_floating(dtype(buffer))) return false;
    const Kind kind = distributions_[buffer].kind;
    const bool truth = dtype(buffer) == tensor::Dtype::bool_;
    return kind == Kind::randint || kind == Kind::arange || (truth && (kind == Kind::zeros || kind == Kind::ones || kind == Kind::constant));
  }

  std::size_t deepest() const {
    std::size_t rank = 0;
    for (const std::size_t buffer : plain_) rank = std::max(rank, shapes_[buffer].size());
    return rank;
  }

  // The first output that patterns may be looked at in.
  std::optional<std::size_t> output() const {
    for (std::size_t i = 0; i < task_.file.buffers.size(); ++i)
      if (task_.file.buffers[i].role != Role::input && !shapes_[i].empty()) return i;
    return std::nullopt;
  }

  // The axis of an input that has an output's extent.
  std::optional<std::size_t> axis_of(std::size_t buffer, std::int64_t extent) const {
    for (std::size_t axis = 0; axis < shapes_[buffer].size(); ++axis)
      if (shapes_[buffer][axis] == extent) return axis;
    return std::nullopt;
  }

  // Output axes along which some plain input can be left at one index.
  std::vector<std::size_t> lit_axes() const {
    std::vector<std::size_t> axes;
    const auto out = output();
    for (std::size_t axis = 0; out && axis < shapes_[*out].size(); ++axis) {
      const std::int64_t extent = shapes_[*out][axis];
      if (extent >= 4 && std::any_of(plain_.begin(), plain_.end(), [&](std::size_t buffer) { return axis_of(buffer, extent).has_value(); }))
        axes.push_back(axis);
    }
    return axes;
  }

  struct Meeting { std::size_t large, large_axis, zero, zero_axis; };
  // Axes of equal extent of two plain inputs, which a product may contract.
  std::vector<Meeting> meetings() const {
    std::vector<Meeting> result;
    for (const std::size_t large : plain_)
      for (const std::size_t zero : plain_)
        for (std::size_t a = 0; large != zero && a < shapes_[large].size(); ++a)
          for (std::size_t b = 0; b < shapes_[zero].size(); ++b)
            if (shapes_[large][a] == shapes_[zero][b] && shapes_[large][a] >= 4) result.push_back({large, a, zero, b});
    return result;
  }

  Canvas canvas(std::size_t buffer, std::uint64_t seed, Bytes& bytes) const {
    return {task_.file.buffers[buffer].dtype, shapes_[buffer], distributions_[buffer], seed, buffer, task_.folder(), bytes};
  }

 private:
  const task::Task& task_;
  std::vector<Shape> shapes_;
  std::vector<tensor::Distribution> distributions_;
  std::vector<std::size_t> plain_, constants_;
};

std::size_t wrapped(std::size_t turn, std::size_t count) { return count == 0 ? 0 : turn % count; }

// Which index of an output's axis to leave lit: a secret one of the quarter where the declared inputs give the least.
std::int64_t dim_index(const task::Task& task, const task::Workload& workload, const std::vector<Bytes>& declared, std::size_t output, const Shape& shape,
                       std::size_t axis, std::uint64_t seed) {
  const auto extent = static_cast<std::size_t>(shape[axis]);
  base::Random random(seed, 0x5907);
  const auto truth = oracle(task, workload, declared, std::nullopt, 1);
  if (!truth) return static_cast<std::int64_t>(random.below(extent));
  std::size_t which = 0;
  for (std::size_t i = 0; i < output; ++i) which += task.file.buffers[i].role == Role::input ? 0 : 1;
  const std::vector<double>& values = (*truth)[which].truth;
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  std::vector<std::pair<double, std::size_t>> size(extent);
  for (std::size_t i = 0; i < extent; ++i) size[i].second = i;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) size[i / inner % extent].first += values[i] * values[i];
  std::sort(size.begin(), size.end());
  return static_cast<std::int64_t>(size[random.below(std::max<std::size_t>(1, extent / 4))].second);
}

void spotlight(const task::Task& task, const task::Workload& workload, const Inputs& inputs, const Trial& trial, std::vector<Bytes>& bytes) {
  const auto axes = inputs.lit_axes();
  if (axes.empty()) return;
  const std::size_t output = *inputs.output(), axis = axes[wrapped(trial.turn, axes.size())];
  const std::int64_t extent = inputs.shape(output)[axis];
  const std::int64_t lit = dim_index(task, workload, bytes, output, inputs.shape(output), axis, trial.seed);
  for (const std::size_t buffer : inputs.plain())
    if (const auto own = inputs.axis_of(buffer, extent)) {
      Canvas canvas = inputs.canvas(buffer, trial.seed, bytes[buffer]);
      canvas.only(*own, lit);
    }
}

// Whether nothing but the size of elements that meet zeros differs: then the outputs are the same.
bool same_outputs(const task::Task& task, const task::Workload& workload, const std::vector<Bytes>& left, const std::vector<Bytes>& right) {
  const auto one = oracle(task, workload, left, std::nullopt, 1), other = oracle(task, workload, right, std::nullopt, 1);
  if (!one || !other) return false;
  for (std::size_t i = 0; i < one->size(); ++i)
    if ((*one)[i].truth != (*other)[i].truth) return false;
  return true;
}

// Four indices of the shared axis: zeros there in one input, and in the other, in every second row, one large element.
std::vector<Bytes> met(const Inputs& inputs, const Inputs::Meeting& meeting, const Trial& trial, std::vector<Bytes> bytes, double size) {
  Canvas large = inputs.canvas(meeting.large, trial.seed, bytes[meeting.large]);
  Canvas zero = inputs.canvas(meeting.zero, trial.seed, bytes[meeting.zero]);
  base::Random random(trial.seed, 0x3ee7);
  const std::int64_t extent = inputs.shape(meeting.large)[meeting.large_axis];
  std::vector<std::int64_t> places(static_cast<std::size_t>(std::min<std::int64_t>(4, extent / 4)));
  for (auto& place : places) place = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(extent)));
  for (std::size_t i = 0; i < zero.count(); ++i)
    if (std::find(places.begin(), places.end(), zero.index(i, meeting.zero_axis)) != places.end()) zero.set(i, 0);
  for (std::size_t i = 0; i < large.count(); ++i) {
    if (std::find(places.begin(), places.end(), large.index(i, meeting.large_axis)) == places.end()) continue;
    // The row is everything but the shared axis; one of its places, in half of the rows.
    std::size_t row = 0;
    for (std::size_t axis = 0; axis < large.extents().size(); ++axis)
      if (axis != meeting.large_axis) row = row * 1031 + static_cast<std::size_t>(large.index(i, axis)) + 1;
    const Words drawn = large.words(row, 0x10e);
    if (drawn[0] % 2 == 0 && places[drawn[1] % places.size()] == large.index(i, meeting.large_axis)) large.set(i, size * (1 + unit(drawn[2])));
  }
  return bytes;
}

void meet_zero(const task::Task& task, const task::Workload& workload, const Inputs& inputs, const Trial& trial, std::vector<Bytes>& bytes) {
  const auto meetings = inputs.meetings();
  for (std::size_t i = 0; i < meetings.size(); ++i) {
    // Turn 1 begins from the other end, where the roles are changed.
    const Inputs::Meeting& meeting = meetings[trial.turn % 2 == 0 ? i : meetings.size() - 1 - i];
    auto large = met(inputs, meeting, trial, bytes, trial.turn % 2 == 0 ? 0x1p20 : 0x1p24);
    if (!same_outputs(task, workload, large, met(inputs, meeting, trial, bytes, 1))) continue;
    bytes = std::move(large);
    return;
  }
}

// Numbers that no declared distribution has, as far as every sound way to evaluate the line keeps them.
double mixed_value(const Survey& known, tensor::Dtype dtype, bool not_a_number, const Words& words) {
  const std::uint32_t kind = words[3] / 2 % 8;
  const double sign = words[3] % 2 == 0 ? 1 : -1;
  if (known.single_elements && kind == 0 && known.not_a_number && not_a_number) return std::numeric_limits<double>::quiet_NaN();
  if (known.infinities && kind == 1) return sign * HUGE_VAL;
  if (known.single_elements && kind <= 3) return sign * std::exp2(10 + (dtype == tensor::Dtype::float16 ? 5 : 22) * unit(words[2]));
  return stray_value(words);
}

void mix(const Survey& known, const Inputs& inputs, const Trial& trial, std::size_t buffer, bool special, Canvas& canvas) {
  const std::size_t rank = inputs.shape(buffer).size();
  const bool small = known.inputs[buffer].homogeneous;
  const std::size_t axis = rank == 0 ? 0 : (rank - 1 + rank * trial.turn - trial.turn) % rank;   // the last first
  switch (trial.pattern) {
    case Pattern::declared:
    case Pattern::spotlight:
    case Pattern::meets_zero:
    case Pattern::constants:
    case Pattern::repeats:
    case Pattern::full_width: canvas.fill(); break;
    case Pattern::sibling: canvas.fill(), canvas.fill_inside(~trial.seed); break;
    case Pattern::influence: canvas.fill(), canvas.move_one(); break;
    case Pattern::normal: canvas.fill(tensor::Distribution{}); break;
    case Pattern::positive: canvas.fill({Kind::uniform, 0, 1, "", "", ""}); break;
    case Pattern::integers: canvas.fill({Kind::randint, -3, 4, "", "", ""}); break;
    case Pattern::wide: trial.turn == 0 ? canvas.fill_by(wide_value) : canvas.fill_by([&](const Words& words) { return -canvas.far_value(words); }); break;
    case Pattern::near_one: canvas.fill_by([](const Words& words) { return 1 + 0x1p-12 * unit(words[0]); }); break;
    case Pattern::wide_integers:
      canvas.fill_by([&](const Words& words) { return special ? 2049 + 4.0 * (words[0] % 512) : words[1] % 2; });
      break;
    case Pattern::outliers: canvas.outliers(special); break;
    case Pattern::stray: canvas.fill(), canvas.stray(stray_value); break;
    case Pattern::lone: canvas.fill(), canvas.one(lone_element(trial.turn, unit(canvas.words(canvas.count(), 0x10e)[0]))); break;
    case Pattern::bands: canvas.bands(axis, small, !trial.half); break;
    case Pattern::alone: special ? canvas.fill(tensor::Distribution{}) : canvas.fill(); break;
    case Pattern::magnitudes: small ? canvas.magnitudes(axis) : canvas.fill(); break;
    case Pattern::tiny: canvas.tiny(); break;
    case Pattern::infinite:
      canvas.fill();
      canvas.stray([](const Words& words) { return words[1] % 2 == 0 ? HUGE_VAL : -HUGE_VAL; });
      break;
    case Pattern::not_a_number:
      canvas.fill();
      if (known.single_elements) canvas.stray([](const Words&) { return std::numeric_limits<double>::quiet_NaN(); });
      // Few, for what they reach is NaN and shows nothing else; several, for what they reach may be decided by others.
      else if (special) canvas.few(std::numeric_limits<double>::quiet_NaN(), std::clamp<std::size_t>(canvas.extents().empty() ? 1 : static_cast<std::size_t>(canvas.extents().front() / 4), 1, 8));
      break;
    case Pattern::mixed:
      canvas.fill();
      canvas.stray([&](const Words& words) { return mixed_value(known, inputs.dtype(buffer), trial.turn == 0, words); });
      break;
  }
}

// How large the integers of an input are. Of two that meet in a product, one takes in turn 2 what both together may.
double width(const Survey& known, const Inputs& inputs, const Trial& trial, std::size_t buffer, double limit) {
  if (trial.turn < 2 || known.factors.size() != 2) return limit;
  const bool large = known.factors[trial.seed / 2 % 2] == buffer;
  return large ? std::min(std::floor(limit * limit / 2), largest_integer(inputs.dtype(buffer))) : 2;
}

bool is_arithmetic(const Survey& known) {
  return std::any_of(known.inputs.begin(), known.inputs.end(), [](const InputUse& use) { return use.arithmetic; });
}

// Whether some input may repeat. Where elements are scattered and not added, the last of equal indices wins, and nobody says which that is.
bool repeats(const task::Task& task, const Inputs& inputs) {
  if (!task.torch) return false;
  const auto scatters = [](const tensor::Node& node) { return node.function == "scatter"; };
  if (std::any_of(task.torch->nodes.begin(), task.torch->nodes.end(), scatters)) return false;
  for (std::size_t i = 0; i < task.file.buffers.size(); ++i)
    if (inputs.repeatable(i)) return true;
  return false;
}

}  // namespace

std::string_view name(Pattern pattern) {
  switch (pattern) {
    case Pattern::declared: return "the declared distribution";
    case Pattern::sibling: return "the same outermost elements, others inside";
    case Pattern::influence: return "one element of every input moved";
    case Pattern::normal: return "normal inputs";
    case Pattern::positive: return "inputs in [0, 1)";
    case Pattern::wide: return "inputs of wide magnitude";
    case Pattern::outliers: return "inputs with outliers";
    case Pattern::near_one: return "inputs close to 1";
    case Pattern::integers: return "integer-valued inputs";
    case Pattern::wide_integers: return "integer-valued inputs of twelve bits";
    case Pattern::stray: return "stray elements";
    case Pattern::lone: return "one stray element in each input";
    case Pattern::bands: return "another pattern at every index";
    case Pattern::alone: return "one input normal, the others as declared";
    case Pattern::constants: return "constant inputs moved";
    case Pattern::spotlight: return "inputs 0 but at one index";
    case Pattern::magnitudes: return "another magnitude at every index";
    case Pattern::meets_zero: return "large elements that meet zeros";
    case Pattern::tiny: return "tiny elements";
    case Pattern::infinite: return "infinite elements";
    case Pattern::not_a_number: return "elements that are NaN";
    case Pattern::full_width: return "integers of full width";
    case Pattern::mixed: return "stray elements of every kind";
    case Pattern::repeats: return "integers that repeat";
  }
  return "";
}

std::vector<Trial> trials(const task::Task& task, const task::Workload& workload, std::uint64_t seed, int declared, bool every_pattern,
                          outcome::Precision precision) {
  using base::Defence;
  using base::defended;
  const Inputs inputs(task, workload);
  const Survey known = survey(task);
  const std::size_t plain = inputs.plain().size(), constants = inputs.constants().size();
  base::Random random(seed, 0x7121a1);
  std::vector<Trial> result;
  for (int i = 0; i < declared; ++i) result.push_back({Pattern::declared, random.next()});
  if (!defended(Defence::fresh_values)) return {result.front()};
  if (defended(Defence::siblings)) result.push_back({Pattern::sibling, result.back().seed});
  const auto add = [&](Pattern pattern, std::size_t turns = 1) {
    for (std::size_t turn = 0; turn < std::min(turns, several + 1); ++turn) result.push_back({pattern, random.next(), turn, precision == outcome::Precision::half});
  };
  if (defended(Defence::influence)) {
    add(Pattern::influence, every_pattern ? 2 : 1);
    if (constants > 0) add(Pattern::constants, every_pattern && constants > 1 ? constants + 1 : 1);
  }
  if (!defended(Defence::patterns)) return result;
  if (every_pattern && is_arithmetic(known)) add(Pattern::full_width, known.factors.empty() ? 2 : 3);
  if (every_pattern && (plain > 0 || is_arithmetic(known))) add(Pattern::lone, 3);
  if (repeats(task, inputs)) add(Pattern::repeats, every_pattern ? 2 : 1);
  if (plain == 0) return result;
  add(Pattern::normal);
  add(Pattern::integers);
  add(Pattern::stray);
  if (precision != outcome::Precision::half) add(Pattern::mixed, known.single_elements && known.not_a_number ? 2 : 1);
  if (!every_pattern) return result;
  for (const Pattern pattern : {Pattern::positive, Pattern::wide, Pattern::stray}) add(pattern);
  result.push_back({Pattern::outliers, random.next(), random.below(plain)});
  add(Pattern::bands, std::min(std::max<std::size_t>(inputs.deepest(), 1), several));
  if (plain > 1) add(Pattern::alone, std::min(plain, several));
  if (task.torch) add(Pattern::spotlight, std::min(inputs.lit_axes().size(), several));
  if (known.infinities) add(Pattern::infinite);
  if (known.not_a_number) add(Pattern::not_a_number);
  if (precision == outcome::Precision::half) return result;   // float16 operands hold neither what is large nor what is small
  result.push_back({Pattern::wide, random.next(), 1});   // all far below 0
  add(Pattern::tiny);
  if (std::any_of(known.inputs.begin(), known.inputs.end(), [](const InputUse& use) { return use.homogeneous; }))
    add(Pattern::magnitudes, std::min(std::max<std::size_t>(inputs.deepest(), 1), several));
  if (task.torch && !known.single_elements && !inputs.meetings().empty()) add(Pattern::meets_zero, 2);
  if (precision != outcome::Precision::fp32) return result;
  add(Pattern::near_one);
  const std::size_t turn = random.below(plain);
  for (const std::size_t next : {turn, turn + 1}) result.push_back({Pattern::wide_integers, random.next(), next});
  return result;
}

std::vector<Bytes> inputs(const task::Task& task, const task::Workload& workload, const Trial& trial) {
  const Inputs inputs(task, workload);
  const Survey known = survey(task);
  std::vector<Bytes> result(task.file.buffers.size());
  std::size_t next_plain = 0, next_constant = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const kernel::Buffer& buffer = task.file.buffers[i];
    if (buffer.role == Role::output) continue;
    Canvas canvas = inputs.canvas(i, trial.seed, result[i]);
    if (std::find(inputs.plain().begin(), inputs.plain().end(), i) != inputs.plain().end()) {
      mix(known, inputs, trial, i, next_plain++ == wrapped(trial.turn, inputs.plain().size()), canvas);
      continue;
    }
    canvas.fill();
    if (trial.pattern == Pattern::influence && tensor::is_floating(buffer.dtype)) canvas.move_one();
    if (trial.pattern == Pattern::sibling && inputs.distribution(i).kind == Kind::randint) canvas.fill_inside(~trial.seed);
    if (trial.pattern == Pattern::repeats && inputs.repeatable(i)) canvas.repeats(trial.turn);
    if ((trial.pattern == Pattern::full_width || trial.pattern == Pattern::lone) && known.inputs[i].arithmetic)
      if (const double limit = integer_limit(task, known, workload); limit >= 2) {
        if (trial.pattern == Pattern::lone) canvas.one(limit);
        else canvas.full_width(width(known, inputs, trial, i, limit), trial.turn == 1);
      }
    if (std::find(inputs.constants().begin(), inputs.constants().end(), i) == inputs.constants().end()) continue;
    ++next_constant;
    if (trial.pattern == Pattern::constants && (trial.turn == 0 || trial.turn == next_constant)) canvas.move_all();
  }
  if (trial.pattern == Pattern::spotlight) spotlight(task, workload, inputs, trial, result);
  if (trial.pattern == Pattern::meets_zero) meet_zero(task, workload, inputs, trial, result);
  return result;
}

}  // namespace cudal1::reference
