// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"
#include "interruption.hpp"
#include "judge_sessions.hpp"

#include "base/error.hpp"
#include "serve/server.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

struct ServeOptions {
  JudgeSessionsOptions sessions = usual_judge_sessions();
  std::vector<std::string> tasks;
  std::string listen = "127.0.0.1:8780", token_variable = "CUDAL1_SERVE_TOKEN", reward = std::string(reward::name(reward::usual));
  int connections = 512;
};

// A task that any device judges in a moment; its own kernel is the answer.
constexpr const char* self_test_task = R"(//@ task    self_test
//@ torch   Y = 2 * X
//@ size    N = 1024
//@ check   N = 33
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  twice<<<ceil_div(N, 128), 128>>>(X, Y, N)

__global__ void twice(const float* X, float* Y, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) Y[i] = 2 * X[i];
}
)";

// What is wrong with a place; empty: it judges.
std::string test(const docket::Opener& opener, std::size_t place) {
  docket::TaskText task;
  task.path = "self_test.cu";
  task.source = self_test_task;
  try {
    const auto judgement = opener(task, place)->verify(task.source, "answer.cu");
    if (outcome::is_right(judgement.verdict)) return "";
    return fmt::format("the self-test of place {} gives {}: {}", place, outcome::name(judgement.verdict), judgement.message);
  } catch (const std::exception& error) {
    return fmt::format("the self-test of place {} fails: {}", place, error.what());
  }
}

std::string test_all(const docket::Opener& opener, std::size_t places) {
  std::vector<std::future<std::string>> results;
  for (std::size_t place = 0; place < places; ++place) results.push_back(std::async(std::launch::async, [&opener, place] { return test(opener, place); }));
  std::string problem;
  for (auto& result : results)
    if (const std::string found = result.get(); problem.empty()) problem = found;
  return problem;
}

std::pair<std::string, int> address(const std::string& listen) {
  const auto colon = listen.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = listen.data() + listen.size();
    const auto [stop, error] = std::from_chars(listen.data() + colon + 1, end, port);
    if (error != std::errc() || stop != end) port = -1;
  }
  if (colon == 0 || port < 0 || port > 65535) throw base::Error(base::Fault::usage, fmt::format("--listen {}: expected HOST:PORT, such as 127.0.0.1:8780", listen));
  return {listen.substr(0, colon), port};
}

serve::Options server_options(const ServeOptions& options, const JudgeSessions& sessions) {
  serve::Options result;
  std::tie(result.host, result.port) = address(options.listen);
  result.connections = options.connections;
  if (const char* token = std::getenv(options.token_variable.c_str())) result.token = token;
  result.reward = reward::parse_shape(options.reward).value();
  for (const std::string& task : options.tasks) {
    const std::filesystem::path path = std::filesystem::absolute(task).lexically_normal();
    if (!std::filesystem::exists(path)) throw base::Error(base::Fault::missing, fmt::format("{}: no such file", task));
    for (const std::string& name : {task, path.string(), path.filename().string()}) result.tasks[name] = path.string();
  }
  result.devices.assign(sessions.places(), sessions.device());
  result.version = CUDAL1_VERSION;
  return result;
}

ExitCode run_serve(const ServeOptions& options, const Console& console) {
  JudgeSessions sessions(options.sessions, console);
  docket::Docket docket(sessions.opener(), sessions.limits(), sessions.exemplars());
  serve::Options asked = server_options(options, sessions);
  asked.self_test = [&sessions, opener = sessions.opener()] { return test_all(opener, sessions.places()); };
  const std::string host = asked.host;
  serve::Server server(docket, std::move(asked));
  const Interruption interruption(console, "ending after the answers that are being judged");
  const std::stop_callback stop(interruption.token(), [&server] { server.end(); });
  console.note(fmt::format("listening on http://{}:{}", host, server.port()));
  server.run();
  return interruption.signal() != 0 ? static_cast<ExitCode>(128 + interruption.signal()) : ExitCode::success;
}

}  // namespace

void add_serve(CommandLine& line) {
  auto options = std::make_shared<ServeOptions>();
  Arguments app = line.add("serve", "Offer the judge over HTTP to training programs", surroundings_group, [options, &line] { return run_serve(*options, line.console); });
  app.add_option("TASK", options->tasks, "Task files that requests may name");
  app.add_option("--listen", options->listen, "The address to serve on; port 0 takes any free port")->option_text("HOST:PORT");
  app.add_option("--token-variable", options->token_variable, "The environment variable with the token that clients send; needed to serve other machines")->option_text("NAME");
  app.add_option("--reward", options->reward, "The reward of each answer, where a request names none")
      ->option_text("paper|log|milestones|kevin|correct")
      ->check(Check::one_of({reward::shape_names().begin(), reward::shape_names().end()}));
  app.add_option("--connections", options->connections, "The most connections at the same time")->option_text("N")->check(Check::between(1, 65536));
  add_judge_sessions_options(app, options->sessions);
}

}  // namespace cudal1::cli
