// SPDX-License-Identifier: Apache-2.0
#include "compile/messages.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

namespace cudal1::compile {
namespace {

using Json = nlohmann::json;

// CBOR, because source, log and cubin are bytes that need not be UTF-8.
std::string bytes_of(const Json& message) {
  std::string bytes;
  Json::to_cbor(message, bytes);
  return bytes;
}

template <typename Read>
auto decode(std::string_view bytes, const char* what, Read read) {
  try {
    return read(Json::from_cbor(bytes));
  } catch (const Json::exception& error) {
    throw base::Error(base::Fault::internal, std::string("the compile child's ") + what + " message is damaged: " + error.what());
  }
}

}  // namespace

std::string encode(const Setup& m) {
  return bytes_of({{"library", m.library}, {"builtins", m.builtins}, {"readable", m.readable}, {"sandbox", m.sandbox}});
}

Setup decode_setup(std::string_view bytes) {
  return decode(bytes, "setup", [](const Json& j) {
    return Setup{j.at("library"), j.at("builtins"), j.at("readable"), j.at("sandbox")};
  });
}

std::string encode(const Ready& m) {
  return bytes_of({{"fault", m.fault}, {"message", m.message}, {"major", m.major}, {"minor", m.minor},
                   {"architectures", m.architectures}});
}

Ready decode_ready(std::string_view bytes) {
  return decode(bytes, "ready", [](const Json& j) {
    return Ready{j.at("fault"), j.at("message"), j.at("major"), j.at("minor"), j.at("architectures")};
  });
}

std::string encode(const Job& m) {
  return bytes_of({{"source", m.source}, {"name", m.name}, {"kernels", m.kernels}, {"options", m.options}, {"cubin", m.cubin}});
}

Job decode_job(std::string_view bytes) {
  return decode(bytes, "job", [](const Json& j) {
    return Job{j.at("source"), j.at("name"), j.at("kernels"), j.at("options"), j.at("cubin")};
  });
}

std::string encode(const Product& m) {
  return bytes_of({{"compiled", m.compiled}, {"out_of_memory", m.out_of_memory}, {"status", m.status}, {"log", m.log},
                   {"ptx", m.ptx}, {"cubin", m.cubin}, {"lowered", m.lowered}, {"seconds", m.seconds}});
}

Product decode_product(std::string_view bytes) {
  return decode(bytes, "product", [](const Json& j) {
    return Product{j.at("compiled"), j.at("out_of_memory"), j.at("status"), j.at("log"),
                   j.at("ptx"), j.at("cubin"), j.at("lowered"), j.at("seconds")};
  });
}

}  // namespace cudal1::compile
