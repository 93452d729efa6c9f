# SPDX-License-Identifier: Apache-2.0
"""Takes from this process, for good and for its children too, what an unknown module must not have: the network, and
every place to write but one folder."""

import ctypes
import os
import platform
import struct

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446   # the same number on every architecture
WRITE_FILE, IOCTL_DEV, TRUNCATE = 1 << 1, 1 << 15, 1 << 14
# Write, remove and make files of every kind; since the third version move and shorten them.
CHANGE = WRITE_FILE | sum(1 << bit for bit in range(4, 13))
REFER = 1 << 13
SET_NO_NEW_PRIVS, SET_SECCOMP = 38, 22
ARCHITECTURES = {"x86_64": (0xC000003E, {"socket": 41, "socketpair": 53, "connect": 42, "io_uring_setup": 425, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311}),
                 "aarch64": (0xC00000B7, {"socket": 198, "socketpair": 199, "connect": 203, "io_uring_setup": 425, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271})}
REFUSED = 0x00050000 | 1   # an error: EPERM
ALLOWED, KILLED = 0x7FFF0000, 0x80000000

libc = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def forbid_writing(but_below):
    """Nothing may be written but below these paths."""
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        raise OSError("this kernel has no Landlock")
    handled = CHANGE | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    attributes = struct.pack("<Q", handled)
    ruleset = checked(libc.syscall(CREATE_RULESET, attributes, len(attributes), 0), "Landlock")
    for path in but_below:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = handled if os.path.isdir(path) else handled & (WRITE_FILE | TRUNCATE)
        rule = struct.pack("<Qi", allowed, descriptor)
        checked(libc.syscall(ADD_RULE, ruleset, 1, rule, 0), f"Landlock: {path}")
        os.close(descriptor)
    checked(libc.syscall(RESTRICT_SELF, ruleset, 0), "Landlock")
    os.close(ruleset)


def forbid_network():
    """No socket but a pair of its own, no server of this machine either, no look into another process."""
    architecture, numbers = ARCHITECTURES[platform.machine()]
    load, equal, back = 0x20, 0x15, 0x06

    def step(code, true, false, value):
        return struct.pack("<HBBI", code, true, false, value)

    program = [step(load, 0, 0, 4), step(equal, 1, 0, architecture), step(back, 0, 0, KILLED), step(load, 0, 0, 0)]
    for name in ("connect", "io_uring_setup", "ptrace", "process_vm_readv", "process_vm_writev"):
        program += [step(equal, 0, 1, numbers[name]), step(back, 0, 0, REFUSED)]
    for name in ("socket", "socketpair"):
        # the first argument: AF_UNIX is 1
        program += [step(equal, 0, 4, numbers[name]), step(load, 0, 0, 16), step(equal, 1, 0, 1), step(back, 0, 0, REFUSED), step(load, 0, 0, 0)]
    program.append(step(back, 0, 0, ALLOWED))
    code = ctypes.create_string_buffer(b"".join(program))
    holder = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(code)))
    checked(libc.prctl(SET_SECCOMP, 2, holder, 0, 0), "seccomp")


def confine(writable):
    checked(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    forbid_writing(writable)
    forbid_network()
