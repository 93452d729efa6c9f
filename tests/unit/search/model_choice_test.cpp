// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "search/fakes.hpp"
#include "search/model_choice.hpp"

using namespace cudal1;

namespace {

search::ModelRecord record(int replies, double gain_each, double cost_each, bool priced = true) {
  search::ModelRecord result;
  result.asked = result.replies = replies;
  result.gain = gain_each * replies;
  result.usage.cost = cost_each * replies;
  result.usage.output_tokens = static_cast<long long>(1000 * cost_each) * replies;
  result.usage.priced = priced;
  return result;
}

// How many of `samples` questions each gets, one after the other, when every reply is like those before.
std::vector<int> shares(std::vector<search::ModelRecord> records, int samples) {
  std::vector<int> got(records.size());
  for (int sample = 0; sample < samples; ++sample) {
    const auto chosen = search::choose_model(records);
    auto& grown = records[chosen];
    const double gain = grown.gain / grown.replies, cost = grown.usage.cost / grown.replies;
    ++got[chosen], ++grown.asked, ++grown.replies;
    grown.gain += gain;
    grown.usage.cost += cost;
  }
  return got;
}

}  // namespace

TEST_CASE("a model that was never asked comes first") {
  CHECK(search::choose_model({record(3, 0.5, 1), {}}) == 1);
}

TEST_CASE("of two models at one price the one that brings more gets most samples, and the other still some") {
  const auto got = shares({record(2, 0.1, 1), record(2, 0.4, 1)}, 40);
  CHECK(got[1] > 3 * got[0]);
  CHECK(got[0] > 0);
}

TEST_CASE("of two models that bring the same the cheaper one gets more") {
  const auto got = shares({record(2, 0.3, 1), record(2, 0.3, 0.1)}, 40);
  CHECK(got[1] > 2 * got[0]);
}

TEST_CASE("at four times the price a model must bring twice as much") {
  CHECK(search::choose_model({record(1000, 0.5, 4), record(1000, 0.2, 1)}) == 0);
  CHECK(search::choose_model({record(1000, 0.5, 4), record(1000, 0.3, 1)}) == 1);
}

TEST_CASE("models without a known price are compared by tokens") {
  auto dear = record(100, 0.3, 1, false), cheap = record(100, 0.3, 0.2, false);
  dear.usage.cost = cheap.usage.cost = 0;
  CHECK(search::choose_model({dear, cheap}) == 1);
}

TEST_CASE("a model without further replies is not asked") {
  auto best = record(5, 0.9, 1);
  best.exhausted = true;
  CHECK(search::choose_model({best, record(5, 0.1, 1)}) == 1);
}

TEST_CASE("a run learns which of its models brings more") {
  const auto task = fakes::small_task();
  fakes::Referee referee;
  const auto climbs_by = [](double step) {
    return [step](const model::Question& question, std::stop_token) {
      double best = 1;
      for (const auto& shown : question.exemplars) best = std::max(best, shown.judgement.score());
      return fakes::said(fakes::reply_text(fakes::variant_source(best * step, question.key.text())));
    };
  };
  fakes::Model weak(climbs_by(1.01)), strong(climbs_by(1.2));
  weak.name_ = "weak";
  strong.name_ = "strong";
  search::Options options;
  options.rounds = 6;
  search::Observer observer;
  search::run(task, referee, {&weak, &strong}, {}, options, observer, search::Recall(), {});
  CHECK(weak.asked.size() + strong.asked.size() == 24);
  CHECK(strong.asked.size() >= 16);
  CHECK(weak.asked.size() >= 2);
}
