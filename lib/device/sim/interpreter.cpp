// SPDX-License-Identifier: Apache-2.0
#include "sim/interpreter.hpp"

#include "sim/asynchrony.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

// Turns of a loop that asks for what others may write, before other lanes of the warp are let go on.
constexpr std::uint32_t patience = 16;

// Removes ended lanes from the frames down to `lowest`; frames that become empty are dropped when they surface.
void remove_lanes(Warp& w, std::uint32_t lanes, std::size_t lowest) {
  for (std::size_t f = lowest; f < w.stack.size(); ++f) w.stack[f].mask &= ~lanes;
}

std::size_t call_frame(const Warp& w) {
  std::size_t f = w.stack.size() - 1;
  while (f > 0 && !w.stack[f].call) --f;
  return f;
}

// Drops what has met its other side or lost its lanes; false when the warp has ended.
bool settle(Warp& w) {
  while (!w.stack.empty()) {
    const Frame& top = w.stack.back();
    if (top.mask != 0 && top.pc != top.join && top.pc != nowhere) break;
    w.stack.pop_back();
  }
  if (w.stack.empty()) return false;
  const Frame& top = w.stack.back();
  if (w.path != 0 && top.path == 0) w.path_floor = w.paths + 1;  // all lanes are together again
  w.path = top.path;
  set_mask(w, top.mask);
  return true;
}

void diverge(Warp& w, const Segment& segment, std::uint32_t next, std::uint32_t taken, std::uint32_t not_taken) {
  const std::uint32_t join = segment.join;
  Frame& top = w.stack.back();
  const bool absorbed = join != nowhere && join == top.join && !top.call;
  top.pc = join;
  const auto side = [&](std::uint32_t pc, std::uint32_t mask) {
    if (pc != join) w.stack.push_back({pc, mask, join, false, static_cast<std::uint16_t>(1 + w.paths++ % 1023)});
  };
  if (absorbed) w.stack.pop_back();
  side(next, not_taken);
  side(segment.target, taken);
}

// A barrier and an aligned instruction wait for all lanes of the warp, an operation across its lanes for those that its mask names.
bool waits(Warp& w, const Segment& segment, std::uint32_t lanes) {
  const std::uint32_t absent = w.live & ~lanes;
  if (absent == 0) return false;
  if (segment.whole_warp || segment.end == Segment::End::barrier) return true;
  return segment.members != nowhere && (row<const std::uint32_t>(w, segment.members)[std::countr_zero(lanes)] & absent) != 0;
}

// Lanes that went ahead of spinning ones have come to where they wait for them. False when the others wait elsewhere.
bool gather(Warp& w, const Segment* segments) {
  const Frame top = w.stack.back();
  for (std::size_t f = w.stack.size() - 1; f-- > 0 && !top.call;) {
    Frame& other = w.stack[f];
    if (other.call || other.join != top.join || other.pc == nowhere) return false;
    if (other.pc == top.pc) {
      other.mask |= top.mask;
      w.stack.pop_back();
      return true;
    }
    if (other.mask == 0 || waits(w, segments[other.pc], other.mask)) continue;
    std::swap(w.stack.back(), other);
    return true;
  }
  return false;
}

// The same, with a look at each statement's registers before it runs.
void run_watched(Warp& w, const Instruction* i, const Instruction* last, std::size_t variant) {
  std::uint32_t seen = nowhere;
  for (; i != last; ++i) {
    if (i->statement != seen && w.mask != 0) watch(w, *i);
    seen = i->statement;
    i->run[variant](w, *i);
  }
}

}  // namespace

void set_mask(Warp& w, std::uint32_t mask) {
  if (mask == w.mask) return;
  w.mask = mask;
  for (std::uint32_t l = 0; l < 32; ++l) w.lanes[l] = 0u - (mask >> l & 1);
}

