# SPDX-License-Identifier: Apache-2.0
"""Runs a program as a kernel or container without Landlock, or without seccomp, would: their system calls are unknown. Or
as one where nobody may make namespaces.
   without_syscalls.py landlock|seccomp|namespaces PROGRAM ARGUMENT…
"""
import ctypes
import os
import struct
import sys

NUMBERS = {"landlock": 444, "seccomp": 317}  # of x86-64
ENOSYS = 38


LOAD, EQUAL, ANY_BIT, RESULT = 0x20, 0x15, 0x45, 0x06
CLONE, EPERM = 56, 1
NEW_NAMESPACES = 0x7E020000


def call_forbidden(number):
    """This call fails with ENOSYS, every other goes on."""
    return [(LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (RESULT, 0, 0, 0x00050000 | ENOSYS), (RESULT, 0, 0, 0x7FFF0000)]


def namespaces_forbidden():
    return [(LOAD, 0, 0, 0), (EQUAL, 0, 3, CLONE), (LOAD, 0, 0, 16), (ANY_BIT, 0, 1, NEW_NAMESPACES), (RESULT, 0, 0, 0x00050000 | EPERM),
            (RESULT, 0, 0, 0x7FFF0000)]


def forbid(rows):
    program = b"".join(struct.pack("HBBI", *row) for row in rows)
    code = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((38, 1, 0, 0, 0), (22, 2, ctypes.addressof(header), 0, 0)):  # no new privileges; filter
        if libc.prctl(*(ctypes.c_ulong(argument) for argument in call)) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


forbid(namespaces_forbidden() if sys.argv[1] == "namespaces" else call_forbidden(NUMBERS[sys.argv[1]]))
os.execvp(sys.argv[2], sys.argv[2:])
