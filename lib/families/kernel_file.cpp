// SPDX-License-Identifier: Apache-2.0
#include "families/kernel_file.hpp"

#include "cuda_code/parameter_names.hpp"
#include "families/costs.hpp"
#include "families/shared_kernels.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::families {

namespace {

constexpr std::size_t network = 24;   // launches; a file of more has layers that repeat

}  // namespace

KernelFile KernelFile::in(const Variant& variant) const {
  KernelFile result = *this;
  result.variant_ = variant;
  return result;
}

std::string KernelFile::unique(const std::string& name) {
  std::string result = name;
  for (int& number = numbers_[name]; !names_.insert(result).second; ++number) result = fmt::format("{}_{}", name, number + 2);
  generated_.insert(result);
  return result;
}

std::string KernelFile::tune(const std::string& name, std::vector<std::int64_t> values, const std::string& condition) {
  const std::string result = unique(name);
  if (!tunes()) values.resize(1);
  tunables_.push_back({result, values, values.size() == 1 ? "" : condition});
  return result;
}

void KernelFile::scratch(const std::string& name, std::string_view dtype, const tensor::Shape& shape,
                         const std::string& initial) {
  std::vector<std::string> extents;
  for (const tensor::Extent& extent : shape) extents.push_back(extent.text);
  if (extents.empty()) extents.push_back("1");
  scratches_.push_back(fmt::format("{}: {}[{}]{}", name, dtype, fmt::join(extents, ", "), initial.empty() ? "" : " = " + initial));
}

std::string KernelFile::new_scratch(const std::string& name, std::string_view dtype, const tensor::Shape& shape, const std::string& initial) {
  const std::string result = unique(name);
  scratch(result, dtype, shape, initial);
  return result;
}

std::vector<std::string> KernelFile::new_scratches(int count, const std::vector<std::string>& names, std::string_view dtype, const tensor::Shape& shape) {
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) result.push_back(new_scratch(names[static_cast<std::size_t>(i)], dtype, shape));
  return result;
}

void KernelFile::include(tensor::Dtype dtype) {
  if (dtype == tensor::Dtype::float16) includes_.insert("cuda_fp16.h");
  if (dtype == tensor::Dtype::bfloat16) includes_.insert("cuda_bf16.h");
}

void KernelFile::need(const cuda_code::DeviceFile& file) {
  for (const std::string& needed : file.needs)
    if (needed == "hopper.cuh" || needed == "cuda_fp16.h") includes_.insert(needed);
    else helper(needed == "exact.cuh" && !variant_.exact() ? "rounded.cuh" : needed);
}

void KernelFile::kernel(std::string_view device_file, const std::vector<cuda_code::Hole>& holes) {
  need(cuda_code::device_file(device_file));
  code(cuda_code::device_code(device_file, holes));
}

void KernelFile::helper(std::string_view device_file, const std::vector<cuda_code::Hole>& holes) {
  need(cuda_code::device_file(device_file));
  std::string text = cuda_code::device_code(device_file, holes);
  if (std::find(helpers_.begin(), helpers_.end(), text) == helpers_.end()) helpers_.push_back(std::move(text));
}

void KernelFile::code(const std::string& text) { functions_.push_back(text); }

void KernelFile::preparation(double bytes, double share, double more_seconds) {
  traffic(bytes, costs::as_operations(bytes / (share * costs::prepared_share * costs::memory_rate) + more_seconds));
}

std::string KernelFile::members() const {
  KernelFile ordered = *this;
  for (Tunable& each : ordered.tunables_) std::sort(each.values.begin(), each.values.end());
  return ordered.text("", "");
}

std::string KernelFile::text(const std::string& of, const std::string& id) const {
  std::string result = fmt::format("//@ of      {}\n", of);
  for (const Tunable& each : tunables_)
    result += fmt::format("//@ tune    {} = {}{}\n", each.name, fmt::join(each.values, " | "),
                          each.condition.empty() ? "" : " if " + each.condition);
  for (const std::string& each : scratches_) result += fmt::format("//@ scratch {}\n", each);
  std::map<std::string, std::string> tunables;
  for (const Tunable& each : tunables_)
    if (each.values.size() == 1) tunables[each.name] = std::to_string(each.values[0]);
  // In a short file each kernel is better read under its own name.
  const SharedKernels shared = launches_.size() > network ? share_kernels(functions_, generated_, tunables) : SharedKernels{functions_, {}};
  for (const std::string& each : launches_) result += fmt::format("//@ launch  {}\n", shared.launch(each));
  result += fmt::format("// playbook: {}\n", id);
  for (const std::string& each : includes_) result += fmt::format("#include <{}>\n", each);
  result += "\n";
  for (const std::string& each : helpers_) result += each + "\n";
  for (const std::string& each : shared.functions) result += cuda_code::without_marks(each) + "\n";
  while (result.size() > 1 && result[result.size() - 2] == '\n') result.pop_back();
  return result;
}

}  // namespace cudal1::families
