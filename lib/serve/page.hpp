// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace cudal1::serve {

// One page that changes: `/` is what `render` gives, `/events` tells browsers when `version` gives something else.
struct Page {
  std::string host = "127.0.0.1";
  int port = 0;                           // 0: any that is free
  std::function<std::string()> render;    // HTML; may throw base::Error, whose message is shown instead
  std::function<std::string()> version;   // asked every half second while somebody looks
};

class PageServer {
 public:
  // Binds the port. Throws base::Error(usage) where that is not possible, or `host` is not the loopback.
  explicit PageServer(Page page);
  ~PageServer();

  int port() const;
  void run();   // until end()
  void end();   // from any thread

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cudal1::serve
