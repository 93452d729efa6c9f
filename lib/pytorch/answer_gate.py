# SPDX-License-Identifier: Apache-2.0
"""Calls behind the gate of answer_gate.hpp: a page shared with the process that judges, which lets each call go and takes
its time. What is said here is a claim; what the other process sees is the outputs, and when they were there."""

import ctypes
import mmap
import os
import time

import torch

QUEUED, OPEN, DONE = 0, 64, 128   # places of the words
GREATER_OR_EQUAL = 0              # CU_STREAM_WAIT_VALUE_GEQ
EMPTY_PAIRS = 32


class Gate:
    """The processor waits, and then the call begins: without a GPU, or where its streams cannot wait for memory."""

    waits = "the processor"

    def __init__(self, descriptor, device):
        self.device = device
        self.memory = mmap.mmap(descriptor, os.fstat(descriptor).st_size)

    def word(self, place, value=None):
        if value is not None:
            self.memory[place:place + 4] = value.to_bytes(4, "little")
        return int.from_bytes(self.memory[place:place + 4], "little")

    def synchronize(self):
        if self.device != "cpu":
            torch.cuda.synchronize(self.device)

    def call(self, number, prepare, work, finish):
        """`prepare`, `work` and `finish` in this order once the gate is open; the ms that `work` took."""
        self.synchronize()
        self.word(QUEUED, number)
        while self.word(OPEN) != number:
            time.sleep(2e-5)
        prepare()
        self.synchronize()
        began = time.monotonic()
        work()
        self.synchronize()
        ms = 1e3 * (time.monotonic() - began)
        finish()
        self.synchronize()
        self.word(DONE, number)
        return ms

    def give_up(self, number):
        """Nobody waits for a call that failed."""
        self.word(QUEUED, number)
        self.word(DONE, number)


class StreamGate(Gate):
    """A GPU's stream waits, with all of the call in its queue: the time has no Python in it, and no launch."""

    waits = "the stream"

    def __init__(self, descriptor, device):
        super().__init__(descriptor, device)
        torch.zeros(1, device=device)   # makes the context current
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.page = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        pointer = ctypes.c_uint64()
        self.checked("cuMemHostRegister_v2", ctypes.c_void_p(self.page), ctypes.c_size_t(len(self.memory)), ctypes.c_uint(3))   # portable, mapped
        self.checked("cuMemHostGetDevicePointer_v2", ctypes.byref(pointer), ctypes.c_void_p(self.page), ctypes.c_uint(0))
        self.address = pointer.value
        self.wait_value = "cuStreamWaitValue32_v2" if hasattr(self.driver, "cuStreamWaitValue32_v2") else "cuStreamWaitValue32"
        self.write_value = "cuStreamWriteValue32_v2" if hasattr(self.driver, "cuStreamWriteValue32_v2") else "cuStreamWriteValue32"
        self.stream_op(self.wait_value, OPEN, 0)   # fails here where the device cannot
        self.synchronize()
        l2 = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) or (64 << 20)
        self.flush = torch.empty(2 * l2 // 4, dtype=torch.int32, device=device)
        self.empty_ms = self.measured_empty()

    def checked(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: error {status}")

    def stream_op(self, name, place, value):
        stream = ctypes.c_void_p(torch.cuda.current_stream(self.device).cuda_stream)
        self.checked(name, stream, ctypes.c_uint64(self.address + place), ctypes.c_uint32(value), ctypes.c_uint(GREATER_OR_EQUAL))

    def measured_empty(self):
        """What two events with nothing between them tell where both are in the queue before either is reached, as in call()."""
        pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(EMPTY_PAIRS)]
        self.stream_op(self.wait_value, OPEN, 1)
        self.flush.fill_(1)
        for begin, end in pairs:
            begin.record()
            end.record()
        self.word(OPEN, 1)
        self.synchronize()
        self.word(OPEN, 0)
        return sorted(begin.elapsed_time(end) for begin, end in pairs)[EMPTY_PAIRS // 2]

    def call(self, number, prepare, work, finish):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.synchronize()
        self.stream_op(self.wait_value, OPEN, number)
        prepare()
        self.flush.fill_(number)
        begin.record()
        work()
        end.record()
        finish()
        self.stream_op(self.write_value, DONE, number)
        self.word(QUEUED, number)
        self.synchronize()
        return max(begin.elapsed_time(end) - self.empty_ms, 1e-6)


def gate(descriptor, device):
    if device != "cpu":
        try:
            return StreamGate(descriptor, device)
        except (OSError, RuntimeError, AttributeError):
            pass
    return Gate(descriptor, device)
