// SPDX-License-Identifier: Apache-2.0
#include "pytorch/answer.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "pytorch/python_process.hpp"

#include <algorithm>
#include <cstdlib>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

constexpr base::Seconds build_limit{900};   // extensions are compiled when they are loaded
constexpr base::Seconds call_limit{120};
constexpr int few_calls = 20;
constexpr std::uint64_t usual_weights = 42;

// A folder of its own, gone with it.
struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "cudal1-answer-XXXXXX").string();
  Folder() {
    if (mkdtemp(path.data()) == nullptr) throw base::Error(base::Fault::bad_input, "no temporary folder can be made");
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

}  // namespace

struct Answer::State {
  explicit State(const std::string& python) : process(python, "answer_host.py", "the process that runs the answer") {}

  Folder folder;
  PythonProcess process;
  std::vector<std::string> notes;
  bool elsewhere = false;

  json ask(const json& request, base::Seconds limit) {
    json reply = process.exchange(request, limit);
    elsewhere = reply.value("elsewhere", elsewhere);
    if (reply.contains("notes")) notes = reply.at("notes").get<std::vector<std::string>>();
    return reply;
  }
};

Answer::Answer(const Options& options, const std::filesystem::path& task, const std::map<std::string, std::int64_t>& overrides,
               const std::string& offered, const std::filesystem::path& answer)
    : state_(std::make_unique<State>(options.python)) {
  constexpr std::size_t most = std::size_t{16} << 20;
  state_->ask({{"do", "hello"}, {"device", options.device}, {"folder", state_->folder.path}}, build_limit);
  json request = json::parse(offered);
  request["do"] = "task";
  request["path"] = task.string();
  request["source"] = base::read_file(task, most);
  request["set"] = overrides;
  state_->ask(request, build_limit);
  state_->ask({{"do", "load"}, {"path", answer.string()}, {"source", base::read_file(answer, most)}, {"unconfined", options.unconfined}},
              build_limit);
}

Answer::~Answer() = default;

std::string Answer::run(std::optional<std::uint64_t> weights) {
  return state_->ask({{"do", "run"}, {"weights", weights.value_or(usual_weights)}}, build_limit).value("wrong", "");
}

void Answer::start() { state_->ask({{"do", "start"}}, build_limit); }

std::vector<double> Answer::time(std::size_t samples) { return state_->ask({{"do", "time"}, {"samples", samples}}, call_limit).at("ms"); }

double Answer::call_ms() {
  const auto taken = [&](int count) {
    const base::Seconds began = base::now();
    state_->ask({{"do", "calls"}, {"count", count}}, call_limit);
    return 1e3 * (base::now() - began).count();
  };
  double least = taken(2 * few_calls) - taken(few_calls);
  for (int i = 0; i < 2; ++i) least = std::min(least, taken(2 * few_calls) - taken(few_calls));
  const std::string wrong = state_->ask({{"do", "calls"}, {"count", 1}, {"take", true}}, call_limit).value("wrong", "");
  if (!wrong.empty()) throw base::Error(base::Fault::bad_input, wrong);
  return std::max(least, 0.0) / few_calls;
}

bool Answer::elsewhere() const { return state_->elsewhere; }
const std::vector<std::string>& Answer::notes() const { return state_->notes; }

}  // namespace cudal1::pytorch
