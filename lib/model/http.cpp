// SPDX-License-Identifier: Apache-2.0
#include "model/http.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <mutex>

#include <curl/curl.h>
#include <fmt/format.h>

namespace cudal1::model {

namespace {

using base::Seconds;

constexpr std::size_t largest_error = std::size_t{64} << 10, largest_answer = std::size_t{64} << 20;

using Easy = std::unique_ptr<CURL, decltype([](CURL* handle) { curl_easy_cleanup(handle); })>;
using Multi = std::unique_ptr<CURLM, decltype([](CURLM* handle) { curl_multi_cleanup(handle); })>;
using List = std::unique_ptr<curl_slist, decltype([](curl_slist* list) { curl_slist_free_all(list); })>;

struct Transfer {
  CURL* handle = nullptr;
  const std::function<bool(std::string_view)>* take = nullptr;
  HttpResponse response;
  std::size_t bytes = 0;
  Seconds last_byte{}, last_part{};

  void header(std::string_view line) {
    if (line.starts_with("HTTP/")) return response.headers.clear();  // of an interim answer
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    response.headers[name] = std::string(base::trim(line.substr(colon + 1)));
  }
  bool body(std::string_view part) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    bytes += part.size();
    last_byte = base::now();
    if (status != 200) {
      response.body.append(part.substr(0, std::min(part.size(), largest_error - response.body.size())));
      return true;
    }
    if (bytes > largest_answer) return false;
    if ((*take)(part)) last_part = last_byte;
    return true;
  }
};

extern "C" {
std::size_t on_header(char* data, std::size_t size, std::size_t count, void* transfer) {
  static_cast<Transfer*>(transfer)->header({data, size * count});
  return size * count;
}
std::size_t on_body(char* data, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->body({data, size * count}) ? size * count : 0;
}
}

// The library itself reads none of these.
std::string certificates(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return "";
}

enum class Method { get, post };

void prepare(CURL* handle, Method method, const HttpRequest& request, const HttpLimits& limits, const List& headers,
             const std::string& bundle) {
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  if (method == Method::post) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "cudal1");
  curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "identity");  // what is compressed arrives late
  curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for a name to be looked up
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  // 0 would mean the library's own five minutes.
  const auto connect = limits.connect.count() > 0 ? limits.connect.count() * 1e3 : 1e9;
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(connect)));
  if (request.direct) curl_easy_setopt(handle, CURLOPT_PROXY, "");
  if (!bundle.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, bundle.c_str());
}

// Why a transfer that the library gave up has failed, and whether another try is worth it.
void explain(HttpResponse& response, CURLcode code, const std::string& said, const std::string& bundle, const HttpLimits& limits) {
  response.end = HttpResponse::End::broken;
  const std::string detail = base::printable(said.empty() ? curl_easy_strerror(code) : said);
  switch (code) {
    case CURLE_OK: response.end = HttpResponse::End::complete; return;
    case CURLE_WRITE_ERROR:
      response.problem = fmt::format("sent more than {} MiB", largest_answer >> 20);
      response.end = HttpResponse::End::hopeless;
      return;
    case CURLE_OPERATION_TIMEDOUT:
      response.problem = fmt::format("could not be connected to within {:g} s", limits.connect.count());
      return;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      response.end = HttpResponse::End::hopeless;
      response.problem = fmt::format("has no certificate that can be trusted here ({}; certificates are {}); name the file of its "
                                     "authority with --ca-bundle",
                                     detail, bundle.empty() ? "the system's" : "those of " + bundle);
      return;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_WEIRD_SERVER_REPLY: response.end = HttpResponse::End::hopeless; [[fallthrough]];
    default: response.problem = (response.status == 0 ? "could not be reached: " : "broke off: ") + detail;
  }
}

