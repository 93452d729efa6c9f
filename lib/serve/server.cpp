// SPDX-License-Identifier: Apache-2.0
#include "serve/server.hpp"

#include "base/error.hpp"
#include "serve/batch.hpp"
#include "serve/metrics.hpp"
#include "serve/port.hpp"
#include "serve/prompts.hpp"
#include "serve/requests.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

namespace cudal1::serve {

namespace {

using json = nlohmann::ordered_json;
using httplib::Request;
using httplib::Response;

constexpr std::size_t largest_body = std::size_t{256} << 20;
constexpr double longest_wait = 600, stream_tick = 5;
constexpr const char* json_type = "application/json";

void say(Response& response, const json& value) { response.set_content(value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n", json_type); }

void fail(Response& response, int status, const std::string& reason) {
  response.status = status;
  if (status == 429 || status == 503) response.set_header("Retry-After", "5");
  say(response, {{"error", reason}});
}

docket::Ruling refused(const docket::BadRequest& bad) {
  docket::Ruling ruling;
  ruling.id = bad.id;
  ruling.fault = docket::Fault::request;
  ruling.reason = bad.reason;
  return ruling;
}

// In a time that does not depend on where they differ.
bool same(const std::string& a, const std::string& b) {
  unsigned char differences = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) differences |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differences == 0;
}

double number(const Request& request, const char* name, double otherwise) {
  if (!request.has_param(name)) return otherwise;
  try {
    return std::stod(request.get_param_value(name));
  } catch (const std::exception&) {
    return otherwise;
  }
}

}  // namespace

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

struct Server::State {
  State(docket::Docket& the_docket, Options the_options) : docket(the_docket), options(std::move(the_options)) {}

  void routes();
  void judge(const Request& request, Response& response);
  void judge_as_lines(Response& response, const std::shared_ptr<Batch>& batch) const;
  void job(const Request& request, Response& response);
  void reward(const Request& request, Response& response);
  void prompt(const Request& request, Response& response);
  void warm(const docket::TaskName& task, Response& response);
  void register_task(const Request& request, Response& response);
  void tasks(Response& response) const;
  void health(Response& response);
  bool refuse(Response& response, std::size_t answers);
  std::shared_ptr<Batch> submit(std::vector<Item> items);
  std::optional<reward::Shape> shape(const Request& request) const;

