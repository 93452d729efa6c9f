// SPDX-License-Identifier: Apache-2.0
//$ The sums of a straight convolution's tile: its windows times the weights of $down$ taps down, at each tap across.

        if (steps > 0) {
          wait(windows_full + 8 * (team * WINDOWS + windows.slot), windows.parity);
          read_at(windows.slot, 0);
        }
        for (int step = 0; step < steps; ++step) {
          const u32 slot = windows.slot;
          windows.next();
          for (int tap = 0; tap < TW; ++tap, ring.next()) {
            u32 held[PARTS][READ][BLOCK_W][4];
#pragma unroll
            for (int i = 0; i < PARTS * READ * BLOCK_W * 4; ++i)
              held[i / 4 / BLOCK_W / READ][i / 4 / BLOCK_W % READ][i / 4 % BLOCK_W][i % 4] = tf32_bits(read[i / 4 / BLOCK_W / READ][i / 4 / BLOCK_W % READ][i / 4 % BLOCK_W][i % 4]);
            wait(full + 8 * ring.slot, ring.parity);
            const u32 weights = weights_start + ring.slot * SLOT;
            product_fence();
#pragma unroll
            for (int i = 0; i < PARTS * $down$ * BLOCKS; ++i) {
              const int part = i / BLOCKS / $down$, tap_h = i / BLOCKS % $down$, block = i % BLOCKS;
              multiply_tf32(sum[block], held[part][block / BLOCK_W * STRIDE_H + tap_h * STEP_H][block % BLOCK_W], plain_descriptor(weights + (part * MOST_H + tap_h) * TAP, TAP / 2, 128), 1);
            }
            product_commit();
            // What comes next is read while this is multiplied.
            if (tap + 1 < TW) {
              read_at(slot, tap + 1);
            } else if (step + 1 < steps) {
              wait(windows_full + 8 * (team * WINDOWS + windows.slot), windows.parity);
              read_at(windows.slot, 0);
            }
            product_wait<0>();
#pragma unroll
            for (int block = 0; block < BLOCKS; ++block) hold(sum[block]);
            if (!kept && lane == 0) arrive(empty + 8 * ring.slot);
          }
          __syncwarp();
          if (lane == 0) arrive(windows_empty + 8 * (team * WINDOWS + slot));
        }
