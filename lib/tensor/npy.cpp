// SPDX-License-Identifier: Apache-2.0
#include "tensor/npy.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace cudal1::tensor {
namespace {

// The text after `'key':` in the header's Python dictionary.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}'", key);
  auto at = header.find(quoted);
  if (at == std::string_view::npos) return std::nullopt;
  at = header.find(':', at + quoted.size());
  if (at == std::string_view::npos) return std::nullopt;
  at = header.find_first_not_of(' ', at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  return header.substr(at);
}

constexpr std::pair<std::string_view, Dtype> codes[] = {
    {"<f8", Dtype::float64}, {"<f4", Dtype::float32}, {"<f2", Dtype::float16}, {"<i8", Dtype::int64}, {"<i4", Dtype::int32},
    {"<i2", Dtype::int16},   {"|i1", Dtype::int8},    {"|u1", Dtype::uint8},   {"|b1", Dtype::bool_}};

std::optional<Dtype> dtype_of(std::string_view code) {
  for (const auto& [text, dtype] : codes)
    if (text == code) return dtype;
  return std::nullopt;
}

std::string_view code_of(Dtype wanted) {
  for (const auto& [text, dtype] : codes)
    if (dtype == wanted) return text;
  return "<f4";
}

}  // namespace

std::string write_npy(Dtype dtype, const std::vector<std::int64_t>& shape, std::string_view data) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += fmt::format("{},", extent);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code_of(dtype), extents);
  constexpr std::size_t prefix = 10, step = 64;
  header.append(step - (prefix + header.size() + 1) % step, ' ').push_back('\n');
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  if (dtype != Dtype::bfloat16) return bytes.append(data);
  for (std::size_t i = 0; i + 2 <= data.size(); i += 2) {
    const char element[4] = {0, 0, data[i], data[i + 1]};
    bytes.append(element, 4);
  }
  return bytes;
}

tl::expected<NpyArray, std::string> read_npy(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY") return tl::unexpected<std::string>("it is not a .npy file");
  const std::size_t version = byte(6), prefix = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || bytes.size() < prefix)
    return tl::unexpected(fmt::format("its .npy version {} is not known", version));
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - prefix < length) return tl::unexpected<std::string>("its .npy header is cut off");
  const std::string_view header = bytes.substr(prefix, length);

  NpyArray array;
  array.data = bytes.substr(prefix + length);
  const auto descr = value_of(header, "descr"), order = value_of(header, "fortran_order"), shape = value_of(header, "shape");
  if (!descr || !order || !shape || descr->size() < 5 || shape->front() != '(')
    return tl::unexpected<std::string>("its .npy header has no descr, fortran_order or shape");
  const std::string_view code = descr->substr(1, descr->find_first_of("'\"", 1) - 1);
  const auto dtype = dtype_of(code);
  if (!dtype) return tl::unexpected(fmt::format("its element type {} is not supported", code.substr(0, 16)));
  array.dtype = *dtype;
  if (order->substr(0, 4) == "True") return tl::unexpected<std::string>("it is in Fortran order; save numpy.ascontiguousarray(x)");

  std::size_t needed = size_of(array.dtype);
  const char* at = shape->data() + 1;
  const char* end = shape->data() + shape->size();
  while (true) {
    while (at < end && (*at == ' ' || *at == ',')) ++at;
    if (at < end && *at == ')') break;
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc{} || extent < 0) return tl::unexpected<std::string>("its .npy shape cannot be read");
    if (extent > 0 && needed > (std::size_t{1} << 62) / static_cast<std::size_t>(extent))
      return tl::unexpected<std::string>("its .npy shape is too large");
    needed *= static_cast<std::size_t>(extent);
    array.shape.push_back(extent);
    at = next;
  }
  if (array.data.size() < needed) return tl::unexpected<std::string>("its data is cut off");
  array.data = array.data.substr(0, needed);
  return array;
}

}  // namespace cudal1::tensor
