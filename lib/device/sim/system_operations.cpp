// SPDX-License-Identifier: Apache-2.0
// Barriers' bookkeeping, traps, assertions, printf, clocks, and what calls copy.
#include "sim/families.hpp"

#include "sim/access.hpp"
#include "sim/printf_format.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = outcome::Finding::Kind;

// d: result of a reduction, a: id, b: thread count or nowhere, c: vote, extra: reduction.
void join_barrier(Warp& w, const Instruction& i, bool waits) {
  const int lane = w.mask ? std::countr_zero(w.mask) : 0;
  const u32 id = row<const u32>(w, i.a)[lane] & 15;
  Launch& launch = *w.worker->launch;
  u32 expected = i.b == nowhere ? launch.threads_per_block : row<const u32>(w, i.b)[lane];
  expected = (expected + 31) / 32 * 32;
  if (w.mask != w.live && !w.rotated)
    report(w, i, Kind::divergent_barrier, std::countr_zero(w.live & ~w.mask), 0,
           fmt::format("a barrier is reached by {} of the warp's {} running threads", std::popcount(w.mask), std::popcount(w.live)));
  Block::Barrier& barrier = w.block->barriers[id];
  barrier.expected = expected;
  barrier.arrived += 32;
  if (i.c != nowhere) {
    u32 votes = *row<const u32>(w, i.c);
    if (i.immediate) votes = ~votes;
    votes &= w.mask;
    if (barrier.voters == 0) barrier.all = 1;
    barrier.popcount += static_cast<u32>(std::popcount(votes));
    barrier.all &= votes == w.mask;
    barrier.any |= votes != 0;
    barrier.voters += static_cast<u32>(std::popcount(w.mask));
  }
  w.worker->barriers += 1;
  if (!waits) return;
  w.barrier = id;
  w.barrier_result = i.d;
  w.barrier_reduction = static_cast<std::uint8_t>(i.extra);
}
void barrier_wait(Warp& w, const Instruction& i) { join_barrier(w, i, true); }
void barrier_arrive(Warp& w, const Instruction& i) { join_barrier(w, i, false); }

void trap(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  report(w, i, Kind::trap, std::countr_zero(w.mask), 0, "the kernel stopped itself with a trap");
  w.worker->launch->aborted = true;
}

std::byte* local_bytes(Warp& w, int lane, u64 offset) {
  return w.local + static_cast<u64>(lane) * w.worker->launch->program->local_bytes + offset;
}

// A generic address read on the host; at most `room` bytes, fewer at the end of a buffer.
std::string text_at(Warp& w, u64 address, std::size_t room = 1024) {
  std::string text;
  for (; text.size() < room; ++address) {
    const Allocation* a = w.worker->launch->memory->find(address, address + 1);
    const char c = a ? static_cast<char>(a->host[address - a->base]) : '\0';
    if (c == '\0') break;
    text += c;
  }
  return text;
}

void assert_fail(Warp& w, const Instruction& i) {
  if (!w.mask) return;
  const int lane = std::countr_zero(w.mask);
  u64 message = 0, file = 0;
  u32 line = 0;
  std::memcpy(&message, local_bytes(w, lane, static_cast<u64>(i.immediate)), 8);
  std::memcpy(&file, local_bytes(w, lane, i.extra), 8);
  std::memcpy(&line, local_bytes(w, lane, i.list), 4);
  report(w, i, Kind::trap, lane, 0, fmt::format("assertion failed: {} ({}:{})", text_at(w, message), text_at(w, file), line));
  w.worker->launch->aborted = true;
}

// What a lane's printf says, with the argument bytes at `arguments`.
std::string formatted(Warp& w, int lane, const std::string& format, u64 arguments) {
  const u64 local = w.worker->launch->program->local_bytes;
  u64 at = arguments;
  PrintfArguments from;
  from.take = [&](std::size_t bytes) {
    at = (at + bytes - 1) / bytes * bytes;
    u64 value = 0;
    const u64 offset = at - local_window;
    if (offset < local && bytes <= local - offset) std::memcpy(&value, local_bytes(w, lane, offset), bytes);
    at += bytes;
    return value;
  };
  from.text = [&](u64 address) { return text_at(w, address); };
  return printf_text(format, from);
}

constexpr std::size_t most_printed = std::size_t{1} << 20;  // per worker; far more than a launch shows

void print(Warp& w, const Instruction& i) {
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    u64 format = 0, arguments = 0;
    std::memcpy(&format, local_bytes(w, lane, static_cast<u64>(i.immediate)), 8);
    std::memcpy(&arguments, local_bytes(w, lane, i.extra), 8);
    if (Worker& worker = *w.worker; worker.printed_bytes < most_printed) {
      const std::string text = formatted(w, lane, text_at(w, format), arguments);
      worker.printed[w.block->number] += text;
      worker.printed_bytes += text.size();
    }
    if (i.list != nowhere) {
      const u32 count = 1;
      std::memcpy(local_bytes(w, lane, i.list), &count, 4);
      set_written(w.local_written, static_cast<u64>(lane) * w.worker->launch->program->local_bytes + i.list, 4);
    }
  }
}

// immediate: from, extra: to, list: bytes; written or not is copied too.
void copy_local(Warp& w, const Instruction& i) {
  const std::size_t size = w.worker->launch->program->local_bytes;
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::memcpy(local_bytes(w, lane, i.extra), local_bytes(w, lane, static_cast<u64>(i.immediate)), i.list);
    const std::size_t base = static_cast<std::size_t>(lane) * size;
    for (u32 k = 0; k < i.list; ++k) {
      if (all_written(w.local_written, base + static_cast<std::size_t>(i.immediate) + k, 1)) set_written(w.local_written, base + i.extra + k, 1);
      else clear_written(w.local_written, base + i.extra + k, 1);
    }
  }
}

