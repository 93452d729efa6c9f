// SPDX-License-Identifier: Apache-2.0
#include "report/figures.hpp"
#include "report/html_text.hpp"
#include "report/wording.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

constexpr double margin = 16, first_row = 20, foot = 36, column_step = 118, row_step = 24;

using Place = std::pair<double, double>;

std::vector<std::string> origins(const search::Variant& variant) {
  std::vector<std::string> from = variant.exemplars;
  for (const std::string& one : {variant.repairs, variant.reverts})
    if (!one.empty()) from.push_back(one);
  return from;
}

// The winner, those whom its author saw, those whom their authors saw, and so on.
std::set<std::string> ancestry(const store::Run& run) {
  std::set<std::string> found;
  std::vector<std::string> open;
  if (const auto* best = run.result.best()) open.push_back(best->id);
  while (!open.empty()) {
    const std::string id = open.back();
    open.pop_back();
    if (!found.insert(id).second) continue;
    for (const auto& variant : run.result.variants)
      if (variant.id == id)
        for (const std::string& from : origins(variant)) open.push_back(from);
  }
  return found;
}

std::string edge(const Place& from, const Place& to, bool marked) {
  const double bend = std::max(20.0, (to.first - from.first) / 2);
  return fmt::format("<path d='M{:.0f},{:.0f} C{:.0f},{:.0f} {:.0f},{:.0f} {:.0f},{:.0f}' class='{}'/>\n", from.first, from.second, from.first + bend, from.second, to.first - bend, to.second, to.first,
                     to.second, marked ? "kin" : "edge");
}

std::string marked_variant(const search::Variant& variant, const Place& at, bool best, bool marked) {
  const bool judged = variant.status == search::Variant::Status::judged;
  const std::string said = variant.right() ? ratio(variant.score()) : judged ? verdict(variant.judgement) : std::string(search::name(variant.status));
  const std::string shape = variant.right() ? fmt::format("<circle cx='{:.0f}' cy='{:.0f}' r='{}'/>", at.first, at.second, best ? 7 : 4)
                                            : fmt::format("<text x='{:.0f}' y='{:.0f}' class='wrong' text-anchor='middle'>×</text>", at.first, at.second + 4);
  return fmt::format("<a href='#{}'>{}<text x='{:.0f}' y='{:.0f}'{}>{}</text><title>{}: {}</title></a>\n", escaped(variant.id), shape, at.first + 10, at.second + 4, marked ? " class='strong'" : "",
                     escaped(variant.right() ? said : ""), escaped(variant.id), escaped(said));
}

}  // namespace

std::string framed(double width, double height, std::string_view label, const std::string& drawn) {
  return fmt::format("<div class=\"scroll\" tabindex=\"0\"><svg viewBox='0 0 {0:.0f} {1:.0f}' style='min-width:{2:.0f}px;max-width:{0:.0f}px' role='img' aria-label='{3}'>\n{4}</svg></div>\n", width, height,
                     std::min(width, 512.0) > width * 0.8 ? std::min(width, 512.0) : width * 0.8, label, drawn);
}

std::string lineage_html(const store::Run& run) {
  const auto& variants = run.result.variants;
  if (variants.size() < 2) return "";
  std::map<int, int> columns, tall;   // of rounds: their places, and how many stand there
  for (const auto& variant : variants) columns.emplace(variant.key.round, 0);
  int place = 0;
  for (auto& [round, at] : columns) at = place++;
  std::map<std::string, Place> at;
  double height = 0;
  for (const auto& variant : variants) {
    const Place here{margin + column_step * columns.at(variant.key.round), first_row + row_step * tall[variant.key.round]++};
    at.emplace(variant.id, here);
    height = std::max(height, here.second + foot);
  }
  const auto kin = ancestry(run);
  std::string plain, marked, marks;
  std::size_t edges = 0;
  for (const auto& variant : variants) {
    const bool own = kin.contains(variant.id);
    for (const std::string& from : origins(variant))
      if (const auto other = at.find(from); other != at.end()) ++edges, (own ? marked : plain) += edge(other->second, at.at(variant.id), own);
    marks += marked_variant(variant, at.at(variant.id), &variant == run.result.best(), own);
  }
  if (edges == 0) return "";
  for (const auto& [round, where] : columns)
    marks += fmt::format("<text x='{:.0f}' y='{:.0f}'>{}</text>\n", margin + column_step * where, height - 10, round == 0 ? "start" : fmt::format("round {}", round));
  return "<h2>Who was shown what</h2>\n<p>A line leads from an exemplar to the variant whose author saw it; those that led to the best are marked. Select one for its source.</p>\n" +
         framed(margin + column_step * place, height, "Lineage of variants", plain + marked + marks);
}

}  // namespace cudal1::report