Stop run_warp(Warp& w, std::int64_t slice) {
  const Program& program = *w.worker->launch->program;
  const Segment* const segments = program.segments.data();
  const Instruction* const instructions = program.instructions.data();
  SegmentCount* const counts = w.worker->segments.data();
  const std::int64_t given = slice;
  if (!settle(w)) {
    w.state = Warp::State::finished;
    return Stop::finished;
  }
  std::uint32_t pc = 0, join = 0, population = 0;
  std::size_t variant = 0;
  const auto resume = [&] {
    pc = w.stack.back().pc;
    join = w.stack.back().join;
    population = static_cast<std::uint32_t>(std::popcount(w.mask));
    variant = w.mask != all_lanes;
  };
  resume();
  const auto leave = [&](Stop stop) {
    w.executed += static_cast<std::uint64_t>(given - slice);
    return stop;
  };
  for (;;) {
    const Segment& segment = segments[pc];
    if (__builtin_expect(w.rotated, 0) && waits(w, segment, w.mask)) {
      w.stack.back().pc = pc;
      if (gather(w, segments)) {
        settle(w);
        resume();
        continue;
      }
      w.rotated = false;
    }
    counts[pc].warps += 1;
    counts[pc].lanes += population;
    if (__builtin_expect(w.trace != nullptr, 0) && w.trace->size() < Recording::most_segments) w.trace->push_back(pc);
    slice -= segment.weight;
    const Instruction* i = instructions + segment.first;
    const Instruction* const last = instructions + segment.last;
    if (__builtin_expect(w.watched, 0)) run_watched(w, i, last, variant);
    else
      for (; i != last; ++i) i->run[variant](w, *i);
    std::uint32_t next = pc + 1;
    switch (segment.end) {
      case Segment::End::fall: break;
      case Segment::End::jump:
        next = segment.target;
        break;
      case Segment::End::branch: {
        std::uint32_t p = *row<const std::uint32_t>(w, segment.predicate);
        if (segment.negated) p = ~p;
        const std::uint32_t taken = w.mask & p;
        if (taken == w.mask) {
          next = segment.target;
        } else if (taken != 0) {
          counts[pc].divergent += 1;
          diverge(w, segment, next, taken, w.mask & ~p);
          goto reload;
        }
        break;
      }
      case Segment::End::leave:
        w.live &= ~w.mask;
        remove_lanes(w, w.mask, 0);
        goto reload;
      case Segment::End::finish:
        remove_lanes(w, w.mask, call_frame(w));
        goto reload;
      case Segment::End::call:
        w.stack.back().pc = next;
        w.stack.push_back({segment.target, w.mask, nowhere, true, static_cast<std::uint16_t>(w.path)});
        goto reload;
      case Segment::End::barrier:
        w.stack.back().pc = next;
        w.state = Warp::State::at_barrier;
        return leave(Stop::barrier);
      case Segment::End::cluster:
        // Lanes that wait with their whole warp are woken; some of them ask again after others of the warp have run.
        if (w.state == Warp::State::at_cluster) {
          w.stack.back().pc = next;
          return leave(Stop::barrier);
        }
        if (w.impatient) {
          w.stack.back().pc = pc;
          return leave(Stop::yielded);
        }
        break;
      case Segment::End::pause:
        w.stack.back().pc = next;
        w.impatient = true;
        return leave(Stop::yielded);
    }
    if (next <= pc) {
      if (segment.spins && ++w.turns >= patience) w.impatient = true, w.turns = 0;
      if (slice < 0 || w.impatient) {
        w.stack.back().pc = next;
        return leave(Stop::yielded);
      }
    }
    pc = next;
    if (pc != join) continue;
    w.stack.back().pc = pc;
  reload:
    w.turns = 0;  // other lanes run now: it may have been no spinning
    if (!settle(w)) {
      w.state = Warp::State::finished;
      return leave(Stop::finished);
    }
    resume();
    if (slice < 0) return leave(Stop::yielded);
  }
}

bool rotate_frames(Warp& w) {
  if (w.stack.size() < 2) return false;
  const Frame top = w.stack.back();
  Frame& below = w.stack[w.stack.size() - 2];
  if (top.call || below.call) return false;
  if (below.join == top.join && below.pc != top.join) {
    // Two sides of one branch: the other goes first.
    std::swap(w.stack[w.stack.size() - 1], below);
    w.rotated = true;
    return true;
  }
  // The frame below waits where the sides meet. Its lanes go on without the running ones until its own join.
  const std::uint32_t waiting = below.mask & ~top.mask;
  if (waiting == 0 || below.pc != top.join || below.pc == nowhere) return false;
  Frame ahead = below;
  ahead.mask = waiting;
  ahead.path = static_cast<std::uint16_t>(1 + w.paths++ % 1023);
  Frame spinning = top;
  spinning.join = below.join;
  const bool base = w.stack.size() == 2;
  if (base) {
    // The lowest frame has nobody below to join: both run until they end.
    w.stack.clear();
  } else {
    w.stack.resize(w.stack.size() - 2);
  }
  w.stack.push_back(spinning);
  w.stack.push_back(ahead);
  w.rotated = true;
  return true;
}

}  // namespace cudal1::sim
