// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace cudal1::cuda_code {

// The device code in device/*.cuh. Some files are functions that generated kernels call; others are kernels with holes, such as
// `$rows$`. A hole that has a line to itself, from its first column on, stands for whole statements or for nothing.
//
// Lines that begin with `//$` are in no generated file: what the code is for; `needs FILE...`, what must stand before it; and in the code
// `with FILE; hole = text; …`, in whose place stands the code of a file that several kernels have a part of, these of its holes filled.

// What goes into one hole.
struct Hole {
  std::string name, text;

  template <typename Value>
  Hole(std::string of, const Value& value) : name(std::move(of)), text(fmt::format("{}", value)) {}
};

// The code of a file without holes.
std::string device_code(std::string_view file);
// Each hole filled. A hole without a text, and a text without a hole, are mistakes of the caller's.
std::string device_code(std::string_view file, const std::vector<Hole>& holes);
// The same of any code.
std::string fill(std::string_view code, const std::vector<Hole>& holes);
// Those of `holes` that a file has: for files of one kind that are filled from one list.
std::vector<Hole> holes_in(std::string_view file, const std::vector<Hole>& holes);

// A file as it is written, taken apart.
struct DeviceFile {
  std::vector<std::string> needs;  // files of device code, and the compiler's headers
  std::string code;
};
const DeviceFile& device_file(std::string_view file);
DeviceFile read_device_file(std::string_view text);
// The names of its holes, each once.
std::vector<std::string> holes_of(std::string_view code);

}  // namespace cudal1::cuda_code
