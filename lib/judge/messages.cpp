// SPDX-License-Identifier: Apache-2.0
#include "judge/messages.hpp"

#include "base/error.hpp"
#include "judge/judge.hpp"
#include "judge/values.hpp"

namespace cudal1::judge {

static std::string pack(const json& value) {
  std::string message;
  json::to_cbor(value, message);
  return message;
}

static json unpack(const std::string& message) {
  json value = json::from_cbor(message, true, false);
  if (!value.is_object()) throw base::Error(base::Fault::internal, "a device worker sent a message that is not CBOR");
  return value;
}

static json to(const Executable& executable) {
  return {{"binary", to(executable.binary)},
          {"checks", to_array(executable.checks)},
          {"workloads", to_array(executable.workloads)},
          {"neighbours", to_array(executable.neighbours)}};
}

static void from(const json& value, Executable& executable) {
  from(value.at("binary"), executable.binary);
  from_array(value.at("checks"), executable.checks);
  from_array(value.at("workloads"), executable.workloads);
  from_array(value.at("neighbours"), executable.neighbours);
}

static json to(const OpenJob& job) {
  return {{"device", job.device}, {"gpu", job.gpu},   {"source", job.source},
          {"path", job.path},     {"seed", job.seed}, {"workloads", to_array(job.workloads)},
          {"checks", to_array(job.checks)}, {"neighbours", to_array(job.neighbours)},
          {"precision", outcome::name(job.precision)}, {"bare", job.bare}, {"takes_turns", job.takes_turns},
          {"own_gpu", job.own_gpu ? to(*job.own_gpu) : json()}};
}

static json to(const ReferenceJob& job) {
  json cases = json::array();
  for (const reference::StoredCase& stored : job.cases)
    cases.push_back({{"pattern", static_cast<int>(stored.trial.pattern)}, {"seed", stored.trial.seed}, {"path", stored.path},
                     {"kernelbench", stored.kernelbench}});
  return {{"executable", to(job.executable)}, {"meant", to(job.meant)}, {"declared_trials", job.declared_trials}, {"cases", std::move(cases)}};
}

static json to(const LendJob&) { return json::object(); }
static void from(const json&, LendJob&) {}

static json to(const SealJob& job) { return {{"set", job.set}}; }
static void from(const json& value, SealJob& job) { value.at("set").get_to(job.set); }

static json to(const SpillJob& job) { return {{"set", job.set}, {"path", job.path}}; }
static void from(const json& value, SpillJob& job) {
  value.at("set").get_to(job.set);
  value.at("path").get_to(job.path);
}

static json to(const RunJob& job) {
  return {{"executable", to(job.executable)}, {"set", job.set}, {"finite", job.finite}, {"load", job.load}};
}
static void from(const json& value, RunJob& job) {
  from(value.at("executable"), job.executable);
  value.at("set").get_to(job.set);
  value.at("finite").get_to(job.finite);
  value.at("load").get_to(job.load);
}

static json to(const CheckJob& job) {
  return {{"executable", to(job.executable)}, {"where", static_cast<int>(job.where)},
          {"full_size", job.full_size}, {"only_run", job.only_run}, {"inputs", job.inputs}};
}

static json to(const PredictJob& job) {
  return {{"executable", job.executable ? to(*job.executable) : json()}, {"workload", job.workload}};
}

static json to(const CountJob& job) {
  return {{"executable", to(job.executable)}, {"workload", job.workload}, {"inputs", job.inputs}};
}
static void from(const json& value, CountJob& job) {
  value.at("inputs").get_to(job.inputs);
  from(value.at("executable"), job.executable);
  value.at("workload").get_to(job.workload);
}

static json to(const EnergyJob& job) {
  return {{"executable", to(job.executable)}, {"workload", job.workload}, {"seconds", job.seconds}};
}
static void from(const json& value, EnergyJob& job) {
  from(value.at("executable"), job.executable);
  value.at("workload").get_to(job.workload);
  value.at("seconds").get_to(job.seconds);
}

static json to(const EndJob&) { return json::object(); }
static void from(const json&, EndJob&) {}

static json to(const TimeJob& job) {
  json executables = json::array();
  for (const Executable& executable : job.executables) executables.push_back(to(executable));
  return {{"executables", std::move(executables)}, {"workload", job.workload}, {"order", job.order},
          {"cold", job.cold}, {"fresh", job.fresh}, {"seed", job.seed}, {"right", job.right}, {"sparing", job.sparing}};
}

static void from(const json& value, OpenJob& job) {
  value.at("device").get_to(job.device);
  value.at("gpu").get_to(job.gpu);
  if (const json& own = value.at("own_gpu"); !own.is_null()) from(own, job.own_gpu.emplace());
  value.at("source").get_to(job.source);
  value.at("path").get_to(job.path);
  value.at("seed").get_to(job.seed);
  value.at("bare").get_to(job.bare);
  value.at("takes_turns").get_to(job.takes_turns);
  from_array(value.at("workloads"), job.workloads);
  from_array(value.at("checks"), job.checks);
  from_array(value.at("neighbours"), job.neighbours);
  job.precision = outcome::parse_precision(value.at("precision").get<std::string>()).value_or(job.precision);
}

static void from(const json& value, ReferenceJob& job) {
  from(value.at("executable"), job.executable);
  from(value.at("meant"), job.meant);
  value.at("declared_trials").get_to(job.declared_trials);
  for (const json& stored : value.at("cases"))
    job.cases.push_back({{static_cast<reference::Pattern>(stored.at("pattern").get<int>()), stored.at("seed").get<std::uint64_t>()},
                         stored.at("path").get<std::string>(), stored.at("kernelbench").get<bool>()});
}

static void from(const json& value, CheckJob& job) {
  from(value.at("executable"), job.executable);
  job.where = static_cast<CheckJob::Where>(value.at("where").get<int>());
  value.at("full_size").get_to(job.full_size);
  value.at("only_run").get_to(job.only_run);
  value.at("inputs").get_to(job.inputs);
}

static void from(const json& value, PredictJob& job) {
  if (!value.at("executable").is_null()) from(value.at("executable"), job.executable.emplace());
  value.at("workload").get_to(job.workload);
}

static void from(const json& value, TimeJob& job) {
  for (const json& executable : value.at("executables")) from(executable, job.executables.emplace_back());
  value.at("workload").get_to(job.workload);
  value.at("order").get_to(job.order);
  value.at("cold").get_to(job.cold);
  value.at("fresh").get_to(job.fresh);
  value.at("seed").get_to(job.seed);
  value.at("right").get_to(job.right);
  value.at("sparing").get_to(job.sparing);
}

static json to(const Progress& reply) { return {{"executing", reply.executing}}; }
static json to(const OpenReply& reply) { return {{"facts", to(reply.facts)}}; }
static json to(const ReferenceReply& reply) {
  return {{"broken", reply.broken}, {"unsupported", reply.unsupported}, {"oracle", reply.oracle},
          {"shadow", reply.shadow}, {"shadow_note", reply.shadow_note},
          {"cases", reply.cases},   {"dropped", reply.dropped},         {"errors", to(reply.errors)},
          {"findings", to_array(reply.findings)}};
}
static json to(const LendReply& reply) {
  json sets = json::array();
  for (const auto& places : reply.places) sets.push_back(to_array(places));
  return {{"places", std::move(sets)}};
}
static json to(const RunReply& reply) { return {{"evidence", to(reply.evidence)}, {"digest", reply.digest}}; }
static void from(const json& value, LendReply& reply) {
  for (const json& places : value.at("places")) from_array(places, reply.places.emplace_back());
}
static void from(const json& value, RunReply& reply) {
  from(value.at("evidence"), reply.evidence);
  value.at("digest").get_to(reply.digest);
}
static json to(const CheckReply& reply) { return {{"evidence", to(reply.evidence)}}; }
static json to(const PredictReply& reply) {
  return {{"prediction", reply.prediction ? to(*reply.prediction) : json()},
          {"fault", to(reply.fault)},
          {"message", reply.message},
          {"findings", to_array(reply.findings)}};
}
static json to(const TimeReply& reply) {
  return {{"samples", to_array(reply.samples)}, {"tick_ms", reply.tick_ms}, {"evidence", to(reply.evidence)},
          {"findings", to_array(reply.findings)},
          {"unknown", reply.unknown ? json{reply.unknown->set, reply.unknown->digest} : json()}};
}
static json to(const CountReply& reply) {
  return {{"counters", to(reply.counted.counters)}, {"shares", reply.counted.shares}, {"problem", reply.counted.problem}};
}
static json to(const EnergyReply& reply) { return {{"millijoules", reply.millijoules ? json(*reply.millijoules) : json()}}; }
static void from(const json& value, EnergyReply& reply) {
  if (const json& given = value.at("millijoules"); !given.is_null()) reply.millijoules = given.get<double>();
}
static json to(const FailureReply& reply) { return {{"fault", reply.fault}, {"message", reply.message}}; }

static void from(const json& value, Progress& reply) { value.at("executing").get_to(reply.executing); }
static void from(const json& value, OpenReply& reply) { from(value.at("facts"), reply.facts); }
static void from(const json& value, ReferenceReply& reply) {
  value.at("broken").get_to(reply.broken);
  value.at("unsupported").get_to(reply.unsupported);
  value.at("oracle").get_to(reply.oracle);
  value.at("shadow").get_to(reply.shadow);
  value.at("shadow_note").get_to(reply.shadow_note);
  value.at("cases").get_to(reply.cases);
  value.at("dropped").get_to(reply.dropped);
  from(value.at("errors"), reply.errors);
  from_array(value.at("findings"), reply.findings);
}
static void from(const json& value, CheckReply& reply) { from(value.at("evidence"), reply.evidence); }
static void from(const json& value, PredictReply& reply) {
  if (!value.at("prediction").is_null()) from(value.at("prediction"), reply.prediction.emplace());
  from(value.at("fault"), reply.fault);
  value.at("message").get_to(reply.message);
  from_array(value.at("findings"), reply.findings);
}
static void from(const json& value, TimeReply& reply) {
  from_array(value.at("samples"), reply.samples);
  value.at("tick_ms").get_to(reply.tick_ms);
  from(value.at("evidence"), reply.evidence);
  from_array(value.at("findings"), reply.findings);
  if (const json& unknown = value.at("unknown"); !unknown.is_null())
    reply.unknown = {unknown.at(0).get<std::size_t>(), unknown.at(1).get<std::uint64_t>()};
}
static void from(const json& value, CountReply& reply) {
  from(value.at("counters"), reply.counted.counters);
  value.at("shares").get_to(reply.counted.shares);
  value.at("problem").get_to(reply.counted.problem);
}
static void from(const json& value, FailureReply& reply) {
  value.at("fault").get_to(reply.fault);
  value.at("message").get_to(reply.message);
}

template <typename Variant>
static std::string encode_variant(const Variant& variant) {
  return std::visit(
      [&](const auto& alternative) { return pack({{"kind", variant.index()}, {"body", to(alternative)}}); }, variant);
}

template <typename Variant, std::size_t index = 0>
static Variant decode_variant(std::size_t kind, const json& body) {
  if constexpr (index < std::variant_size_v<Variant>) {
    if (kind != index) return decode_variant<Variant, index + 1>(kind, body);
    std::variant_alternative_t<index, Variant> alternative;
    from(body, alternative);
    return alternative;
  } else {
    throw base::Error(base::Fault::internal, "a device worker sent an unknown kind of message");
  }
}

template <typename Variant>
static Variant decode(const std::string& message) {
  const json value = unpack(message);
  try {
    return decode_variant<Variant>(value.at("kind").get<std::size_t>(), value.at("body"));
  } catch (const json::exception& problem) {
    throw base::Error(base::Fault::internal, std::string("a device worker sent an incomplete message: ") + problem.what());
  }
}

std::string encode(const Job& job) { return encode_variant(job); }
std::string encode(const Reply& reply) { return encode_variant(reply); }
Job decode_job(const std::string& message) { return decode<Job>(message); }
Reply decode_reply(const std::string& message) { return decode<Reply>(message); }

bool ends_worker(const std::string& job) { return std::holds_alternative<EndJob>(decode_job(job)); }
bool is_answer(const std::string& reply) { return !std::holds_alternative<Progress>(decode_reply(reply)); }
std::string still_at_it(const std::string& last_reply) {
  if (last_reply.empty() || is_answer(last_reply)) return encode(Reply(Progress{}));
  return last_reply;
}

}  // namespace cudal1::judge
