// SPDX-License-Identifier: Apache-2.0
#include "judge/made_ahead.hpp"

#include "base/error.hpp"

#include <utility>

namespace cudal1::judge {

namespace {

constexpr base::Seconds silence{1800};   // of a worker that computes truths

std::optional<verify::Evidence> make(const MadeAhead::Jobs& jobs, DeviceHost& host, base::Seconds execution) {
  const auto answer = [&]<typename Wanted>(const Job& job, Wanted*) -> std::optional<Wanted> {
    DeviceHost::Answer found = host.ask(job, execution, silence);
    if (found.reply)
      if (auto* wanted = std::get_if<Wanted>(&*found.reply)) return std::move(*wanted);
    return std::nullopt;
  };
  if (!answer(jobs.open, static_cast<OpenReply*>(nullptr))) return std::nullopt;
  const auto reference = answer(jobs.reference, static_cast<ReferenceReply*>(nullptr));
  if (!reference || !reference->broken.empty()) return std::nullopt;
  auto checked = answer(jobs.check, static_cast<CheckReply*>(nullptr));
  if (!checked || checked->evidence.fault) return std::nullopt;
  for (const TimeJob& job : jobs.timed) {
    const auto timed = answer(job, static_cast<TimeReply*>(nullptr));
    if (!timed || timed->evidence.fault) return std::nullopt;
  }
  return std::move(checked->evidence);
}

}  // namespace

MadeAhead::MadeAhead(Jobs jobs, DeviceHost& host, base::Seconds execution)
    : making_(std::async(std::launch::async, [&host, jobs = std::move(jobs), execution]() -> std::optional<verify::Evidence> {
        try {
          if (auto evidence = make(jobs, host, execution)) return evidence;
        } catch (const base::Error&) {   // whoever is started in its turn finds it again
        }
        host.stop();
        return std::nullopt;
      })) {}

const std::optional<verify::Evidence>& MadeAhead::ready() {
  if (making_.valid()) found_ = making_.get();
  return found_;
}

}  // namespace cudal1::judge
