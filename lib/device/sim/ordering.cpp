// SPDX-License-Identifier: Apache-2.0
#include "sim/ordering.hpp"

#include "sim/cluster.hpp"

#include "sim/families.hpp"

#include <algorithm>
#include <bit>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <typename Clocks>
void join(Clocks& into, const Clocks& from) {
  for (const auto& [warp, time] : from) {
    auto& known = into[warp];
    known = std::max(known, time);
  }
}

}  // namespace

std::uint64_t Ordering::name(const Block& block, std::size_t place) const { return party(block) << 6 | place; }

Ordering::BlockState& Ordering::state(const Block& block) {
  auto& state = blocks_[party(block)];
  if (state.times.empty()) {
    const std::size_t warps = warps_apart_ ? block.warps.size() : 1;
    state.times.assign(warps, 1);
    state.met.assign(warps, 0);
    state.own.resize(warps);
  }
  return state;
}

void Ordering::look_into(Knowledge& knowledge) {
  for (const Published& each : knowledge.observed) join(knowledge.clocks, *each);
  knowledge.observed.clear();
}

void Ordering::fence(const Warp& warp) {
  BlockState& block = state(*warp.block);
  const std::size_t me = place(warp);
  Knowledge& own = block.own[me];
  look_into(block.common);
  look_into(own);
  own.fenced = block.common.clocks;
  join(own.fenced, own.clocks);
  for (std::size_t w = 0; w < block.times.size(); ++w) {
    const Time until = w == me ? block.times[w]++ : block.met[w];
    if (until > 0) own.fenced[name(*warp.block, w)] = until;
  }
}

void Ordering::publish(const Warp& warp, u64 address, bool update) {
  const BlockState& block = state(*warp.block);
  Published& published = published_[address];
  if (!published || !update) published = std::make_shared<Clocks>();
  join(*published, block.common.fenced);
  join(*published, block.own[place(warp)].fenced);
}

void Ordering::observe(const Warp& warp, u64 address) {
  const auto found = published_.find(address);
  if (found == published_.end()) return;
  auto& observed = state(*warp.block).own[place(warp)].observed;
  if (std::find(observed.begin(), observed.end(), found->second) == observed.end()) observed.push_back(found->second);
}

void Ordering::barrier(const Block& block) {
  BlockState& all = state(block);
  for (std::size_t w = 0; w < all.own.size(); ++w) {
    Knowledge& own = all.own[w];
    join(all.common.clocks, own.clocks);
    join(all.common.fenced, own.fenced);
    for (Published& each : own.observed) all.common.observed.push_back(std::move(each));
    own = {};
    all.met[w] = all.times[w]++;
  }
}

bool Ordering::before(const Tag& tag, const Warp& warp) {
  if (tag.time == 0 || tag.warp >> 6 == party(*warp.block)) return true;
  BlockState& block = state(*warp.block);
  Knowledge& own = block.own[place(warp)];
  const auto known = [&](Knowledge& knowledge) {
    const auto found = knowledge.clocks.find(tag.warp);
    return found != knowledge.clocks.end() && found->second >= tag.time;
  };
  if (known(block.common) || known(own)) return true;
  look_into(block.common);
  look_into(own);
  return known(block.common) || known(own);
}

std::optional<Ordering::Conflict> Ordering::access(const Warp& warp, u64 index, bool store) {
  Word& word = words_[index];
  const std::size_t me = place(warp);
  const Tag mine{name(*warp.block, me), state(*warp.block).times[me]};
  std::optional<Conflict> conflict;
  if (!before(word.writer, warp)) conflict = {word.writer.warp >> 6, true};
  if (store) {
    for (const Tag& reader : word.readers)
      if (!conflict && !before(reader, warp)) conflict = {reader.warp >> 6, false};
    word.writer = mine;
    word.readers.clear();
    return conflict;
  }
  const auto same = std::find_if(word.readers.begin(), word.readers.end(), [&](const Tag& reader) { return reader.warp == mine.warp; });
  if (same != word.readers.end()) *same = mine;
  else word.readers.push_back(mine);
  return conflict;
}

namespace {

// Distinct addresses of global memory that the active lanes name; a: address, immediate: offset.
template <class F>
void for_each_address(Warp& w, const Instruction& i, const F& f) {
  const u64* base = row<const u64>(w, i.a);
  u64 last = 0;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const u64 address = base[std::countr_zero(rest)] + static_cast<u64>(i.immediate);
    const bool window = address >= shared_window && address < local_window + window_bytes;
    if (address != last && !window) f(address);
    last = address;
  }
}

void fence(Warp& w, const Instruction&) {
  if (Ordering* ordering = w.worker->launch->ordering; ordering && w.mask) ordering->fence(w);
}
void publish(Warp& w, const Instruction& i) {
  if (Ordering* ordering = w.worker->launch->ordering) for_each_address(w, i, [&](u64 address) { ordering->publish(w, address, false); });
}
void observe(Warp& w, const Instruction& i) {
  if (Ordering* ordering = w.worker->launch->ordering) for_each_address(w, i, [&](u64 address) { ordering->observe(w, address); });
}
void update(Warp& w, const Instruction& i) {
  observe(w, i);
  if (Ordering* ordering = w.worker->launch->ordering) for_each_address(w, i, [&](u64 address) { ordering->publish(w, address, true); });
}

}  // namespace

void add_ordering(Operations& table) {
  table["_fence"] = {"", &fence, &fence};
  table["_publish"] = {"", &publish, &publish};
  table["_observe"] = {"", &observe, &observe};
  table["_update"] = {"", &update, &update};
}

}  // namespace cudal1::sim
