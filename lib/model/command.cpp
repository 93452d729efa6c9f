// SPDX-License-Identifier: Apache-2.0
#include "model/command.hpp"

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

#include <cstdlib>
#include <sstream>

#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace cudal1::model {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_reply = std::size_t{8} << 20;

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) == 0) return fs::absolute(name);
    if (access(name.c_str(), F_OK) == 0)
      throw base::Error(base::Fault::usage, fmt::format("--model cmd: {} is there but may not be executed; try chmod +x {}", name, name));
  } else if (const char* path = std::getenv("PATH")) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
      if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return fs::absolute(candidate);
    }
  }
  throw base::Error(base::Fault::usage,
                    fmt::format("--model cmd: there is no program {}; give its path, then its arguments", name));
}

// The words of a command as a shell tells them apart: by blanks that stand in no quotes. There is no shell: what only a
// shell understands is refused.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool begun = false;
  for (const char c : command) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      else word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      begun = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (begun || !word.empty()) words.push_back(word);
      word.clear();
      begun = false;
    } else if (c == '|' || c == '<' || c == '>' || c == ';' || c == '&' || c == '`') {
      throw base::Error(base::Fault::usage, fmt::format("--model cmd:{}: there is no shell, so {} has no meaning; write cmd:sh -c \"…\"", command, c));
    } else {
      word += c;
    }
  }
  if (quote != 0) throw base::Error(base::Fault::usage, fmt::format("--model cmd:{}: a quote {} is not closed", command, quote));
  if (begun || !word.empty()) words.push_back(word);
  return words;
}

std::string first_line(const std::string& text) {
  const auto lines = base::split_lines(base::trim(text));
  return lines.empty() ? "" : base::printable(lines.front().substr(0, 300));
}

class Command final : public Model {
 public:
  Command(const std::string& command, base::Seconds limit, int parallel)
      : name_("cmd:" + command), limit_(limit), parallel_(parallel) {
    auto words = words_of(command);
    if (words.empty()) throw base::Error(base::Fault::usage, "--model cmd: wants a program, as in cmd:./answer.py");
    program_.executable = find_program(words.front());
    program_.arguments.assign(words.begin() + 1, words.end());
  }

  std::string name() const override { return name_; }
  int parallel() const override { return parallel_; }

  Reply answer(const Question& question, std::stop_token stop) override {
    const auto begin = base::now();
    auto finished = base::run(program_, question.system + "\n\n" + question.user, limit_, largest_reply, stop);
    Reply reply;
    reply.seconds = base::now() - begin;
    reply.text = std::move(finished.out);
    if (finished.stopped) {
      fail(reply, "was interrupted");
    } else if (finished.timed_out) {
      fail(reply, fmt::format("gave no reply within {:.0f} s", limit_.count()));
    } else if (finished.signal != 0) {
      fail(reply, fmt::format("was ended by signal {}", finished.signal));
    } else if (finished.exit_code != 0) {
      const auto said = first_line(finished.err);
      fail(reply, fmt::format("ended with exit code {}{}{}", finished.exit_code, said.empty() ? "" : ": ", said));
    } else if (finished.output_cut) {
      reply.status = Reply::Status::truncated;
      reply.reason = fmt::format("{} printed more than {} MiB", name_, largest_reply >> 20);
      reply.text.clear();
    } else if (base::trim(reply.text).empty()) {
      fail(reply, "printed nothing");
    }
    return reply;
  }

 private:
  void fail(Reply& reply, const std::string& why) const {
    reply.status = Reply::Status::unreachable;
    reply.reason = name_ + " " + why;
    reply.text.clear();
  }

  std::string name_;
  base::Seconds limit_;
  int parallel_;
  base::Program program_;
};

}  // namespace

std::unique_ptr<Model> open_command(const std::string& command, base::Seconds limit, int parallel) {
  return std::make_unique<Command>(command, limit, parallel);
}

}  // namespace cudal1::model
