// SPDX-License-Identifier: Apache-2.0
#include "pytorch/python_process.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "pytorch/embedded.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

constexpr base::Seconds stop_interval{0.1};   // between two looks at whether an answer is still wanted

constexpr const char* sources[] = {"answer_export.py", "answer_host.py", "baselines.py", "comparison.py", "confine.py",
                                   "device_memory.py", "expansions.py", "host.py",      "lent_cases.py", "precision.py",
                                   "protocol.py",      "task_cases.py",  "task_gate.py", "task_module.py", "torch_line.py"};

// Python imports files, so the embedded ones are laid out once, in a folder named after their content.
std::filesystem::path program_folder() {
  std::string all;
  for (const char* name : sources) all += *embedded_text(name);
  const auto folder = base::cache_folder() / fmt::format("pytorch-{}", base::sha256(all).substr(0, 16));
  for (const char* name : sources)
    if (!std::filesystem::exists(folder / name)) base::write_file(folder / name, *embedded_text(name));
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
      worker_(std::make_unique<base::Worker>(base::Program{python, {"-u", (program_folder() / program).string()}})) {}

json PythonProcess::exchange(const json& request, base::Seconds limit, const std::stop_token& stop) {
  std::string text;
  const bool sent = worker_->channel().send(request.dump(-1, ' ', false, json::error_handler_t::replace));
  auto status = sent ? base::Channel::Status::timeout : base::Channel::Status::closed;
  const base::Seconds began = base::now();
  while (status == base::Channel::Status::timeout && base::now() - began < limit && !stop.stop_requested())
    status = worker_->channel().receive(text, stop.stop_possible() ? std::min(limit, stop_interval) : limit);
  if (status != base::Channel::Status::message) {
    if (status == base::Channel::Status::timeout) worker_->kill();
    const base::WorkerEnd end = worker_->end();
    const std::string words = last_line(worker_->last_words());
    alive_ = false;
    throw base::Error(base::Fault::bad_input,
                      fmt::format("{} {}{}{}", what_,
                                  stop.stop_requested()                    ? "was stopped"
                                  : status == base::Channel::Status::timeout ? fmt::format("gave no answer in {:.0f} s", limit.count())
                                  : end.signal == 9                        ? "was killed (out of memory? try --set)"
                                                                           : "ended",
                                  words.empty() ? "" : ": ", words));
  }
  json reply = json::parse(text, nullptr, false);
  if (!reply.is_object()) throw base::Error(base::Fault::internal, what_ + " sent something unreadable");
  if (reply.contains("refused")) throw base::Error(base::Fault::bad_input, base::printable(reply.at("refused").get<std::string>()));
  if (reply.contains("failed"))
    throw base::Error(base::Fault::internal, fmt::format("PyTorch: {}", base::printable(reply.at("failed").get<std::string>())));
  return reply;
}

}  // namespace cudal1::pytorch
