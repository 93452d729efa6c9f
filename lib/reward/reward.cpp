// SPDX-License-Identifier: Apache-2.0
#include "reward/reward.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace cudal1::reward {

namespace {

constexpr std::array<std::pair<Shape, std::string_view>, 5> shapes = {
    {{Shape::paper, "paper"}, {Shape::log, "log"}, {Shape::milestones, "milestones"}, {Shape::kevin, "kevin"}, {Shape::correct, "correct"}}};

constexpr double paper_clip = 1.5, log_least = -1, log_most = 1.5, log_base = 2, milestone = 1.05, kevin_right = 0.3;
constexpr double not_executable = -0.2, unreadable = -0.3;

// Towards 1.00, as the paper rounds.
double rounded(double speedup) { return speedup > 1 ? std::max(std::floor(speedup * 100 + 1e-9) / 100, 1.0) : std::min(std::ceil(speedup * 100 - 1e-9) / 100, 1.0); }

double paper(double speedup, const Standing& standing) {
  const bool known = standing.count > 1 && standing.deviation > 0;
  const double mean = known ? standing.mean : 1, deviation = known ? standing.deviation : 1;
  return std::clamp((speedup - mean) / deviation, -paper_clip, paper_clip);
}

double sure(const outcome::Speedup& speedup) {
  if (speedup.low > 1) return speedup.low;
  return speedup.high < 1 ? speedup.high : 1;
}

outcome::Speedup counted(const Result& result, const Standing& standing) {
  if (result.duplicate) return {};
  outcome::Speedup speedup = *result.speedup;
  if (result.confirmed) return speedup;
  for (double* end : {&speedup.value, &speedup.low, &speedup.high}) *end = std::min(*end, jump_limit(standing));
  return speedup;
}

double of_right(Shape shape, const outcome::Speedup& speedup, const Standing& standing) {
  switch (shape) {
    case Shape::paper: return paper(rounded(speedup.value), standing);
    case Shape::log: return 1 + std::clamp(std::log(sure(speedup)) / std::log(std::max(standing.best, log_base)), log_least, log_most);
    case Shape::milestones:
      if (sure(speedup) <= milestone) return 1;
      return sure(speedup) > milestone * standing.best ? 3 : 2;
    case Shape::kevin: return kevin_right + speedup.value;
    case Shape::correct: return 1;
  }
  return 0;
}

double of_wrong(Shape shape, const Result& result, const Standing& standing) {
  switch (shape) {
    case Shape::paper: return result.cheat ? -paper_clip : paper(0, standing);
    case Shape::log: return result.cheat || !result.readable ? unreadable : result.executable ? 0 : not_executable;
    case Shape::milestones: return -1;
    case Shape::kevin:
    case Shape::correct: return 0;
  }
  return 0;
}

}  // namespace

std::string_view name(Shape shape) {
  for (const auto& [each, text] : shapes)
    if (each == shape) return text;
  return "";
}

std::optional<Shape> parse_shape(std::string_view name) {
  for (const auto& [shape, text] : shapes)
    if (text == name) return shape;
  return std::nullopt;
}

const std::vector<std::string_view>& shape_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const auto& [_, text] : shapes) list.push_back(text);
    return list;
  }();
  return names;
}

double jump_limit(const Standing& standing) { return std::max(3.0, 2 * standing.best); }

std::optional<double> value(Shape shape, const Result& result, const Standing& standing) {
  if (!result.right || result.cheat) return of_wrong(shape, result, standing);
  if (shape == Shape::correct) return 1;
  if (!result.speedup && !result.duplicate) return std::nullopt;
  return of_right(shape, counted(result, standing), standing);
}

}  // namespace cudal1::reward
