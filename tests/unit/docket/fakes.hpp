// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/docket.hpp"

#include "base/error.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Sessions whose answers say what is to become of them: "score 2.5", "verdict WRONG_RESULT", "code 5ac3" (the digest of the machine code), "dies 1" (the worker, the
// first time), "beside 1" (something else uses the GPU the first time), "throws".
namespace fakes {

using namespace cudal1;

// A door that judging waits at until it is opened.
class Door {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    opened_.notify_all();
    opened_.wait(lock, [this] { return open_; });
  }
  void wait_for(int waiting) {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return waiting_ >= waiting; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  int waiting_ = 0;
};

struct World {
  std::mutex mutex;
  std::vector<std::string> opened, compiled, verified, screened, confirmed;   // tasks; answers
  std::map<std::string, int> deaths;
  std::function<void()> on_screen;
  int parallel = 2, warmed = 0;
};

inline std::string after(const std::string& text, const std::string& word) {
  const auto at = text.find(word + ' ');
  if (at == std::string::npos) return {};
  const auto begin = at + word.size() + 1;
  return text.substr(begin, text.find_first_of(" \n;", begin) - begin);
}

class Session final : public docket::Session {
 public:
  Session(World& world, std::string task) : world_(world), task_(std::move(task)) {}
  std::string task() const override { return task_; }
  std::string device() const override { return "sim:H200"; }
  int parallel() const override { return world_.parallel; }
  std::shared_ptr<const docket::Warm> warm() override {
    const std::lock_guard lock(world_.mutex);
    ++world_.warmed;
    return std::make_shared<docket::Warm>();
  }
  std::optional<outcome::Judgement> compile(const std::string& source, const std::string&) override {
    note(world_.compiled, source);
    auto judgement = of(source);
    if (judgement.verdict == outcome::Verdict::compile_failed) return judgement;
    return std::nullopt;
  }
  outcome::Judgement verify(const std::string& source, const std::string&) override {
    note(world_.verified, source);
    auto judgement = of(source);
    if (outcome::is_right(judgement.verdict)) judgement.verdict = outcome::Verdict::dropped, judgement.speedup.reset();
    return judgement;
  }
  outcome::Judgement screen(const std::string& source, const std::string&) override {
    note(world_.screened, source);
    if (world_.on_screen) world_.on_screen();
    auto judgement = of(source);
    const std::lock_guard lock(world_.mutex);
    if (const auto times = after(source, "beside"); !times.empty() && world_.deaths[source]++ < std::stoi(times)) judgement.labels.insert(outcome::Label::tenant_suspect);
    return judgement;
  }
  outcome::Judgement confirm(const std::string& source, const std::string&, const std::map<std::string, std::int64_t>&) override {
    note(world_.confirmed, source);
    auto judgement = of(source);
    judgement.level = outcome::Level::final_;
    if (const auto changed = after(source, "final"); !changed.empty()) judgement.verdict = outcome::parse_verdict(changed).value(), judgement.speedup.reset();
    return judgement;
  }

 private:
  void note(std::vector<std::string>& list, const std::string& source) {
    const std::lock_guard lock(world_.mutex);
    list.push_back(source);
    if (const auto times = after(source, "dies"); !times.empty() && world_.deaths[source]++ < std::stoi(times))
      throw base::Error(base::Fault::internal, "the device worker was killed (out of memory?)");
  }
  static outcome::Judgement of(const std::string& source) {
    outcome::Judgement judgement;
    judgement.predicted = true;
    judgement.code = after(source, "code");
    if (const auto verdict = after(source, "verdict"); !verdict.empty()) {
      judgement.verdict = outcome::parse_verdict(verdict).value();
      judgement.message = "as planned";
      return judgement;
    }
    const double score = std::stod(after(source, "score"));
    judgement.verdict = score > 1 ? outcome::Verdict::faster : outcome::Verdict::slower;
    judgement.speedup = outcome::Speedup{score, 0.98 * score, 1.02 * score};
    return judgement;
  }

  World& world_;
  std::string task_;
};

// Of a task whose text has "broken" in it there is no session.
inline docket::Opener opener(World& world) {
  return [&world](const docket::TaskText& task, std::size_t) -> std::unique_ptr<docket::Session> {
    const std::lock_guard lock(world.mutex);
    world.opened.push_back(task.source);
    if (task.source.find("broken") != std::string::npos) throw base::Error(base::Fault::bad_task, "the task's own kernel is not right");
    return std::make_unique<Session>(world, task.source);
  };
}

inline std::string kernel(const std::string& says) {
  return "//@ launch fast<<<1, 32>>>(X, Y, N)\nconst char* plan = \"" + says + " ;\";\n__global__ void fast(const float* X, float* Y, int N) { Y[0] = X[0]; }\n";
}

inline docket::Request request(const std::string& id, const std::string& task, const std::string& says, docket::Mode mode = docket::Mode::screen) {
  docket::Request request;
  request.id = '"' + id + '"';
  request.task.source = task;
  request.answer = kernel(says);
  request.mode = mode;
  return request;
}

// What was answered, by id.
class Answers {
 public:
  docket::Docket::Answered take() {
    return [this](const docket::Ruling& ruling) {
      const std::lock_guard lock(mutex_);
      rulings_[ruling.id] = ruling;
      order_.push_back(ruling.id);
    };
  }
  docket::Ruling operator[](const std::string& id) {
    const std::lock_guard lock(mutex_);
    return rulings_.at('"' + id + '"');
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return order_.size();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, docket::Ruling> rulings_;
  std::vector<std::string> order_;
};

}  // namespace fakes
