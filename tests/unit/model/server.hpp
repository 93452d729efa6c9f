// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace served {

using cudal1::base::Seconds;

// What a server does with one request, step by step, to the byte.
struct Step {
  enum class Kind { send, pause, reset, hang };  // hang: until the client leaves
  Kind kind = Kind::send;
  std::string bytes;
  Seconds pause{};
};
using Exchange = std::vector<Step>;

struct Request {
  std::string line;                            // "POST /v1/chat/completions HTTP/1.1"
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  Seconds at{};
};

// A server on this machine, on a port that was free. The n-th request gets the n-th exchange, later ones the last.
class Server {
 public:
  explicit Server(std::vector<Exchange> exchanges);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const;  // "http://127.0.0.1:PORT"
  std::vector<Request> requests() const;
  bool left() const { return left_; }  // a client has closed the connection during a hang

 private:
  void accept_all();
  void serve(int connection);

  std::vector<Exchange> exchanges_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> stopping_ = false, left_ = false;
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::vector<std::jthread> connections_;
  std::jthread acceptor_;
};

Step send(std::string bytes);
Step pause(double seconds);
inline const Step hang{Step::Kind::hang, "", {}}, reset{Step::Kind::reset, "", {}};

std::string head(int status, std::string_view type, const std::vector<std::string>& headers = {});  // of a chunked answer
std::string chunk(std::string_view bytes);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

Exchange answer(std::string_view body, std::string_view type = "text/event-stream");      // in one piece
Exchange bytewise(std::string_view body, std::string_view type = "text/event-stream");    // each byte its own chunk
Exchange failure(int status, std::string_view body, const std::vector<std::string>& headers = {});

}  // namespace served
