// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "flashinfer/definition.hpp"

#include <functional>
#include <string>

namespace cudal1::flashinfer {

// The type of a name behind statements of a torch line ("x = a + b", "x"); empty where it cannot be told.
using TypeOf = std::function<std::string(const std::string& line, const std::string& name)>;

// The function `run` of a definition as a torch line: its statements one after the other, with what it returns assigned to the
// outputs. Docstrings, assertions, annotations and devices are left out. Throws base::Error(bad_task) that names the line of Python and
// what in it is not understood: loops, conditions, assignments to a part of a tensor, functions of its own.
std::string reference_line(const Definition& definition, const std::string& name, const TypeOf& type_of);

}  // namespace cudal1::flashinfer
