// SPDX-License-Identifier: Apache-2.0
#include "model/replay.hpp"

#include "base/error.hpp"
#include "model/reply_folder.hpp"

#include <fmt/format.h>

namespace cudal1::model {

namespace {

class Replay final : public Model {
 public:
  explicit Replay(const std::filesystem::path& folder) : name_("replay:" + folder.string()), replies_(folder) {
    std::error_code none;
    if (!std::filesystem::is_directory(folder, none))
      throw base::Error(base::Fault::usage, fmt::format("{} is no folder; --model replay:DIR wants a run folder or a "
                                                        "folder of replies such as r01-s01.md", folder.string()));
    const auto keys = replies_.keys();
    if (keys.empty())
      throw base::Error(base::Fault::usage, fmt::format("{} holds no reply; files such as r01-s01.md were expected",
                                                        replies_.path().string()));
    last_ = keys.back();
  }

  std::string name() const override { return name_; }

  Reply answer(const Question& question, std::stop_token) override {
    if (auto reply = replies_.read(question.key)) return *std::move(reply);
    Reply reply;
    if (question.key.round > last_.round) {
      reply.status = Reply::Status::exhausted;
      reply.reason = fmt::format("{} ends with {}", name_, last_.text());
    } else {
      reply.status = Reply::Status::refused;
      reply.reason = fmt::format("{} holds no reply {}", name_, question.key.text());
    }
    return reply;
  }

 private:
  std::string name_;
  ReplyFolder replies_;
  Key last_;
};

}  // namespace

std::unique_ptr<Model> open_replay(const std::filesystem::path& folder) { return std::make_unique<Replay>(folder); }

}  // namespace cudal1::model
