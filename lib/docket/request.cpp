// SPDX-License-Identifier: Apache-2.0
#include "docket/request.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::docket {

namespace {

using json = nlohmann::json;

constexpr std::array<std::pair<Mode, std::string_view>, 4> modes = {
    {{Mode::compile, "compile"}, {Mode::verify, "verify"}, {Mode::screen, "screen"}, {Mode::final_, "final"}}};

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const std::string& text_of(const json& value, const std::string& field) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr) throw Wrong(fmt::format("`{}` is not a text", field));
  return *text;
}

void require_known(const json& object, const std::vector<std::string>& fields, std::string_view where) {
  for (const auto& [field, value] : object.items()) {
    if (std::find(fields.begin(), fields.end(), field) != fields.end()) continue;
    const auto nearest = base::nearest(field, fields);
    throw Wrong(fmt::format("{} has no field `{}`{}", where, field, nearest ? fmt::format("; `{}`?", *nearest) : ""));
  }
}

TaskName task_of(const json& value) {
  TaskName task;
  if (value.is_string()) {
    task.file = value.get<std::string>();
    return task;
  }
  if (!value.is_object()) throw Wrong("`task` is neither the name of a file nor an object");
  require_known(value, {"file", "source", "sha256", "set"}, "`task`");
  int ways = 0;
  for (auto [field, place] : {std::pair{"file", &task.file}, {"source", &task.source}, {"sha256", &task.sha256}})
    if (value.contains(field)) {
      *place = text_of(value[field], std::string("task.") + field);
      ++ways;
    }
  if (ways != 1) throw Wrong("`task` has one of `file`, `source` and `sha256`");
  if (!value.contains("set")) return task;
  if (!value["set"].is_object()) throw Wrong("`task.set` is not an object of names and whole numbers");
  for (const auto& [name, size] : value["set"].items()) {
    if (!size.is_number_integer()) throw Wrong(fmt::format("`task.set.{}` is not a whole number", name));
    task.set[name] = size.get<std::int64_t>();
  }
  return task;
}

Request request_of(const json& object) {
  if (!object.is_object()) throw Wrong("a request is a JSON object");
  require_known(object, {"id", "task", "answer", "mode", "group", "deadline_s", "reward", "shown"}, "a request");
  for (const char* field : {"task", "answer"})
    if (!object.contains(field)) throw Wrong(fmt::format("`{}` is missing", field));
  Request request;
  request.task = task_of(object["task"]);
  request.answer = text_of(object["answer"], "answer");
  if (object.contains("mode")) {
    const auto mode = parse_mode(text_of(object["mode"], "mode"));
    if (!mode) throw Wrong(fmt::format("`mode` is {}; it is compile, verify, screen or final", object["mode"].dump()));
    request.mode = *mode;
  }
  if (object.contains("group")) request.group = text_of(object["group"], "group");
  if (object.contains("reward") && !object["reward"].is_null()) {
    request.reward = reward::parse_shape(text_of(object["reward"], "reward"));
    if (!request.reward) throw Wrong(fmt::format("`reward` is {}; it is one of {}", object["reward"].dump(), fmt::join(reward::shape_names(), ", ")));
  }
  if (object.contains("shown")) {
    if (!object["shown"].is_array()) throw Wrong("`shown` is not a list of fingerprints");
    for (const json& fingerprint : object["shown"]) request.shown.push_back(text_of(fingerprint, "shown"));
  }
  if (object.contains("deadline_s") && !object["deadline_s"].is_null()) {
    if (!object["deadline_s"].is_number() || object["deadline_s"].get<double>() <= 0) throw Wrong("`deadline_s` is not a number of seconds above 0");
    request.deadline_seconds = object["deadline_s"].get<double>();
  }
  return request;
}

}  // namespace

std::string_view name(Mode mode) {
  for (const auto& [each, text] : modes)
    if (each == mode) return text;
  return "";
}

std::optional<Mode> parse_mode(std::string_view name) {
  for (const auto& [mode, text] : modes)
    if (text == name) return mode;
  return std::nullopt;
}

tl::expected<Request, BadRequest> parse_request(std::string_view line) {
  BadRequest bad;
  const json object = json::parse(line, nullptr, false);
  if (object.is_discarded()) {
    bad.reason = "a request is one line of JSON";
    return tl::unexpected(bad);
  }
  if (object.is_object() && object.contains("id")) bad.id = object["id"].dump();
  try {
    Request request = request_of(object);
    request.id = bad.id;
    return request;
  } catch (const Wrong& wrong) {
    bad.reason = wrong.what();
    return tl::unexpected(bad);
  }
}

}  // namespace cudal1::docket
