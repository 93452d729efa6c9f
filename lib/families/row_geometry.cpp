// SPDX-License-Identifier: Apache-2.0
#include "families/row_geometry.hpp"

#include "families/arguments.hpp"

#include <algorithm>

namespace cudal1::families {
namespace {

constexpr std::int64_t threads_of_persistent_blocks = 1024;  // on each multiprocessor, with 64 registers each

class Chooser {
 public:
  Chooser(const RowTask& task, const RowPasses& passes) : task_(task), region_(task.region), passes_(passes) {}

  RowGeometry choose() {
    choose_packs();
    if (task_.walk == Walk::pointwise) choose_pointwise();
    else if (task_.walk == Walk::rows) choose_rows();
    else choose_columns();
    const std::int64_t most = 32 * task_.machine.multiprocessors;  // all at once, or one after the other
    if (task_.totals) result_.totals_blocks = {most, most / 4, most / 8};
    return std::move(result_);
  }

 private:
  const Node& node(int id) const { return task_.dag.at(region_.at(id).node); }
  RowLayout layout() const { return {region_, result_.vec, result_.pieces}; }

  // Accesses of 16 bytes, where rows or their pieces are whole packs at all workloads.
  void choose_packs() {
    std::size_t widest = 1;
    bool any = false, whole_rows = false;
    const auto consider = [&](const tensor::Shape& strides, tensor::Dtype dtype) {
      if (strides.empty() || !layout().in_packs(strides)) return;
      any = true;
      whole_rows = whole_rows || layout().unit_stride(strides);
      widest = std::max(widest, tensor::size_of(dtype));
    };
    for (const Instance& instance : region_.instances)
      if (instance.leaf && !instance.buffer.empty()) consider(instance.strides, task_.dag.at(instance.node).dtype);
    for (const Region::Root& root : region_.roots) consider(root.strides, node(root.instance).dtype);
    if (any && task_.walk != Walk::columns && !task_.variant.simple) {
      result_.vec = static_cast<int>(std::max<std::size_t>(1, 16 / widest));
      const auto fits = [&](const tensor::Extent& extent) {
        for (std::size_t w = 0; w < region_.workloads && w < extent.values.size(); ++w)
          if (extent.values[w] % result_.vec != 0) return false;
        return true;
      };
      while (result_.vec > 1 && !fits(whole_rows ? region_.columns() : layout().piece())) result_.vec /= 2;
      result_.pieces = fits(layout().piece());
    }
    result_.columns = largest(region_.columns(), region_.workloads);
    result_.packs = (result_.columns + result_.vec - 1) / result_.vec;
  }

  void choose_pointwise() {
    std::int64_t most = 1;
    while (most < result_.packs && most < 256) most *= 2;
    result_.rows_per_block = most < 256;
    if (result_.rows_per_block) {
      result_.threads = {most};
    } else if (task_.variant.wide) {
      result_.threads = {512, 1024};
      result_.items = {8, 4};
    } else {
      result_.threads = {256, 128, 512};
      result_.items = {4, 2, 8};
    }
  }

  void choose_rows() {
    std::vector<std::int64_t>& threads = result_.threads;
    const auto items_at = [&](std::int64_t count) { return (result_.packs + count - 1) / count; };
    result_.rows_per_block = true;
    result_.cached = task_.splits == 1 && task_.variant.keeps_rows();
    const std::int64_t budget = std::max<std::int64_t>(1, 64 / (result_.vec * std::max(1, passes_.kept_count())));
    for (std::int64_t t : {256, 512, 128, 1024, 64, 32}) {
      if (result_.cached ? items_at(t) <= std::min<std::int64_t>(budget, 8) && (t == 32 || items_at(t / 2) > 1) : (t >= 128 && t <= 512))
        threads.push_back(t);
    }
    const bool one_row = is_one(region_.rows());
    if (!threads.empty() && task_.variant.rows == Variant::Rows::prefetched && !one_row) choose_prefetching();
    if (threads.empty()) {
      // Longer than a block's registers: several blocks hold it together, or it is read again from the second pass on.
      result_.cached = false;
      threads = {512, 256, 1024};
      if (task_.variant.teams()) choose_team();
    }
    if (one_row && !result_.cached && result_.blocks != RowGeometry::Blocks::team) threads = {1024, 512};  // one block for all there is
    if (task_.variant.wide || task_.totals) std::sort(threads.begin(), threads.end());
    threads.resize(std::min<std::size_t>(threads.size(), task_.totals ? 3 : 4));
  }

