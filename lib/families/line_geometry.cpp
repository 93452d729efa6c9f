// SPDX-License-Identifier: Apache-2.0
#include "families/line_writer.hpp"

#include "algebra/pointwise.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

void LineWriter::choose_geometry() {
  const tensor::Extent columns = region_.elements();
  most_columns_ = largest(columns, region_.workloads);
  last_phase_ = region_.phases();
  if (splits_ > 1) last_phase_ = 0;
  std::size_t widest = 1;
  bool any = false, whole_lines = false;
  const auto consider = [&](const tensor::Shape& strides, tensor::Dtype dtype) {
    if (strides.empty() || !in_packs(strides)) return;
    any = true;
    whole_lines = whole_lines || unit_stride(strides);
    widest = std::max(widest, tensor::size_of(dtype));
  };
  for (const Instance& instance : region_.instances)
    if (instance.leaf && !instance.buffer.empty())
      consider(instance.strides, dag_.nodes[static_cast<std::size_t>(instance.node)].dtype);
  for (const Region::Root& root : region_.roots) consider(root.strides, node(root.instance).dtype);
  vec_ = 1;
  if (any && walk_ != Walk::columns && !file_.variant().simple) {
    vec_ = static_cast<int>(std::max<std::size_t>(1, 16 / widest));
    const auto fits = [&](const tensor::Extent& extent) {
      for (std::size_t w = 0; w < region_.workloads && w < extent.values.size(); ++w)
        if (extent.values[w] % vec_ != 0) return false;
      return true;
    };
    while (vec_ > 1 && !fits(whole_lines ? columns : piece())) vec_ /= 2;
    pieces_ = fits(piece());
  }
  const std::int64_t packs = (most_columns_ + vec_ - 1) / vec_;
  const auto items_at = [&](std::int64_t threads) { return (packs + threads - 1) / threads; };
  name_ = file_.unique(walk_ == Walk::pointwise ? "pointwise"
                       : walk_ == Walk::rows    ? (splits_ > 1 ? "row_parts" : "rows")
                                                : (splits_ > 1 ? "column_parts" : "columns"));
  std::vector<std::int64_t> threads;
  if (walk_ == Walk::pointwise) {
    std::int64_t most = 1;
    while (most < packs && most < 256) most *= 2;
    rows_per_block_ = most < 256;
    if (rows_per_block_) {
      threads = {most};
      items_ = "1";
    } else {
      threads = {256, 128, 512};
      if (file_.variant().wide) threads = {512, 1024};
      const std::string name = file_.tune(
          "ITEMS", file_.variant().wide ? std::vector<std::int64_t>{8, 4} : std::vector<std::int64_t>{4, 2, 8});
      items_ = name;
    }
  } else if (walk_ == Walk::rows) {
    cached_ = splits_ == 1 && file_.variant().keeps_rows();
    const std::int64_t budget = std::max<std::int64_t>(1, 64 / (vec_ * std::max(1, kept_count())));
    for (std::int64_t t : {256, 512, 128, 1024, 64, 32}) {
      if (cached_ ? items_at(t) <= std::min<std::int64_t>(budget, 8) && (t == 32 || items_at(t / 2) > 1)
                  : (t >= 128 && t <= 512))
        threads.push_back(t);
    }
    if (!threads.empty() && file_.variant().rows == Variant::Rows::prefetched) choose_ahead(packs, threads);
    if (threads.empty()) {
      // Longer than a block's registers: several blocks hold it together, or it is read again from the second pass on.
      cached_ = false;
      threads = {512, 256, 1024};
      if (file_.variant().teams()) choose_team(packs, threads);
    }
    if (!has_lines() && !cached_ && team_.empty()) threads = {1024, 512};  // one block for all there is
    if (file_.variant().wide) std::sort(threads.begin(), threads.end());
    if (!totals_.empty()) std::sort(threads.begin(), threads.end());
    if (threads.size() > (totals_.empty() ? 4 : 3)) threads.resize(totals_.empty() ? 4 : 3);
    rows_per_block_ = true;
  } else {
    const std::int64_t rows = most_columns_;
    cached_ = splits_ == 1 && file_.variant().keeps_rows() && passes() > 1;
    if (cached_) beside_ = lines_beside();
    while (cached_ && threads.empty()) {
      for (std::int64_t t : {8, 16, 4, 32})
        if (t <= rows && (rows + t - 1) / t * kept_count() * beside_ <= (beside() ? 64 : 32)) threads.push_back(t);
      if (!threads.empty()) break;
      cached_ = beside();
      beside_ = std::max(1, beside_ / 2);
    }
    for (std::int64_t t : {16, 32, 8, 4, 1})
      if (!cached_ && (t * 2 <= rows || t == 1)) threads.push_back(t);
    if (threads.size() > 3) threads.resize(3);
    if (threads.size() > 1 && threads.back() == 1) threads.pop_back();
    // Few blocks need many threads to keep the memory busy.
    if (!cached_ && splits_ == 1 && region_.lines().values[0] < 4 * 32 * file_.machine().multiprocessors) std::sort(threads.rbegin(), threads.rend());
  }
  if (!resident()) threads_ = file_.tune("THREADS", threads);
  // All at once, or one after the other.
  if (!totals_.empty()) totals_blocks_ = file_.tune("BLOCKS", {most_totals_blocks(), most_totals_blocks() / 4, most_totals_blocks() / 8});
  if (walk_ == Walk::columns) {
    std::vector<std::int64_t> lines = beside() ? std::vector<std::int64_t>{128, 64, 256} : std::vector<std::int64_t>{64, 32, 128};
    // What is not tuned has the first of each.
    std::stable_partition(lines.begin(), lines.end(), [&](std::int64_t count) { return count * threads.front() <= 1024 * beside_; });
    width_ = !cached_ ? "32"
                      : file_.tune("LINES", lines,
                                   fmt::format("LINES * {} <= {}", threads_, 1024 * beside_));
  }
  const std::string step = walk_ == Walk::columns ? threads_ : fmt::format("{}{} * VEC", team_.empty() ? "" : team_ + " * ", threads_);
  if (cached_) items_ = fmt::format("({} + {} - 1) / ({})", most_columns_, step, step);
}

