// SPDX-License-Identifier: Apache-2.0
#include "compile/clock_flow.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>

namespace cudal1::compile {
namespace {

using Word = std::string_view;
using Index = std::uint32_t;

// Where the memory of a grid's own barrier lies (cooperative groups).
bool is_grid_barrier(Word word) { return word == "%envreg1" || word == "%envreg2"; }

bool is_clock(Word word) {
  const bool counts = word.starts_with("%pm") && word.size() > 3 && word[3] >= '0' && word[3] <= '9';
  const bool of_launch = word == "%gridid" || word == "%smid" || word == "%warpid" || (word.starts_with("%envreg") && !is_grid_barrier(word));
  return word.starts_with("%clock") || word.starts_with("%globaltimer") || counts || of_launch;
}

template <std::size_t n>
bool among(Word word, const std::array<Word, n>& words) { return std::find(words.begin(), words.end(), word) != words.end(); }

// An instruction with its names resolved: a name that an inner block declares is not the one outside.
struct Step {
  Word opcode;
  std::vector<Index> targets, sources;   // registers; the guard is a source
  bool reads_clock = false, writes = false;
  bool branches = false, ends = false, guarded = false;
  std::vector<Index> next;               // steps; the one behind the last stands for the function's end
};

class Function {
 public:
  explicit Function(const std::vector<const Statement*>& body) {
    lay_out(body);
    for (const Branch& each : branches_) connect(each);
    find_meetings();
  }

  bool clock_decides() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (Index i = 0; i < steps_.size(); ++i) changed |= visit(i);
    }
    return decides_;
  }

 private:
  using Scope = std::size_t;

  // A block's names are known in it and in the blocks inside.
  struct Block {
    Scope outer;
    std::map<Word, Index> registers, labels;
  };
  struct Branch {
    Index step;
    Scope scope;
    Word target;
  };

  void lay_out(const std::vector<const Statement*>& body) {
    blocks_.push_back({0, {}, {}});
    Scope scope = 0;
    for (const Statement* each : body) {
      const Statement& words = *each;
      if (words == Statement{"{"}) {
        blocks_.push_back({scope, {}, {}});
        scope = blocks_.size() - 1;
      } else if (words == Statement{"}"}) {
        scope = blocks_[scope].outer;
      } else if (is_label(words)) {
        blocks_[scope].labels[words[0]] = static_cast<Index>(steps_.size());
        all_labels_.push_back(static_cast<Index>(steps_.size()));
      } else if (words[0] == ".reg") {
        for (std::size_t i = 1; i < words.size(); ++i)
          if (!words[i].starts_with(".")) blocks_[scope].registers[words[i]] = names_++;
      } else if (!words[0].starts_with(".")) {
        add(words, scope);
      }
    }
  }

  Index register_id(Word word, Scope scope) {
    for (Scope at = scope;; at = blocks_[at].outer) {
      if (const auto found = blocks_[at].registers.find(word); found != blocks_[at].registers.end()) return found->second;
      if (at == 0) return blocks_[0].registers[word] = names_++;
    }
  }

  void add(const Statement& words, Scope scope) {
    static constexpr std::array<Word, 14> no_targets{"st", "red", "bar", "barrier", "bra", "brx", "nanosleep", "call", "ret", "exit", "trap", "fence", "membar", "cp"};
    static constexpr std::array<Word, 7> harmless{"ld", "ldu", "ldmatrix", "prefetch", "prefetchu", "nanosleep", "isspacep"};
    Step step;
    const std::size_t first = words[0].starts_with("@") ? (words.size() > 1 && words[1] == "!" ? 3 : 2) : 0;
    if (first >= words.size()) return;
    step.guarded = first > 0;
    if (step.guarded) step.sources.push_back(register_id(words[first - 1], scope));
    step.opcode = words[first];
    const Word verb = step.opcode.substr(0, step.opcode.find('.'));
    const bool waits = verb == "mbarrier" && step.opcode.find("_wait") != Word::npos;
    const std::vector<Operand> all = operands(words, first + 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool target = i == 0 && !all[i].address && !among(verb, no_targets);
      step.writes = step.writes || (all[i].address && !among(verb, harmless) && !waits && !(verb == "wmma" && step.opcode.find(".load") != Word::npos));
      for (const Word word : all[i].words) {
        step.reads_clock = step.reads_clock || is_clock(word);
        (target ? step.targets : step.sources).push_back(register_id(word, scope));
      }
    }
    step.writes = step.writes || verb == "call" || step.opcode == "call.uni";
    step.branches = verb == "bra" || verb == "brx";
    step.ends = verb == "ret" || verb == "exit" || verb == "trap";
    if (step.branches) branches_.push_back({static_cast<Index>(steps_.size()), scope, words.back()});
    steps_.push_back(std::move(step));
  }

