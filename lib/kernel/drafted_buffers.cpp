// SPDX-License-Identifier: Apache-2.0
#include "kernel/drafter.hpp"

#include "kernel/element_type.hpp"
#include "kernel/kernel_usage.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

namespace cudal1::kernel {

namespace {

// "d_A", "dev_out", "a_d", "x_gpu" → what the author means.
std::string plain_name(std::string name) {
  for (const std::string_view prefix : {"d_", "dev_", "device_", "gpu_", "cuda_"})
    if (name.starts_with(prefix) && name.size() > prefix.size()) return name.substr(prefix.size());
  for (const std::string_view suffix : {"_d", "_dev", "_device", "_gpu"})
    if (name.ends_with(suffix) && name.size() > suffix.size()) return name.substr(0, name.size() - suffix.size());
  return name;
}

}  // namespace

DraftedBuffer* Drafter::buffer_for(const std::string& key, const Signature& signature, const Parameter& parameter, const TypeNames& types, bool behind_start) {
  for (DraftedBuffer& buffer : task_.buffers)
    if (buffer.key == key) {
      use(buffer, signature, parameter, behind_start);
      return &buffer;
    }
  DraftedBuffer buffer;
  buffer.key = key;
  const bool single = launches_.size() <= 1;
  buffer.name = free_name(single && !parameter.name.empty() ? parameter.name : plain_name(key));
  const auto dtype = dtype_of(parameter.type, types);
  if (dtype) {
    buffer.dtype = *dtype;
    const auto scalar = scalar_type(parameter.type, types);
    if (scalar && scalar->kind == ScalarType::Kind::unsigned_integer && scalar->size > 1 && buffer.values.empty()) buffer.values = "randint(0, 8)";
  } else if (const auto elements = elements_of(plain_type(parameter.type, types), file_.aliases, source_)) {
    buffer.dtype = elements->first;
    buffer.width = elements->second;
    remark(fmt::format("{} is {}: drafted as {} with {} to each element", buffer.name, parameter.type, tensor::name(buffer.dtype), buffer.width));
  } else if (auto structure = structure_of(parameter.type, types, source_)) {
    buffer.structure = structure->name;
    if (std::none_of(task_.structures.begin(), task_.structures.end(), [&](const Structure& s) { return s.name == structure->name; })) task_.structures.push_back(*std::move(structure));
    remark(fmt::format("{} is {}: its members have values of their own", buffer.name, parameter.type));
  } else if (plain_type(parameter.type, types) == "void") {
    note(fmt::format("type of {}: {} says no element type", buffer.name, parameter.type));
    return nullptr;
  } else {
    note(fmt::format("type of {}: {} is not known to a plan; a structure of plain members is said in a struct line", buffer.name, parameter.type));
    return nullptr;
  }
  task_.buffers.push_back(buffer);
  use(task_.buffers.back(), signature, parameter, behind_start);
  return &task_.buffers.back();
}

void Drafter::use(DraftedBuffer& buffer, const Signature& signature, const Parameter& parameter, bool behind_start) {
  const bool constant = parameter.type.substr(0, parameter.type.find('*')).find("const") != std::string::npos;
  const PointerUsage usage = pointer_usage(host_.tokens, signature.name, parameter.name);
  const KernelFacts& all = facts_of(signature);
  const auto found = all.pointers.find(parameter.name);
  const PointerFacts facts = found == all.pointers.end() ? PointerFacts{} : found->second;
  const bool seen = facts.read || facts.written;  // the reader of accesses follows it
  const bool writes = !constant && (seen ? facts.written || usage.written : usage.written || usage.escapes);
  bool reads = constant || (seen ? facts.read_first || !writes : (usage.read && !usage.first_written) || (!usage.written && !usage.escapes));
  if (writes && facts.atomic) {
    reads = true;
    if (buffer.values.empty() || buffer.values == "randint(0, 8)") buffer.values = "zeros";
  }
  if (writes && !reads && seen && facts.written && (!facts.certain || behind_start) && !buffer.output) {
    reads = true;
    buffer.values = "zeros";
    remark(fmt::format("{} is written only {}: drafted as inout", buffer.name, facts.certain ? "behind its first elements" : "where data says so"));
  }
  // A later launch that reads what an earlier one wrote makes it a buffer between the two.
  if (reads && buffer.output && !buffer.input) buffer.scratch = true;
  if (reads && !buffer.output) buffer.input = true;
  if (writes) {
    buffer.output = true;
    buffer.scratch = false;  // until a later launch reads it
  }
  if (!constant && !writes) remark(fmt::format("{} is not const, but only read: drafted as an input", buffer.name));
  if (writes && !seen && usage.escapes && !usage.written) remark(fmt::format("{} is handed on inside {}: drafted as an output", buffer.name, signature.name));
  if (writes && reads) remark(fmt::format("{} is read and written by {}: drafted as inout", buffer.name, signature.name));
}

const KernelFacts& Drafter::facts_of(const Signature& signature) {
  const auto found = file_.facts.find(signature.name);
  if (found != file_.facts.end()) return found->second;
  return file_.facts.emplace(signature.name, kernel_facts(expanded_, signature.name, {}, std::nullopt)).first->second;
}

void Drafter::infer_shape(const HostLaunch& launch, const std::string& key) {
  DraftedBuffer* buffer = nullptr;
  for (DraftedBuffer& candidate : task_.buffers)
    if (candidate.key == key) buffer = &candidate;
  if (buffer == nullptr || buffer->shape) return;
  const auto& tokens = host_.tokens;
  const TokenRange body = host_.functions[launch.function].body;
  for (std::size_t i = body.from; i + 1 < std::min(launch.at, body.to); ++i) {
    if (!(tokens[i].is("cudaMalloc") || tokens[i].is("cudaMallocManaged") || tokens[i].is("cudaMallocAsync"))) continue;
    std::size_t open = i + 1;
    if (tokens[open].is("<")) open = after_template_list(tokens, open);
    if (open >= body.to || !tokens[open].is("(")) continue;
    const auto arguments = split_arguments(tokens, open + 1, matching_bracket(tokens, open));
    if (arguments.size() < 2 || arguments[0].to == arguments[0].from || !tokens[arguments[0].to - 1].is(key)) continue;
    TokenRange bytes = arguments[1];
    if (bytes.to == bytes.from + 1 && tokens[bytes.from].kind == SourceToken::Kind::identifier)
      if (const auto found = translator_.definition(tokens[bytes.from].text, launch.function, i)) bytes = *found;
    if (const auto count = element_count(bytes, launch, i)) buffer->shape = "[" + *count + "]";
    return;
  }
}

std::optional<std::string> Drafter::element_count(TokenRange bytes, const HostLaunch& launch, std::size_t at) {
  const auto& tokens = host_.tokens;
  for (std::size_t i = bytes.from; i < bytes.to; ++i) {
    if (!tokens[i].is("sizeof") || i + 1 >= bytes.to) continue;
    const std::size_t after = matching_bracket(tokens, i + 1) + 1;
    TokenRange rest{};
    if (i == bytes.from && after < bytes.to && tokens[after].is("*")) rest = {after + 1, bytes.to};
    else if (after == bytes.to && i > bytes.from && tokens[i - 1].is("*")) rest = {bytes.from, i - 1};
    else if (i == bytes.from && after == bytes.to) return "1";
    else return std::nullopt;
    const auto count = translator_.translate(rest, launch.function, at, true);
    return count ? std::optional<std::string>(count->text()) : std::nullopt;
  }
  return std::nullopt;
}

void Drafter::infer_shapes() {
  std::map<std::string, SeenElements> elements;  // by key
  std::map<std::string, std::set<std::string>> index_of;  // "@parameter" of a launch → key, as an atom "@key"
  std::set<std::string> indices, offsets;
  for (const SeenLaunch& seen : seen_launches_) {
    KernelFacts facts = kernel_facts(expanded_, seen.signature->name, seen.constants, seen.launch);
    for (const auto& [parameter, place] : seen.buffers) {
      const auto& [key, offset] = place;
      const auto found = facts.pointers.find(parameter);
      if (found == facts.pointers.end()) continue;
      SeenElements& of = elements[key];
      of.unknown |= found->second.unknown;
      for (Polynomial extent : found->second.extents) {
        for (const auto& [other, to] : seen.buffers) extent = extent.substituted("@" + other, Polynomial::atom("@" + to.first));
        of.extents.push_back(extent + offset);
      }
      for (const Polynomial& stride : found->second.strides)
        if (std::find(of.strides.begin(), of.strides.end(), stride) == of.strides.end()) of.strides.push_back(stride);
      if (found->second.index) indices.insert(key);
      if (found->second.offsets) offsets.insert(key);
    }
  }
  std::map<std::string, Polynomial> known;
  for (auto& [key, of] : elements) {
    SeenElements all = of;
    for (const DraftedBuffer& buffer : task_.buffers)
      if (buffer.key == key && buffer.shape)
        if (const auto whole = Expression::parse(buffer.shape->substr(1, buffer.shape->size() - 2))) all.extents.push_back(polynomial_of(*whole));
    tie_indices(all, known);
  }
  for (DraftedBuffer& buffer : task_.buffers) {
    const auto found = elements.find(buffer.key);
    if (found != elements.end() && buffer.shape) buffer.shape = in_rows(*buffer.shape, found->second, translator_.sizes());
    if (found != elements.end() && !buffer.shape) {
      SeenElements of = found->second;
      for (auto* list : {&of.extents, &of.strides})
        for (Polynomial& p : *list) p = with_index_sizes(p, known);
      if (!of.unknown || !of.extents.empty()) buffer.shape = shape_of(of);
      if (buffer.shape && of.unknown) buffer.guessed = true;
      if (buffer.shape) with_valid_names(*buffer.shape);
    }
    if (tensor::is_floating(buffer.dtype) || !indices.contains(buffer.key)) continue;
    const Polynomial bound = with_index_sizes(Polynomial::atom("@" + buffer.key), known);
    buffer.values = fmt::format("{}{})", offsets.contains(buffer.key) ? "offsets(" : "randint(0, ", bound.text());
  }
}

Polynomial Drafter::with_index_sizes(const Polynomial& p, const std::map<std::string, Polynomial>& known) {
  Polynomial result = p;
  for (int round = 0; round < 3; ++round) {
    const Polynomial before = result;
    for (const auto& [monomial, coefficient] : before.terms())
      for (const std::string& atom : monomial) {
        if (atom[0] != '@') continue;
        if (const auto value = known.find(atom); value != known.end()) {
          result = result.substituted(atom, value->second);
          continue;
        }
        auto& size = index_sizes_[atom];
        if (size.empty()) {
          std::string word;
          for (const char c : atom.substr(1)) word += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
          for (const DraftedBuffer& buffer : task_.buffers)
            if (buffer.key == atom.substr(1)) word = buffer.name;
          size = free_name(word + "_range");
        }
        result = result.substituted(atom, Polynomial::atom(size));
      }
  }
  return result;
}

void Drafter::with_valid_names(const std::string& shape) {
  const auto expression = Expression::parse("max(0, " + shape.substr(1, shape.size() - 2) + ")");
  if (!expression) return;
  for (const std::string& name : expression->names())
    if (!translator_.sizes().contains(name) && std::find(task_.unvalued_sizes.begin(), task_.unvalued_sizes.end(), name) == task_.unvalued_sizes.end() &&
        std::none_of(index_sizes_.begin(), index_sizes_.end(), [&](const auto& size) { return size.second == name; }))
      task_.unvalued_sizes.push_back(name);
}

}  // namespace cudal1::kernel
