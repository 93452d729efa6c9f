// SPDX-License-Identifier: Apache-2.0
#include "tensor/safetensors.hpp"

#include <bit>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::tensor {

namespace {

const std::map<std::string, Dtype>& safetensors_types() {
  static const std::map<std::string, Dtype> types{{"F64", Dtype::float64}, {"F32", Dtype::float32}, {"F16", Dtype::float16}, {"BF16", Dtype::bfloat16}, {"I64", Dtype::int64},
                                                  {"I32", Dtype::int32},   {"I16", Dtype::int16},   {"I8", Dtype::int8},     {"U8", Dtype::uint8},      {"BOOL", Dtype::bool_}};
  return types;
}

}  // namespace

tl::expected<NpyArray, std::string> read_safetensors(std::string_view bytes, const std::string& key) {
  static_assert(std::endian::native == std::endian::little, "the format is little endian");
  const auto refuse = [](std::string why) { return tl::unexpected(std::move(why)); };
  std::uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) return refuse("it is no safetensors file: it is too short");
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  bytes.remove_prefix(sizeof header_size);
  if (header_size > bytes.size()) return refuse("it is no safetensors file: its header goes beyond its end");
  const auto header = nlohmann::json::parse(bytes.substr(0, header_size), nullptr, false);
  if (!header.is_object()) return refuse("it is no safetensors file: its header is no JSON object");
  bytes.remove_prefix(header_size);
  const auto found = header.find(key);
  if (found == header.end()) return refuse(fmt::format("it has no tensor \"{}\"", key));
  try {
    const auto type = safetensors_types().find(found->at("dtype").get<std::string>());
    if (type == safetensors_types().end()) return refuse(fmt::format("its tensor \"{}\" has the type {}, which is not understood", key, found->at("dtype").get<std::string>()));
    NpyArray array{type->second, found->at("shape").get<std::vector<std::int64_t>>(), {}};
    const auto offsets = found->at("data_offsets").get<std::vector<std::uint64_t>>();
    std::uint64_t elements = 1;
    for (const std::int64_t extent : array.shape) elements *= static_cast<std::uint64_t>(extent);
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > bytes.size() || offsets[1] - offsets[0] != elements * size_of(array.dtype))
      return refuse(fmt::format("the data of its tensor \"{}\" do not fit its shape or the file", key));
    array.data = bytes.substr(offsets[0], offsets[1] - offsets[0]);
    return array;
  } catch (const nlohmann::json::exception&) {
    return refuse(fmt::format("its tensor \"{}\" is described in another form", key));
  }
}

}  // namespace cudal1::tensor
