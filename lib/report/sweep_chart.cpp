// SPDX-License-Identifier: Apache-2.0
#include "report/sweep.hpp"
#include "report/sweep_files.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace cudal1::report {

// Each task's ratio in rising order on a logarithmic axis, one line of dots for each baseline; defective tasks hollow.
std::string sweep_chart(const Sweep& sweep) {
  constexpr double width = 720, height = 360, left = 60, right = 16, top = 34, bottom = 30;
  constexpr const char* colours[] = {"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#34495e"};
  std::map<std::string, std::vector<std::pair<double, bool>>> dots;
  double low = 0.8, high = 1.25;
  for (const SweepRow& row : sweep.rows)
    for (const auto& [baseline, ratio] : row.ratios) {
      if (ratio.value <= 0) continue;
      dots[row.sweep.empty() ? baseline : fmt::format("{}, {}", baseline, row.sweep)].emplace_back(ratio.value, row.defects.empty());
      low = std::min(low, ratio.value / 1.1);
      high = std::max(high, ratio.value * 1.1);
    }
  const auto y = [&](double ratio) {
    return height - bottom - std::log(ratio / low) / std::log(high / low) * (height - top - bottom);
  };
  std::string out = fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' font-family='sans-serif' font-size='11'>\n"
                                "<rect width='{0}' height='{1}' fill='white'/>\n<text x='{2}' y='16'>speed-up of each task</text>\n",
                                width, height, left);
  for (double decade = 1e-3; decade <= 1e4; decade *= 10)
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = decade * step;
      if (value < low || value > high) continue;
      out += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='{}'/><text x='{}' y='{:.1f}' text-anchor='end'>{}</text>\n",
                         left, width - right, y(value), y(value), value == 1 ? "#555" : "#ddd", left - 6, y(value) + 4, ratio(value));
    }
  std::size_t series = 0;
  for (auto& [baseline, values] : dots) {
    std::sort(values.begin(), values.end());
    const char* colour = colours[series % std::size(colours)];
    out += fmt::format("<text x='{}' y='{}' fill='{}'>{}</text>\n", left + 160 + 130 * static_cast<double>(series), 16, colour, baseline);
    for (std::size_t i = 0; i < values.size(); ++i)
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' stroke='{}' fill='{}'/>\n",
                         left + (width - left - right) * (static_cast<double>(i) + 0.5) / static_cast<double>(values.size()),
                         y(values[i].first), colour, values[i].second ? colour : "none");
    ++series;
  }
  return out + "</svg>\n";
}

}  // namespace cudal1::report
