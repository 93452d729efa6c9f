// SPDX-License-Identifier: Apache-2.0
#include "model/server_events.hpp"

#include <algorithm>

namespace cudal1::model {

void ServerEvents::finish() {
  lines_.finish();
  dispatch();
}

void ServerEvents::take(std::string_view line) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (!begun_ && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  begun_ = true;
  if (line.empty()) return dispatch();
  const auto colon = std::min(line.find(':'), line.size());
  const auto field = line.substr(0, colon);
  auto value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") name_ = value;
  if (field != "data") return;
  if (has_data_) data_ += '\n';
  data_.append(value.substr(0, std::min(value.size(), Lines::longest - std::min(data_.size(), Lines::longest))));
  has_data_ = true;
}

void ServerEvents::dispatch() {
  if (has_data_) sink_(name_, data_);
  name_.clear();
  data_.clear();
  has_data_ = false;
}

}  // namespace cudal1::model
