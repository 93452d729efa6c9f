// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_code/terms.hpp"
#include "families/arguments.hpp"
#include "families/epilogue.hpp"
#include "families/families.hpp"
#include "families/row_geometry.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace cudal1::families {

// Writes one kernel that walks along rows (lines, in generated code), in the geometry and with the passes that it is given as values.
// Statements of a pass appear in two places, once for what registers hold and once for the rest of a long row, so they are produced
// by functions of the place. Each group below has a file of its own: row_tunables.cpp and so on.
class RowWriter {
 public:
  // `totals`: reductions over all rows, of each root, which the blocks make that walk them; they leave parts.
  RowWriter(const Region& region, const Dag& dag, Walk walk, KernelFile& file, int splits, std::vector<int> totals = {});

  void write();
  tensor::Extent totals_blocks() const;  // how many parts there are

 private:
  using Level = Instance::Level;
  const Node& node(int instance) const { return dag_.at(at(instance).node); }
  const Instance& at(int instance) const { return region_.at(instance); }
  bool vectorised() const { return geometry_.vec > 1; }
  void line(const std::string& text) { body_ += std::string(static_cast<std::size_t>(indent_), ' ') + text + "\n"; }
  // What `body` writes stands indented between `head` and `end`.
  template <typename Body>
  void scope(const std::string& head, Body body, const std::string& end = "}") {
    line(head);
    indent_ += 2;
    body();
    indent_ -= 2;
    line(end);
  }
  // The same for each pack, or element, that registers hold of a row.
  template <typename Body>
  void each_item(const std::string& items, Body body) {
    line("#pragma unroll");
    scope(fmt::format("for (int item = 0; item < {}; ++item) {{", items), [&] {
      line(fmt::format("const {} column = {};", index_, column_of_item()));
      body();
    });
  }
  bool several_rows() const { return !is_one(region_.rows()); }
  std::string whole() const { return vectorised() ? "WHOLE" : "false"; }
  static bool finds_index(const Node& reduce) { return reduce.reduces("argmax") || reduce.reduces("argmin"); }
  static std::string first(const Node& reduce) { return reduce.reduces("argmax") ? "FirstLarger" : "FirstSmaller"; }
  // Registers are laid out for the longest row of the declared sizes; the loop behind them makes any other right too.
  bool longer_lines_possible() const { return !is_literal(columns_); }

  // Where statements of a pass stand.
  struct Spot {
    bool cached = false;          // values may come from and go to registers that outlive the pass
    std::string column, element;  // start of the pack, and this element's column
    std::map<int, std::string> known;
  };

  // Geometry: the tunables, and what is asked of it often.
  void declare_geometry();
  bool once() const { return vectorised() && (file_.variant().streamed || last_use_); }
  bool persistent() const { return geometry_.blocks != RowGeometry::Blocks::short_lived; }

  // Addresses: where a row and its elements lie.
  void line_coordinates();
  cuda_code::Sum offset(const tensor::Shape& strides, const tensor::Extent& start) { return address_sum(strides, start, line_at_, arguments_); }
  std::string element_offset(const tensor::Shape& strides, const std::string& column);
  void bind(int id);
  void read_indirect(int id);
  void prepare();
  void begin_columns();
  void begin_persistent();
  void begin_rows();
  void begin_pointwise();
  void join_team();
  void prefetch();
  std::string prefetched_at(std::size_t which) const;  // where a thread finds its pack of a leaf

  // Passes over a row: what each reads, keeps and writes.
  void mark_kept(int phase, const std::vector<int>& wanted);
  void pass(int phase);
  void walk_items(int phase, const std::vector<int>& wanted);
  void walk_rest(int phase, const std::vector<int>& wanted, const std::string& from, const std::string& step = "");
  void load_packs(const std::set<int>& leaves);
  void walk_stream(int phase, const std::vector<int>& wanted);

  // Columns: neighbouring threads on neighbouring rows, each on one or on a pack of them.
  bool beside() const { return geometry_.beside > 1; }
  std::string lanes() const { return beside() ? "(" + width_ + " / " + std::to_string(geometry_.beside) + ")" : width_; }
  void each_line(const std::string& text);
  void elements(int phase, bool cached);
  void load_of_column(int id, const std::string& to, bool pack);
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

  // Blocks of a team that exchange two reductions at once (row_passes.hpp), or when they have gone on to the next row.
  bool meets_once() const { return !team_.empty() && meeting_.first >= 0; }
  bool trails() const { return meets_once() && file_.variant().rows == Variant::Rows::team_trailing; }
  std::string meeting_place() const;
  void shares();
  void stand_in();
  void give();
  void take();
  void come_back();

  // Reductions over all rows.
  void begin_totals();
  void finish_totals();
  const Node& total(std::size_t root) const { return dag_.at(totals_[root]); }

  // The kernel around the body, and its launch.
  void finish();
  void emit();
  std::string aligned();
  void launch();

  // What it moves, and what it is good at.
  void account();
  double moved_bytes() const;
  void tell_techniques();

  const Region& region_;
  const Dag& dag_;
  Walk walk_;
  KernelFile& file_;
  int splits_;
  std::vector<int> totals_;  // nodes
  RowPasses passes_;
  RowGeometry geometry_;
  RowLayout layout_;
  Meeting meeting_;
  std::string width_;                            // rows of a block that walks columns
  std::string blocks_, per_multiprocessor_;      // blocks that walk many rows each; empty: a row for each
  std::string team_, parts_;                     // of several blocks to a row; empty: one is enough
  std::string totals_blocks_;                    // blocks that walk many rows each for them
  std::vector<int> prefetched_;                       // leaves whose next row is on its way to shared memory
  int exchanged_ = 0;
  std::set<int> early_;    // leaves of the passes before a block comes back to a row
  bool last_use_ = false;  // of what is read now
  std::set<int> passing_;  // leaves that the present pass loads in passing
  std::string name_, threads_, items_, columns_, lines_, index_, line_index_, lane_, body_;
  int indent_ = 2;
  Arguments arguments_;
  std::map<int, std::string> names_;  // of instances
  std::vector<std::string> line_at_;
  std::set<int> kept_later_;
  std::vector<int> kept_here_;
};

}  // namespace cudal1::families
