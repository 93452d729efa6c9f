// SPDX-License-Identifier: Apache-2.0
#include "sweep_crew.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace cudal1::cli {

using report::SweepRow;

SweepCrew::SweepCrew(SweepWork work, const Console& console, std::vector<SweepTask> tasks, SweepJournal& journal, std::vector<DeviceChoice> choices,
                     base::Seconds begin_within, std::stop_token stop)
    : work_(std::move(work)), console_(console), tasks_(std::move(tasks)), journal_(journal), choices_(std::move(choices)), begin_within_(begin_within),
      stop_(std::move(stop)), began_(base::now()), left_(tasks_.size()) {
  std::iota(left_.begin(), left_.end(), std::size_t{0});
}

SweepCrew::Result SweepCrew::run() {
  at_work_ = choices_.size();
  std::vector<std::thread> threads;
  for (const DeviceChoice& choice : choices_)
    threads.emplace_back([this, &choice] {
      work_through(choice);
      const std::lock_guard lock(mutex_);
      --at_work_;
      ended_.notify_all();
    });
  std::unique_lock lock(mutex_);
  const auto all_ended = [this] { return at_work_ == 0; };
  if (!ended_.wait(lock, stop_, all_ended)) result_.abandoned = !ended_.wait_for(lock, sweep_grace, all_ended);
  closed_ = result_.abandoned;
  const Result result = result_;
  lock.unlock();
  for (std::thread& thread : threads) {
    if (result.abandoned) thread.detach();
    else thread.join();
  }
  return result;
}

void SweepCrew::work_through(const DeviceChoice& choice) {
  SweepLane lane;
  std::filesystem::path last;
  while (const auto next = take(last)) {
    const SweepTask& task = tasks_[*next];
    const base::Seconds began = base::now();
    SweepRow row;
    row.key = task.key;
    row.level = task.level;
    row.id = task.id;
    row.device = choice.identity();
    try {
      row.digest = work_.digest(task);
      if (const auto known = journal_.finished(task.key, row.digest)) {
        finish(*known, true);
        continue;
      }
      const TaskEnd end = judge(task, choice, lane, row);
      if (end.kind != TaskEnd::Kind::finished) {
        const std::lock_guard lock(mutex_);
        result_.unfinished = end.reason;
        if (end.kind == TaskEnd::Kind::stopped) return;
        if (end.kind == TaskEnd::Kind::waiting) ++result_.waiting;
        continue;
      }
    } catch (const base::Error& error) {
      if (stop_.stop_requested()) return;   // the signal that ends the sweep ends PyTorch's process too
      row.message = error.what();
      lane.kept.reset();
      // What no task can help ends the sweep; the same command goes on.
      if (error.fault() == base::Fault::no_device || error.fault() == base::Fault::credentials) {
        const std::lock_guard lock(mutex_);
        if (!result_.fatal) result_.fatal = std::current_exception();
        return;
      }
    } catch (const std::exception& error) {
      if (stop_.stop_requested()) return;
      row.message = error.what();
      lane = {};
    }
    row.seconds = (base::now() - began).count();
    finish(row, false);
  }
}

TaskEnd SweepCrew::judge(const SweepTask& task, const DeviceChoice& choice, SweepLane& lane, SweepRow& row) {
  const SweepRow empty = row;
  try {
    return work_.judge(task, choice, lane, row);
  } catch (const base::Error& error) {
    if (error.fault() != base::Fault::no_memory || !choice.shared() || stop_.stop_requested()) throw;
    console_.note(fmt::format("{}: the GPU's memory is full; once more, without others ({})", task.key, error.what()));
  }
  row = empty;
  lane.kept.reset();
  lane.host.reset();
  DeviceChoice alone = choice;
  alone.alone = true;
  SweepLane own;   // its PyTorch knows nothing of others
  own.began = lane.began;
  return work_.judge(task, alone, own, row);
}

std::optional<std::size_t> SweepCrew::take(std::filesystem::path& last) {
  const std::lock_guard lock(mutex_);
  if (const auto mine = files_.find(last); mine != files_.end()) files_.erase(mine);
  if (stop_.stop_requested() || result_.fatal || left_.empty()) return std::nullopt;
  if (begin_within_.count() > 0 && base::now() - began_ >= begin_within_) {
    result_.unfinished = fmt::format("no task began after {:.0f} s (--begin-within)", begin_within_.count());
    return std::nullopt;
  }
  const auto first = [&](auto fits) { return std::find_if(left_.begin(), left_.end(), [&](std::size_t each) { return fits(tasks_[each].file); }); };
  auto chosen = first([&](const auto& file) { return file == last; });
  if (chosen == left_.end()) chosen = first([&](const auto& file) { return !files_.contains(file); });
  if (chosen == left_.end()) chosen = left_.begin();
  const std::size_t index = *chosen;
  left_.erase(chosen);
  files_.insert(last = tasks_[index].file);
  return index;
}

void SweepCrew::finish(const SweepRow& row, bool known) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (!known) journal_.append(row);
  ++done_;
  if (!known) ++fresh_;
  cost_ += row.cost;
  result_.failed = result_.failed || row.status == SweepRow::Status::failed;
  if (known) return;
  const double elapsed = (base::now() - began_).count();
  const double left = elapsed / fresh_ * static_cast<double>(tasks_.size() - static_cast<std::size_t>(done_));
  std::vector<std::string> ratios;
  for (const auto& [baseline, ratio] : row.ratios)
    if (ratio.failed.empty()) ratios.push_back(fmt::format("{:.2f}x {}", ratio.value, baseline));
  const bool right = row.status == SweepRow::Status::verified;
  console_.note(fmt::format("[{}/{}] {}: {} {}({:.1f} s; about {:.0f} s left; ${:.2f})", done_, tasks_.size(), row.key,
                            right ? row.verdict : fmt::format("{}: {}", row.verdict.empty() ? std::string(report::name(row.status)) : row.verdict, row.message),
                            ratios.empty() ? "" : fmt::format("{} ", fmt::join(ratios, ", ")), row.seconds, left, cost_));
}

void end_now(int code) {
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace cudal1::cli
