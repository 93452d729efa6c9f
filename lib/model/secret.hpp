// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::model {

// A key. It is written into the header of a request and nowhere else, so it has no way to be printed.
class Secret {
 public:
  explicit Secret(std::string text) : text_(std::move(text)) {}
  ~Secret();
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  Secret(Secret&&) = default;
  Secret& operator=(Secret&&) = default;

  const std::string& reveal() const { return text_; }
  std::string removed_from(std::string text) const;  // services quote what they were sent

 private:
  std::string text_;
};

// The key that the first of these environment variables holds; empty when none is set. Throws base::Error(credentials)
// for a value that cannot be a key.
std::optional<Secret> key_from_environment(const std::vector<std::string>& variables);

// What the program prints. Throws base::Error(credentials) when it fails or prints no key.
Secret key_from_command(const std::vector<std::string>& command);

}  // namespace cudal1::model
