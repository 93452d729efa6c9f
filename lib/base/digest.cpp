// SPDX-License-Identifier: Apache-2.0
#include "base/digest.hpp"

#include "base/error.hpp"

#include <array>

#include <openssl/evp.h>

namespace cudal1::base {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw Error(Fault::internal, "OpenSSL cannot compute SHA-256; check its configuration");
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(std::size_t{2} * length);
  for (unsigned i = 0; i < length; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

}  // namespace cudal1::base
