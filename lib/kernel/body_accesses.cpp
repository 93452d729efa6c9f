// SPDX-License-Identifier: Apache-2.0
#include "kernel/body_reader.hpp"

#include <algorithm>
#include <cstdlib>

namespace cudal1::kernel {

void BodyReader::access(const Value& pointer, const P& index, bool writes, bool reads, bool atomic) {
  if (pointer.kind != Value::Kind::pointer || pointer.buffer.empty()) return;
  PointerFacts& facts = facts_.pointers[pointer.buffer];
  if (reads && !facts.written) facts.read_first = true;
  facts.read |= reads;
  facts.written |= writes;
  facts.atomic |= atomic;
  const P at = pointer.number + index * P::constant(pointer.width) + P::constant(pointer.width - 1);
  // What begins behind the first element leaves a border.
  const auto low = ranges_.bound(at - P::constant(pointer.width - 1), false);
  const bool border = low && !low->terms().empty() && low->never_negative();
  if (writes && data_ == 0 && !border) facts.certain = true;
  const auto high = ranges_.bound(at, true);
  if (!high) {
    facts.unknown = true;
    return;
  }
  const P extent = *high + P::constant(1);
  if (std::find(facts.extents.begin(), facts.extents.end(), extent) == facts.extents.end()) facts.extents.push_back(extent);
  note_strides(facts, at);
}

void BodyReader::note_strides(PointerFacts& facts, const P& at) {
  for (const auto& [monomial, coefficient] : at.terms()) {
    P stride = P::constant(std::abs(coefficient));
    bool counted = false;
    for (const std::string& atom : monomial) {
      if (ValueRanges::is_size(atom)) stride = stride * P::atom(atom);
      else counted = true;
    }
    if (counted && std::find(facts.strides.begin(), facts.strides.end(), stride) == facts.strides.end()) facts.strides.push_back(stride);
    for (const std::string& atom : monomial)
      if (const Variable* found = ranges_.find(atom); found != nullptr && found->kind == Variable::Kind::defined && stride == P::constant(1))
        note_strides(facts, found->a);
  }
}

void BodyReader::flush_read() {
  if (!pending_read_) return;
  access(pending_read_->first, pending_read_->second, false, true);
  pending_read_.reset();
}

}  // namespace cudal1::kernel
