// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/expression.hpp"
#include "kernel/plan.hpp"
#include "tensor/dtype.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cudal1::kernel {

// A scalar type as a kernel's parameter names it.
struct ScalarType {
  enum class Kind { signed_integer, unsigned_integer, boolean, floating };
  Kind kind = Kind::signed_integer;
  std::size_t size = 4;  // bytes
  tensor::Dtype floating = tensor::Dtype::float32;

  bool operator==(const ScalarType&) const = default;
};

// Names that stand for types: template parameters and aliases.
using TypeNames = std::map<std::string, std::string, std::less<>>;

// "const unsigned int" → unsigned, 4 bytes. The pointee's type when `text` names a pointer. Empty when not known.
std::optional<ScalarType> scalar_type(std::string_view text, const TypeNames& names);

// The type's words without qualifiers and without what follows a `*`, aliases replaced: "unsigned int".
std::string plain_type(std::string_view text, const TypeNames& names);

// The word that is not known in such a text, for the message: "index_t".
std::string unknown_type(std::string_view text, const TypeNames& names);

// The value as the parameter receives it, or why it cannot.
tl::expected<ScalarArgument, std::string> convert(const Value& value, const ScalarType& type, std::string_view type_text);

}  // namespace cudal1::kernel
