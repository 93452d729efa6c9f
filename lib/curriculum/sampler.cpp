// SPDX-License-Identifier: Apache-2.0
#include "curriculum/sampler.hpp"

#include "curriculum/operation.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::curriculum {

namespace {

// Streams of one seed must not meet: which operations, and which sizes.
constexpr std::uint64_t line_stream = std::uint64_t{1} << 58, size_stream = std::uint64_t{1} << 59;

std::string replaced(std::string_view text, std::string_view hole, std::string_view value) {
  std::string result(text);
  for (auto at = result.find(hole); at != std::string::npos; at = result.find(hole, at + value.size())) result.replace(at, hole.size(), value);
  return result;
}

// A kernel file while it grows, one operation after the other.
class Builder {
 public:
  explicit Builder(bool half) : half_(half) {
    value_ = input({"N", "M"});
    torch_ = value_.buffer;
    used_ = {"N", "M"};
  }

  bool fits(const Operation& operation) const {
    if (!last_.empty() && std::string_view(spoils_).find(fmt::format(" {} ", operation.name)) != std::string_view::npos) return false;
    if (value_.shape.size() == 2) return operation.form != Form::product || used_.size() < 3;
    return operation.form == Form::pointwise;
  }

  void add(const Operation& operation) {
    Value further;
    std::vector<std::string> shape = value_.shape;
    switch (operation.form) {
      case Form::with_matrix: further = input(shape); break;
      case Form::with_row: further = input({shape[1]}); break;
      case Form::product:
        used_.emplace_back("K");
        further = input({shape[1], "K"});
        shape[1] = "K";
        break;
      case Form::row_total: shape = {shape[0]}; break;
      case Form::column_total: shape = {shape[1]}; break;
      case Form::transposed: std::swap(shape[0], shape[1]); break;
      default: break;
    }
    ++steps_;
    steps_text_.push_back({operation, value_, further, shape});
    torch_ = replaced(replaced(replaced(operation.torch, "{v}", torch_), "{w}", further.buffer), "{C}", value_.shape.back());
    value_ = {fmt::format("T{}", steps_), shape, false};
    last_ = operation.name;
    spoils_ = operation.spoils;
  }

  const std::string& torch() const { return torch_; }

  std::string file(const std::string& name, const std::vector<std::pair<std::string, int>>& sizes) {
    std::string head = fmt::format("//@ task    {}\n//@ torch   Y = {}\n", name, torch_), check, size;
    for (const auto& [letter, value] : sizes) {
      if (std::find(used_.begin(), used_.end(), letter) == used_.end()) continue;
      size += fmt::format("{}{} = {}", size.empty() ? "" : ", ", letter, value);
      check += fmt::format("{}{} = {}", check.empty() ? "" : ", ", letter, letter == "N" ? 19 : letter == "M" ? 37 : 23);
    }
    head += fmt::format("//@ size    {}\n//@ check   {}\n", size, check);
    for (const Value& each : inputs_) head += fmt::format("//@ input   {}: {}[{}]\n", each.buffer, dtype(), fmt::join(each.shape, ", "));
    head += fmt::format("//@ output  Y: {}[{}]\n", dtype(), fmt::join(value_.shape, ", "));
    std::string launches, code;
    for (std::size_t i = 0; i < steps_text_.size(); ++i) write(i, head, launches, code);
    return head + launches + (half_ ? "#include <cuda_fp16.h>\n" : "") + code;
  }

 private:
  struct Value {
    std::string buffer;
    std::vector<std::string> shape;
    bool is_input = true;
  };
  struct Step {
    Operation operation;
    Value value, further;
    std::vector<std::string> shape;   // of the result
  };

  std::string_view dtype() const { return half_ ? "float16" : "float32"; }
  // Inputs and the output have the task's type; what lies between is float32.
  std::string type(bool outer) const { return half_ && outer ? "__half" : "float"; }

  Value input(const std::vector<std::string>& shape) {
    inputs_.push_back({std::string(1, static_cast<char>('A' + inputs_.size())), shape, true});
    return inputs_.back();
  }

