// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace served {

namespace {

namespace base = cudal1::base;

bool readable(int descriptor, int milliseconds) {
  pollfd event{descriptor, POLLIN, 0};
  return poll(&event, 1, milliseconds) > 0;
}

bool read_more(int connection, std::string& text) {
  char block[65536];
  const auto count = recv(connection, block, sizeof block, 0);
  if (count <= 0) return false;
  text.append(block, static_cast<std::size_t>(count));
  return true;
}

Request parse(const std::string& head) {
  Request request;
  for (const auto& line : base::split_lines(head)) {
    const auto text = base::trim(line);
    if (request.line.empty()) request.line = text;
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) continue;
    std::string name(text.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = base::trim(text.substr(colon + 1));
  }
  return request;
}

}  // namespace

Server::Server(std::vector<Exchange> exchanges) : exchanges_(std::move(exchanges)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no port for a test's server");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { accept_all(); });
}

Server::~Server() {
  stopping_ = true;
  acceptor_.join();
  connections_.clear();
  close(listener_);
}

std::string Server::url() const { return fmt::format("http://127.0.0.1:{}", port_); }

std::vector<Request> Server::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void Server::accept_all() {
  while (!stopping_) {
    if (!readable(listener_, 5)) continue;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) connections_.emplace_back([this, connection] { serve(connection); });
  }
}

void Server::serve(int connection) {
  const int at_once = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  std::string text;
  auto end = std::string::npos;
  while ((end = text.find("\r\n\r\n")) == std::string::npos)
    if (!read_more(connection, text)) break;
  if (end != std::string::npos) {
    auto request = parse(text.substr(0, end));
    request.at = base::now();
    const auto length = std::stoul("0" + request.headers["content-length"]);
    request.body = text.substr(end + 4);
    while (request.body.size() < length && read_more(connection, request.body)) {}
    std::size_t index = 0;
    {
      const std::lock_guard lock(mutex_);
      index = std::min(requests_.size(), exchanges_.size() - 1);
      requests_.push_back(std::move(request));
    }
    for (const auto& step : exchanges_[index]) {
      if (step.kind == Step::Kind::send) {
        if (::send(connection, step.bytes.data(), step.bytes.size(), MSG_NOSIGNAL) < 0) break;
      } else if (step.kind == Step::Kind::pause) {
        std::this_thread::sleep_for(step.pause);
      } else if (step.kind == Step::Kind::reset) {
        const linger none{1, 0};
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &none, sizeof none);
      } else {
        std::string rest;
        while (!stopping_ && !left_)
          if (readable(connection, 5) && !read_more(connection, rest)) left_ = true;
      }
    }
  }
  close(connection);
}

Step send(std::string bytes) { return {Step::Kind::send, std::move(bytes), {}}; }
Step pause(double seconds) { return {Step::Kind::pause, "", Seconds(seconds)}; }

std::string head(int status, std::string_view type, const std::vector<std::string>& headers) {
  std::string text = fmt::format("HTTP/1.1 {} Said\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n", status, type);
  for (const auto& line : headers) text += line + "\r\n";
  return text + "\r\n";
}

std::string chunk(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

Exchange answer(std::string_view body, std::string_view type) {
  return {send(head(200, type) + chunk(body) + std::string(last_chunk))};
}

Exchange bytewise(std::string_view body, std::string_view type) {
  Exchange exchange = {send(head(200, type))};
  for (const char& byte : body) exchange.push_back(send(chunk({&byte, 1})));
  exchange.push_back(send(std::string(last_chunk)));
  return exchange;
}

Exchange failure(int status, std::string_view body, const std::vector<std::string>& headers) {
  return {send(head(status, "application/json", headers) + (body.empty() ? "" : chunk(body)) + std::string(last_chunk))};
}

}  // namespace served