  // Whether blocks can walk many rows that their threads keep as floats.
  bool persistent_possible() const {
    bool plain = result_.vec <= 4 && passes_.count() > 1;
    for (const Instance& instance : region_.instances) {
      const Node& from = task_.dag.at(instance.node);
      if (!instance.leaf && from.is<Reduce>()) plain = plain && compute_type(from.dtype) == "float";
    }
    return plain;
  }

  // Blocks that walk many rows each, with the next row of each in shared memory. Of shorter rows enough blocks fit there to hide each
  // other's waiting.
  void choose_prefetching() {
    const std::int64_t packs = result_.packs;
    if (!result_.cached || result_.vec != 4 || packs <= 256 * 8 || !persistent_possible()) return;
    const auto fits = [&](std::int64_t count) {
      return (packs + count - 1) / count * count * 16 * (threads_of_persistent_blocks / count) <= task_.machine.shared_bytes_of_block;
    };
    std::vector<std::int64_t> fitting;
    std::copy_if(result_.threads.begin(), result_.threads.end(), std::back_inserter(fitting), fits);
    if (fitting.empty()) return;
    std::sort(fitting.begin(), fitting.end());
    result_.threads = fitting;
    result_.blocks = RowGeometry::Blocks::prefetching;
  }

  // Blocks that hold a row in their registers together and exchange what they reduce through memory. All of a launch are resident at
  // once, as many on each multiprocessor; several overlap loading, waiting and storing. A trailing team's threads reduce four to
  // eight packs at once: what all of them have read since they saw a pack, at most twice 16 MiB or half of the L2 cache, is still
  // there when they come back to it.
  void choose_team() {
    const bool trails = task_.variant.rows == Variant::Rows::team_trailing;
    if (trails || task_.variant.rows == Variant::Rows::team_meeting_once) {
      result_.meeting = meeting_of(region_, task_.dag);
      if (result_.meeting.first < 0) return;
    }
    if (!persistent_possible()) return;
    const int multiprocessors = task_.machine.team_multiprocessors();
    // What all registers of the multiprocessors that teams occupy hold, with as much again to compute in.
    const std::int64_t registers = multiprocessors * (task_.machine.registers / 2 / result_.vec), packs = result_.packs, usual = (trails ? 16 : 32) / result_.vec;
    const std::int64_t capacity = trails ? std::min(registers, task_.machine.l2_bytes / 8 / result_.vec) : registers;
    std::int64_t most = 2;
    while (most * 2 <= 4 * multiprocessors && packs > most * 256 * usual) most *= 2;
    if (packs > (trails ? capacity : most * 256 * usual)) return;
    RowGeometry team = result_;
    team.blocks = RowGeometry::Blocks::team;
    team.cached = true;
    team.threads = {256, 512};
    team.team = {most};
    for (std::int64_t size : {most / 2, most / 4})
      if (size >= 2) team.team.push_back(size);
    for (const int of_multiprocessor : trails ? std::vector{2, 3, 4} : std::vector{4, 2, 1}) team.team_blocks.push_back(of_multiprocessor * multiprocessors);
    team.of_thread = 2 * usual;
    team.capacity = capacity;
    team.slack = trails ? 4 : 2;
    team.multiprocessors = multiprocessors;
    if (any_serves(team, trails)) result_ = std::move(team);
  }