  // The launch of a step, its scratch buffer and its kernel.
  void write(std::size_t index, std::string& head, std::string& launches, std::string& code) const {
    const Step& step = steps_text_[index];
    const bool last = index + 1 == steps_text_.size();
    const std::string result = last ? "Y" : fmt::format("T{}", index + 1), kernel = fmt::format("{}_{}", step.operation.name, index + 1);
    if (!last) head += fmt::format("//@ scratch {}: float32[{}]\n", result, fmt::join(step.shape, ", "));
    const std::string rows = step.value.shape.size() == 2 ? step.value.shape[0] : "1", columns = step.value.shape.back();
    const bool product = step.operation.form == Form::product, with = !step.further.buffer.empty();
    std::string threads = rows + " * " + columns;
    if (step.operation.form == Form::row || step.operation.form == Form::row_total) threads = rows;
    if (step.operation.form == Form::column_total) threads = columns;
    if (product) threads = rows + " * K";
    launches += fmt::format("//@ launch  {}<<<ceil_div({}, 256), 256>>>({}{}, {}, {}, {}{})\n", kernel, threads, step.value.buffer, with ? ", " + step.further.buffer : "", result, rows,
                            columns, product ? ", K" : "");
    code += fmt::format("\n__global__ void {}(const {}* V{}, {}* out_, int R, int C{}) {{\n  int t = blockIdx.x * 256 + threadIdx.x;\n{}}}\n", kernel, type(step.value.is_input),
                        with ? fmt::format(", const {}* W", type(true)) : "", type(last), product ? ", int K" : "", body(step));
  }

  static std::string body(const Step& step) {
    const std::string code(step.operation.code);
    const std::string element = "  if (t >= R * C) return;\n  float v = float(V[t])";
    switch (step.operation.form) {
      case Form::pointwise: return fmt::format("{};\n  out_[t] = {};\n", element, code);
      case Form::with_matrix: return fmt::format("{}, w = float(W[t]);\n  out_[t] = {};\n", element, code);
      case Form::with_row: return fmt::format("{}, w = float(W[t % C]);\n  out_[t] = {};\n", element, code);
      case Form::transposed: return fmt::format("{};\n  out_[(t % C) * R + t / C] = {};\n", element, code);
      case Form::column_total:
        return fmt::format("  if (t >= C) return;\n  float sum = 0.0f;\n  for (int i = 0; i < R; ++i) {{\n    float v = float(V[(long long)i * C + t]);\n    {}\n  }}\n  out_[t] = sum;\n", code);
      case Form::product:
        return "  if (t >= R * K) return;\n  float sum = 0.0f;\n  for (int i = 0; i < C; ++i) sum += float(V[(t / K) * C + i]) * float(W[i * K + t % K]);\n  out_[t] = sum;\n";
      case Form::row:
      case Form::row_total:
        return fmt::format("  if (t >= R) return;\n  long long start = (long long)t * C;\n  auto row = [&](int i) {{ return float(V[start + i]); }};\n  {}\n", code);
    }
    return "";
  }

  bool half_;
  std::vector<Value> inputs_;
  std::vector<Step> steps_text_;
  std::vector<std::string> used_;
  Value value_;
  std::string torch_, last_, spoils_;
  int steps_ = 0;
};

int pick(std::span<const int> from, base::Random& random) { return from[random.below(from.size())]; }

}  // namespace

Sampled sample(const SamplerOptions& options, std::uint64_t number, int version) {
  base::Random random(options.seed, line_stream + number), sizes(options.seed, size_stream + (number << 8) + static_cast<std::uint64_t>(version));
  const int wanted = 1 + static_cast<int>(random.below(static_cast<std::size_t>(std::max(options.most_operations, 1))));
  Builder builder(version % 2 == 1);
  int done = 0;
  for (int tries = 0; done < wanted && tries < 64; ++tries) {
    const Operation& operation = operations()[random.below(operations().size())];
    if (!builder.fits(operation)) continue;
    builder.add(operation);
    ++done;
  }
  constexpr int rows[] = {128, 256, 512, 1000, 1024, 2048, 3000, 4096}, columns[] = {64, 100, 128, 256, 512, 768, 1000, 1024}, inner[] = {32, 64, 96, 128, 256};
  Sampled result;
  result.name = fmt::format("sampled_{:06}_{}", number, version);
  result.torch = builder.torch();
  result.operations = done;
  result.source = builder.file(result.name, {{"N", pick(rows, sizes)}, {"M", pick(columns, sizes)}, {"K", pick(inner, sizes)}});
  return result;
}

}  // namespace cudal1::curriculum
