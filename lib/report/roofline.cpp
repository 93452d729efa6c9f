// SPDX-License-Identifier: Apache-2.0
#include "report/formats.hpp"
#include "report/html_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

constexpr double width = 720, height = 300, left = 84, right = 16, top = 16, bottom = 44;

// Both axes are logarithmic.
struct Axes {
  double least_x, most_x, least_y, most_y;

  double x(double value) const { return left + std::log(value / least_x) / std::log(most_x / least_x) * (width - left - right); }
  double y(double value) const { return height - bottom - std::log(value / least_y) / std::log(most_y / least_y) * (height - top - bottom); }
};

// Whole decades around all points and the ridge.
Axes axes_for(const Roofline& chart) {
  const double ridge = chart.operations_per_second / chart.bytes_per_second;
  double least_x = ridge, most_x = ridge, least_y = chart.operations_per_second;
  for (const auto& point : chart.points) {
    least_x = std::min(least_x, point.operations_per_byte);
    most_x = std::max(most_x, point.operations_per_byte);
    least_y = std::min(least_y, point.operations_per_second);
  }
  const auto below = [](double value) { return std::pow(10, std::floor(std::log10(value * 0.9))); };
  const auto above = [](double value) { return std::pow(10, std::ceil(std::log10(value * 1.1))); };
  return {below(least_x), above(most_x), below(least_y), above(chart.operations_per_second)};
}

std::string rate(double operations_per_second) {
  return operations_per_second < 1e9 ? fmt::format("{:.3g} MFLOP/s", operations_per_second / 1e6)
         : operations_per_second < 1e12 ? fmt::format("{:.3g} GFLOP/s", operations_per_second / 1e9)
                                        : fmt::format("{:.3g} TFLOP/s", operations_per_second / 1e12);
}

std::string gridlines(const Axes& axes) {
  std::string svg;
  for (double y = axes.least_y; y < axes.most_y * 1.01; y *= 10)
    svg += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' class='grid'/><text x='{}' y='{:.1f}' text-anchor='end'>{}</text>\n", left, width - right, axes.y(y), axes.y(y),
                       left - 8, axes.y(y) + 4, rate(y));
  for (double x = axes.least_x; x < axes.most_x * 1.01; x *= 10)
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{:.4g}</text>\n", axes.x(x), height - bottom + 16, x);
  return svg + fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>operations per byte of device memory</text>\n", (left + width - right) / 2, height - 10);
}

}  // namespace

std::string draw_svg(const Roofline& chart) {
  const Axes axes = axes_for(chart);
  const double ridge = chart.operations_per_second / chart.bytes_per_second;
  const double from = std::max(axes.least_x, axes.least_y / chart.bytes_per_second);
  std::string svg = fmt::format("<svg viewBox='0 0 {} {}' role='img' aria-label='Roofline'>\n", width, height) + gridlines(axes);
  svg += fmt::format("<path d='M{:.1f},{:.1f} L{:.1f},{:.1f} L{:.1f},{:.1f}' class='best'/>\n", axes.x(from), axes.y(from * chart.bytes_per_second), axes.x(ridge),
                     axes.y(chart.operations_per_second), width - right, axes.y(chart.operations_per_second));
  svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{} {}, {:.3g} TB/s</text>\n", width - right, axes.y(chart.operations_per_second) - 6, chart.arithmetic,
                     rate(chart.operations_per_second), chart.bytes_per_second / 1e12);
  for (const auto& point : chart.points) {
    const bool reference = point.id == "the reference";
    const std::string mark = fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}' class='{}'><title>{}: {}</title></circle>", axes.x(point.operations_per_byte),
                                         axes.y(point.operations_per_second), reference ? 6 : 4, reference ? "reference" : "m0", escaped(point.id), rate(point.operations_per_second));
    svg += reference ? mark + "\n" : fmt::format("<a href='#{}'>{}</a>\n", escaped(point.id), mark);
  }
  return svg + "</svg>\n";
}

}  // namespace cudal1::report
