// SPDX-License-Identifier: Apache-2.0
#include "sim/tensor.hpp"

namespace cudal1::sim {

unsigned register_elements(Element element) {
  const unsigned bytes = bytes_of(element);
  return bytes >= 4 ? 1 : 4 / bytes;
}

unsigned fragment_elements(const TensorFacts& facts, Part part) { return facts.rows(part) * facts.columns(part) / 32; }

Cell fragment_cell(const TensorFacts& facts, Part part, unsigned lane, unsigned index) {
  const unsigned group = lane / 4, thread = lane % 4, rows = facts.rows(part), columns = facts.columns(part);
  if (part == Part::c || part == Part::d) {
    const bool known = !facts.warp_level || (facts.m == 16 && facts.n == 16) || facts.m == 8;
    if (known && facts.m == 16) return {group + 8 * (index >> 1 & 1), 2 * thread + (index & 1) + 8 * (index >> 2)};
    if (known && facts.n == 8) return {group, 2 * thread + index};
  } else if (!facts.warp_level) {
    // A register holds `packed` neighbours along k; four lanes of a group stand side by side.
    const unsigned packed = register_elements(facts.element(part)), reg = index / packed, within = index % packed;
    if (part == Part::b) return {thread * packed + within + 4 * packed * reg, group};
    if (facts.m == 8) return {group, thread * packed + within + 4 * packed * reg};
    return {group + 8 * (reg & 1), thread * packed + within + 4 * packed * (reg >> 1)};
  }
  // wmma leaves the layout open: the matrix in row order, split evenly.
  const unsigned position = lane * (rows * columns / 32) + index;
  return {position / columns, position % columns};
}

}  // namespace cudal1::sim
