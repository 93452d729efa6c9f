// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/chat_server.hpp"
#include "model/dialect.hpp"

#include <memory>
#include <string>

namespace cudal1::model {

// Chat Completions as `server` speaks it. The server must outlive the dialect.
std::unique_ptr<Dialect> chat_dialect(const ChatServer& server, const std::string& model, const Settings& settings);

}  // namespace cudal1::model
