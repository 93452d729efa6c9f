// SPDX-License-Identifier: Apache-2.0
// The rules are those of cuTensorMapEncodeTiled in the CUDA Driver API.
#include "kernel/tensor_map.hpp"

#include "kernel/complaint.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

using Node = Expression::Node;
using Element = TensorMapArgument::Element;

constexpr std::size_t most_axes = 5;
constexpr std::int64_t largest_extent = std::int64_t{1} << 32, largest_box = 256, largest_stride = std::int64_t{1} << 40, alignment = 16;

struct ElementName {
  Element element;
  std::string_view word, driver;
  std::size_t bytes;
};
constexpr std::array<ElementName, 11> elements{{
    {Element::uint8, "uint8", "UINT8", 1},
    {Element::uint16, "uint16", "UINT16", 2},
    {Element::uint32, "uint32", "UINT32", 4},
    {Element::int32, "int32", "INT32", 4},
    {Element::uint64, "uint64", "UINT64", 8},
    {Element::int64, "int64", "INT64", 8},
    {Element::float16, "float16", "FLOAT16", 2},
    {Element::float32, "float32", "FLOAT32", 4},
    {Element::float64, "float64", "FLOAT64", 8},
    {Element::bfloat16, "bfloat16", "BFLOAT16", 2},
    {Element::tf32, "tf32", "TFLOAT32", 4},
}};

[[noreturn]] void fail(const Node& at, std::string message, std::string hint = {}) {
  complain(*at.file, at.line, at.column, std::move(message), std::move(hint));
}

// A type that a map has no word for is copied as integers of its size.
std::string_view word_of(tensor::Dtype dtype) {
  switch (dtype) {
    case tensor::Dtype::float16: return "float16";
    case tensor::Dtype::bfloat16: return "bfloat16";
    case tensor::Dtype::float32: return "float32";
    case tensor::Dtype::float64: return "float64";
    case tensor::Dtype::int32: return "int32";
    case tensor::Dtype::int64: return "int64";
    case tensor::Dtype::int16: return "uint16";
    default: return "uint8";
  }
}

const ElementName* find_element(std::string_view word) {
  const auto found = std::find_if(elements.begin(), elements.end(), [&](const ElementName& one) { return one.word == word; });
  return found == elements.end() ? nullptr : &*found;
}

std::int64_t integer(const Node& node, const Environment& environment) {
  const Value value = evaluate_node(node, environment);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  fail(node, "a tensor map is described by integers");
}

const ElementName& element_of(const Node& node, const PlanBuffer& buffer) {
  const Node* type = tensor_map_part(node, "type");
  if (type == nullptr) return *find_element(word_of(buffer.dtype));
  const Node& word = *type->children.front();
  const ElementName* found = word.kind == Node::Kind::name && type->children.size() == 1 ? find_element(word.text) : nullptr;
  if (found == nullptr) fail(word, "type takes one of uint8, uint16, uint32, int32, uint64, int64, float16, bfloat16, float32, tf32 and float64");
  if (found->bytes != tensor::size_of(buffer.dtype))
    fail(word, fmt::format("an element of type({}) has {} bytes, one of {} has {}", found->word, found->bytes, buffer.name, tensor::size_of(buffer.dtype)));
  return *found;
}

}  // namespace

bool is_tensor_map(const Node& node) { return node.kind == Node::Kind::call && node.text == "tensor_map"; }

const Node* tensor_map_part(const Node& node, const std::string& part) {
  for (std::size_t i = 1; i < node.children.size(); ++i)
    if (node.children[i]->text == part) return node.children[i].get();
  return nullptr;
}

std::string tensor_map_type(const std::string& word, tensor::Dtype dtype) {
  const ElementName* element = find_element(word.empty() ? word_of(dtype) : std::string_view(word));
  return fmt::format("CU_TENSOR_MAP_DATA_TYPE_{}", element == nullptr ? "UINT8" : element->driver);
}

