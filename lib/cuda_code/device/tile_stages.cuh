// SPDX-License-Identifier: Apache-2.0
//$ The loop of a product whose tiles pass through shared memory in stages: copies are on their way while `left_tile` and the one behind it are multiplied.

  const auto copy = [&](int stage, int k) {
    if (k < end) {
      $copy_tile$<WHOLE, LEFT_ALONG, ROWS, STEP>(tiles + stage * BOTH, left, row_start, rows, k, depth);
      $copy_tile$<WHOLE, RIGHT_ALONG, COLUMNS, STEP>(tiles + stage * BOTH + LEFT, right, column_start, columns, k, depth);
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) copy(stage, begin + stage * STEP);
  int now = 0;
  for (int start = begin; start < end; start += STEP) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    __syncthreads();
    copy((now + STAGES - 1) % STAGES, start + (STAGES - 1) * STEP);
    const $element$* left_tile = tiles + now * BOTH;
    now = (now + 1) % STAGES;
