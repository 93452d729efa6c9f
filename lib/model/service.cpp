// SPDX-License-Identifier: Apache-2.0
#include "model/service.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "model/json_access.hpp"
#include "model/thinking.hpp"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

namespace cudal1::model {

namespace {

using base::Seconds;
using End = Transcript::End;
using Kind = Trouble::Kind;

constexpr std::uint64_t pause_stream = 3;
constexpr Seconds list_limit{30};  // for a list, which no model has to compute

class Service final : public Model {
 public:
  Service(ServiceOptions options, const Settings& settings)
      : options_(std::move(options)), settings_(settings), price_(settings.prices->find(options_.name)) {
    const auto& address = options_.place.address;
    url_ = address.url(options_.dialect->path());
    host_ = address.url("");
    service_ = host_ + ' ' + options_.name;
    if (options_.place.key && address.scheme == "http" && !address.loopback())
      settings_.note(fmt::format("{}: its key and the source go to {} without encryption", options_.name, address.host));
  }

  std::string name() const override { return options_.name; }
  bool remote() const override { return !options_.place.address.loopback(); }
  int parallel() const override { return options_.parallel > 0 ? options_.parallel : settings_.parallel; }
  long long output_tokens() const override { return settings_.output_tokens; }
  long long context_tokens() const override { return options_.context_tokens; }
  std::optional<double> price(long long input_tokens, long long output_tokens) const override {
    if (price_) return price_->of({input_tokens, output_tokens});
    return remote() ? std::nullopt : std::optional(0.0);
  }

  const std::string& address() const { return url_; }
  bool reports_cost() const { return options_.reports_cost; }

  std::vector<Served> list() const {
    HttpRequest request = unsent();
    request.url = options_.place.address.url(options_.dialect->list_path());
    const auto fail = [&](base::Fault fault, const std::string& message) -> base::Error {
      return {fault, without_key(fmt::format("{} {}", request.url, message))};
    };
    settings_.note("asking " + request.url);
    const auto response = get(request, {settings_.connect_limit, list_limit, list_limit}, {});
    if (response.status == 0 || response.end != HttpResponse::End::complete)
      throw fail(base::Fault::model_unreachable, response.problem);
    if (response.status != 200) {
      const auto trouble = trouble_of(response);
      const bool denied = trouble.kind == Kind::denied;
      throw fail(denied ? base::Fault::credentials : base::Fault::model_unreachable, trouble.message);
    }
    const auto body = nlohmann::json::parse(response.body, nullptr, false);
    const auto& models = member(body, member(body, "data").is_array() ? "data" : "models");
    if (!models.is_array()) throw fail(base::Fault::model_unreachable, "answered without a list of models: " + beginning(response.body));
    std::vector<Served> list;
    for (const auto& model : models) {
      Served served;
      served.name = text_at(model, "id");
      if (served.name.empty()) served.name = text_at(model, "name");
      for (const char* name : {"max_model_len", "context_length"})
        if (served.context_tokens == 0) served.context_tokens = count_at(model, name).value_or(0);
      if (!served.name.empty()) list.push_back(std::move(served));
    }
    return list;
  }

  Reply answer(const Question& question, std::stop_token stop) override {
    const auto begin = base::now();
    Reply reply = ask(question, stop);
    settings_.arrivals->end(question.key);
    reply.seconds = base::now() - begin;
    for (auto* text : {&reply.text, &reply.reason, &reply.reasoning, &reply.finish, &reply.served}) *text = without_key(*text);
    return reply;
  }

