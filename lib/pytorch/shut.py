# SPDX-License-Identifier: Apache-2.0
"""Shuts what CUDA needed while it started, for every thread of this process: the program that confined it
(lib/sandbox) left the filter on a descriptor."""

import ctypes
import os
import platform

SECCOMP = {"x86_64": 317, "aarch64": 277}
SET_MODE_FILTER, ALL_THREADS = 1, 1
INSTRUCTION = 8   # bytes

libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def shut(descriptor):
    code = os.pread(descriptor, 1 << 16, 0)
    os.close(descriptor)
    program = Program(len(code) // INSTRUCTION, code)
    if not code or libc.syscall(SECCOMP[platform.machine()], SET_MODE_FILTER, ALL_THREADS, ctypes.byref(program)) != 0:
        raise OSError(ctypes.get_errno(), f"seccomp: {os.strerror(ctypes.get_errno())}")
