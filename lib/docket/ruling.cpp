// SPDX-License-Identifier: Apache-2.0
#include "docket/ruling.hpp"

#include <nlohmann/json.hpp>

namespace cudal1::docket {

namespace {

using json = nlohmann::ordered_json;
using outcome::Verdict;

json or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

}  // namespace

std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::none: return "none";
    case Fault::request: return "request";
    case Fault::task: return "task";
    case Fault::worker: return "worker";
    case Fault::unsupported: return "unsupported";
    case Fault::busy: return "busy";
    case Fault::deadline: return "deadline";
    case Fault::closed: return "closed";
  }
  return "";
}

bool Ruling::executable() const { return compiled || (judgement && judgement->verdict >= Verdict::wrong_result); }

bool Ruling::right() const { return judgement && outcome::is_right(judgement->verdict); }

bool Ruling::cheat() const {
  if (!judgement) return false;
  switch (judgement->verdict) {
    case Verdict::forbidden_code:
    case Verdict::stateful:
    case Verdict::tampered:
    case Verdict::sanitizer_failed:
    case Verdict::implausible: return true;
    default: return false;
  }
}

reward::Result Ruling::result() const {
  reward::Result result;
  result.readable = readable;
  result.executable = executable();
  result.right = right();
  result.cheat = cheat();
  result.duplicate = duplicate;
  if (!judgement) return result;
  result.confirmed = judgement->level == outcome::Level::final_;
  result.speedup = judgement->speedup;
  return result;
}

std::string Ruling::verdict() const {
  if (fault != Fault::none) return "";
  if (judgement) return outcome::name(judgement->verdict, judgement->predicted);
  return compiled ? "COMPILED" : "UNREADABLE";
}

std::string to_line(const Ruling& ruling, bool brief) {
  const bool judged = ruling.fault == Fault::none;
  json line{{"schema", 1}};
  line["id"] = json::parse(ruling.id);
  line["verdict"] = or_null(ruling.verdict());
  line["executable"] = judged ? json(ruling.executable()) : json(nullptr);
  line["right"] = judged && (ruling.mode != Mode::compile || !ruling.compiled) ? json(ruling.right()) : json(nullptr);
  line["speedup"] = nullptr;
  if (ruling.judgement && ruling.judgement->speedup) {
    const outcome::Speedup& speedup = *ruling.judgement->speedup;
    line["speedup"] = {{"value", speedup.value}, {"low", speedup.low}, {"high", speedup.high}};
  }
  line["score"] = judged ? json(ruling.judgement ? ruling.judgement->score() : 0.0) : json(nullptr);
  line["level"] = ruling.judgement ? json(outcome::name(ruling.judgement->level)) : json(nullptr);
  line["predicted"] = ruling.judgement && ruling.judgement->predicted;
  line["reward"] = ruling.reward ? json(*ruling.reward) : json(nullptr);
  line["reward_name"] = ruling.rewarded ? json(reward::name(*ruling.rewarded)) : json(nullptr);
  line["duplicate"] = ruling.duplicate;
  line["cheat"] = ruling.cheat();
  line["message"] = ruling.judgement ? ruling.judgement->message : judged && !ruling.readable ? ruling.reason : "";
  line["fault"] = judged ? json(nullptr) : json(ruling.reason);
  line["fault_kind"] = judged ? json(nullptr) : json(name(ruling.fault));
  line["mode"] = name(ruling.mode);
  line["task"] = or_null(ruling.task);
  line["task_sha256"] = or_null(ruling.task_sha256);
  line["fingerprint"] = or_null(ruling.fingerprint);
  line["code"] = or_null(ruling.judgement ? ruling.judgement->code : std::string());
  line["group"] = or_null(ruling.group);
  line["device"] = or_null(ruling.device);
  line["cached"] = ruling.cached;
  line["same_as"] = ruling.same_as.empty() ? json(nullptr) : json::parse(ruling.same_as);
  line["queue_seconds"] = ruling.queue_seconds;
  line["work_seconds"] = ruling.work_seconds;
  if (!brief) line["judgement"] = ruling.judgement ? json::parse(outcome::to_json(*ruling.judgement)) : json(nullptr);
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace cudal1::docket
