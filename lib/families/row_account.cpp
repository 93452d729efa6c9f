// SPDX-License-Identifier: Apache-2.0
#include "families/costs.hpp"
#include "families/row_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::families {

// What memory moves of the rows, at the first workload.
double RowWriter::moved_bytes() const {
  double bytes = 0;
  const auto add = [&](const tensor::Shape& strides, tensor::Dtype dtype) {
    double elements = 1;
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (!is_zero(strides[i])) elements *= static_cast<double>(region_.space[i].values[0]);
    bytes += elements * static_cast<double>(tensor::size_of(dtype));
  };
  for (int id = 0; id < region_.count(); ++id) {
    if (!at(id).leaf || at(id).buffer.empty()) continue;
    int reads = 0;
    for (int phase = 0; phase <= passes_.last(); ++phase) {
      std::set<int> leaves;
      for (int target : passes_.targets(phase)) passes_.collect(target, phase, false, leaves);
      reads += leaves.count(id) != 0 ? 1 : 0;
    }
    for (int read = 0; read < (geometry_.cached ? 1 : std::max(1, reads)); ++read) add(at(id).strides, node(id).dtype);
  }
  for (const Region::Root& root : region_.roots) add(root.strides, node(root.instance).dtype);
  return bytes;
}

void RowWriter::account() {
  const double bytes = moved_bytes();
  const double enough = costs::blocks_per_multiprocessor * file_.machine().multiprocessors;
  const double lines = static_cast<double>(region_.rows().values[0]) * splits_;
  const double blocks = walk_ == Walk::columns ? lines / 32 : persistent() ? enough : lines;
  const bool busy = walk_ == Walk::pointwise || bytes < costs::few_bytes;
  const double share = walk_ == Walk::columns && geometry_.cached && !beside() ? costs::columns_kept_singly : 1;
  file_.traffic(bytes, 0, busy ? share : std::clamp(blocks / enough, 1 / enough, share));
  tell_techniques();
}

void RowWriter::tell_techniques() {
  int operations = 0;
  for (const Instance& instance : region_.instances) operations += instance.leaf ? 0 : 1;
  if (operations > 1)
    file_.technique(
        Technique::fusion,
        fmt::format("`{}` computes {} operations in one kernel, so that no intermediate result goes to memory.",
                    name_, operations));
  if (vectorised())
    file_.technique(Technique::vectorised_access, fmt::format("`{}` reads and writes {} elements per access where rows are "
                                                 "aligned, element by element at ragged edges.",
                                                 name_, geometry_.vec));
  if (beside())
    file_.technique(Technique::vectorised_access, fmt::format("Every thread of `{}` has {} neighbouring lines, read and written in one access.", name_, geometry_.beside));
  if (walk_ == Walk::pointwise && !geometry_.rows_per_block)
    file_.technique(
        Technique::thread_coarsening,
        fmt::format("Every thread of `{}` has {} independent accesses in flight before it computes.", name_, items_));
  if (geometry_.cached && !trails() && passes_.last() > 1)
    file_.technique(Technique::register_caching,
                    fmt::format("A row stays in registers between the {} passes of `{}`, so memory sees it once.",
                                passes_.last() + 1, name_));
  if (!prefetched_.empty())
    file_.technique(Technique::asynchronous_copy,
                    fmt::format("Every block of `{}` walks many rows; the next one is on its way to shared memory while the "
                                "present one is reduced and written.",
                                name_));
  if (trails())
    file_.technique(Technique::block_teams,
                    fmt::format("{} blocks reduce a row of `{}` together and come back to it when they have reduced the next one: nobody "
                                "waits for what the others found, and the row is still in the L2 cache.",
                                team_, name_));
  else if (!team_.empty())
    file_.technique(Technique::block_teams,
                    fmt::format("{} blocks hold a row of `{}` in their registers together and exchange what they reduce "
                                "through memory, in a fixed order{}.",
                                team_, name_, meets_once() ? ", all of it at once" : ""));
  if (region_.reduces)
    file_.technique(
        walk_ == Walk::columns ? Technique::coalesced_access : Technique::warp_reduction,
        walk_ == Walk::columns
            ? fmt::format("Neighbouring threads of `{}` read neighbouring addresses; each line is reduced through "
                          "shared memory.",
                          name_)
            : fmt::format("`{}` gives a row to several warps, reduced by shuffles and once through shared memory.",
                          name_));
  if (file_.variant().streamed && vectorised())
    file_.technique(Technique::streaming_access, "Data that is touched once is marked to leave the caches first.");
  if (splits_ > 1)
    file_.technique(
        Technique::split_reduction,
        fmt::format("{} blocks share a line; a second kernel adds their parts in a fixed order, without atomics.",
                    splits_));
}
}  // namespace cudal1::families