constexpr std::size_t most_saved = std::size_t{1} << 20;  // per warp, of which thousands may wait for each other

// Before a call that may lead to its caller again: puts the caller's rows aside (list: which) and takes the next frame (a: of lanes).
void save_frame(Warp& w, const Instruction& i) {
  const Program& program = *w.worker->launch->program;
  const SavedRows& wanted = program.saved[i.list];
  u64* grown = row<u64>(w, i.a);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (w.saved_bytes < most_saved && (program.frame_bytes == 0 || grown[lane] + 2 * program.frame_bytes <= program.frames_bytes)) continue;
    report(w, i, Kind::stack_overflow, lane, 0, "a function calls itself more often than memory holds its variables");
    w.worker->launch->aborted = true;
    return;
  }
  SavedFrame frame{w.stack.size(), {}, {}};
  for (const auto [offset, width] : wanted.rows)
    frame.rows.insert(frame.rows.end(), w.rows + offset, w.rows + offset + std::max(4u, 32 * width));
  for (const auto [offset, bytes] : wanted.locals)
    for (int lane = 0; lane < 32; ++lane) frame.locals.insert(frame.locals.end(), local_bytes(w, lane, offset), local_bytes(w, lane, offset) + bytes);
  w.saved_bytes += frame.rows.size() + frame.locals.size();
  w.saved.push_back(std::move(frame));
  for (u32 rest = w.mask; rest; rest &= rest - 1) grown[std::countr_zero(rest)] += program.frame_bytes;
}

// After it. What was put aside for lanes that ended in the call is dropped.
void restore_frame(Warp& w, const Instruction& i) {
  const Program& program = *w.worker->launch->program;
  while (!w.saved.empty() && w.saved.back().depth > w.stack.size()) {
    w.saved_bytes -= w.saved.back().rows.size() + w.saved.back().locals.size();
    w.saved.pop_back();
  }
  if (w.saved.empty() || w.saved.back().depth != w.stack.size()) return;  // the launch ends because there was no memory to save it
  const SavedFrame& frame = w.saved.back();
  const std::byte* from = frame.rows.data();
  for (const auto [offset, width] : program.saved[i.list].rows) {
    if (width == 0) {
      u32 before = 0;
      std::memcpy(&before, from, 4);
      u32* now = row<u32>(w, offset);
      *now = (*now & ~w.mask) | (before & w.mask);
    }
    for (u32 rest = width == 0 ? 0 : w.mask; rest; rest &= rest - 1) {
      const u32 at = static_cast<u32>(std::countr_zero(rest)) * width;
      std::memcpy(w.rows + offset + at, from + at, width);
    }
    from += std::max(4u, 32 * width);
  }
  from = frame.locals.data();
  for (const auto [offset, bytes] : program.saved[i.list].locals) {
    for (u32 rest = w.mask; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      std::memcpy(local_bytes(w, lane, offset), from + static_cast<u32>(lane) * bytes, bytes);
      set_written(w.local_written, static_cast<u64>(lane) * program.local_bytes + offset, bytes);
    }
    from += std::size_t{32} * bytes;
  }
  for (u32 rest = w.mask; rest; rest &= rest - 1) row<u64>(w, i.a)[std::countr_zero(rest)] -= program.frame_bytes;
  w.saved_bytes -= frame.rows.size() + frame.locals.size();
  w.saved.pop_back();
}

// a: addresses; list, extra: rows with those of functions.
void check_callee(Warp& w, const Instruction& i) {
  const Program& program = *w.worker->launch->program;
  const u64* address = row<const u64>(w, i.a);
  for (u32 rest = w.mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto first = program.lists.begin() + i.list;
    if (std::any_of(first, first + i.extra, [&](u32 known) { return row<const u64>(w, known)[lane] == address[lane]; })) continue;
    report(w, i, Kind::out_of_bounds, lane, address[lane], "calls an address where no function of this kind is");
    w.worker->launch->aborted = true;
    return;
  }
}

// Time as the number of instructions run, so that results do not depend on the host.
template <class T>
void clock(Warp& w, const Instruction& i) {
  T* d = row<T>(w, i.d);
  const u64 now = ++w.executed;
  for (int l = 0; l < 32; ++l)
    if (w.mask >> l & 1) d[l] = static_cast<T>(now);
}

// The longest of its lanes'; the hardware sleeps a millisecond at most.
void sleep(Warp& w, const Instruction& i) {
  u32 longest = 0;
  for (u32 rest = w.mask; rest; rest &= rest - 1) longest = std::max(longest, row<const u32>(w, i.a)[std::countr_zero(rest)]);
  w.slept_ns += std::min(longest, u32{1'000'000});
}

void both(Operations& table, const std::string& name, Handler handler) { table[name] = {"", handler, handler}; }

}  // namespace

void add_system_operations(Operations& table) {
  both(table, "_barrier", &barrier_wait);
  both(table, "_barrier_arrive", &barrier_arrive);
  both(table, "_trap", &trap);
  both(table, "___assertfail", &assert_fail);
  both(table, "_vprintf", &print);
  both(table, "_copy_local", &copy_local);
  both(table, "_save_frame", &save_frame);
  both(table, "_restore_frame", &restore_frame);
  both(table, "_check_callee", &check_callee);
  both(table, "_nanosleep", &sleep);
  both(table, "_clock.4", &clock<u32>);
  both(table, "_clock.8", &clock<u64>);
}

}  // namespace cudal1::sim