// How many passes read elements.
int LineWriter::passes() const {
  int count = 0;
  for (int phase = 0; phase <= last_phase_; ++phase) count += targets(phase).empty() ? 0 : 1;
  return count;
}

// Whether blocks can walk many lines that their threads keep as packs of four floats.
bool LineWriter::team_possible() const {
  bool plain = vec_ == 4 && passes() > 1;
  for (std::size_t i = 0; i < region_.instances.size(); ++i) {
    const Node& from = node(static_cast<int>(i));
    if (!at(static_cast<int>(i)).leaf && from.kind == Kind::reduce)
      plain = plain && !finds_index(from) && compute_type(from.dtype) == "float";
  }
  return plain;
}

// Blocks that walk many lines each, 1024 threads of them on each multiprocessor, with the next line of each in shared memory. Of
// shorter lines enough blocks fit there to hide each other's waiting.
void LineWriter::choose_ahead(std::int64_t packs, std::vector<std::int64_t>& threads) {
  if (!cached_ || packs <= 256 * 8 || !has_lines() || !team_possible()) return;
  const auto fits = [&](std::int64_t count) { return (packs + count - 1) / count * count * 16 * (1024 / count) <= file_.machine().shared_bytes_of_block; };
  std::vector<std::int64_t> fitting;
  std::copy_if(threads.begin(), threads.end(), std::back_inserter(fitting), fits);
  if (fitting.empty()) return;
  threads = fitting;
  std::sort(threads.begin(), threads.end());
  threads_ = file_.tune("THREADS", threads);
  per_multiprocessor_ = fmt::format("1024 / {}", threads_);
  blocks_ = fmt::format("{} * ({})", file_.machine().multiprocessors, per_multiprocessor_);
}

// What all registers of the multiprocessors that teams occupy hold, with as much again to compute in.
std::int64_t LineWriter::team_packs() const { return file_.machine().team_multiprocessors() * (file_.machine().registers / 8); }

std::vector<std::int64_t> LineWriter::team_sizes(std::int64_t most) {
  std::vector<std::int64_t> sizes{most};
  for (std::int64_t size : {most / 2, most / 4})
    if (size >= 2) sizes.push_back(size);
  return sizes;
}

// Whether some team, as many blocks and 256 or 512 threads serve; where nothing is tuned, the first of each have to.
template <typename Serves>
bool LineWriter::any_team(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& blocks, Serves serves) const {
  if (!file_.tunes()) return sizes.front() <= blocks.front();
  for (const std::int64_t size : sizes)
    for (const std::int64_t count : blocks)
      if (serves(size, count, 256) || serves(size, count, 512)) return true;
  return false;
}

