// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/lines.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace cudal1::model {

// Decodes a text/event-stream, wherever its chunks are cut: comments are skipped, several data lines are joined by a
// newline, an empty line ends an event, and so does the end of the stream.
class ServerEvents {
 public:
  using Sink = std::function<void(const std::string& name, const std::string& data)>;

  explicit ServerEvents(Sink sink) : sink_(std::move(sink)), lines_([this](std::string_view line) { take(line); }) {}
  ServerEvents(const ServerEvents&) = delete;
  ServerEvents& operator=(const ServerEvents&) = delete;
  void feed(std::string_view bytes) { lines_.feed(bytes); }
  void finish();

 private:
  void take(std::string_view line);
  void dispatch();

  Sink sink_;
  Lines lines_;
  std::string name_, data_;
  bool has_data_ = false, begun_ = false;
};

}  // namespace cudal1::model
