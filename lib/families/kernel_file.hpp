// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/applied_technique.hpp"
#include "schedule/machine.hpp"
#include "tensor/shape.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cudal1::families {

// How a candidate is to be generated; every family reads the choices that concern it.
struct Style {
  std::string name = "fused";
  bool fuse = true;       // operations into their neighbours' kernels
  bool vector = true;     // 16-byte accesses where rows allow
  bool packs = false;     // threads take several neighbouring columns at once
  bool columns = false;   // threads of a pool of unaligned rows, or of a depthwise convolution, make one column each
  bool cache = true;      // a line is kept in registers between its passes
  bool stream = false;    // data used once is marked as such for the caches
  bool team = false;      // lines longer than a block's registers are held by several blocks
  bool meet_once = false; // they wait for each other once per line where two reductions allow it
  bool trail = false;     // and go on to the next line before they wait; this one is read again from the L2 cache
  bool ahead = false;     // blocks walk many long lines, the next one on its way to shared memory meanwhile
  bool apart = false;     // of several reductions of few long lines too, each in kernels of its own
  bool totals = false;    // what is reduced over all lines is reduced by the blocks that walk them
  bool split = true;      // few long lines are reduced by several blocks each
  bool wide = false;      // more work per thread
  bool tune = true;       // offer a family of geometries; off: one member
  bool tiles = true;      // convolutions as products of tiles
  bool gather = false;    // every input of a convolution once per tap, also where taps could share it
  bool attention = true;  // one kernel for the whole of an attention
  bool tensor = false;    // products on the tensor cores
  int cut = -1;           // a node of the dag that has a kernel of its own though it could be fused; -1: none
  bool exact = true;      // they are as exact as float32; off: operands are rounded to TF32
};

using outcome::AppliedTechnique;
using outcome::Technique;

// An answer under construction.
class KernelFile {
 public:
  // `scalars` are the task's scalar parameters; generated names avoid them and every other name in `names`.
  KernelFile(const Style& style, const schedule::Machine& machine, std::map<std::string, tensor::Dtype> scalars, std::set<std::string> names)
      : style_(style), machine_(machine), scalars_(std::move(scalars)), names_(std::move(names)) {}

  const std::map<std::string, tensor::Dtype>& scalars() const { return scalars_; }
  const Style& style() const { return style_; }
  const schedule::Machine& machine() const { return machine_; }
  // A name that nothing else in the file has: "rows", then "rows_2".
  std::string unique(const std::string& name);
  // Declares a tunable; only the first family of a file gets more than one value, so that families do not multiply.
  std::string tune(const std::string& name, std::vector<std::int64_t> values, const std::string& condition = "");
  bool tunes() const { return style_.tune && !family_taken_; }  // whether a tunable gets more than one value
  // `initial`: what each element is before the first launch; empty: anything.
  void scratch(const std::string& name, std::string_view dtype, const tensor::Shape& shape, const std::string& initial = "");
  void launch(const std::string& text) { launches_.push_back(text); }
  void helper(std::string_view text);  // device code in front of the kernels, each text once
  void include(const std::string& name) { includes_.insert(name); }
  void code(const std::string& text);  // a whole function, its parameters marked as Arguments gave them out
  void technique(Technique technique, const std::string& sentence) { apply(techniques_, technique, sentence); }
  // Of one kernel; `share` of the memory's rate is what its blocks can ask for.
  void traffic(double bytes, double operations, double share = 1) {
    bytes_ += bytes;
    slowed_bytes_ += bytes / share;
    operations_ += operations;
    ++kernels_;
  }
  void end_family() { family_taken_ = family_taken_ || !tunables_.empty(); }

  const std::vector<AppliedTechnique>& techniques() const { return techniques_; }
  double bytes() const { return bytes_; }                // moved at the first workload
  double slowed_bytes() const { return slowed_bytes_; }  // as many would take as long at the full rate
  double operations() const { return operations_; }
  int kernels() const { return kernels_; }
  const std::vector<std::string>& launches() const { return launches_; }

  // The whole file; `of` is the task's name and digest for the first directive.
  std::string text(const std::string& of, const std::string& id) const;
  // Equal for two files that offer the same members, whichever of them comes first.
  std::string members() const;

 private:
  struct Tunable {
    std::string name;
    std::vector<std::int64_t> values;
    std::string condition;
  };
  Style style_;
  schedule::Machine machine_;
  std::map<std::string, tensor::Dtype> scalars_;
  std::set<std::string> names_;
  std::vector<Tunable> tunables_;
  std::vector<std::string> scratches_, launches_, helpers_;
  std::set<std::string> includes_;
  std::string code_;
  std::vector<AppliedTechnique> techniques_;
  bool family_taken_ = false;
  double bytes_ = 0, slowed_bytes_ = 0, operations_ = 0;
  int kernels_ = 0;
};

}  // namespace cudal1::families
