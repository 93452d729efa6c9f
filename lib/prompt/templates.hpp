// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::prompt {

using Values = std::map<std::string, std::string>;

// The prompt files: those embedded in the program, some replaced by files of the same name in a folder of the user's.
class Templates {
 public:
  Templates() = default;
  // Throws base::Error(usage) when the folder is missing or holds an .md file that no prompt is called after.
  explicit Templates(const std::filesystem::path& folder);

  // The template with every `{{name}}` replaced. Throws base::Error(usage) for a hole that `values` does not fill and
  // for a value that no hole takes, naming the file. A value's own braces are left as they are.
  std::string fill(std::string_view name, const Values& values) const;

  std::string digest() const;  // SHA-256 of all prompt files as used

 private:
  std::string_view text(std::string_view name) const;
  std::map<std::string, std::string, std::less<>> replaced_;
};

// The names of all prompt files: "system.md", "first_round.md" …
std::vector<std::string> template_names();

}  // namespace cudal1::prompt
