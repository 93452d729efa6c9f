// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "model/http.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cudal1::model {

// Why a service gave no answer, and what helps.
struct Trouble {
  enum class Kind {
    passing,    // try again later
    denied, no_credit,
    rejected,   // it takes no such request
    too_long,   // the prompt does not fit
    field,      // it does not take one field of the request
    interrupted,
  };
  Kind kind = Kind::passing;
  std::string message;                // goes on after the service's name: "answered 429: slow down"
  std::string field;
  std::optional<base::Seconds> wait;  // that the service asks for
};

// Of an answer other than 200.
Trouble trouble_of(const HttpResponse& response);

// Of an error that came as a part of an answer: `error` is its JSON object, in any of the forms that services use.
Trouble trouble_within(std::string_view error);

}  // namespace cudal1::model
