// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_code/device_code.hpp"
#include "families/costs.hpp"
#include "families/variant.hpp"
#include "outcome/applied_technique.hpp"
#include "schedule/machine.hpp"
#include "tensor/shape.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cudal1::families {

using outcome::AppliedTechnique;
using outcome::Technique;

// An answer under construction.
class KernelFile {
 public:
  // `scalars` are the task's scalar parameters; generated names avoid them and every other name in `names`.
  KernelFile(const Variant& variant, const schedule::Machine& machine, std::map<std::string, tensor::Dtype> scalars, std::set<std::string> names)
      : variant_(variant), machine_(machine), scalars_(std::move(scalars)), names_(std::move(names)) {}

  KernelFile in(const Variant& variant) const;  // what is written so far, to be gone on with in another variant
  const std::map<std::string, tensor::Dtype>& scalars() const { return scalars_; }
  const Variant& variant() const { return variant_; }
  const schedule::Machine& machine() const { return machine_; }
  // A name that nothing else in the file has: "rows", then "rows_2".
  std::string unique(const std::string& name);
  // Declares a tunable; only the first family of a file gets more than one value, so that families do not multiply.
  std::string tune(const std::string& name, std::vector<std::int64_t> values, const std::string& condition = "");
  bool tunes() const { return !variant_.simple && !family_taken_; }  // whether a tunable gets more than one value
  // `initial`: what each element is before the first launch; empty: anything.
  void scratch(const std::string& name, std::string_view dtype, const tensor::Shape& shape, const std::string& initial = "");
  // The same under a name like this one, which it returns.
  std::string new_scratch(const std::string& name, std::string_view dtype, const tensor::Shape& shape, const std::string& initial = "");
  // One scratch for each of the first `count` names: the halves of a number.
  std::vector<std::string> new_scratches(int count, const std::vector<std::string>& names, std::string_view dtype, const tensor::Shape& shape);
  void launch(const std::string& text) { launches_.push_back(text); }
  // A file of device code (cuda_code/device_code.hpp) in front of the kernels, each text once; or a kernel made of it. What the file
  // says it needs comes first.
  void helper(std::string_view device_file, const std::vector<cuda_code::Hole>& holes = {});
  void kernel(std::string_view device_file, const std::vector<cuda_code::Hole>& holes);
  void include(tensor::Dtype dtype);  // the header of a type of 16 bits
  void code(const std::string& text);  // a whole function, its parameters marked as Arguments gave them out
  void technique(Technique technique, const std::string& sentence) { apply(techniques_, technique, sentence); }
  // Of one kernel; `share` of the memory's rate is what its blocks can ask for.
  void traffic(double bytes, double operations, double share = 1) {
    work_.push_back({bytes, bytes / share, operations});
  }
  // Of a kernel in front of one that arithmetic bounds: its time is added, whatever the other one's bytes take.
  void preparation(double bytes, double share = 1, double more_seconds = 0);
  void end_family() { family_taken_ = family_taken_ || !tunables_.empty(); }

  const std::vector<AppliedTechnique>& techniques() const { return techniques_; }
  const std::vector<Work>& work() const { return work_; }  // one for each kernel
  const std::vector<std::string>& launches() const { return launches_; }

  // The whole file; `of` is the task's name and digest for the first directive.
  std::string text(const std::string& of, const std::string& id) const;
  // Equal for two files that offer the same members, whichever of them comes first.
  std::string members() const;

 private:
  void need(const cuda_code::DeviceFile& file);
  struct Tunable {
    std::string name;
    std::vector<std::int64_t> values;
    std::string condition;
  };
  Variant variant_;
  schedule::Machine machine_;
  std::map<std::string, tensor::Dtype> scalars_;
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // that names already have
  std::vector<Tunable> tunables_;
  std::vector<std::string> scratches_, launches_, helpers_;
  std::set<std::string> includes_;
  std::vector<std::string> functions_;  // as code() got them
  std::set<std::string> generated_;     // by unique()
  std::vector<AppliedTechnique> techniques_;
  bool family_taken_ = false;
  std::vector<Work> work_;
};

}  // namespace cudal1::families
