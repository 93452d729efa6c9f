// SPDX-License-Identifier: Apache-2.0
#include "kernel/drafter.hpp"

#include "base/text.hpp"
#include "kernel/constant_values.hpp"
#include "kernel/names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

// Headers of constants that come along with the host's, which are taken out.
std::string missing_includes(const std::string& code) {
  std::string text;
  const auto has = [&](std::string_view word) { return code.find(word) != std::string::npos; };
  if ((has("FLT_MAX") || has("FLT_MIN") || has("FLT_EPSILON") || has("DBL_MAX")) && !has("<cfloat>") && !has("<float.h>")) text += "#include <cfloat>\n";
  if ((has("INT_MAX") || has("INT_MIN") || has("UINT_MAX")) && !has("<climits>") && !has("<limits.h>")) text += "#include <climits>\n";
  return text;
}

}  // namespace

DraftedFile::DraftedFile(const std::string& source) {
  for (const auto& [alias, type] : type_aliases(source)) aliases.emplace(alias, type);
  aliases.emplace("scalar_t", "float");  // what AT_DISPATCH macros call the element type
}

Drafter::Drafter(const std::string& source, const std::string& name, const HostSource& host, const std::vector<Signature>& kernels, const KernelSource& expanded, DraftedFile& file,
                 DraftChoice choice)
    : source_(source), name_(name), host_(host), signatures_(kernels), expanded_(expanded), choice_(std::move(choice)), translator_(host_), file_(file) {
  choose_launches();
}

Draft Drafter::run() {
  for (const SetAside& piece : host_.set_aside) draft_.set_aside.push_back(piece.what);
  for (const HostLaunch& launch : launches_) add_launch(launch);
  if (launches_.empty())
    if (const Signature* signature = signature_named(choice_.kernel)) add_unlaunched(*signature);
  find_roles();
  infer_shapes();
  for (DraftedScalar& scalar : task_.scalars)
    if (scalar.value.empty()) {
      scalar.value = guessed_real(scalar.name);
      scalar.guessed = true;
    }
  task_.sizes = translator_.sizes();
  for (const auto& [atom, value] : index_sizes_) task_.unvalued_sizes.push_back(value);
  std::sort(task_.unvalued_sizes.begin(), task_.unvalued_sizes.end());
  task_.unvalued_sizes.erase(std::unique(task_.unvalued_sizes.begin(), task_.unvalued_sizes.end()), task_.unvalued_sizes.end());
  FilledConstants constants;
  const std::string code = with_constant_values(kept_code(), expanded_, file_.aliases, constants);
  for (const std::string& name : constants.values) task_.guessed.push_back(fmt::format("values of __constant__ {}: host code fills it", name));
  for (const auto& array : constants.arrays) {
    DraftedBuffer& input = task_.buffers.emplace_back();
    input.name = free_name(array.name + "_values");
    input.dtype = array.dtype;
    input.shape = fmt::format("[{}]", array.count);
    input.input = true;
    task_.copies.emplace_back(array.name, input.name);
    remark(fmt::format("{} is filled by host code: an input is copied into it", array.name));
  }
  draft_.text = draft_directives(task_, name_) + "\n" + code;
  draft_.to_complete = std::move(task_.to_complete);
  draft_.guessed = std::move(task_.guessed);
  draft_.remarks = std::move(task_.remarks);
  draft_.kernel = drafted_kernel_;
  return std::move(draft_);
}

bool Drafter::straight() const {
  return launches_.size() <= 1 || std::none_of(launches_.begin(), launches_.end(), [](const HostLaunch& l) { return l.conditional || l.in_loop; });
}

const Signature* Drafter::signature_named(const std::string& name) const {
  for (const Signature& signature : signatures_)
    if (signature.name == name || signature.name.ends_with("::" + name)) return &signature;
  return signatures_.empty() || !name.empty() ? nullptr : &signatures_.front();
}

int Drafter::line_of_token(std::size_t index) const { return index < host_.tokens.size() ? host_.tokens[index].line : 0; }

std::string Drafter::raw(TokenRange range) const { return source_text(source_, host_.tokens, range.from, range.to); }

std::string Drafter::free_name(std::string name) const {
  if (name.empty()) name = "x";
  if (!reserved_for(name).empty()) name += "_";
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(task_.buffers.begin(), task_.buffers.end(), [&](const DraftedBuffer& b) { return b.name == candidate; }) ||
           std::any_of(task_.scalars.begin(), task_.scalars.end(), [&](const DraftedScalar& s) { return s.name == candidate; }) ||
           std::find(task_.unvalued_sizes.begin(), task_.unvalued_sizes.end(), candidate) != task_.unvalued_sizes.end() || translator_.sizes().contains(candidate);
  };
  if (!taken(name)) return name;
  for (int i = 2;; ++i)
    if (const std::string candidate = fmt::format("{}{}", name, i); !taken(candidate)) return candidate;
}

std::string Drafter::bare_size(const std::string& wanted) {
  const std::string name = free_name(wanted.empty() ? "n" : wanted);
  task_.unvalued_sizes.push_back(name);
  return name;
}

void Drafter::find_roles() {
  const bool any = std::any_of(task_.buffers.begin(), task_.buffers.end(), [](const DraftedBuffer& b) { return b.output && !b.scratch; });
  for (DraftedBuffer& buffer : task_.buffers) {
    if (!any) buffer.scratch = false;
    if (buffer.scratch) remark(fmt::format("{} is written by one launch and read by a later one: drafted as scratch", buffer.name));
  }
}

std::string Drafter::kept_code() const {
  std::string text;
  std::size_t at = 0;
  for (const SetAside& piece : host_.set_aside) {
    if (piece.from < at) continue;
    text += source_.substr(at, piece.from - at);
    at = std::max(at, piece.to);
    // The newline behind what is taken out goes with it.
    if (at < source_.size() && source_[at] == '\n' && (text.empty() || text.back() == '\n')) ++at;
  }
  text += source_.substr(std::min(at, source_.size()));
  std::string out;
  int blank = 1;
  for (const std::string& line : base::split_lines(text)) {
    blank = base::trim(line).empty() ? blank + 1 : 0;
    if (blank <= 1) out += line + "\n";
  }
  return missing_includes(out) + out;
}

}  // namespace cudal1::kernel
