// SPDX-License-Identifier: Apache-2.0
#include "model/exchange.hpp"

#include "base/file.hpp"
#include "model/reply_folder.hpp"

#include <fmt/format.h>

namespace cudal1::model {

namespace {

class Exchange final : public Model {
 public:
  explicit Exchange(const std::filesystem::path& folder) : name_("exchange:" + folder.string()), replies_(folder) {}

  std::string name() const override { return name_; }

  Reply answer(const Question& question, std::stop_token) override {
    const auto prompt_file = replies_.path() / (question.key.text() + ".prompt.md");
    const std::string prompt = question.system + "\n\n" + question.user;
    std::error_code none;
    const bool asked = std::filesystem::exists(prompt_file, none);
    const bool same = asked && base::read_file(prompt_file) == prompt;
    auto reply = replies_.read(question.key);
    if (reply && asked && !same) {
      reply->status = Reply::Status::unreachable;
      reply->text.clear();
      reply->reason = fmt::format("{} answers another prompt than this run's; name an empty folder, or remove it",
                                  replies_.file(question.key).string());
      return *std::move(reply);
    }
    if (!same) base::write_file(prompt_file, prompt);
    if (reply) return *std::move(reply);
    Reply waiting;
    waiting.status = Reply::Status::pending;
    waiting.reason =
        fmt::format("{} waits for its reply in {}", prompt_file.string(), replies_.file(question.key).string());
    return waiting;
  }

 private:
  std::string name_;
  ReplyFolder replies_;
};

}  // namespace

std::unique_ptr<Model> open_exchange(const std::filesystem::path& folder) { return std::make_unique<Exchange>(folder); }

}  // namespace cudal1::model