// Empty: within all limits.
std::string overdue(const Transfer& transfer, const HttpLimits& limits, Seconds connected) {
  const auto now = base::now();
  if (transfer.bytes > 0 && limits.idle.count() > 0 && now - transfer.last_byte > limits.idle)
    return fmt::format("fell silent for {:g} s", limits.idle.count());
  const auto since = transfer.last_part.count() > 0 ? transfer.last_part : connected;
  if (limits.first_byte.count() > 0 && now - since > limits.first_byte)
    return fmt::format("sent no part of an answer for {:g} s", limits.first_byte.count());
  return "";
}

Seconds until_overdue(const Transfer& transfer, const HttpLimits& limits, Seconds connected) {
  Seconds next{1};
  const auto now = base::now();
  if (transfer.bytes > 0 && limits.idle.count() > 0) next = std::min(next, transfer.last_byte + limits.idle - now);
  const auto since = transfer.last_part.count() > 0 ? transfer.last_part : connected;
  if (limits.first_byte.count() > 0) next = std::min(next, since + limits.first_byte - now);
  return std::max(next, Seconds{0.001});
}

bool sent(CURL* handle) {
  curl_off_t before_transfer = 0;
  return curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &before_transfer) == CURLE_OK && before_transfer > 0;
}

HttpResponse perform(Method method, const HttpRequest& request, const HttpLimits& limits,
                     const std::function<bool(std::string_view)>& take, const std::stop_token& stop) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  List headers;
  for (const auto& line : request.headers) headers.reset(curl_slist_append(headers.release(), line.c_str()));
  headers.reset(curl_slist_append(headers.release(), "Expect:"));
  const std::string bundle = certificates(request.ca_bundle);

  const Easy easy(curl_easy_init());
  const Multi multi(curl_multi_init());
  if (!easy || !multi) throw base::Error(base::Fault::internal, "libcurl cannot be started");
  prepare(easy.get(), method, request, limits, headers, bundle);
  char said[CURL_ERROR_SIZE] = "";
  Transfer transfer;
  transfer.handle = easy.get();
  transfer.take = &take;
  curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, said);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &transfer);
  curl_multi_add_handle(multi.get(), easy.get());

  auto& response = transfer.response;
  Seconds connected = base::now();
  bool waiting = false;  // for the answer: the connection stands
  int running = 1;
  {
    const std::stop_callback wake_up(stop, [&] { curl_multi_wakeup(multi.get()); });
    while (running > 0) {
      curl_multi_perform(multi.get(), &running);
      if (running == 0) break;
      if (stop.stop_requested()) {
        response.end = HttpResponse::End::cancelled;
        response.problem = "was interrupted";
        break;
      }
      if (!waiting && sent(easy.get())) {
        waiting = true;
        connected = base::now();
      }
      if (waiting) response.problem = overdue(transfer, limits, connected);
      if (!response.problem.empty()) {
        response.end = HttpResponse::End::broken;
        break;
      }
      const auto pause = waiting ? until_overdue(transfer, limits, connected) : Seconds{1};
      curl_multi_poll(multi.get(), nullptr, 0, static_cast<int>(pause.count() * 1e3) + 1, nullptr);
    }
  }
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  int left = 0;
  for (const CURLMsg* message; (message = curl_multi_info_read(multi.get(), &left)) != nullptr;)
    if (message->msg == CURLMSG_DONE) explain(response, message->data.result, said, bundle, limits);
  curl_multi_remove_handle(multi.get(), easy.get());
  return std::move(response);
}

}  // namespace

HttpResponse post(const HttpRequest& request, const HttpLimits& limits, const std::function<bool(std::string_view)>& take,
                  const std::stop_token& stop) {
  return perform(Method::post, request, limits, take, stop);
}

HttpResponse get(const HttpRequest& request, const HttpLimits& limits, const std::stop_token& stop) {
  std::string body;
  const auto keep = [&](std::string_view bytes) {
    body += bytes;
    return true;
  };
  auto response = perform(Method::get, request, limits, keep, stop);
  if (response.status == 200) response.body = std::move(body);
  return response;
}

}  // namespace cudal1::model