 private:
  // One exchange after the other until one succeeds or none can.
  Reply ask(const Question& question, const std::stop_token& stop) {
    bool mended = false;  // one field is left out or renamed for each question
    for (int attempt = 0;;) {
      if (!settings_.pauses->wait(host_, stop)) return failed({Kind::interrupted, "was interrupted", "", {}});
      Transcript transcript = exchange(question, stop);
      if (!transcript.trouble) return replied(question, std::move(transcript));
      auto trouble = *std::move(transcript.trouble);
      if (const auto remedy = trouble.kind == Kind::field && !mended ? remedy_for(trouble.field) : std::nullopt) {
        mended = true;
        settings_.quirks->learn(service_, *remedy);
        note(fmt::format("it does not take {}; asking again {}", base::printable(trouble.field),
                         remedy->second.empty() ? "without it" : "with " + remedy->second));
        continue;
      }
      if (trouble.kind != Kind::passing) return failed(trouble);
      if (attempt == settings_.retries) {
        trouble.message += attempt == 0 ? "" : fmt::format(" (tried {} times)", attempt + 1);
        return failed(trouble);
      }
      const double random = base::philox(question.seed, static_cast<std::uint64_t>(attempt), pause_stream)[0] / 4294967296.0;
      const auto pause = trouble.wait.value_or(own_pause(attempt, random));
      if (pause > settings_.longest_wait) {
        trouble.message += fmt::format("; it asks for a pause of {:.0f} s, and --longest-wait is {:.0f} s", pause.count(),
                                       settings_.longest_wait.count());
        return failed(trouble);
      }
      note(fmt::format("it {}; trying again in {:.1f} s ({} of {})", trouble.message, pause.count(), ++attempt, settings_.retries));
      // What it says about its limits holds for everybody with this key; a broken connection is this request's alone.
      pause_for(trouble.wait ? host_ : fmt::format("{} {}", service_, question.key.text()), pause, stop);
    }
  }

  void pause_for(const std::string& whom, Seconds pause, const std::stop_token& stop) {
    settings_.pauses->extend(whom, pause);
    settings_.pauses->wait(whom, stop);
  }

  HttpRequest unsent() const {
    HttpRequest request;
    request.headers = options_.dialect->headers(options_.place.key ? &*options_.place.key : nullptr);
    request.direct = options_.place.address.loopback();
    request.ca_bundle = settings_.ca_bundle;
    return request;
  }

  Transcript exchange(const Question& question, const std::stop_token& stop) {
    HttpRequest request = unsent();
    request.url = url_;
    request.headers.push_back("Content-Type: application/json");
    request.headers.push_back("Accept: text/event-stream, application/x-ndjson, application/json");
    request.body = with_quirks(options_.dialect->body(question), settings_.quirks->of(service_));

    const HttpLimits limits{settings_.connect_limit, settings_.first_byte_limit, settings_.idle_limit};
    const auto reader = options_.dialect->reader(question);
    const auto begin = base::now();
    std::optional<Seconds> first;
    settings_.arrivals->tell(question.key, 0, 0);
    settings_.trace(fmt::format("{}: POST {}, {} bytes", question.key.text(), url_, request.body.size()));
    const auto response = post(
        request, limits,
        [&](std::string_view bytes) {
          const bool part = reader->feed(bytes);
          if (part && !first) first = base::now() - begin;
          settings_.arrivals->tell(question.key, reader->transcript.reasoning.size(), reader->transcript.text.size());
          return part;
        },
        stop);
    reader->finish();
    auto& transcript = reader->transcript;
    settings_.trace(without_key(fmt::format("{}: status {}, first part after {:.1f} s, all after {:.1f} s, end «{}»{}",
                                            question.key.text(), response.status, first.value_or(Seconds{}).count(),
                                            (base::now() - begin).count(), transcript.finish,
                                            response.problem.empty() ? "" : ", " + response.problem)));
    if (auto trouble = trouble_with(response, transcript)) transcript.trouble = std::move(trouble);
    return std::move(transcript);
  }

  static std::optional<Trouble> trouble_with(const HttpResponse& response, const Transcript& transcript) {
    using Ending = HttpResponse::End;
    if (response.end == Ending::cancelled) return Trouble{Kind::interrupted, response.problem, "", {}};
    if (response.status != 0 && response.status != 200) return trouble_of(response);
    if (transcript.trouble) return transcript.trouble;
    if (response.end == Ending::hopeless) return Trouble{Kind::rejected, response.problem, "", {}};
    if (response.end == Ending::broken) return Trouble{Kind::passing, response.problem, "", {}};
    if (transcript.end != End::none) return std::nullopt;
    const auto type = response.headers.find("content-type");
    if (type != response.headers.end() && type->second.starts_with("text/html"))
      return Trouble{Kind::rejected, "answered with a web page, not as a model; is this its address?", "", {}};
    return Trouble{Kind::passing, "ended its answer before it was complete", "", {}};
  }

