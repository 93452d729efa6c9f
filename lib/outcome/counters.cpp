// SPDX-License-Identifier: Apache-2.0
#include "outcome/counters.hpp"

#include "outcome/counter_fields.hpp"

namespace cudal1::outcome {

double Counters::sectors_per_request() const {
  const double requests = global_load_requests + global_store_requests;
  return requests > 0 ? (global_load_sectors + global_store_sectors) / requests : 0;
}

Counters& Counters::operator+=(const Counters& other) {
  for (const auto& field : counter_fields) this->*field.member += other.*field.member;
  return *this;
}

Counters Counters::scaled(double factor) const {
  Counters result = *this;
  for (const auto& field : counter_fields) result.*field.member *= factor;
  return result;
}

}  // namespace cudal1::outcome
