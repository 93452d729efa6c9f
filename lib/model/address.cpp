// SPDX-License-Identifier: Apache-2.0
#include "model/address.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <memory>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>

namespace cudal1::model {

namespace {

using Parsed = std::unique_ptr<CURLU, decltype([](CURLU* url) { curl_url_cleanup(url); })>;

std::string part(const Parsed& url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url.get(), which, &text, 0) != CURLUE_OK) return "";
  std::string result(text);
  curl_free(text);
  return result;
}

[[noreturn]] void refuse(const std::string& text, const char* why) {
  throw base::Error(base::Fault::usage, fmt::format("the address {} {}", base::printable(text), why));
}

}  // namespace

bool Address::loopback() const {
  std::string name = host;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, name.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::string Address::url(std::string_view below) const {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}{}{}{}{}", scheme, v6 ? "[" : "", host, v6 ? "]" : "", port.empty() ? "" : ":", port, path,
                     below);
}

Address parse_address(const std::string& text) {
  const Parsed url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    refuse(text, "is no URL; http://HOST:PORT or https://HOST was expected");
  if (!part(url, CURLUPART_USER).empty() || !part(url, CURLUPART_PASSWORD).empty())
    throw base::Error(base::Fault::usage,
                      "an address holds a name or a password; give keys with --key-variable or --key-command instead");
  if (!part(url, CURLUPART_QUERY).empty() || !part(url, CURLUPART_FRAGMENT).empty())
    refuse(text.substr(0, text.find_first_of("?#")), "must end before its «?» or «#»");
  Address address{part(url, CURLUPART_SCHEME), part(url, CURLUPART_HOST), part(url, CURLUPART_PORT), part(url, CURLUPART_PATH)};
  if (address.scheme != "http" && address.scheme != "https") refuse(text, "begins with neither http:// nor https://");
  if (address.host.starts_with('[')) address.host = address.host.substr(1, address.host.size() - 2);
  while (address.path.ends_with('/')) address.path.pop_back();
  return address;
}

Address parse_ollama_host(std::string text) {
  text = std::string(base::trim(text));
  const bool has_scheme = text.find("://") != std::string::npos;
  if (!has_scheme && (text == "ollama.com" || text == "ollama.com:443")) text = "https://ollama.com";
  else if (!has_scheme) text = "http://" + (std::count(text.begin(), text.end(), ':') > 1 && text[0] != '[' ? "[" + text + "]" : text);
  Address address = parse_address(text);
  if (!has_scheme && address.scheme == "http" && address.port.empty()) address.port = "11434";
  if (address.host == "0.0.0.0") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  return address;
}

}  // namespace cudal1::model
