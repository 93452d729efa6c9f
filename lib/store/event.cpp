// SPDX-License-Identifier: Apache-2.0
#include "store/event.hpp"

#include "base/error.hpp"
#include "judge/reference_json.hpp"
#include "store/device_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::store {

namespace {

using json = nlohmann::ordered_json;

constexpr int event_schema = 1;

[[noreturn]] void damaged(const std::string& why) {
  throw base::Error(base::Fault::bad_task, "a journal line could not be read: " + why);
}

json judgement_json(const outcome::Judgement& judgement) { return json::parse(outcome::to_json(judgement)); }
outcome::Judgement judgement_from(const json& value) { return outcome::judgement_from_json(value.dump()); }

std::string optional_text(const json& value, const char* name) { return value.value(name, std::string()); }
std::vector<std::string> texts(const json& value, const char* name) {
  return value.contains(name) ? value.at(name).get<std::vector<std::string>>() : std::vector<std::string>();
}

json key_json(const model::Key& key) {
  return {{"round", key.round}, {"sample", key.sample}, {"attempt", key.attempt}};
}
model::Key key_from(const json& value) { return {value.at("round"), value.at("sample"), value.at("attempt")}; }

json usage_json(const model::Usage& usage) {
  return {{"input_tokens", usage.input_tokens},
          {"output_tokens", usage.output_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"reasoning_tokens", usage.reasoning_tokens},
          {"cost_usd", usage.cost},
          {"priced", usage.priced}};
}
model::Usage usage_from(const json& value) {
  model::Usage usage;
  usage.input_tokens = value.at("input_tokens");
  usage.output_tokens = value.at("output_tokens");
  usage.cached_tokens = value.at("cached_tokens");
  usage.reasoning_tokens = value.value("reasoning_tokens", 0LL);
  usage.cost = value.at("cost_usd");
  usage.priced = value.value("priced", true);
  return usage;
}

// --- run

json body_json(const Identity& identity) {
  return {{"event", "run"},
          {"task", identity.task_name},
          {"task_path", identity.task_path},
          {"task_sha256", identity.task_digest},
          {"task_source", identity.task_source},
          {"device", identity.device},
          {"driver", identity.driver},
          {"version", identity.version},
          {"prompts_sha256", identity.prompts_digest},
          {"models", identity.models},
          {"seed", identity.seed},
          {"samples", identity.samples},
          {"exemplars", identity.exemplars},
          {"tau", identity.tau},
          {"bucket_width", identity.bucket_width},
          {"sampling", identity.sampling},
          {"repair", identity.repair},
          {"hint", identity.hint},
          {"start_from_sha256", identity.start_from_digest},
          {"show_scores", identity.show_scores},
          {"memory", identity.has_memory ? json(identity.memory) : json(nullptr)},
          {"precision", identity.precision}};
}

Identity identity_from(const json& value) {
  Identity identity;
  identity.task_name = value.at("task");
  identity.task_path = value.at("task_path");
  identity.task_digest = value.at("task_sha256");
  identity.task_source = value.at("task_source");
  identity.device = value.at("device");
  identity.driver = value.at("driver");
  identity.version = value.at("version");
  identity.prompts_digest = value.at("prompts_sha256");
  identity.models = texts(value, "models");
  identity.seed = value.at("seed");
  identity.samples = value.at("samples");
  identity.exemplars = value.at("exemplars");
  identity.tau = value.at("tau");
  identity.bucket_width = value.at("bucket_width");
  identity.sampling = value.at("sampling");
  identity.repair = value.at("repair");
  identity.hint = value.at("hint");
  identity.start_from_digest = value.at("start_from_sha256");
  identity.show_scores = value.value("show_scores", true);
  identity.has_memory = value.contains("memory") && !value.at("memory").is_null();
  if (identity.has_memory) identity.memory = texts(value, "memory");
  identity.precision = value.value("precision", identity.precision);
  return identity;
}

// --- start

json findings_json(const std::vector<outcome::TaskFinding>& findings) {
  json list = json::array();
  for (const auto& finding : findings) list.push_back({{"verdict", outcome::name(finding.verdict)}, {"reason", finding.reason}});
  return list;
}

json body_json(const search::Start& start) {
  const auto& reference = start.reference;
  return {{"event", "start"},
          {"device", device_json(start.device)},
          {"reference",
           {{"times", json::parse(judge::times_json(reference))},
            {"predicted", reference.predicted},
            {"oracle", reference.oracle},
            {"shadow_oracle", reference.shadow},
            {"note", reference.note},
            {"precision", outcome::name(reference.precision)},
            {"findings", findings_json(reference.findings)},
            {"judgement", judgement_json(reference.judgement)}}}};
}

search::Start start_from(const json& value) {
  search::Start start;
  start.device = device_from(value.at("device"));
  const auto& from = value.at("reference");
  start.reference.times = judge::times_from_json(from.at("times").dump());
  start.reference.predicted = from.at("predicted");
  start.reference.oracle = from.at("oracle");
  start.reference.shadow = from.value("shadow_oracle", false);
  start.reference.note = from.at("note");
  const auto precision = outcome::parse_precision(from.value("precision", "fp32"));
  if (precision) start.reference.precision = *precision;
  for (const auto& finding : from.value("findings", json::array())) {
    const auto verdict = outcome::parse_task_verdict(finding.at("verdict").get<std::string>());
    if (verdict) start.reference.findings.push_back({*verdict, finding.at("reason")});
  }
  start.reference.judgement = judgement_from(from.at("judgement"));
  return start;
}

// --- asked, reply

json body_json(const AskedEvent& asked) {
  return {{"event", "asked"},     {"key", key_json(asked.key)},   {"model", asked.model},
          {"exemplars", asked.exemplars}, {"failure", asked.failure}, {"cut", asked.cut}};
}

AskedEvent asked_from(const json& value) {
  return {key_from(value.at("key")), value.at("model"), texts(value, "exemplars"), optional_text(value, "failure"),
          texts(value, "cut")};
}

constexpr std::pair<model::Reply::Status, const char*> reply_statuses[] = {
    {model::Reply::Status::ok, "ok"},
    {model::Reply::Status::refused, "refused"},
    {model::Reply::Status::truncated, "truncated"},
    {model::Reply::Status::unreachable, "unreachable"},
    {model::Reply::Status::no_credit, "no_credit"},
    {model::Reply::Status::pending, "pending"},
    {model::Reply::Status::exhausted, "exhausted"},
    {model::Reply::Status::denied, "denied"},
    {model::Reply::Status::rejected, "rejected"},
};

json body_json(const ReplyEvent& event) {
  const char* status = "";
  for (const auto& [value, name] : reply_statuses)
    if (value == event.reply.status) status = name;
  return {{"event", "reply"},
          {"key", key_json(event.key)},
          {"model", event.model},
          {"status", status},
          {"text", event.reply.text},
          {"reason", event.reply.reason},
          {"reasoning", event.reply.reasoning},
          {"finish", event.reply.finish},
          {"served", event.reply.served},
          {"usage", usage_json(event.reply.usage)},
          {"seconds", event.reply.seconds.count()}};
}

ReplyEvent reply_from(const json& value) {
  ReplyEvent event;
  event.key = key_from(value.at("key"));
  event.model = value.at("model");
  const std::string status = value.at("status");
  bool known = false;
  for (const auto& [candidate, name] : reply_statuses)
    if (status == name) {
      event.reply.status = candidate;
      known = true;
    }
  if (!known) damaged("no reply has the status " + status);
  event.reply.text = value.at("text");
  event.reply.reason = value.at("reason");
  event.reply.reasoning = optional_text(value, "reasoning");
  event.reply.finish = optional_text(value, "finish");
  event.reply.served = optional_text(value, "served");
  event.reply.usage = usage_from(value.at("usage"));
  event.reply.seconds = base::Seconds(value.at("seconds").get<double>());
  return event;
}

// --- variant, race, round

json body_json(const search::Variant& variant) {
  using Status = search::Variant::Status;
  json value = {{"event", "variant"},
                {"id", variant.id},
                {"key", key_json(variant.key)},
                {"model", variant.model},
                {"status", search::name(variant.status)},
                {"reason", variant.reason},
                {"same_as", variant.same_as},
                {"exemplars", variant.exemplars},
                {"repairs", variant.repairs},
                {"reverts", variant.reverts},
                {"undone", variant.undone},
                {"techniques", variant.techniques},
                {"analysis", variant.analysis},
                {"design", variant.design},
                {"source", variant.source}};
  if (variant.status == Status::judged || variant.status == Status::duplicate)
    value["judgement"] = judgement_json(variant.judgement);
  return value;
}

search::Variant variant_from(const json& value) {
  search::Variant variant;
  variant.id = value.at("id");
  variant.key = key_from(value.at("key"));
  variant.model = value.at("model");
  const auto status = search::parse_status(value.at("status").get<std::string>());
  if (!status) damaged("no variant has the status " + value.at("status").dump());
  variant.status = *status;
  variant.reason = value.at("reason");
  variant.same_as = value.at("same_as");
  variant.exemplars = texts(value, "exemplars");
  variant.repairs = value.at("repairs");
  variant.reverts = optional_text(value, "reverts");
  variant.undone = texts(value, "undone");
  variant.techniques = texts(value, "techniques");
  variant.analysis = value.at("analysis");
  variant.design = value.at("design");
  variant.source = value.at("source");
  if (value.contains("judgement")) variant.judgement = judgement_from(value.at("judgement"));
  return variant;
}

json speedup_json(const outcome::Speedup& speedup) {
  return {{"value", speedup.value}, {"low", speedup.low}, {"high", speedup.high}};
}
outcome::Speedup speedup_from(const json& value) { return {value.at("value"), value.at("low"), value.at("high")}; }

json body_json(const search::Race& race) {
  json racers = json::array();
  for (const auto& racer : race.racers)
    racers.push_back({{"id", racer.id},
                      {"over_fastest", speedup_json(racer.over_fastest)},
                      {"turns", racer.turns},
                      {"speedup", speedup_json(racer.speedup)}});
  return {{"event", "race"}, {"round", race.round}, {"racers", std::move(racers)}, {"problem", race.problem}, {"seconds", race.seconds}};
}

search::Race race_from(const json& value) {
  search::Race race;
  race.round = value.at("round");
  for (const auto& racer : value.at("racers"))
    race.racers.push_back(
        {racer.at("id"), speedup_from(racer.at("over_fastest")), racer.at("turns"), speedup_from(racer.at("speedup"))});
  race.problem = value.at("problem");
  race.seconds = value.at("seconds");
  return race;
}

json body_json(const search::Round& round) {
  return {{"event", "round"},       {"round", round.round},   {"best_score", round.best}, {"best_score_so_far", round.best_so_far},
          {"answers", round.answers}, {"right", round.right}, {"faster", round.faster},   {"duplicates", round.duplicates}};
}

search::Round round_from(const json& value) {
  return {value.at("round"), value.at("best_score"), value.at("best_score_so_far"), value.at("answers"),
          value.at("right"), value.at("faster"),     value.at("duplicates")};
}

// --- confirmation, stop

json body_json(const ConfirmationEvent& event) {
  return {{"event", "confirmation"}, {"id", event.id}, {"judgement", judgement_json(event.judgement)}};
}

json body_json(const StopEvent& event) {
  return {{"event", "stop"},
          {"stopped_because", search::name(event.because)},
          {"reason", event.reason},
          {"best", event.best},
          {"usage", usage_json(event.usage)}};
}

StopEvent stop_from(const json& value) {
  const auto because = search::parse_stop(value.at("stopped_because").get<std::string>());
  if (!because) damaged("no run stops because of " + value.at("stopped_because").dump());
  return {*because, value.at("reason"), value.at("best"), usage_from(value.at("usage"))};
}

// --- review

json body_json(const search::Review& review) {
  return {{"event", "review"}, {"id", review.id},   {"model", review.model}, {"answered", review.answered}, {"suspicious", review.suspicious},
          {"remark", review.remark}, {"jump", review.jump}, {"shown", review.shown}, {"usage", usage_json(review.usage)}};
}

search::Review review_from(const json& value) {
  search::Review review;
  review.id = value.at("id");
  review.model = value.at("model");
  review.answered = value.at("answered");
  review.suspicious = value.at("suspicious");
  review.remark = value.at("remark");
  review.jump = value.at("jump");
  review.shown = texts(value, "shown");
  review.usage = usage_from(value.at("usage"));
  return review;
}

Event from(const json& value) {
  if (value.at("schema") != event_schema)
    throw base::Error(base::Fault::bad_task, fmt::format("a journal of schema {} was found, this cudal1 reads schema {}",
                                                          value.at("schema").dump(), event_schema));
  Event event;
  event.at = value.at("at");
  const std::string kind = value.at("event");
  if (kind == "run") event.body = identity_from(value);
  else if (kind == "start") event.body = start_from(value);
  else if (kind == "asked") event.body = asked_from(value);
  else if (kind == "reply") event.body = reply_from(value);
  else if (kind == "variant") event.body = variant_from(value);
  else if (kind == "race") event.body = race_from(value);
  else if (kind == "round") event.body = round_from(value);
  else if (kind == "confirmation") event.body = ConfirmationEvent{value.at("id"), judgement_from(value.at("judgement"))};
  else if (kind == "stop") event.body = stop_from(value);
  else if (kind == "review") event.body = review_from(value);
  else damaged("no event is called " + kind);
  return event;
}

struct Namer {
  std::string operator()(const Identity&) const { return "run"; }
  std::string operator()(const search::Start&) const { return "start"; }
  std::string operator()(const AskedEvent& event) const { return "asked " + event.key.text(); }
  std::string operator()(const ReplyEvent& event) const { return "reply " + event.key.text(); }
  std::string operator()(const search::Variant& variant) const { return "variant " + variant.id; }
  std::string operator()(const search::Race& race) const { return fmt::format("race {}", race.round); }
  std::string operator()(const search::Round& round) const { return fmt::format("round {}", round.round); }
  std::string operator()(const ConfirmationEvent& event) const { return "confirmation " + event.id; }
  std::string operator()(const StopEvent&) const { return "stop"; }
  std::string operator()(const search::Review& review) const { return "review " + review.id; }
};

}  // namespace

std::string Event::name() const { return std::visit(Namer{}, body); }

std::string to_line(const Event& event) {
  json value = {{"schema", event_schema}, {"at", event.at}};
  value.update(std::visit([](const auto& body) { return body_json(body); }, event.body));
  // What a model or a compiler wrote need not be UTF-8; a journal line is.
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Event parse_line(std::string_view line) {
  try {
    return from(json::parse(line));
  } catch (const json::exception& problem) {
    damaged(problem.what());
  }
}

}  // namespace cudal1::store
