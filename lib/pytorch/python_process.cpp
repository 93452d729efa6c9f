// SPDX-License-Identifier: Apache-2.0
#include "pytorch/python_process.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "pytorch/embedded.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>

#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

constexpr base::Seconds stop_interval{0.1};   // between two looks at whether an answer is still wanted

constexpr const char* sources[] = {"answer_cases.py", "answer_export.py", "answer_gate.py", "answer_host.py", "baselines.py", "comparison.py",
                                   "device_memory.py", "expand_indices.py", "expand_places.py", "expand_products.py", "expand_recurrence.py", "expand_windows.py", "expansions.py",
                                   "global_state.py", "host.py", "input_patterns.py", "known_products.py", "lent_cases.py", "memory_plan.py", "precision.py",
                                   "protocol.py", "rounding.py", "rounding_formulas.py", "shut.py", "task_cases.py", "task_gate.py", "task_module.py",
                                   "task_weight.py", "torch_line.py"};

// Python imports files, so the embedded ones are laid out in a folder named after their content. Whoever could write there
// once is not believed: at every start each file is compared, and what else lies there, as a compiled file or a module
// that Python would find first, is removed.
std::filesystem::path program_folder() {
  namespace fs = std::filesystem;
  std::string all;
  for (const char* name : sources) all += *embedded_text(name);
  const auto folder = base::cache_folder() / fmt::format("pytorch-{}", base::sha256(all).substr(0, 16));
  std::error_code ignored;
  if (fs::is_symlink(folder, ignored)) fs::remove(folder, ignored);
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool ours = std::any_of(std::begin(sources), std::end(sources), [&](const char* each) { return name == each; });
    // What begins with a dot is being written by another process, and no module.
    if (!ours && !name.starts_with(".")) fs::remove_all(entry.path(), ignored);
  }
  for (const char* name : sources) {
    const auto text = *embedded_text(name);
    const bool right = fs::is_regular_file(fs::symlink_status(folder / name, ignored)) && fs::file_size(folder / name, ignored) == text.size() &&
                       base::read_file(folder / name) == text;
    if (!right) base::write_file(folder / name, text);
  }
  return folder;
}

std::string last_line(const std::string& words) {
  std::string last;
  for (const auto& each : base::split_lines(base::printable(words)))
    if (!base::trim(each).empty()) last = std::string(base::trim(each));
  return last;
}

}  // namespace

PythonProcess::PythonProcess(const std::string& python, const std::string& program, std::string what)
    : what_(std::move(what)),
      worker_(std::make_unique<base::Worker>(base::Program{python, {"-B", "-u", path(program).string()}})) {}

PythonProcess::PythonProcess(const base::Program& launcher, std::string what) : what_(std::move(what)), worker_(std::make_unique<base::Worker>(launcher)) {}

std::filesystem::path PythonProcess::path(const std::string& program) { return program_folder() / program; }

json PythonProcess::exchange(const json& request, base::Seconds limit, const std::stop_token& stop) {
  send(request);
  return receive(limit, stop);
}

void PythonProcess::send(const json& request) { sent_ = worker_->channel().send(request.dump(-1, ' ', false, json::error_handler_t::replace)); }

// The process group is the whole of it: nothing that is confined can leave it.
void PythonProcess::pause_group(bool paused) { ::kill(-worker_->pid(), paused ? SIGSTOP : SIGCONT); }

bool PythonProcess::ended() const { return base::wait_for_end(worker_->pid(), base::Seconds(0)); }

// utime and stime of all processes of the group, and of their children that ended.
base::Seconds PythonProcess::used() const {
  double ticks = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    std::istringstream rest(line.substr(line.rfind(')') + 1));   // behind the name, which may hold anything
    std::string state;
    long parent = 0, group = 0, skipped = 0;
    rest >> state >> parent >> group;
    for (int i = 0; i < 8; ++i) rest >> skipped;
    double own = 0, time = 0;
    for (int i = 0; i < 4 && rest >> time; ++i) own += time;
    if (group == worker_->pid()) ticks += own;
  }
  return base::Seconds{ticks / static_cast<double>(::sysconf(_SC_CLK_TCK))};
}

json PythonProcess::receive(base::Seconds limit, const std::stop_token& stop, const Waiting& waiting) {
  std::string text, gives_up;
  auto status = sent_ ? base::Channel::Status::timeout : base::Channel::Status::closed;
  const base::Seconds began = base::now();
  while (status == base::Channel::Status::timeout && base::now() - began < limit && !stop.stop_requested() && gives_up.empty()) {
    status = worker_->channel().receive(text, stop.stop_possible() || waiting ? std::min(limit, stop_interval) : limit);
    if (status == base::Channel::Status::timeout && waiting) gives_up = waiting();
  }
  if (status != base::Channel::Status::message) {
    if (status == base::Channel::Status::timeout) worker_->kill();
    const base::WorkerEnd end = worker_->end();
    const std::string words = last_line(worker_->last_words());
    alive_ = false;
    throw base::Error(base::Fault::bad_task,
                      fmt::format("{} {}{}{}", what_,
                                  stop.stop_requested()                    ? "was stopped"
                                  : !gives_up.empty()                        ? gives_up
                                  : status == base::Channel::Status::timeout ? fmt::format("gave no answer in {:.0f} s", limit.count())
                                  : end.signal == 9 || end.exit_code == 137 ? "was killed (out of memory? try --set)"
                                                                           : "ended",
                                  words.empty() ? "" : ": ", words));
  }
  json reply = json::parse(text, nullptr, false);
  if (!reply.is_object()) throw base::Error(base::Fault::internal, what_ + " sent something unreadable");
  if (reply.value("ends", false)) alive_ = false;
  if (reply.value("full", false)) {
    std::string said = base::printable(reply.at(reply.contains("refused") ? "refused" : "failed").get<std::string>());
    said.resize(std::min(said.size(), said.find(". GPU ")));   // then PyTorch tells who has how much
    throw base::Error(base::Fault::no_memory, fmt::format("{}: the GPU's memory does not suffice for PyTorch; use smaller sizes (--set) or stop other programs on it", said));
  }
  if (reply.contains("refused")) throw base::Error(base::Fault::bad_task, base::printable(reply.at("refused").get<std::string>()));
  if (reply.contains("failed"))
    throw base::Error(base::Fault::internal, fmt::format("PyTorch: {}", base::printable(reply.at("failed").get<std::string>())));
  return reply;
}

}  // namespace cudal1::pytorch
