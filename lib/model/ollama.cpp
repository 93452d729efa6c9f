// SPDX-License-Identifier: Apache-2.0
#include "model/ollama.hpp"

#include "base/text.hpp"
#include "model/json_access.hpp"
#include "model/lines.hpp"
#include "model/request_fields.hpp"
#include "model/service.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace cudal1::model {

namespace {

using nlohmann::json;
using End = Transcript::End;

class ChatLines final : public Reader {
 public:
  ChatLines(long long context_tokens, long long prompt_tokens) : context_tokens_(context_tokens), prompt_tokens_(prompt_tokens) {}

  bool feed(std::string_view bytes) override {
    const auto before = parts_;
    lines_.feed(bytes);
    return parts_ > before;
  }

  void finish() override {
    lines_.finish();
    const auto& usage = transcript.usage;
    if (transcript.end == End::length && usage.input_tokens + usage.output_tokens >= context_tokens_) transcript.end = End::context;
  }

 private:
  void take(std::string_view line) {
    if (base::trim(line).empty()) return;
    ++parts_;
    if (transcript.trouble || transcript.end != End::none) return;
    const auto chunk = json::parse(line, nullptr, false);
    if (!chunk.is_object()) {
      transcript.trouble = Trouble{Trouble::Kind::passing, "sent what is no JSON: " + beginning(line), "", {}};
      return;
    }
    if (!member(chunk, "error").is_null()) {
      transcript.trouble = trouble_within(line);
      return;
    }
    const auto& message = member(chunk, "message");
    transcript.text += text_at(message, "content");
    transcript.reasoning += text_at(message, "thinking");
    if (auto served = text_at(chunk, "model"); !served.empty()) transcript.served = std::move(served);
    const auto& done = member(chunk, "done");
    if (!done.is_boolean() || !done.get<bool>()) return;
    transcript.finish = text_at(chunk, "done_reason");
    transcript.end = transcript.finish == "stop" ? End::stop : transcript.finish == "length" ? End::length : End::unknown;
    const auto input = count_at(chunk, "prompt_eval_count");
    const auto output = count_at(chunk, "eval_count");
    // Servers that do not know the fields against it cut a long prompt.
    if (input && *input * 2 < prompt_tokens_)
      transcript.remark = fmt::format("it read {} tokens of a prompt of about {}; if it cut it, raise --context-tokens", *input, prompt_tokens_);
    transcript.counted = input && output;
    transcript.usage.input_tokens = input.value_or(0);
    transcript.usage.output_tokens = output.value_or(0);
  }

  long long context_tokens_, prompt_tokens_;
  int parts_ = 0;
  Lines lines_{[this](std::string_view line) { take(line); }};
};

class Ollama final : public Dialect {
 public:
  Ollama(std::string model, const Settings& settings) : model_(std::move(model)), settings_(settings) {}

  std::string path() const override { return "/api/chat"; }
  std::string list_path() const override { return "/api/tags"; }

  std::vector<std::string> headers(const Secret* key) const override {
    if (key == nullptr) return {};
    return {"Authorization: Bearer " + key->reveal()};
  }

  std::string body(const Question& question) const override {
    const auto prompt = estimated_tokens(question);
    // What the estimate leaves free, so that prompt and reply fit together; at least a little, and the server decides.
    const auto reply = std::clamp(settings_.context_tokens - prompt, 256LL, std::max(256LL, settings_.output_tokens));
    nlohmann::ordered_json request = {{"model", model_}, {"stream", true}, {"truncate", false}, {"shift", false}};
    request["options"] = {{"num_ctx", settings_.context_tokens}, {"num_predict", reply}};
    if (settings_.send_seed) request["options"]["seed"] = question.seed >> 33;
    if (settings_.effort == "none") request["think"] = false;
    else if (!settings_.effort.empty()) request["think"] = settings_.effort;
    add_request_fields(settings_, request, "options");
    request["messages"] = {{{"role", "system"}, {"content", question.system}}, {{"role", "user"}, {"content", question.user}}};
    return request.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  std::unique_ptr<Reader> reader(const Question& question) const override {
    return std::make_unique<ChatLines>(settings_.context_tokens, estimated_tokens(question));
  }

  std::string advice(const Trouble& trouble) const override {
    if (trouble.kind == Trouble::Kind::too_long) return fmt::format("or raise --context-tokens, now {}", settings_.context_tokens);
    if (trouble.kind == Trouble::Kind::rejected && trouble.message.find("not found") != std::string::npos)
      return fmt::format("`ollama pull {}` gets it", model_);
    return "";
  }

 private:
  std::string model_;
  Settings settings_;
};

}  // namespace

std::unique_ptr<Model> open_ollama(const std::string& name, const Settings& settings) {
  constexpr int at_once = 2;  // its own default is one at a time; a second waits in its queue
  Settings placed = settings;
  if (const char* host = std::getenv("OLLAMA_HOST"); placed.base_url.empty() && host != nullptr && *host != '\0')
    placed.base_url = parse_ollama_host(host).url("");
  ServiceOptions options;
  options.name = "ollama/" + name;
  options.place = find_place("ollama/", "http://127.0.0.1:11434", {"OLLAMA_API_BASE"}, {}, placed);
  auto& path = options.place.address.path;
  for (const std::string_view end : {"/chat", "/api", "/v1"})
    if (path.ends_with(end)) path.resize(path.size() - end.size());
  options.dialect = std::make_unique<Ollama>(name, settings);
  options.parallel = std::min(settings.parallel, at_once);
  options.context_tokens = settings.context_tokens;
  return open_service(std::move(options), settings);
}

}  // namespace cudal1::model