// Blocks that hold a line in their registers together and exchange what they reduce through memory. All of a launch are
// resident at once, as many on each multiprocessor; several overlap loading, waiting and storing.
void LineWriter::choose_team(std::int64_t packs, std::vector<std::int64_t>& threads) {
  if (file_.variant().rows == Variant::Rows::team_meeting_once || file_.variant().rows == Variant::Rows::team_trailing) {
    choose_meeting();
    if (meeting_.first < 0) return;
  }
  if (file_.variant().rows == Variant::Rows::team_trailing) return choose_trail(packs, threads);
  std::int64_t most = 2;
  while (most * 2 <= 4 * file_.machine().team_multiprocessors() && packs > most * 256 * 8) most *= 2;
  if (!team_possible() || packs > most * 256 * 8) return;
  const int multiprocessors = file_.machine().team_multiprocessors();
  const std::vector<std::int64_t> sizes = team_sizes(most), blocks{4 * multiprocessors, 2 * multiprocessors, multiprocessors};
  const bool possible = any_team(sizes, blocks, [&](std::int64_t team, std::int64_t count, std::int64_t of_team) {
    return packs <= team * of_team * 16 && count * packs <= team * team_packs() && 2 * count * packs > team * team_packs() &&
           count * of_team <= 1024 * multiprocessors;
  });
  if (!possible) return;
  cached_ = true;
  team_ = file_.tune("TEAM", sizes);
  threads = {256, 512};
  threads_ = file_.tune("THREADS", threads, fmt::format("{} <= TEAM * THREADS * 16", packs));
  blocks_ = file_.tune("BLOCKS", blocks,
                       fmt::format("BLOCKS * {0} <= TEAM * {1} && 2 * BLOCKS * {0} > TEAM * {1} && BLOCKS * THREADS <= {2}",
                                   packs, team_packs(), 1024 * multiprocessors));
  per_multiprocessor_ = fmt::format("{} / {}", blocks_, multiprocessors);
}

// Of blocks that come back to a line, a thread reduces four to eight packs of it at once. What all of them have read since
// they saw a pack, at most twice 16 MiB or half of the L2 cache, is still there with it.
void LineWriter::choose_trail(std::int64_t packs, std::vector<std::int64_t>& threads) {
  const std::int64_t passing = std::min(team_packs(), file_.machine().l2_bytes / 32);
  if (!team_possible() || packs > passing) return;
  std::int64_t most = 2;
  while (most * 2 <= 4 * file_.machine().team_multiprocessors() && packs > most * 256 * 4) most *= 2;
  const int multiprocessors = file_.machine().team_multiprocessors();
  const std::vector<std::int64_t> sizes = team_sizes(most), blocks{2 * multiprocessors, 3 * multiprocessors, 4 * multiprocessors};
  const bool possible = any_team(sizes, blocks, [&](std::int64_t team, std::int64_t count, std::int64_t of_team) {
    return team <= count && packs <= team * of_team * 8 && count * packs <= team * passing && 4 * count * packs > team * passing &&
           count * of_team <= 1024 * multiprocessors;
  });
  if (!possible) return;
  cached_ = true;
  team_ = file_.tune("TEAM", sizes);
  threads = {256, 512};
  threads_ = file_.tune("THREADS", threads, fmt::format("{} <= TEAM * THREADS * 8", packs));
  blocks_ = file_.tune("BLOCKS", blocks,
                       fmt::format("TEAM <= BLOCKS && BLOCKS * {0} <= TEAM * {1} && 4 * BLOCKS * {0} > TEAM * {1} && BLOCKS * THREADS <= {2}",
                                   packs, passing, 1024 * multiprocessors));
  per_multiprocessor_ = fmt::format("{} / {}", blocks_, multiprocessors);
}

// Arrays that a line needs while it is in registers.
int LineWriter::kept_count() const {
  int count = 0;
  for (std::size_t i = 0; i < region_.instances.size(); ++i)
    if (keepable(static_cast<int>(i))) ++count;
  return count;
}

bool LineWriter::keepable(int instance) const {
  if (at(instance).level != Level::element) return false;
  if (at(instance).leaf) return !at(instance).buffer.empty();
  const PointwiseFunction* function = find_pointwise(node(instance).function);
  return function != nullptr && function->costly;
}

}  // namespace cudal1::families
