// SPDX-License-Identifier: Apache-2.0
#include "search/asker.hpp"

#include <exception>

#include <fmt/format.h>

namespace cudal1::search {

namespace {

// A reply that was received, and so paid for: it is remembered and never asked for again.
bool received(const model::Reply& reply) {
  using enum model::Reply::Status;
  return reply.status == ok || reply.status == refused || reply.status == truncated;
}

// The service gives no reply, and will give none to the next question either.
bool lost(const model::Reply& reply) {
  using enum model::Reply::Status;
  return reply.status == unreachable || reply.status == no_credit || reply.status == denied || reply.status == rejected;
}

// The built-in model's plan for a network of 427 layers has 1.4 MB. What comes beyond is not kept.
constexpr std::size_t longest_reply = std::size_t{4} << 20;

model::Reply limited(model::Reply reply) {
  if (reply.text.size() <= longest_reply) return reply;
  const std::size_t whole = reply.text.size();
  reply.text.resize(longest_reply);
  if (reply.status == model::Reply::Status::ok) {
    reply.status = model::Reply::Status::truncated;
    reply.reason = fmt::format("the reply has {:.1f} MB; the first {} MiB were kept", static_cast<double>(whole) / 1e6, longest_reply >> 20);
  }
  return reply;
}

// A model that throws is one that cannot be reached: the run ends in order, and the reason is kept.
model::Reply answer(model::Model& model, const model::Question& question, const std::stop_token& stop) {
  try {
    return limited(model.answer(question, stop));
  } catch (const std::exception& problem) {
    model::Reply reply;
    reply.status = model::Reply::Status::unreachable;
    reply.reason = fmt::format("{}: {}", model.name(), problem.what());
    return reply;
  }
}

}  // namespace

Asker::Asker(Observer& observer, const Recall& recall, Budget& budget, std::stop_token stop,
             std::function<void(const Asked&)> arrived)
    : observer_(observer), recall_(recall), budget_(budget), got_reply_(std::move(arrived)),
      outer_stop_(std::move(stop), [this] { give_up_.request_stop(); }) {}

Asker::~Asker() { give_up_.request_stop(); }

void Asker::submit(const std::vector<Asked*>& batch) {
  for (auto& [_, line] : lines_) line.warm = false;
  for (auto* asked : batch) {
    if (auto reply = recall_.reply(asked->question.key)) {
      asked->reply = std::move(reply);
      asked->recalled = true;
      budget_.spend(asked->reply->usage);  // before anything new is asked for
    } else if (threaded(*asked->model)) {
      lines_[asked->model].waiting.push_back(asked);
    }
  }
  start_more();
}

const model::Reply* Asker::wait(Asked& asked) {
  if (asked.recalled) {
    asked.recalled = false;
    observer_.asked(asked.question, asked.model->name());
    observer_.replied(asked.question.key, recall_.model(asked.question.key).value_or(asked.model->name()), *asked.reply);
    got_reply_(asked);
  } else if (threaded(*asked.model)) {
    // An unasked question is only under way, or allowed as soon as another one has arrived.
    wait_until([&] { return asked.reply || under_way_ == 0; });
  } else if (!asked.reply) {
    wait_until([&] { return budget_.allows() || under_way_ == 0; });
    if (budget_.allows()) {
      begin(asked);
      arrive(asked, answer(*asked.model, asked.question, give_up_.get_token()));
    }
  }
  return asked.reply ? &*asked.reply : nullptr;
}

void Asker::wake() {
  const std::lock_guard lock(mutex_);
  arrived_.notify_all();
}

void Asker::finish(bool give_up) {
  for (auto& [_, line] : lines_) line.waiting.clear();
  if (give_up) give_up_.request_stop();
  wait_until([&] { return under_way_ == 0; });
}

void Asker::start_more() {
  for (auto& [model, line] : lines_) {
    if (line.lost) continue;
    const int most = line.warm ? model->parallel() : 1;
    while (!line.waiting.empty() && line.under_way < most && budget_.allows()) {
      auto* asked = line.waiting.front();
      line.waiting.pop_front();
      ++line.under_way;
      start(*asked);
    }
  }
}

void Asker::begin(Asked& asked) {
  observer_.asked(asked.question, asked.model->name());
  ++under_way_;
  asked.claim = budget_.claim(asked.question, *asked.model);
  budget_.begin(asked.claim);
}

void Asker::start(Asked& asked) {
  begin(asked);
  threads_.emplace_back([this, &asked] {
    auto reply = answer(*asked.model, asked.question, give_up_.get_token());
    const std::lock_guard lock(mutex_);
    arrivals_.emplace_back(&asked, std::move(reply));
    arrived_.notify_all();
  });
}

void Asker::arrive(Asked& asked, model::Reply reply) {
  --under_way_;
  asked.reply = std::move(reply);
  budget_.end(asked.claim, asked.reply->usage);
  if (received(*asked.reply)) observer_.replied(asked.question.key, asked.model->name(), *asked.reply);
  got_reply_(asked);
}

void Asker::wait_until(const std::function<bool()>& enough) {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!arrivals_.empty()) {
      auto [asked, reply] = std::move(arrivals_.front());
      arrivals_.pop_front();
      lock.unlock();
      auto& line = lines_[asked->model];
      --line.under_way;
      line.warm = true;
      line.lost = line.lost || lost(reply);
      arrive(*asked, std::move(reply));
      start_more();
      lock.lock();
    }
    if (enough()) return;
    arrived_.wait(lock);
  }
}

}  // namespace cudal1::search