  Index end() const { return static_cast<Index>(steps_.size()); }

  void connect(const Branch& branch) {
    Step& step = steps_[branch.step];
    if (step.opcode.starts_with("brx")) {   // by a table: anywhere
      step.guarded = true;
      step.next = all_labels_;
      return;
    }
    for (Scope scope = branch.scope;; scope = blocks_[scope].outer) {
      if (const auto found = blocks_[scope].labels.find(branch.target); found != blocks_[scope].labels.end()) {
        step.next.push_back(found->second);
        return;
      }
      if (scope == 0) return;
    }
  }

  // Where all ways from a step to the function's end meet first (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
  // Algorithm", on the reversed graph).
  void find_meetings() {
    for (Index i = 0; i < end(); ++i) {
      Step& step = steps_[i];
      if (step.ends) step.next.push_back(end());
      if ((!step.branches && !step.ends) || (step.guarded && !step.opcode.starts_with("brx")) || step.next.empty()) step.next.push_back(i + 1);
    }
    std::vector<std::vector<Index>> before(steps_.size() + 1);
    for (Index i = 0; i < end(); ++i)
      for (const Index next : steps_[i].next) before[next].push_back(i);
    // Post-order of the reversed graph, without recursion.
    order_.assign(steps_.size() + 1, 0);
    std::vector<Index> post;
    std::vector<bool> seen(steps_.size() + 1);
    std::vector<std::pair<Index, std::size_t>> stack{{end(), 0}};
    seen[end()] = true;
    while (!stack.empty()) {
      auto& [at, turn] = stack.back();
      if (turn == before[at].size()) {
        order_[at] = static_cast<Index>(post.size());
        post.push_back(at);
        stack.pop_back();
        continue;
      }
      const Index to = before[at][turn++];
      if (!seen[to]) seen[to] = true, stack.emplace_back(to, 0);
    }
    constexpr Index unknown = ~Index{0};
    meeting_.assign(steps_.size() + 1, unknown);
    meeting_[end()] = end();
    for (bool changed = true; changed;) {
      changed = false;
      for (auto at = post.rbegin(); at != post.rend(); ++at) {
        if (*at == end()) continue;
        Index found = unknown;
        for (const Index next : steps_[*at].next) {
          if (meeting_[next] == unknown) continue;
          found = found == unknown ? next : meet(found, next);
        }
        changed = changed || meeting_[*at] != found;
        meeting_[*at] = found;
      }
    }
    for (Index& each : meeting_)
      if (each == unknown) each = end();   // never ends
    decided_.assign(steps_.size() + 1, false);
    tainted_.assign(names_, false);
  }

  Index meet(Index left, Index right) const {
    while (left != right) {
      while (order_[left] < order_[right]) left = meeting_[left];
      while (order_[right] < order_[left]) right = meeting_[right];
    }
    return left;
  }

  // Whether anything new is known.
  bool visit(Index i) {
    const Step& step = steps_[i];
    const bool follows = step.reads_clock || std::any_of(step.sources.begin(), step.sources.end(), [&](Index name) { return tainted_[name]; });
    if (!follows && !decided_[i]) return false;
    bool changed = false;
    for (const Index name : step.targets) {
      changed = changed || !tainted_[name];
      tainted_[name] = true;
    }
    decides_ = decides_ || step.writes;
    if (follows && step.guarded && (step.branches || step.ends)) changed |= decide(i);
    return changed;
  }

  bool decide(Index branch) {
    bool changed = false;
    const Index meeting = meeting_[branch];
    std::vector<Index> open(steps_[branch].next);
    std::set<Index> seen;
    while (!open.empty()) {
      const Index at = open.back();
      open.pop_back();
      if (at == meeting || at == end() || !seen.insert(at).second) continue;
      changed = changed || !decided_[at];
      decided_[at] = true;
      open.insert(open.end(), steps_[at].next.begin(), steps_[at].next.end());
    }
    return changed;
  }

  std::vector<Block> blocks_;
  std::vector<Step> steps_;
  std::vector<Branch> branches_;
  std::vector<Index> all_labels_;
  Index names_ = 0;
  std::vector<Index> order_, meeting_;
  std::vector<bool> decided_, tainted_;   // steps that a clock's branch leads to or not; registers that follow from a clock
  bool decides_ = false;
};

}  // namespace

std::vector<std::string> deciding_clocks(const std::vector<const Statement*>& body) {
  std::set<std::string> clocks;
  for (const Statement* words : body)
    for (const Word word : *words)
      if (is_clock(word)) clocks.emplace(word);
  if (clocks.empty() || !Function(body).clock_decides()) return {};
  return {clocks.begin(), clocks.end()};
}

}  // namespace cudal1::compile
