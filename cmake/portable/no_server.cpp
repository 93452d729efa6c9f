// SPDX-License-Identifier: Apache-2.0
// The portable program has no HTTP server: Debian's cpp-httplib is a shared library, which this program must not need.
#include "serve/page.hpp"
#include "serve/server.hpp"

#include "base/error.hpp"

namespace cudal1::serve {

struct Server::State {};

Server::Server(docket::Docket&, Options) {
  throw base::Error(base::Fault::usage, "the portable program has no HTTP server; build cudal1 from source for `cudal1 serve`, or use `cudal1 judge`");
}
Server::~Server() = default;
int Server::port() const { return 0; }
void Server::run() {}
void Server::drain() {}
void Server::end() {}

struct PageServer::State {};

PageServer::PageServer(Page) {
  throw base::Error(base::Fault::usage, "the portable program has no HTTP server; build cudal1 from source for `cudal1 watch`, or write the page with `cudal1 report --format html`");
}
PageServer::~PageServer() = default;
int PageServer::port() const { return 0; }
void PageServer::run() {}
void PageServer::end() {}

}  // namespace cudal1::serve
