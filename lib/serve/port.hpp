// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <sys/socket.h>

namespace cudal1::serve {

// httplib lets programs share a port, so that each would get some of the other's requests. Here the second one is refused; a
// port that was given back a moment ago can be had again.
inline void keep_port_alone(httplib::Server& http) {
  http.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

}  // namespace cudal1::serve