  Reply failed(const Trouble& trouble) const {
    Reply reply;
    switch (trouble.kind) {
      case Kind::denied: reply.status = Reply::Status::denied; break;
      case Kind::no_credit: reply.status = Reply::Status::no_credit; break;
      case Kind::rejected:
      case Kind::field:
      case Kind::too_long: reply.status = Reply::Status::rejected; break;
      case Kind::passing:
      case Kind::interrupted: reply.status = Reply::Status::unreachable; break;
    }
    reply.reason = fmt::format("{} at {} {}", options_.name, url_, trouble.message);
    if (trouble.kind == Kind::too_long) reply.reason += "; the prompt is too long for it: show fewer exemplars (--exemplars), or take another model";
    if (const auto advice = options_.dialect->advice(trouble); !advice.empty()) reply.reason += "; " + advice;
    return reply;
  }

  Reply replied(const Question& question, Transcript transcript) {
    Reply reply;
    const auto parts = split_thinking(transcript.text);
    reply.text = parts.answer;
    reply.reasoning = std::move(transcript.reasoning);
    if (!parts.reasoning.empty()) reply.reasoning += parts.reasoning;
    reply.finish = transcript.finish;
    reply.served = transcript.served;
    if (!transcript.remark.empty()) note(transcript.remark);
    count(reply, question, transcript);
    const auto decline = [&](Reply::Status status, std::string reason) {
      reply.status = status;
      reply.reason = options_.name + ' ' + std::move(reason);
    };
    using enum Reply::Status;
    const bool silent = base::trim(reply.text).empty();
    switch (transcript.end) {
      case End::refusal: decline(refused, "declined: " + base::printable(transcript.refusal)); break;
      case End::filter: decline(refused, "declined: its content filter stopped the reply"); break;
      case End::context:
        decline(truncated, "filled its context with prompt and reply; raise --context-tokens or show fewer exemplars");
        break;
      case End::length:
        decline(truncated, silent && !reply.reasoning.empty()
                               ? "spent the whole reply on reasoning; raise --output-tokens or lower --effort"
                               : fmt::format("reached the limit of {} tokens for a reply; raise --output-tokens", settings_.output_tokens));
        break;
      case End::unknown:
      case End::none: decline(truncated, fmt::format("ended its reply for a reason that is not known: «{}»", base::printable(reply.finish))); break;
      case End::stop:
        if (silent && !reply.reasoning.empty()) decline(truncated, "spent the whole reply on reasoning; raise --output-tokens or lower --effort");
    }
    return reply;
  }

  void count(Reply& reply, const Question& question, const Transcript& transcript) {
    reply.usage = transcript.usage;
    // Some servers tell no usage, and some tell none of a prompt that they have not read yet.
    if (reply.usage.input_tokens == 0) reply.usage.input_tokens = estimated_tokens(question);
    if (!transcript.counted) reply.usage.output_tokens = estimated_tokens(reply.text) + estimated_tokens(reply.reasoning);
    if (transcript.cost) reply.usage.cost = *transcript.cost;
    else if (price_) reply.usage.cost = price_->of(reply.usage, transcript.cache_writes);
    else reply.usage.priced = !remote();
    if (!reply.usage.priced)
      std::call_once(unpriced_, [&] { note("its price is not known, so its cost is not counted; --prices FILE can tell it"); });
  }

  std::string without_key(std::string text) const {
    return options_.place.key ? options_.place.key->removed_from(std::move(text)) : text;
  }
  void note(const std::string& text) const { settings_.note(without_key(options_.name + ": " + text)); }

  ServiceOptions options_;
  Settings settings_;
  std::optional<Price> price_;
  std::string url_, host_, service_;
  std::once_flag unpriced_;
};

}  // namespace

long long estimated_tokens(std::string_view text) { return static_cast<long long>((text.size() + 3) / 4); }

long long estimated_tokens(const Question& question) { return estimated_tokens(question.system) + estimated_tokens(question.user); }

bool reports_cost(const Model& model) {
  const auto* service = dynamic_cast<const Service*>(&model);
  return service != nullptr && service->reports_cost();
}

std::string address_of(const Model& model) {
  const auto* service = dynamic_cast<const Service*>(&model);
  return service == nullptr ? "" : service->address();
}

std::vector<Served> served_models(const Model& model) {
  const auto* service = dynamic_cast<const Service*>(&model);
  if (service == nullptr) throw base::Error(base::Fault::usage, fmt::format("{} is no service that has a list of models", model.name()));
  return service->list();
}

std::unique_ptr<Model> open_service(ServiceOptions options, const Settings& settings) {
  return std::make_unique<Service>(std::move(options), settings);
}

}  // namespace cudal1::model
