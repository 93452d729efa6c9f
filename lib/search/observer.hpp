// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/result.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudal1::search {

// Told what happens, in order, from the thread that called run(); progress display and journal are observers. A
// resumed run tells everything again from its beginning, what is recalled included.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void started(const Start&) {}
  virtual void asked(const model::Question&, const std::string& /*model*/) {}
  virtual void replied(const model::Key&, const std::string& /*model*/, const model::Reply&) {}
  virtual void judging(const Variant&) {}             // its judgement is not there yet
  virtual void judged(const Variant&) {}
  virtual void improved(const Variant&) {}            // the best by screening and races changed
  virtual void racing(const std::vector<std::string>& /*ids*/) {}
  virtual void raced(const Race&) {}                  // the racers have new speed-ups
  virtual void round_finished(const Round&) {}
  virtual void confirming(const Variant&) {}
  virtual void confirmed(const Variant&) {}           // with its confirmation
  virtual void stopped(const Result&) {}
};

// Passes everything on to several observers, in order.
class Observers final : public Observer {
 public:
  explicit Observers(std::vector<Observer*> observers) : observers_(std::move(observers)) {}
  void started(const Start& start) override;
  void asked(const model::Question& question, const std::string& model) override;
  void replied(const model::Key& key, const std::string& model, const model::Reply& reply) override;
  void judging(const Variant& variant) override;
  void judged(const Variant& variant) override;
  void improved(const Variant& variant) override;
  void racing(const std::vector<std::string>& ids) override;
  void raced(const Race& race) override;
  void round_finished(const Round& round) override;
  void confirming(const Variant& variant) override;
  void confirmed(const Variant& variant) override;
  void stopped(const Result& result) override;

 private:
  std::vector<Observer*> observers_;
};

// What an earlier, interrupted execution of the same run already knows. A run is resumed by executing it again with
// every answer that is remembered, so that there is no search state to save.
class Recall {
 public:
  virtual ~Recall() = default;
  virtual std::optional<Start> start() const { return {}; }
  virtual std::optional<model::Reply> reply(const model::Key&) const { return {}; }
  virtual std::optional<std::string> model(const model::Key&) const { return {}; }          // who gave that reply
  virtual std::optional<outcome::Judgement> judgement(const std::string& /*id*/) const { return {}; }
  virtual std::optional<Race> race(int /*round*/) const { return {}; }
  virtual std::optional<outcome::Judgement> confirmation(const std::string& /*id*/) const { return {}; }
};

}  // namespace cudal1::search
