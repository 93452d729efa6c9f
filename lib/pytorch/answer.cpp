// SPDX-License-Identifier: Apache-2.0
#include "pytorch/answer.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "pytorch/python_process.hpp"

#include <algorithm>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

constexpr base::Seconds build_limit{900};   // extensions are compiled when they are loaded, some when they are first called
constexpr base::Seconds call_limit{120};
constexpr int few_calls = 20;
constexpr std::uint64_t usual_weights = 42;

}  // namespace

struct Answer::State {
  explicit State(const Options& options) : process(options.python, "answer_host.py", "the process that runs the answer"), unconfined(options.unconfined) {}

  PythonProcess process;
  bool unconfined;
  std::vector<std::string> notes;
  std::string tampered;
  bool elsewhere = false;

  struct Reply {
    std::string wrong;
    std::vector<double> ms;
  };

  // Of a process that has read the answer: whatever fails there, and whatever it says, is the answer's doing.
  Reply ask(const json& request, base::Seconds limit) try {
    const json reply = process.exchange(request, limit);
    elsewhere = reply.value("elsewhere", elsewhere);
    tampered = base::printable(reply.value("tampered", tampered));
    notes = reply.value("notes", std::vector<std::string>{});
    for (std::string& each : notes) each = base::printable(each);
    return {base::printable(reply.value("wrong", "")), reply.value("ms", std::vector<double>{})};
  } catch (const base::Error& error) {
    throw base::Error(base::Fault::bad_input, error.what());
  } catch (const json::exception&) {
    throw base::Error(base::Fault::bad_input, "the process that runs the answer sent something unreadable");
  }
};

Answer::Answer(const Options& options, const std::filesystem::path& task, const std::map<std::string, std::int64_t>& overrides,
               const std::string& offered, const std::filesystem::path& folder)
    : state_(std::make_unique<State>(options)) {
  constexpr std::size_t most = std::size_t{16} << 20;
  state_->process.exchange({{"do", "hello"}, {"device", options.device}, {"folder", folder.string()}}, build_limit);
  json request = json::parse(offered);
  request["do"] = "task";
  request["path"] = task.string();
  request["source"] = base::read_file(task, most);
  request["set"] = overrides;
  request["afresh"] = options.afresh;
  state_->process.exchange(request, build_limit);
}

Answer::~Answer() = default;

void Answer::load(const std::filesystem::path& answer, const std::string& source) {
  state_->ask({{"do", "load"}, {"path", answer.string()}, {"source", source}, {"unconfined", state_->unconfined}}, build_limit);
}

std::string Answer::run(std::optional<std::uint64_t> weights) {
  return state_->ask({{"do", "run"}, {"weights", weights.value_or(usual_weights)}}, build_limit).wrong;
}

void Answer::start() { state_->ask({{"do", "start"}}, build_limit); }

Answer::Times Answer::time(std::size_t samples) {
  auto reply = state_->ask({{"do", "time"}, {"samples", samples}}, call_limit);
  if (reply.ms.size() != samples) throw base::Error(base::Fault::bad_input, "the process that runs the answer sent something unreadable");
  return {std::move(reply.ms), std::move(reply.wrong)};
}

double Answer::call_ms() {
  const auto taken = [&](int count) {
    const base::Seconds began = base::now();
    state_->ask({{"do", "calls"}, {"count", count}}, call_limit);
    return 1e3 * (base::now() - began).count();
  };
  double least = taken(2 * few_calls) - taken(few_calls);
  for (int i = 0; i < 2; ++i) least = std::min(least, taken(2 * few_calls) - taken(few_calls));
  return std::max(least, 0.0) / few_calls;
}

bool Answer::elsewhere() const { return state_->elsewhere; }
const std::string& Answer::tampered() const { return state_->tampered; }
const std::vector<std::string>& Answer::notes() const { return state_->notes; }

}  // namespace cudal1::pytorch
