// SPDX-License-Identifier: Apache-2.0
#include "pytorch/answer_folder.hpp"

#include "base/error.hpp"

#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudal1::pytorch {

namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "cudal1-answer-";

// The folder's lock, or -1: somebody has it, or the folder is gone.
int taken(const fs::path& folder) {
  const int lock = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat facts {};
  if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0 && ::fstat(lock, &facts) == 0 && facts.st_nlink > 0 && facts.st_uid == ::getuid()) return lock;
  if (lock >= 0) ::close(lock);
  return -1;
}

void remove_abandoned(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const int lock = taken(entry.path());
    if (lock < 0) continue;
    fs::remove_all(entry.path(), ignored);
    ::close(lock);
  }
}

}  // namespace

AnswerFolder::AnswerFolder() {
  std::error_code code;
  fs::path parent = fs::temp_directory_path(code);
  if (code) parent = "/tmp";
  remove_abandoned(parent);
  constexpr int attempts = 100;   // another program may take a folder for abandoned before it is locked
  for (int i = 0; lock_ < 0 && i < attempts; ++i) {
    std::string pattern = (parent / (std::string(prefix) + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) break;
    path_ = pattern;
    lock_ = taken(path_);
  }
  if (lock_ < 0)
    throw base::Error(base::Fault::usage, fmt::format("cannot create a folder in {}; set TMPDIR to another place", parent.string()));
}

AnswerFolder::~AnswerFolder() {
  std::error_code ignored;  // nobody is left to be told
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace cudal1::pytorch