  // Whether some team, as many blocks and threads serve; where nothing is tuned, the first of each have to.
  bool any_serves(const RowGeometry& team, bool trails) const {
    if (!task_.tuned) return team.team.front() <= team.team_blocks.front();
    for (const std::int64_t size : team.team)
      for (const std::int64_t blocks : team.team_blocks)
        for (const std::int64_t threads : team.threads)
          if ((!trails || size <= blocks) && team.packs <= size * threads * team.of_thread && blocks * team.packs <= size * team.capacity &&
              team.slack * blocks * team.packs > size * team.capacity && blocks * threads <= threads_of_persistent_blocks * team.multiprocessors)
            return true;
    return false;
  }

  void choose_columns() {
    std::vector<std::int64_t>& threads = result_.threads;
    const std::int64_t elements = result_.columns;
    result_.cached = task_.splits == 1 && task_.variant.keeps_rows() && passes_.count() > 1;
    if (result_.cached) result_.beside = rows_beside();
    while (result_.cached && threads.empty()) {
      for (std::int64_t t : {8, 16, 4, 32})
        if (t <= elements && (elements + t - 1) / t * passes_.kept_count() * result_.beside <= (result_.beside > 1 ? 64 : 32)) threads.push_back(t);
      if (!threads.empty()) break;
      result_.cached = result_.beside > 1;
      result_.beside = std::max(1, result_.beside / 2);
    }
    for (std::int64_t t : {16, 32, 8, 4, 1})
      if (!result_.cached && (t * 2 <= elements || t == 1)) threads.push_back(t);
    if (threads.size() > 3) threads.resize(3);
    if (threads.size() > 1 && threads.back() == 1) threads.pop_back();
    // Few blocks need many threads to keep the memory busy.
    if (!result_.cached && task_.splits == 1 && region_.rows().values[0] < 4 * 32 * task_.machine.multiprocessors)
      std::sort(threads.rbegin(), threads.rend());
    if (!result_.cached) return;
    result_.rows = result_.beside > 1 ? std::vector<std::int64_t>{128, 64, 256} : std::vector<std::int64_t>{64, 32, 128};
    // What is not tuned has the first of each.
    std::stable_partition(result_.rows.begin(), result_.rows.end(),
                          [&](std::int64_t count) { return count * threads.front() <= 1024 * result_.beside; });
  }

  // How many neighbouring rows a thread can take at once, in accesses of 16 bytes.
  int rows_beside() const {
    const int dim = layout().beside_dim();
    if (dim < 0 || task_.variant.columns != Variant::Columns::packed) return 1;
    std::size_t widest = 1;
    const auto of = [&](const tensor::Shape& strides) { return strides[static_cast<std::size_t>(dim)]; };
    for (const Instance& instance : region_.instances) {
      const Node& from = task_.dag.at(instance.node);
      if ((!instance.leaf && (from.reduces("argmax") || from.reduces("argmin"))) || instance.indirect >= 0) return 1;
      if (!instance.leaf || instance.strides.empty() || is_zero(of(instance.strides))) continue;
      if (instance.buffer.empty() || !is_one(of(instance.strides))) return 1;
      widest = std::max(widest, tensor::size_of(from.dtype));
    }
    for (const Region::Root& root : region_.roots) {
      if (!is_one(of(root.strides)) || !layout().varies_in_row(root.strides)) return 1;
      widest = std::max(widest, tensor::size_of(node(root.instance).dtype));
    }
    int result = static_cast<int>(16 / widest);
    const tensor::Extent& extent = region_.space[static_cast<std::size_t>(dim)];
    for (std::size_t w = 0; w < region_.workloads && w < extent.values.size(); ++w)
      while (result > 1 && extent.values[w] % result != 0) result /= 2;
    return result;
  }

  const RowTask& task_;
  const Region& region_;
  const RowPasses& passes_;
  RowGeometry result_;
};

}  // namespace

RowGeometry geometry_of(const RowTask& task, const RowPasses& passes) { return Chooser(task, passes).choose(); }

}  // namespace cudal1::families
