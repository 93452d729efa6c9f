// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/error.hpp"
#include "base/spawn.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudal1::base {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::strerror(errno); }

void create_parent(const fs::path& path) {
  const fs::path parent = path.parent_path();
  std::error_code code;
  if (parent.empty()) return;
  fs::create_directories(parent, code);
  if (code) throw Error(Fault::not_written, "cannot create the folder " + parent.string() + ": " + code.message());
}

// False with errno set.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// A rename lasts only once its folder is on the disk too; file systems that cannot flush a folder are left alone.
void flush_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.value() >= 0) ::fsync(descriptor.value());
}

fs::path base_folder(const char* variable, const char* below_home) {
  const char* value = std::getenv(variable);
  if (value != nullptr && *value == '/') return fs::path(value) / "cudal1";  // the specification ignores relative ones
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0')
    if (const passwd* user = ::getpwuid(::getuid())) home = user->pw_dir;
  if (home == nullptr || *home == '\0')
    throw Error(Fault::usage, std::string("neither ") + variable + " nor HOME is set; set one of them to a folder");
  return fs::path(home) / below_home / "cudal1";
}

}  // namespace

std::string read_file(const fs::path& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) throw Error(Fault::missing, "cannot read " + path.string() + ": " + reason());
  struct stat facts {};
  if (::fstat(file.value(), &facts) == 0 && S_ISDIR(facts.st_mode))
    throw Error(Fault::missing, path.string() + " is a folder, not a file");
  std::string content;
  const auto expected = static_cast<std::size_t>(S_ISREG(facts.st_mode) ? facts.st_size : 0);
  if (expected <= limit) content.reserve(expected + 1);
  std::size_t size = 0;
  for (;;) {
    if (size > limit)
      throw Error(Fault::missing, path.string() + " is larger than " + std::to_string(limit) + " bytes");
    content.resize(std::max(size + 65536, content.capacity()));
    const ssize_t count = ::read(file.value(), content.data() + size, content.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(Fault::missing, "cannot read " + path.string() + ": " + reason());
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  content.resize(size);
  if (size > limit) throw Error(Fault::missing, path.string() + " is larger than " + std::to_string(limit) + " bytes");
  return content;
}

void write_file(const fs::path& path, std::string_view content) {
  create_parent(path);
  static std::atomic<unsigned> counter{0};
  // Process and counter make the name unique among writers of one file; the dot keeps it out of listings.
  const fs::path temporary = path.parent_path() / ("." + path.filename().string() + "." + std::to_string(::getpid()) + "." +
                                                   std::to_string(counter++) + ".tmp");
  bool written = false;
  {
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    written = file.value() >= 0 && write_all(file.value(), content) && ::fsync(file.value()) == 0;
  }
  written = written && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const std::string why = reason();
    ::unlink(temporary.c_str());
    throw Error(Fault::not_written, "cannot write " + path.string() + ": " + why);
  }
  flush_folder(path.parent_path());
}

AppendFile::AppendFile(const fs::path& path) : path_(path) {
  create_parent(path);
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(Fault::not_written, "cannot write " + path.string() + ": " + reason());
  flush_folder(path.parent_path());
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::append(std::string_view bytes) {
  if (!write_all(descriptor_, bytes) || (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS))
    throw Error(Fault::not_written, "cannot append to " + path_.string() + ": " + reason());
}

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
  std::error_code code;
  fs::path parent = fs::temp_directory_path(code);
  if (code) parent = "/tmp";
  std::string pattern = (parent / (std::string(prefix) + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw Error(Fault::usage, "cannot create a folder in " + parent.string() + ": " + reason() + "; set TMPDIR to another place");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // nobody is left to be told
  fs::remove_all(path_, ignored);
}

FileLock::FileLock(const fs::path& path) {
  create_parent(path);
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(Fault::usage, "cannot open the lock " + path.string() + ": " + reason());
  while (::flock(descriptor_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const std::string why = reason();
    ::close(descriptor_);
    throw Error(Fault::usage, "cannot lock " + path.string() + ": " + why);
  }
}

FileLock::~FileLock() { ::close(descriptor_); }

fs::path config_folder() { return base_folder("XDG_CONFIG_HOME", ".config"); }
fs::path cache_folder() { return base_folder("XDG_CACHE_HOME", ".cache"); }
fs::path state_folder() { return base_folder("XDG_STATE_HOME", ".local/state"); }

}  // namespace cudal1::base
