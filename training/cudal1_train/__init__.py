# SPDX-License-Identifier: Apache-2.0
"""A client of `cudal1 serve` for trainers. It has no rules of its own: what is right, how fast and worth what, the server says."""
from .client import Fault, Judge, Prompt, Verdict
from .gate import gpu_gate

__all__ = ["Fault", "Judge", "Prompt", "Verdict", "gpu_gate"]
