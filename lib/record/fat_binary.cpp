// SPDX-License-Identifier: Apache-2.0
#include "record/fat_binary.hpp"

#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <fmt/format.h>

namespace cudal1::record {

namespace {

constexpr std::uint32_t fat_magic = 0xba55ed50;
constexpr std::uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;
constexpr std::size_t largest_text = std::size_t{1} << 30;

// The layout that cuobjdump shows and others have described; not documented by NVIDIA. Little-endian.
template <typename T>
T at(std::string_view bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// A block of LZ4: literals, then a match of at least four bytes, again and again.
tl::expected<std::string, std::string> lz4(std::string_view in, std::size_t size) {
  const auto cut = [] { return tl::unexpected<std::string>("its LZ4 data is damaged"); };
  std::string out;
  out.reserve(size);
  std::size_t i = 0;
  const auto length = [&](std::size_t count) {
    if (count != 15) return count;
    for (unsigned char more = 255; more == 255 && i < in.size(); count += more) more = static_cast<unsigned char>(in[i++]);
    return count;
  };
  while (i < in.size()) {
    const auto token = static_cast<unsigned char>(in[i++]);
    const std::size_t literals = length(token >> 4);
    if (literals > in.size() - i || out.size() + literals > size) return cut();
    out.append(in.substr(i, literals));
    i += literals;
    if (i >= in.size()) break;
    if (i + 2 > in.size()) return cut();
    const std::size_t distance = at<std::uint16_t>(in, i);
    i += 2;
    const std::size_t match = length(token & 15) + 4;
    if (distance == 0 || distance > out.size() || out.size() + match > size) return cut();
    for (std::size_t k = 0; k < match; ++k) out += out[out.size() - distance];
  }
  return out;
}

tl::expected<std::string, std::string> zstandard(std::string_view in, std::size_t size) {
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  static void* const library = ::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  static const auto decompress = library != nullptr ? reinterpret_cast<Decompress>(::dlsym(library, "ZSTD_decompress")) : nullptr;
  if (decompress == nullptr)
    return tl::unexpected<std::string>("its PTX is compressed and libzstd.so.1 is missing: install libzstd1, or build with nvcc --no-compress");
  std::string out(size, '\0');
  const std::size_t got = decompress(out.data(), size, in.data(), in.size());
  if (got > size) return tl::unexpected<std::string>("its Zstandard data is damaged");
  out.resize(got);
  return out;
}

}  // namespace

tl::expected<std::vector<FatEntry>, std::string> read_fat_binary(std::string_view bytes) {
  if (at<std::uint32_t>(bytes, 0) != fat_magic) return tl::unexpected<std::string>("it is no fat binary");
  std::vector<FatEntry> entries;
  std::size_t offset = at<std::uint16_t>(bytes, 6);
  const std::size_t end = std::min<std::size_t>(bytes.size(), offset + at<std::uint64_t>(bytes, 8));
  while (offset + 64 <= end) {
    const auto kind = at<std::uint16_t>(bytes, offset);
    const auto header = at<std::uint32_t>(bytes, offset + 4);
    const auto size = at<std::uint64_t>(bytes, offset + 8);
    const auto compressed = at<std::uint32_t>(bytes, offset + 16);
    const auto flags = at<std::uint64_t>(bytes, offset + 40);
    const auto plain = at<std::uint64_t>(bytes, offset + 56);
    if (header < 64 || header > end - offset || size > end - offset - header) return tl::unexpected<std::string>("its fat binary is cut off");
    FatEntry entry;
    entry.kind = kind == 1 ? FatEntry::Kind::ptx : FatEntry::Kind::cubin;
    entry.arch = static_cast<int>(at<std::uint32_t>(bytes, offset + 28));
    if (entry.kind == FatEntry::Kind::ptx) {
      std::string_view data = bytes.substr(offset + header, size);
      const bool packed = (flags & (lz4_flag | zstd_flag)) != 0;
      if (packed) {
        if (plain > largest_text || compressed > data.size()) return tl::unexpected<std::string>("its fat binary is damaged");
        data = data.substr(0, compressed);
        auto text = (flags & zstd_flag) != 0 ? zstandard(data, plain) : lz4(data, plain);
        if (!text) return tl::unexpected(std::move(text.error()));
        entry.content = *std::move(text);
      } else {
        entry.content = data;
      }
      entry.content.resize(std::strlen(entry.content.c_str()));  // padded with zeros
    }
    entries.push_back(std::move(entry));
    offset += header + size;
  }
  return entries;
}

tl::expected<std::string, std::string> newest_ptx(const std::vector<FatEntry>& entries) {
  const FatEntry* newest = nullptr;
  for (const FatEntry& entry : entries)
    if (entry.kind == FatEntry::Kind::ptx && (newest == nullptr || entry.arch > newest->arch)) newest = &entry;
  if (newest != nullptr) return newest->content;
  return tl::unexpected<std::string>(
      "its kernels are there for certain GPUs only, without PTX: build with nvcc -gencode arch=compute_90,code=compute_90, and without -rdc=true");
}

}  // namespace cudal1::record
