// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_code/terms.hpp"
#include "families/arguments.hpp"
#include "families/line_kernel.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cudal1::families {

// Writes one kernel that walks along lines. Statements of a pass appear in two places, once for what registers hold and
// once for the rest of a long line, so they are produced by functions of the place. Each group below has a file of its
// own: line_geometry.cpp and so on.
class LineWriter {
 public:
  LineWriter(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits)
      : region_(region), dag_(dag), walk_(walk), file_(file), splits_(splits), arguments_(file.scalars()) {}

  void write();
  tensor::Extent write_totals(const std::vector<int>& reduces);

 private:
  using Level = Instance::Level;
  const Node& node(int instance) const { return dag_.nodes[static_cast<std::size_t>(at(instance).node)]; }
  const Instance& at(int instance) const { return region_.instances[static_cast<std::size_t>(instance)]; }
  bool vectorised() const { return vec_ > 1; }
  void line(const std::string& text) { body_ += std::string(static_cast<std::size_t>(indent_), ' ') + text + "\n"; }
  bool has_lines() const { return !is_one(region_.lines()); }
  std::string whole() const { return vectorised() ? "WHOLE" : "false"; }
  static bool finds_index(const Node& reduce) { return reduce.function == "argmax" || reduce.function == "argmin"; }
  static std::string first(const Node& reduce) { return reduce.function == "argmax" ? "FirstLarger" : "FirstSmaller"; }
  // Registers are laid out for the longest line of the declared sizes; the loop behind them makes any other right too.
  bool longer_lines_possible() const { return !is_literal(columns_); }

  // Where statements of a pass stand.
  struct Spot {
    bool cached = false;          // values may come from and go to registers that outlive the pass
    std::string column, element;  // start of the pack, and this element's column
    std::map<int, std::string> known;
  };

  // Geometry: how many threads, packs and items a line gets.
  void choose_geometry();
  int passes() const;
  void choose_team(std::int64_t packs, std::vector<std::int64_t>& threads);
  void choose_trail(std::int64_t packs, std::vector<std::int64_t>& threads);
  std::int64_t team_packs() const;
  static std::vector<std::int64_t> team_sizes(std::int64_t most);
  template <typename Serves>
  bool any_team(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& blocks, Serves serves) const;
  void choose_ahead(std::int64_t packs, std::vector<std::int64_t>& threads);
  bool team_possible() const;
  bool once() const { return vectorised() && (file_.variant().streamed || last_use_); }
  bool resident() const { return !blocks_.empty(); }
  int kept_count() const;
  bool keepable(int instance) const;

  // Addresses: where a line and its elements lie.
  int single_element_dim() const;
  bool unit_stride(const tensor::Shape& strides) const;
  bool in_packs(const tensor::Shape& strides) const;
  tensor::Extent piece() const;
  static bool varies(const tensor::Shape& strides, const std::vector<char>& which, char wanted);
  bool same_in_pack(const tensor::Shape& strides) const;
  void line_coordinates();
  cuda_code::Sum offset(const tensor::Shape& strides, const tensor::Extent& start);
  std::string element_offset(const tensor::Shape& strides, const std::string& column);
  void bind(int id);
  void read_named(int id);
  void prepare();
  void join_team();
  void fetch_ahead();
  std::string ahead_at(std::size_t which) const;  // where a thread finds its pack of a leaf

  // Passes over a line: what each reads, keeps and writes.
  bool reducing(int phase, int id) const;
  std::vector<int> targets(int phase) const;
  void collect(int id, int phase, bool cached, std::set<int>& leaves) const;
  void reach(int id, int phase, std::set<int>& out) const;
  void mark_kept(int phase, const std::vector<int>& wanted);
  void pass(int phase);
  void walk_items(int phase, const std::vector<int>& wanted);
  void walk_rest(int phase, const std::vector<int>& wanted, const std::string& from, const std::string& step = "");
  void load_packs(const std::set<int>& leaves);
  void walk_stream(int phase, const std::vector<int>& wanted);