  docket::Docket& docket;
  Options options;
  httplib::Server http;
  int port = 0;
  Jobs jobs;
  prompt::Templates templates;
  std::atomic<bool> draining = false;
  std::atomic<std::uint64_t> draws = 0;
  std::mutex health_mutex;
  std::optional<std::string> tested;   // what the self-test found
  std::vector<std::jthread> threads;   // of the self-test and of the end
};

std::optional<reward::Shape> Server::State::shape(const Request& request) const {
  if (!request.has_param("reward")) return options.reward;
  return reward::parse_shape(request.get_param_value("reward"));
}

bool Server::State::refuse(Response& response, std::size_t answers) {
  if (draining) fail(response, 503, "the server is ending");
  else if (!docket.room_for(answers)) fail(response, 429, "the queue is full");
  else return false;
  return true;
}

std::shared_ptr<Batch> Server::State::submit(std::vector<Item> items) {
  auto batch = std::make_shared<Batch>(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const auto* bad = std::get_if<docket::BadRequest>(&items[i])) {
      batch->put(i, refused(*bad));
      continue;
    }
    const auto& request = std::get<docket::Request>(items[i]);
    // Room was looked for before; whoever was quicker has it in a moment.
    while (!docket.submit(request, [batch, i](const docket::Ruling& ruling) { batch->put(i, ruling); })) docket.wait_for_room();
  }
  return batch;
}

void Server::State::judge(const Request& request, Response& response) {
  const auto reward = shape(request);
  if (!reward) return fail(response, 422, "`reward` is one of paper, log, milestones, kevin and correct");
  Items items = read_items(request.body, options.tasks, reward);
  if (!items.problem.empty()) return fail(response, 422, items.problem);
  if (refuse(response, items.items.size())) return;
  const auto batch = submit(std::move(items.items));
  if (request.path == "/v1/jobs") {
    response.status = 202;
    return say(response, {{"job", jobs.add(batch)}});
  }
  if (request.get_header_value("Accept") == "application/x-ndjson") return judge_as_lines(response, batch);
  while (!batch->wait(stream_tick)) continue;
  std::string text;
  for (const auto& ruling : batch->rulings()) text += (text.empty() ? "" : ",") + docket::to_line(*ruling, request.has_param("brief"));
  response.set_content(items.list ? "[" + text + "]\n" : text + "\n", json_type);
}

// Each line as soon as it is there.
void Server::State::judge_as_lines(Response& response, const std::shared_ptr<Batch>& batch) const {
  response.set_chunked_content_provider("application/x-ndjson", [batch](std::size_t, httplib::DataSink& sink) {
    if (const auto ruling = batch->next(stream_tick)) {
      const std::string line = docket::to_line(*ruling, false) + "\n";
      if (!sink.write(line.data(), line.size())) return false;
    }
    if (batch->over()) sink.done();
    return true;
  });
}

void Server::State::job(const Request& request, Response& response) {
  const auto batch = jobs.find(request.matches[1]);
  if (!batch) return fail(response, 404, "there is no such job; it may be too old");
  const bool done = batch->wait(std::clamp(number(request, "wait", 0), 0.0, longest_wait));
  json rulings = json::array();
  std::size_t there = 0;
  for (const auto& ruling : batch->rulings()) {
    there += ruling ? 1 : 0;
    rulings.push_back(ruling ? json::parse(docket::to_line(*ruling, request.has_param("brief"))) : json(nullptr));
  }
  say(response, {{"done", done}, {"answered", there}, {"rulings", rulings}});
}

void Server::State::reward(const Request& request, Response& response) {
  const auto asked = shape(request);
  if (!asked) return fail(response, 422, "`reward` is one of paper, log, milestones, kevin and correct");
  Items items = read_queries(request.body, options.tasks, *asked);
  if (!items.problem.empty()) return fail(response, 422, items.problem);
  if (refuse(response, items.items.size())) return;
  const auto batch = submit(std::move(items.items));
  // Who asks again joins the work that goes on.
  if (!batch->wait(options.reward_limit_seconds)) return fail(response, 503, "not every verdict is there yet; ask again");
  std::vector<docket::Ruling> rulings;
  for (const auto& ruling : batch->rulings()) {
    if (ruling->fault == docket::Fault::request || ruling->fault == docket::Fault::task) return fail(response, 422, ruling->reason);
    if (!ruling->reward) return fail(response, 503, ruling->reason.empty() ? "it was not timed" : ruling->reason);   // a reward of 0 would be a lie
    rulings.push_back(*ruling);
  }
  response.set_content(reward_reply(rulings), json_type);
}

void Server::State::prompt(const Request& request, Response& response) {
  const auto name = read_task(request.body, options.tasks);
  if (!name) return fail(response, 422, name.error());
  const json body = json::parse(request.body);
  search::Options asked;
  const auto wanted = body.value("exemplars", json(asked.exemplars)), sampling = body.value("sampling", json("buckets")), style = body.value("style", json("full"));
  if (!wanted.is_number_integer() || wanted < 0 || wanted > 64) return fail(response, 422, "`exemplars` is a number from 0 to 64");
  asked.exemplars = wanted.get<int>();
  const std::map<json, search::Sampling> samplings = {
      {"buckets", search::Sampling::buckets}, {"islands", search::Sampling::islands}, {"random", search::Sampling::random}, {"none", search::Sampling::none}};
  if (!samplings.contains(sampling)) return fail(response, 422, "`sampling` is one of buckets, islands, random and none");
  asked.sampling = samplings.at(sampling);
  if (style != "full" && style != "compact") return fail(response, 422, "`style` is full or compact");
  if (body.contains("tau") && body["tau"].is_number() && body["tau"] > 0) asked.tau = body["tau"].get<double>();
  const std::uint64_t draw = body.contains("seed") && body["seed"].is_number_unsigned() ? body["seed"].get<std::uint64_t>() : ++draws;
  const auto task = docket.text_of(*name);
  if (!task) return fail(response, 422, task.error());
  warm(*name, response);
  const auto ready = docket.warm(task->key);
  if (!ready) return;
  response = Response();
  const Prompt made = make_prompt(*ready, docket.exemplars(task->key), templates, asked, style == "full" ? Style::full : Style::compact, draw);
  json messages = json::array(), exemplars = json::array(), shown = json::array();
  if (!made.system.empty()) messages.push_back({{"role", "system"}, {"content", made.system}});
  messages.push_back({{"role", "user"}, {"content", made.user}});
  for (const auto& [fingerprint, score] : made.exemplars) {
    exemplars.push_back({{"fingerprint", fingerprint}, {"score", score}});
    if (fingerprint != "reference") shown.push_back(fingerprint);
  }
  say(response, {{"schema", 1}, {"task", ready->task.name()}, {"task_sha256", task->sha256}, {"messages", messages}, {"exemplars", exemplars}, {"shown", shown}});
}

void Server::State::warm(const docket::TaskName& task, Response& response) {
  if (refuse(response, 1)) return;
  docket::Request request;
  request.task = task;
  request.mode = docket::Mode::warm;
  const auto batch = submit({request});
  if (!batch->wait(longest_wait)) return fail(response, 503, "the task's reference is not there yet; ask again");
  const docket::Ruling ruling = *batch->rulings().front();
  if (ruling.fault == docket::Fault::task) return fail(response, 422, ruling.reason);
  if (ruling.fault != docket::Fault::none) return fail(response, 503, ruling.reason);
  json times = json::array();
  const auto warm = docket.warm(ruling.task_key);
  for (const auto& time : warm->start.reference.times) times.push_back({{"workload", time.workload}, {"time_ms", time.ms}, {"limited_by", time.limited_by}});
  say(response, {{"schema", 1}, {"task", warm->task.name()}, {"task_sha256", ruling.task_sha256}, {"predicted", warm->start.reference.predicted}, {"reference", times}});
}

void Server::State::register_task(const Request& request, Response& response) {
  const auto name = read_task(request.body, options.tasks);
  if (!name) return fail(response, 422, name.error());
  const auto task = docket.text_of(*name);
  if (!task) return fail(response, 422, task.error());
  say(response, {{"task_sha256", task->sha256}});
}

void Server::State::tasks(Response& response) const {
  json list = json::array();
  for (const docket::TaskText& task : docket.tasks()) {
    double best = 0;
    const auto exemplars = docket.exemplars(task.key);
    for (const search::Variant& exemplar : exemplars) best = std::max(best, exemplar.judgement.score());
    list.push_back({{"task_sha256", task.sha256}, {"set", task.set}, {"warm", docket.warm(task.key) != nullptr}, {"right_answers", exemplars.size()}, {"best", best}});
  }
  say(response, {{"tasks", list}});
}

void Server::State::health(Response& response) {
  const std::lock_guard lock(health_mutex);
  if (draining) return fail(response, 503, "the server is ending");
  if (!tested) return fail(response, 503, "the self-test is under way");
  if (!tested->empty()) return fail(response, 503, *tested);
  say(response, {{"status", "ok"}, {"places", options.devices.size()}, {"version", options.version}});
}

void Server::State::routes() {
  http.set_pre_routing_handler([this](const Request& request, Response& response) {
    const bool open = request.path == "/health";
    const bool known = options.token.empty() || same(request.get_header_value("Authorization"), "Bearer " + options.token);
    // A page in somebody's browser is not who the loopback is open to.
    if (!request.has_header("Origin") && (open || known)) return httplib::Server::HandlerResponse::Unhandled;
    fail(response, known ? 403 : 401, known ? "browsers are not served" : "the header `Authorization: Bearer TOKEN` is missing or wrong");
    return httplib::Server::HandlerResponse::Handled;
  });
  http.set_error_handler([](const Request& request, Response& response) {
    if (response.body.empty()) fail(response, response.status, fmt::format("{} {} is not served; cudal1-serve(7) names what is", request.method, request.path));
  });
  http.set_exception_handler([](const Request&, Response& response, std::exception_ptr error) {   // NOLINT: httplib's signature
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& known) {
      fail(response, 500, fmt::format("internal error: {}", known.what()));
    } catch (...) {
      fail(response, 500, "internal error");
    }
  });
  http.Post("/v1/judge", [this](const Request& request, Response& response) { judge(request, response); });
  http.Post("/v1/jobs", [this](const Request& request, Response& response) { judge(request, response); });
  http.Get("/v1/jobs/([0-9a-f-]+)", [this](const Request& request, Response& response) { job(request, response); });
  http.Post("/get_reward", [this](const Request& request, Response& response) { reward(request, response); });
  http.Post("/v1/prompt", [this](const Request& request, Response& response) { prompt(request, response); });
  http.Post("/v1/tasks", [this](const Request& request, Response& response) { register_task(request, response); });
  http.Get("/v1/tasks", [this](const Request&, Response& response) { tasks(response); });
  http.Post("/v1/tasks/([0-9a-f]{64})/warm", [this](const Request& request, Response& response) {
    docket::TaskName task;
    task.sha256 = request.matches[1];
    warm(task, response);
  });
  http.Post("/v1/warm", [this](const Request& request, Response& response) {
    const auto task = read_task(request.body, options.tasks);
    if (task) warm(*task, response);
    else fail(response, 422, task.error());
  });
  http.Get("/health", [this](const Request&, Response& response) { health(response); });
  http.Get("/metrics", [this](const Request&, Response& response) { response.set_content(metrics(docket.counts(), options.version), "text/plain; version=0.0.4"); });
  http.Get("/v1/devices", [this](const Request&, Response& response) { say(response, {{"places", options.devices}}); });
}

