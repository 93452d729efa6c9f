// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace cudal1::base {

// The whole file as bytes. Throws Error(missing) that names the path and why: missing, a folder, unreadable, or
// larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{256} << 20);

// Replaces the file in one step: a temporary file in the same folder, flushed, then renamed. Creates missing parent
// folders. Throws Error(not_written) when the place cannot be written or is full; the old content is then still there.
void write_file(const std::filesystem::path& path, std::string_view content);

// Appends to a file and flushes to the disk before it returns. A journal's one primitive.
class AppendFile {
 public:
  explicit AppendFile(const std::filesystem::path& path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  void append(std::string_view bytes);  // throws Error(not_written) on a full disk

 private:
  int descriptor_ = -1;
  std::filesystem::path path_;
};

// A folder under the system's place for temporary files, removed with all its content by the destructor.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view prefix = "cudal1");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// An exclusive lock on a file, held for the object's life; waits for another holder.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

// Base folders of the XDG specification, each with "cudal1" appended: ~/.config, ~/.cache, ~/.local/state.
std::filesystem::path config_folder();
std::filesystem::path cache_folder();
std::filesystem::path state_folder();

}  // namespace cudal1::base
