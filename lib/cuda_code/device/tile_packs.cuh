// SPDX-License-Identifier: Apache-2.0
//$ Where the packs of a tile come from and go to; what follows copies one that is whole.

#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * STEP / $pack$; pack += 128) {
    const int line = ALONG_DEPTH ? pack / (STEP / $pack$) : pack % (TILE / $pack$) * $pack$;
    const int k = ALONG_DEPTH ? pack % (STEP / $pack$) * $pack$ : pack / (TILE / $pack$);
    const int at_line = line_start + line, at_depth = depth_start + k;
    const $element$* at = from + (ALONG_DEPTH ? size_t(at_line) * depth + at_depth : size_t(at_depth) * lines + at_line);
    $element$* to = tile + (ALONG_DEPTH ? line * (STEP + $pack$) + k : k * (TILE + 8) + line);
    if (WHOLE) {
      const bool inside = at_line < lines && at_depth < depth;
