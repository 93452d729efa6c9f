// SPDX-License-Identifier: Apache-2.0
#include "remote/ssh.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::remote {

namespace {

constexpr base::Seconds answering{60}, copying{600};
constexpr std::size_t largest_program = std::size_t{1} << 30;
constexpr int not_there = 127;                             // what a shell says of a program that it cannot start
constexpr const char* folder = "${XDG_CACHE_HOME:-$HOME/.cache}/cudal1/programs";

}  // namespace

std::string last_line(const std::string& words) {
  std::string last;
  for (const std::string& line : base::split_lines(base::printable(words)))
    if (!base::trim(line).empty()) last = std::string(base::trim(line));
  return last;
}

Host::Host(std::string name) : name_(std::move(name)), digest_(base::sha256(base::read_file(base::own_executable(), largest_program)).substr(0, 32)) {
  if (name_.empty() || name_.starts_with('-') || name_.find_first_of(" \t\n") != std::string::npos)
    throw base::Error(base::Fault::usage, fmt::format("--device ssh:{}: expected ssh:HOST, ssh:HOST:cuda:N or ssh:HOST:sim", name_));
}

base::Program Host::ssh(const std::string& command) const {
  const char* given = std::getenv("CUDAL1_SSH");
  std::istringstream words(given != nullptr && *given != '\0' ? given : "ssh");
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  if (all.empty()) all.emplace_back("ssh");
  base::Program program{all.front(), {all.begin() + 1, all.end()}};
  // No question, no terminal; a connection that says nothing for 15 s is broken.
  for (const char* option : {"-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"}) program.arguments.emplace_back(option);
  program.arguments.insert(program.arguments.end(), {"--", name_, command});
  return program;
}

// The words are this program's own, without anything that a shell would read.
base::Program Host::command(const std::vector<std::string>& arguments) const { return ssh(fmt::format("exec \"{}/{}\" {}", folder, digest_, fmt::join(arguments, " "))); }

void Host::copy_program() const {
  const std::string place = fmt::format("{}/{}", folder, digest_);
  const auto copied = base::run(ssh(fmt::format("umask 077 && mkdir -p \"{0}\" && cat > \"{1}.$$\" && chmod 700 \"{1}.$$\" && mv \"{1}.$$\" \"{1}\"", folder, place)),
                                base::read_file(base::own_executable(), largest_program), copying);
  if (copied.exit_code != 0) throw base::Error(base::Fault::no_device, fmt::format("cudal1 cannot be copied to {}: {}", name_, last_line(copied.err)));
}

std::string Host::ask(const std::vector<std::string>& arguments) const {
  auto asked = base::run(command(arguments), "", answering);
  if (asked.exit_code == not_there) {
    copy_program();
    asked = base::run(command(arguments), "", answering);
  }
  if (asked.exit_code == not_there)
    throw base::Error(base::Fault::no_device, fmt::format("cudal1 does not start on {}: {}; the portable program (`cmake --preset portable`) needs nothing but glibc 2.28", name_, last_line(asked.err)));
  if (asked.timed_out) throw base::Error(base::Fault::no_device, fmt::format("{} did not answer over ssh within {:.0f} s", name_, answering.count()));
  if (asked.exit_code != 0) throw base::Error(base::Fault::no_device, fmt::format("ssh {}: {}", name_, last_line(asked.err)));
  return asked.out;
}

}  // namespace cudal1::remote
