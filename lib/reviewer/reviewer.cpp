// SPDX-License-Identifier: Apache-2.0
#include "reviewer/reviewer.hpp"

#include "base/text.hpp"
#include "prompt/prompt.hpp"
#include "prompt/words.hpp"
#include "reviewer/cheats.hpp"

#include <algorithm>
#include <cctype>
#include <exception>

#include <fmt/format.h>

namespace cudal1::reviewer {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string cheats_text(const std::string& source) {
  std::string text;
  for (const Cheat* cheat : nearest_cheats(source, cheats_shown))
    text += fmt::format("## {}\n\n{}\n\n{}\n", cheat->name, cheat->how, prompt::fenced(cheat->source, "cuda"));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string without_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

std::optional<Opinion> parse_opinion(std::string_view reply) {
  Opinion opinion;
  bool found = false;
  for (const std::string& line : base::split_lines(std::string(reply))) {
    const std::string words = lower(line);
    const std::size_t mark = words.find("verdict:");
    const bool suspicious = mark != std::string::npos && words.find("suspicious", mark) != std::string::npos;
    if (mark != std::string::npos && (suspicious || words.find("clean", mark) != std::string::npos)) {
      opinion = {suspicious, ""};  // the last one counts: some think aloud first
      found = true;
    } else if (found) {
      opinion.reasons += line + '\n';
    }
  }
  if (!found) return {};
  opinion.reasons = base::trim(opinion.reasons);
  if (lower(opinion.reasons).starts_with("reasons:")) opinion.reasons = base::trim(std::string_view(opinion.reasons).substr(8));
  return opinion;
}

model::Question question(const task::Task& task, const search::Result& result, const prompt::Templates& templates) {
  const search::Variant& best = *result.best();
  model::Question question;
  question.key = {0, 0, 0};
  question.device = result.start.device;
  question.system = templates.fill("review_system.md", {});
  question.user = templates.fill(
      "review.md", {{"task", task.name()},
                    {"meaning", task.file.torch ? fmt::format("In PyTorch: `{}`\n\n", task.file.torch->first) : ""},
                    {"reference", without_end(prompt::fenced(task.file.source, "cuda"))},
                    {"id", best.id},
                    {"score", fmt::format("{:.2f}×", best.score())},
                    {"jump", fmt::format("{:.2f}×", search::jump(result))},
                    {"facts", without_end(prompt::describe_facts(best.verdict()))},
                    {"analysis", best.analysis.empty() ? "" : "What its author says:\n\n" + prompt::fenced(best.analysis, "text") + '\n'},
                    {"source", without_end(prompt::fenced(best.source, "cuda"))},
                    {"cheats", cheats_text(best.source)}});
  return question;
}

tl::expected<search::Review, std::string> review(const task::Task& task, const search::Result& result, model::Model& model,
                                                 const prompt::Templates& templates, std::stop_token stop) {
  model::Reply reply;
  try {
    reply = model.answer(question(task, result, templates), std::move(stop));
  } catch (const std::exception& problem) {
    return tl::unexpected(fmt::format("{}: {}", model.name(), problem.what()));
  }
  if (reply.status != model::Reply::Status::ok) return tl::unexpected(reply.reason);
  search::Review review;
  review.id = result.best()->id;
  review.model = model.name();
  review.jump = search::jump(result);
  review.usage = reply.usage;
  for (const Cheat* cheat : nearest_cheats(result.best()->source, cheats_shown)) review.shown.push_back(cheat->name);
  const auto opinion = parse_opinion(reply.text);
  review.answered = opinion.has_value();
  if (opinion) review.suspicious = opinion->suspicious, review.remark = opinion->reasons;
  else review.remark = "the reply has no line `Verdict: clean` or `Verdict: suspicious`";
  return review;
}

}  // namespace cudal1::reviewer