Server::Server(docket::Docket& docket, Options options) : state_(std::make_unique<State>(docket, std::move(options))) {
  State& state = *state_;
  const Options& asked = state.options;
  if (!is_loopback(asked.host) && asked.token.empty())
    throw base::Error(base::Fault::usage, fmt::format("--listen {}: other machines are served with a token only; set the environment variable that --token-variable names", asked.host));
  state.http.new_task_queue = [connections = static_cast<std::size_t>(asked.connections)] { return new httplib::ThreadPool(connections); };
  state.http.set_payload_max_length(largest_body);
  state.http.set_tcp_nodelay(true);
  state.routes();
  state.port = asked.port;
  keep_port_alone(state.http);
  const bool bound = asked.port == 0 ? (state.port = state.http.bind_to_any_port(asked.host.c_str())) > 0 : state.http.bind_to_port(asked.host.c_str(), asked.port);
  if (!bound) throw base::Error(base::Fault::usage, fmt::format("--listen {}:{}: the address cannot be had, or another program has it", asked.host, asked.port));
  // Last of all, since it is known here alone how to end.
  state.http.Post("/v1/drain", [this](const Request&, Response& response) {
    drain();
    say(response, {{"draining", true}});
  });
}

Server::~Server() = default;

int Server::port() const { return state_->port; }

void Server::run() {
  State& state = *state_;
  state.threads.emplace_back([&state] {
    std::string problem = state.options.self_test ? state.options.self_test() : "";
    const std::lock_guard lock(state.health_mutex);
    state.tested = std::move(problem);
  });
  if (!state.draining) state.http.listen_after_bind();   // every handler has ended when it returns
  state.docket.close();
  state.docket.finish();
  state.threads.clear();
}

void Server::drain() {
  if (state_->draining.exchange(true)) return;
  state_->threads.emplace_back([&state = *state_] {
    state.docket.finish();
    state.http.stop();
  });
}

void Server::end() {
  if (state_->draining.exchange(true)) return;
  state_->docket.close();
  state_->http.stop();
}

}  // namespace cudal1::serve
