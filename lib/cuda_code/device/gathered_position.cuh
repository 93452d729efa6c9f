// SPDX-License-Identifier: Apache-2.0
//$ What a thread of a convolution needs to gather inputs: the taps by depth, and its position.

  const auto tap = [&](int k) {
    if (k >= depth) return Tap{0, -1, 0, 0, NOWHERE};
    const int channel = k / (TD * TH * TW), d = k / (TH * TW) % TD, h = k / TW % TH, w = k % TW;
    return Tap{((channel * $D$ + d * $step_d$) * $H$ + h * $step_h$) * $W$ + w * $step_w$,
               channel * $weight_channel$ + ((first_d + d * $jump_d$) * $KH$ + first_h + h * $jump_h$) * $KW$ + first_w + w * $jump_w$,
               d * $step_d$, h * $step_h$, w * $step_w$};
  };
  // The position that this thread gathers for; beyond the last one its results are dropped.
  const int own = threadIdx.x % $tile_p$, position = min($block$ * $tile_p$ + own, positions - 1);
  const int d0 = position / (QH * QW) % QD * $times_d$ + add_d, h0 = position / QW % QH * $times_h$ + add_h;
  const int w0 = position % QW * $times_w$ + add_w;
  const float* x = $X$ + (size_t(position / (QD * QH * QW)) * $all_channels$ + group * $channels$) * $plane$;
  const int base = (d0 * $H$ + h0) * $W$ + w0;
  const float* kernel = $K$ + size_t(group) * $weight_group$;
