// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace cudal1::pytorch {

// The folder that an answer may write to, removed with its content by the destructor. One that a killed program left is
// removed by the next program that makes one.
class AnswerFolder {
 public:
  AnswerFolder();   // throws base::Error(usage) when there is no place for it
  ~AnswerFolder();
  AnswerFolder(const AnswerFolder&) = delete;
  AnswerFolder& operator=(const AnswerFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;   // held for life: a folder that nobody holds is nobody's
};

}  // namespace cudal1::pytorch
