// SPDX-License-Identifier: Apache-2.0
#include "report/figures.hpp"
#include "report/html_text.hpp"
#include "report/wording.hpp"
#include "store/event.hpp"
#include "store/journal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace cudal1::report {

namespace {

constexpr Frame time_frame{720, 0, 84, 16, 8, 32};   // as high as it has rows
constexpr double row_height = 28;
constexpr std::array time_rows{"model", "wait", "compile", "check", "measure"};

// Which row a step of judging belongs to; steps are taken in this order.
constexpr std::pair<const char*, const char*> step_rows[] = {{"start", "compile"},    {"compile", "compile"}, {"check", "check"},      {"oracle", "check"},   {"race", "measure"},    {"time", "measure"},
                                                         {"hot", "measure"}, {"torch.compile", "compile"}, {"baselines", "measure"}, {"count", "measure"}, {"pytorch", "measure"}, {"sanitize", "check"}};

struct Slice {
  std::string row, name;
  double begin = 0, seconds = 0;
};

struct Cost {
  double seconds = 0, dollars = 0;
  int replies = 0;
  long long tokens = 0;
  bool priced = true;
};

struct Spent {
  std::vector<Slice> slices;
  std::map<std::string, double> by_row;   // seconds
  std::map<std::string, Cost> by_model;

  void add(const std::string& row, const std::string& name, double end, double seconds) {
    if (seconds <= 0) return;
    slices.push_back({row, name, std::max(0.0, end - seconds), seconds});
    by_row[row] += seconds;
  }
  void add(const std::string& id, double end, const outcome::Judgement& judgement) {
    double at = end - judgement.seconds;
    if (const auto waited = judgement.step_seconds.find("wait"); waited != judgement.step_seconds.end()) add("wait", id, at, waited->second);
    for (const auto& [step, row] : step_rows)
      if (const auto found = judgement.step_seconds.find(step); found != judgement.step_seconds.end()) {
        at += found->second;
        add(row, fmt::format("{}: {}", id, step), std::min(at, end), found->second);
      }
  }
};

void add(Spent& spent, const store::Event& event, double begun) {
  const double at = seconds_of(event.at) - begun;
  if (const auto* reply = std::get_if<store::ReplyEvent>(&event.body)) {
    const auto& usage = reply->reply.usage;
    spent.add("model", reply->key.text(), at, reply->reply.seconds.count());
    Cost& cost = spent.by_model[reply->model];
    cost.seconds += reply->reply.seconds.count(), cost.dollars += usage.cost, ++cost.replies;
    cost.tokens += usage.input_tokens + usage.output_tokens;
    cost.priced = cost.priced && usage.priced;
  } else if (const auto* variant = std::get_if<search::Variant>(&event.body)) {
    if (variant->status == search::Variant::Status::judged) spent.add(variant->id, at, variant->judgement);
  } else if (const auto* confirmation = std::get_if<store::ConfirmationEvent>(&event.body)) {
    spent.add(confirmation->id + ", final", at, confirmation->judgement);
  } else if (const auto* race = std::get_if<search::Race>(&event.body)) {
    spent.add("measure", fmt::format("race of round {}", race->round), at, race->seconds);
  }
}

std::string duration(double seconds) {
  return seconds < 60 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} min {:02.0f} s", std::floor(seconds / 60), std::fmod(seconds, 60));
}

std::string drawn(const std::vector<Slice>& slices) {
  double end = 0;
  for (const Slice& slice : slices) end = std::max(end, slice.begin + slice.seconds);
  const auto x = [&](double seconds) { return time_frame.left + seconds / end * (time_frame.width - time_frame.left - time_frame.right); };
  std::string svg;
  double y = time_frame.top;
  for (const char* row : time_rows) {
    if (std::none_of(slices.begin(), slices.end(), [&](const Slice& slice) { return slice.row == row; })) continue;
    svg += fmt::format("<text x='{}' y='{:.0f}' text-anchor='end'>{}</text>\n", time_frame.left - 8, y + 16, row);
    for (const Slice& slice : slices)
      if (slice.row == row)
        svg += fmt::format("<rect x='{:.1f}' y='{:.0f}' width='{:.1f}' height='22' class='slice'><title>{}, {}</title></rect>\n", x(slice.begin), y, std::max(1.0, x(slice.begin + slice.seconds) - x(slice.begin)),
                           escaped(slice.name), duration(slice.seconds));
    y += row_height;
  }
  for (int i = 0; i <= 4; ++i)
    svg += fmt::format("<text x='{:.0f}' y='{:.0f}' text-anchor='{}'>{}</text>\n", x(end * i / 4), y + 18, i == 0 ? "start" : i == 4 ? "end" : "middle", duration(end * i / 4));
  return framed(time_frame.width, y + time_frame.bottom, "Time line", svg);
}

}  // namespace

std::string time_line_html(const store::Run& run) {
  const auto journal = run.folder / "journal.jsonl";
  std::error_code none;
  if (!std::filesystem::exists(journal, none)) return "";
  Spent spent;
  const double begun = seconds_of(run.begun);
  for (const auto& line : store::read_journal(journal).lines) add(spent, store::parse_line(line), begun);
  if (spent.slices.empty()) return "";
  std::string table = "<tr><th></th><th class=\"number\">time</th><th class=\"number\">replies</th><th class=\"number\">tokens</th><th class=\"number\">cost</th></tr>\n";
  for (const auto& [model, cost] : spent.by_model)
    table += fmt::format("<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n", escaped(model), duration(cost.seconds), cost.replies,
                         cost.tokens > 0 ? std::to_string(cost.tokens) : "", cost.tokens == 0 ? "" : cost.priced ? fmt::format("${:.4f}", cost.dollars) : "not known");
  for (const char* row : time_rows)
    if (const auto seconds = spent.by_row.find(row); seconds != spent.by_row.end() && seconds->first != "model")
      table += fmt::format("<tr><td>{}</td><td class=\"number\">{}</td><td></td><td></td><td></td></tr>\n", seconds->first == "wait" ? "waited for the device" : row, duration(seconds->second));
  return fmt::format("<h2>Where the time and the money went</h2>\n{}<div class=\"scroll\" tabindex=\"0\"><table>\n{}</table></div>\n", drawn(spent.slices), table);
}

}  // namespace cudal1::report
