// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cudal1::model {

// Where a service lives.
struct Address {
  std::string scheme, host, port, path;  // the host of an IPv6 address without brackets; the path without a final slash

  bool loopback() const;
  std::string url(std::string_view below) const;  // "https://host/v1" + below
};

// "http://gpu:8000/v1/". Throws base::Error(usage) for what is no http or https URL, and for one that holds a name and
// password, a query or a fragment: those end in logs.
Address parse_address(const std::string& text);

// $OLLAMA_HOST as Ollama's own client reads it: without a scheme http and port 11434; 0.0.0.0 and :: are this machine.
Address parse_ollama_host(std::string text);

}  // namespace cudal1::model
