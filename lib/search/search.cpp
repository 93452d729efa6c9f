// SPDX-License-Identifier: Apache-2.0
#include "search/search.hpp"

#include "search/rounds.hpp"

namespace cudal1::search {

prompt::Setting setting(const task::Task& task, const Start& start, const std::string& hint) {
  prompt::Setting setting;
  setting.task = &task;
  setting.device = start.device;
  for (const auto& time : start.reference.times)
    setting.times.push_back({time.workload, time.ms, time.speed_of_light_ms, time.limited_by});
  setting.predicted = start.reference.predicted;
  setting.oracle = start.reference.oracle;
  setting.precision = start.reference.precision;
  setting.reference = start.reference.judgement;
  setting.hint = hint;
  return setting;
}

Result run(const task::Task& task, Referee& referee, const std::vector<model::Model*>& models,
           const prompt::Templates& templates, const Options& options, Observer& observer, const Recall& recall,
           std::stop_token stop) {
  return Rounds(task, referee, models, templates, options, observer, recall, std::move(stop)).run();
}

}  // namespace cudal1::search
