#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Median time of a device-to-device copy with a cold L2, by PyTorch: what a memory-bound winner is compared with.

  device_copy.py MIB     # MiB read; as many are written
"""
import sys

import torch

mib = int(sys.argv[1])
source = torch.randn(mib << 18, device="cuda")
target = torch.empty_like(source)
flush = torch.empty(256 << 18, device="cuda")
times = []
for _ in range(60):
    flush.zero_()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    target.copy_(source)
    end.record()
    torch.cuda.synchronize()
    times.append(begin.elapsed_time(end))
times = sorted(times[10:])
median = times[len(times) // 2]
print(f"copy of {mib} MiB: {median:.4f} ms, {2 * mib * 1.048576 / median / 1000:.2f} TB/s")
