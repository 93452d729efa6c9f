// SPDX-License-Identifier: Apache-2.0
#include "report/formats.hpp"
#include "report/html_text.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

constexpr double width = 720, height = 300, left = 64, right = 16, top = 16, bottom = 40;

// Scores on a logarithmic axis, rounds on a linear one.
struct Axes {
  double low, high;
  int rounds;

  double x(double round) const {
    return left + (round - 0.5) / std::max(rounds, 1) * (width - left - right);
  }
  double y(double score) const {
    const double share = (std::log(score) - std::log(low)) / (std::log(high) - std::log(low));
    return height - bottom - share * (height - top - bottom);
  }
};

Axes axes_for(const ScoreChart& chart) {
  double low = 1, high = 1;
  int rounds = static_cast<int>(chart.best_so_far.size());
  for (const auto& point : chart.points) {
    rounds = std::max(rounds, point.round);
    if (!point.right || point.score <= 0) continue;
    low = std::min({low, point.score, point.low > 0 ? point.low : low});
    high = std::max({high, point.score, point.high});
  }
  return {low / 1.25, high * 1.25, rounds};
}

std::string gridlines(const Axes& axes) {
  std::string svg;
  for (double decade = 1e-3; decade <= 1e5; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0}) {
      const double score = decade * step;
      if (score < axes.low || score > axes.high) continue;
      svg += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' class='{}'/><text x='{}' y='{:.1f}' "
                         "text-anchor='end'>{}</text>\n",
                         left, width - right, axes.y(score), axes.y(score), score == 1 ? "one" : "grid", left - 8,
                         axes.y(score) + 4, ratio(score));
    }
  for (int round = 1; round <= axes.rounds; ++round)
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>round {}</text>\n", axes.x(round), height - 14, round);
  return svg;
}

// Points of one round stand side by side around its middle.
double offset(const ScoreChart& chart, std::size_t index) {
  constexpr double step = 9, most = 60;
  std::size_t before = 0, all = 0;
  for (std::size_t i = 0; i < chart.points.size(); ++i)
    if (chart.points[i].round == chart.points[index].round) ++all, before += i < index ? 1 : 0;
  return (static_cast<double>(before) - (static_cast<double>(all) - 1) / 2) * std::min(step, most / static_cast<double>(all));
}

constexpr std::size_t colours = 6;  // that page.html has

std::string legend(const std::vector<std::string>& models) {
  if (models.size() < 2) return "";
  std::string svg;
  for (std::size_t i = 0; i < models.size(); ++i)
    svg += fmt::format("<circle cx='{0}' cy='{1}' r='4' class='m{2}'/><text x='{3}' y='{4}'>{5}</text>\n", left + 8, top + 6 + 16 * static_cast<double>(i), i % colours, left + 18,
                       top + 10 + 16 * static_cast<double>(i), escaped(models[i]));
  return svg;
}

}  // namespace

std::string draw_svg(const ScoreChart& chart) {
  const Axes axes = axes_for(chart);
  std::string svg = fmt::format("<svg viewBox='0 0 {} {}' role='img' aria-label='Score per round'>\n", width, height);
  svg += gridlines(axes);

  std::string path;
  for (std::size_t i = 0; i < chart.best_so_far.size(); ++i)
    path += fmt::format("{}{:.1f},{:.1f} ", path.empty() ? "M" : "L", axes.x(static_cast<double>(i) + 1),
                        axes.y(std::max(chart.best_so_far[i], axes.low)));
  if (!path.empty()) svg += fmt::format("<path d='{}' class='best'/>\n", path);

  for (std::size_t i = 0; i < chart.points.size(); ++i) {
    const auto& point = chart.points[i];
    // One that is not right lies on the floor as a cross.
    const double x = axes.x(std::max(point.round, 1)) + offset(chart, i);
    svg += fmt::format("<a href='#{}'>", escaped(point.id));
    if (point.right && point.low > 0)
      svg += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}' class='interval m{3}'/>", x, axes.y(point.low), axes.y(point.high), point.model % colours);
    if (point.right)
      svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' class='m{}'><title>{}: {}</title></circle>", x, axes.y(point.score), point.model % colours, escaped(point.id), ratio(point.score));
    else
      svg += fmt::format("<text x='{:.1f}' y='{}' class='wrong' text-anchor='middle'>×<title>{}</title></text>", x, height - bottom, escaped(point.id));
    svg += "</a>\n";
  }
  return svg + legend(chart.models) + "</svg>\n";
}

}  // namespace cudal1::report
