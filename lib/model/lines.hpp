// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace cudal1::model {

// Takes a stream apart into lines that end in LF, CR or CRLF, wherever its chunks are cut. Newline-delimited JSON is such
// a stream, because JSON escapes both characters.
class Lines {
 public:
  using Sink = std::function<void(std::string_view line)>;
  static constexpr std::size_t longest = std::size_t{32} << 20;  // what is longer is cut there

  explicit Lines(Sink sink) : sink_(std::move(sink)) {}
  void feed(std::string_view bytes);
  void finish();  // a last line needs no end

 private:
  void end_line();

  Sink sink_;
  std::string line_;
  bool after_return_ = false;
};

}  // namespace cudal1::model