TensorMapArgument tensor_map(const Node& node, const BufferArgument& from, const PlanBuffer& buffer, const Environment& environment) {
  TensorMapArgument map;
  map.buffer = from.buffer;
  map.byte_offset = from.byte_offset;
  const ElementName& element = element_of(node, buffer);
  map.element = element.element;
  map.element_bytes = element.bytes;
  const auto bytes = static_cast<std::int64_t>(element.bytes);
  if (from.byte_offset % alignment != 0) fail(*node.children[0], fmt::format("a tensor map begins at a multiple of 16 bytes; this is byte {} of {}", from.byte_offset, buffer.name));
  const Node *axes = tensor_map_part(node, "axes"), *box = tensor_map_part(node, "box"), *strides = tensor_map_part(node, "strides"), *swizzle = tensor_map_part(node, "swizzle");
  if (axes == nullptr || box == nullptr) fail(node, "a tensor map needs axes(…) and box(…), the innermost axis first", "write tensor_map(B, axes(K, N), box(32, 128))");
  const std::size_t rank = axes->children.size();
  if (rank > most_axes) fail(*axes, "a tensor map has five axes at most");
  if (box->children.size() != rank) fail(*box, fmt::format("the box has {} extents, the tensor map {} axes", box->children.size(), rank));
  if (strides != nullptr && strides->children.size() + 1 != rank)
    fail(*strides, fmt::format("strides are those of the second axis on: {} are needed, {} are given", rank - 1, strides->children.size()));
  std::int64_t stride = bytes, last = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const Node &axis_at = *axes->children[i], &box_at = *box->children[i];
    const std::int64_t extent = integer(axis_at, environment), side = integer(box_at, environment);
    if (extent < 1 || extent > largest_extent) fail(axis_at, fmt::format("an axis of a tensor map has 1 to 2^32 elements; this has {}", extent));
    if (side < 1 || side > largest_box) fail(box_at, fmt::format("a side of a tensor map's box has 1 to 256 elements; this has {}", side));
    if (i > 0) {
      if (strides != nullptr) stride = integer(*strides->children[i - 1], environment) * bytes;
      if (stride < 1 || stride % alignment != 0 || stride >= largest_stride)
        fail(strides != nullptr ? *strides->children[i - 1] : axis_at, fmt::format("neighbours along axis {} are {} bytes apart; a tensor map needs a multiple of 16 below 2^40", i + 1, stride),
             "pad the rows to a multiple of 16 bytes");
      map.strides.push_back(static_cast<std::uint64_t>(stride));
    }
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(extent - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last)) fail(axis_at, "the tensor map reaches beyond 2^63 bytes");
    if (strides == nullptr && __builtin_mul_overflow(stride, extent, &stride)) fail(axis_at, "the tensor map reaches beyond 2^63 bytes");
    map.extents.push_back(static_cast<std::uint64_t>(extent));
    map.box.push_back(static_cast<std::uint32_t>(side));
  }
  if (from.byte_offset + last + bytes > static_cast<std::int64_t>(buffer.bytes))
    fail(*axes, fmt::format("the tensor map ends {} bytes past the end of {}", from.byte_offset + last + bytes - static_cast<std::int64_t>(buffer.bytes), buffer.name));
  const std::int64_t inner = static_cast<std::int64_t>(map.box[0]) * bytes;
  if (inner % alignment != 0) fail(*box->children[0], fmt::format("the box's innermost side has {} bytes; a tensor map needs a multiple of 16", inner));
  if (swizzle != nullptr) {
    const std::int64_t span = integer(*swizzle->children[0], environment);
    if (swizzle->children.size() != 1 || (span != 0 && span != 32 && span != 64 && span != 128)) fail(*swizzle, "swizzle takes 0, 32, 64 or 128 (bytes)");
    if (span != 0 && inner > span) fail(*box->children[0], fmt::format("the box's innermost side has {} bytes; with swizzle({}) it may have {}", inner, span, span));
    map.swizzle = static_cast<std::uint32_t>(span);
  }
  std::int64_t whole = bytes;
  for (const std::uint32_t side : map.box) whole *= side;
  if (whole > 227 * 1024) fail(*box, fmt::format("the box has {} bytes, more than a block's shared memory", whole));
  return map;
}

}  // namespace cudal1::kernel
