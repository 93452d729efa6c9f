# SPDX-License-Identifier: Apache-2.0
"""Runs a program as a kernel or container without Landlock, or without seccomp, would: their system calls are unknown.
   without_syscalls.py landlock|seccomp PROGRAM ARGUMENT…
"""
import ctypes
import os
import struct
import sys

NUMBERS = {"landlock": 444, "seccomp": 317}  # of x86-64
ENOSYS = 38


def forbid(number):
    """A seccomp filter of four instructions: this call fails with ENOSYS, every other goes on."""
    load, equal, result = 0x20, 0x15, 0x06
    program = b"".join(struct.pack("HBBI", *row) for row in [
        (load, 0, 0, 0), (equal, 0, 1, number), (result, 0, 0, 0x00050000 | ENOSYS), (result, 0, 0, 0x7FFF0000)])
    code = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((38, 1, 0, 0, 0), (22, 2, ctypes.addressof(header), 0, 0)):  # no new privileges; filter
        if libc.prctl(*(ctypes.c_ulong(argument) for argument in call)) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


forbid(NUMBERS[sys.argv[1]])
os.execvp(sys.argv[2], sys.argv[2:])