  // Columns: neighbouring threads on neighbouring lines, each on one or on a pack of them.
  bool beside() const { return beside_ > 1; }
  std::string lanes() const { return beside() ? "(" + width_ + " / " + std::to_string(beside_) + ")" : width_; }
  int beside_dim() const;
  int lines_beside() const;
  bool varies_beside(const tensor::Shape& strides) const;
  std::string aligned_beside();
  void each_line(const std::string& text);
  void elements_beside(int phase, const Spot& spot);
  void walk_columns_kept(int phase, const std::vector<int>& wanted);
  void walk_columns(int phase, const std::vector<int>& wanted);

  // Values of one element, and the packs that they come from and go to.
  void load(int id, const std::string& to, const std::string& column);
  std::string value(int id, int phase, Spot& spot);
  std::string computed(int id, const std::function<std::string(int)>& operand_of);
  std::string statement(int id, const std::function<std::string(int)>& operand_of);
  void line_values(int phase);
  void element(int phase, Spot spot);
  void stores(const std::string& column);
  void pack_loop(int phase, const Spot& spot);
  std::string column_of_item() const;

  // Reductions: what they start from, how two become one.
  std::string neutral(const Node& reduce) const;
  static std::string combination(const Node& reduce);  // the type of what combines two
  static std::string combine(const Node& reduce) { return combination(reduce) + "()"; }
  std::string accumulator_type(int id) const;
  void reduce(int phase);

  // Blocks of a team that meet once for two reductions, at once or when they have gone on to the next line.
  void choose_meeting();
  bool meets_once() const { return !team_.empty() && meeting_.first >= 0; }
  bool trails() const { return meets_once() && file_.variant().rows == Variant::Rows::team_trailing; }
  std::string meeting_place() const;
  void shares();
  void stand_in();
  void give();
  void take();
  void come_back();

  // Reductions over all lines.
  std::int64_t most_totals_blocks() const { return 32 * file_.machine().multiprocessors; }
  void begin_totals();
  void finish_totals();
  const Node& total(std::size_t root) const { return dag_.nodes[static_cast<std::size_t>(totals_[root])]; }

  // The kernel around the body, and its launch.
  void finish();
  void emit();
  void include(tensor::Dtype dtype);
  std::string aligned();
  void launch();

  // What it moves, and what it is good at.
  void account();

  const Region& region_;
  const Dag& dag_;
  Walk walk_;
  KernelFile& file_;
  int splits_;
  std::string width_;                            // lines of a block that walks columns
  int beside_ = 1;                               // neighbouring ones of each of its threads
  std::string blocks_, per_multiprocessor_;      // blocks that walk many lines each; empty: a line for each
  std::string team_, parts_;                     // of several blocks to a line; empty: one is enough
  std::vector<int> totals_;                      // reductions over all lines, of each root; nodes
  std::string totals_blocks_;                    // blocks that walk many lines each for them
  std::vector<int> ahead_;                       // leaves whose next line is on its way to shared memory
  int exchanged_ = 0;
  struct Meeting {
    int first = -1, second = -1;  // the reductions; -1: every one is met for
    int centre = -1;              // the mean, of moments
    int powers = -1;              // the exponentials, of a softmax
  };
  Meeting meeting_;
  std::set<int> early_;    // leaves of the passes before a block comes back to a line
  bool last_use_ = false;  // of what is read now
  std::set<int> passing_;  // leaves that the present pass loads in passing
  std::string name_, threads_, items_, columns_, lines_, index_, line_index_, lane_, body_;
  int vec_ = 1, last_phase_ = 0, indent_ = 2;
  std::int64_t most_columns_ = 1;
  bool cached_ = false, rows_per_block_ = false;
  bool pieces_ = true;  // of lines that lie in pieces, all are whole packs
  Arguments arguments_;
  std::vector<std::string> names_, line_at_;
  std::set<int> kept_later_;
  std::vector<int> kept_here_;
  std::map<int, int> first_pass_;
};

}  // namespace cudal1::families
