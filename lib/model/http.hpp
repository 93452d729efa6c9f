// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::model {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "name: value"
  std::string body;
  bool direct = false;               // never through a proxy
  std::string ca_bundle;             // a file of certificates; empty: those of the environment, then the system's
};

struct HttpLimits {
  base::Seconds connect, first_byte, idle;  // 0: none
};

struct HttpResponse {
  enum class End {
    complete,
    broken,     // could not connect, timed out, or cut: worth another try
    hopeless,   // no secure connection, or nothing that this client can talk to
    cancelled,
  };
  End end = End::complete;
  std::string problem;                         // one clause unless complete
  int status = 0;                              // 0: no answer came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // of an answer other than 200 to post(), its first 64 KiB
};

// Posts, and passes the body of a 200 on as it arrives; `take` says whether the bytes held a part of an answer, as
// comments that keep a connection alive do not. Between such parts `first_byte` may pass, between bytes `idle` once the
// first is there. Redirects are not followed.
HttpResponse post(const HttpRequest& request, const HttpLimits& limits, const std::function<bool(std::string_view)>& take,
                  const std::stop_token& stop);

// Gets a short answer; of a 200 the body is kept too.
HttpResponse get(const HttpRequest& request, const HttpLimits& limits, const std::stop_token& stop);

}  // namespace cudal1::model
