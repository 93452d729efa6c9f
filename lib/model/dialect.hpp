// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"
#include "model/secret.hpp"
#include "model/trouble.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::model {

// What a service has said in answer to one request.
struct Transcript {
  enum class End {
    none,     // it broke off
    stop,     // complete
    length,   // it reached the limit of one reply
    context,  // it reached the limit of prompt and reply together
    refusal, filter,
    unknown,  // for a reason that is not known here
  };
  End end = End::none;
  std::string text, reasoning, served;
  std::string finish;                 // the service's own word for the end
  std::string refusal;                // its words for declining
  Usage usage;
  bool counted = false;               // the service told its usage
  long long cache_writes = 0;         // of the input tokens
  std::optional<double> cost;         // US dollars, when the service tells
  std::string remark;                 // what the user should know about a reply that is complete
  std::optional<Trouble> trouble;     // an error instead of, or within, the answer
};

// Reads one answer as it arrives.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual bool feed(std::string_view bytes) = 0;  // whether these held a part of an answer
  virtual void finish() = 0;                      // the bytes are at their end, complete or not
  Transcript transcript;
};

// How one kind of service is spoken to.
class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string path() const = 0;       // below the service's address
  virtual std::string list_path() const = 0;  // of the list of its models
  virtual std::vector<std::string> headers(const Secret* key) const = 0;
  virtual std::string body(const Question& question) const = 0;  // JSON
  virtual std::unique_ptr<Reader> reader(const Question& question) const = 0;
  virtual std::string advice(const Trouble&) const { return ""; }  // what the user can do, where the dialect knows more
};

// About how many tokens a text has, without any model's own tokenizer: four bytes each.
long long estimated_tokens(std::string_view text);
long long estimated_tokens(const Question& question);

}  // namespace cudal1::model
