// SPDX-License-Identifier: Apache-2.0
#include "serve/requests.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::serve {

namespace {

using json = nlohmann::json;

// The path of a file that may be named; else why not.
std::optional<std::string> refuse(docket::TaskName& task, const Files& files) {
  if (task.file.empty()) return std::nullopt;
  const auto known = files.find(task.file);
  if (known == files.end())
    return fmt::format("the server reads no file but those that it was started with, and {} is none of them; give the task's text as `source`", task.file);
  task.file = known->second;
  return std::nullopt;
}

Item read_item(const json& object, const Files& files, std::optional<reward::Shape> reward) {
  auto request = docket::parse_request(object.dump());
  if (!request) return request.error();
  if (const auto reason = refuse(request->task, files)) return docket::BadRequest{request->id, *reason};
  if (!request->reward) request->reward = reward;
  return *std::move(request);
}

// A label names the task as the field `task` does, but is always a text.
json task_of_label(const json& label, const Files& files) {
  if (label.is_object()) return label;
  if (!label.is_string()) return files.empty() ? json() : json(files.begin()->second);
  const std::string text = label.get<std::string>();
  if (const json object = json::parse(text, nullptr, false); object.is_object()) return object;
  const bool digest = text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (digest) return {{"sha256", text}};
  if (text.find('\n') != std::string::npos) return {{"source", text}};
  return text;
}

// What follows the prompt, without the tokens that end a turn: a query is decoded with them.
std::string answer_of(const std::string& query, const json& prompts, std::size_t index) {
  std::string answer = query;
  if (prompts.is_array() && index < prompts.size() && prompts[index].is_string()) {
    const auto& prompt = prompts[index].get_ref<const std::string&>();
    if (const auto at = query.rfind(prompt); at != std::string::npos && !prompt.empty()) answer = query.substr(at + prompt.size());
  }
  for (;;) {
    while (!answer.empty() && std::isspace(static_cast<unsigned char>(answer.back())) != 0) answer.pop_back();
    const auto open = answer.rfind('<');
    if (open == std::string::npos || !answer.ends_with('>')) return answer + '\n';
    const std::string_view word = std::string_view(answer).substr(open + 1, answer.size() - open - 2);
    const bool token = (word.starts_with('|') && word.ends_with('|')) || word == "/s" || word == "eos" || word == "pad" || word == "end_of_turn";
    if (!token) return answer + '\n';
    answer.erase(open);
  }
}

}  // namespace

Items read_items(const std::string& body, const Files& files, std::optional<reward::Shape> reward) {
  Items result;
  json object = json::parse(body, nullptr, false);
  if (object.is_object() && object.contains("items")) object = json(object["items"]);
  result.list = object.is_array();
  if (object.is_object()) object = json::array({object});
  if (!object.is_array()) {
    result.problem = "the body is a request, a list of requests, or an object with the list `items`";
    return result;
  }
  for (const json& each : object) result.items.push_back(read_item(each, files, reward));
  return result;
}

Items read_queries(const std::string& body, const Files& files, reward::Shape reward) {
  Items result;
  result.list = true;
  const json object = json::parse(body, nullptr, false);
  if (!object.is_object() || !object.contains("query")) {
    result.problem = "the body is an object with `query`, `prompts` and `labels`";
    return result;
  }
  const json queries = object["query"].is_array() ? object["query"] : json::array({object["query"]});
  const json prompts = object.value("prompts", json::array()), labels = object.value("labels", json::array());
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (!queries[i].is_string()) {
      result.problem = "`query` is not a list of texts";
      return result;
    }
    const json label = labels.is_array() && i < labels.size() ? labels[i] : json();
    const json task = task_of_label(label, files);
    if (task.is_null()) {
      result.items.emplace_back(docket::BadRequest{std::to_string(i), "no label names the task, and the server was started with none"});
      continue;
    }
    result.items.push_back(read_item({{"id", i}, {"task", task}, {"answer", answer_of(queries[i].get<std::string>(), prompts, i)}}, files, reward));
  }
  return result;
}

tl::expected<docket::TaskName, std::string> read_task(const std::string& body, const Files& files) {
  const json object = json::parse(body, nullptr, false);
  if (!object.is_object() || !object.contains("task")) return tl::unexpected(std::string("the body is an object with `task`"));
  auto request = docket::parse_request(json{{"task", object["task"]}, {"answer", ""}}.dump());
  if (!request) return tl::unexpected(request.error().reason);
  if (const auto reason = refuse(request->task, files)) return tl::unexpected(*reason);
  return request->task;
}

std::string reward_reply(const std::vector<docket::Ruling>& rulings) {
  json rewards = json::array(), right = json::array(), cheats = json::array(), speedups = json::array();
  for (const docket::Ruling& ruling : rulings) {
    rewards.push_back(ruling.reward.value_or(0));
    right.push_back(ruling.right() ? 1.0 : 0.0);
    cheats.push_back(ruling.cheat() ? 1.0 : 0.0);
    speedups.push_back(ruling.judgement ? ruling.judgement->score() : 0.0);
  }
  return json{{"rewards", rewards}, {"scores", right}, {"extra_logs", {{"right", right}, {"cheat", cheats}, {"speedup", speedups}}}}.dump();
}

}  // namespace cudal1::serve
