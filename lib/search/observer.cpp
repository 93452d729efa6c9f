// SPDX-License-Identifier: Apache-2.0
#include "search/observer.hpp"

namespace cudal1::search {

void Observers::started(const Start& start) {
  for (auto* observer : observers_) observer->started(start);
}
void Observers::asked(const model::Question& question, const std::string& model) {
  for (auto* observer : observers_) observer->asked(question, model);
}
void Observers::replied(const model::Key& key, const std::string& model, const model::Reply& reply) {
  for (auto* observer : observers_) observer->replied(key, model, reply);
}
void Observers::judging(const Variant& variant) {
  for (auto* observer : observers_) observer->judging(variant);
}
void Observers::judged(const Variant& variant) {
  for (auto* observer : observers_) observer->judged(variant);
}
void Observers::improved(const Variant& variant) {
  for (auto* observer : observers_) observer->improved(variant);
}
void Observers::racing(const std::vector<std::string>& ids) {
  for (auto* observer : observers_) observer->racing(ids);
}
void Observers::raced(const Race& race) {
  for (auto* observer : observers_) observer->raced(race);
}
void Observers::round_finished(const Round& round) {
  for (auto* observer : observers_) observer->round_finished(round);
}
void Observers::confirming(const Variant& variant) {
  for (auto* observer : observers_) observer->confirming(variant);
}
void Observers::confirmed(const Variant& variant) {
  for (auto* observer : observers_) observer->confirmed(variant);
}
void Observers::stopped(const Result& result) {
  for (auto* observer : observers_) observer->stopped(result);
}

}  // namespace cudal1::search
