# SPDX-License-Identifier: Apache-2.0
"""Memory of another process as tensors: a GPU's through CUDA IPC, or a file in memory. Nothing is copied."""

import ctypes
import fcntl
import mmap
import os

import torch

BLOCK = 2 << 20              # bytes that the driver hands out together, and lends together
ADD_SEALS, SEALS = 1033, 7   # of fcntl: neither shorter nor longer, and no other seal


def seen_alone(device):
    """What a GPU is called in this process once it sees no other, so that whatever names none means this one: streams,
    events, memory that another process lends. Before CUDA starts here."""
    if not device.startswith("cuda:"):
        return device
    index = int(device.removeprefix("cuda:"))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = visible.split(",")[index] if visible else str(index)
    return "cuda:0"


class Handle(ctypes.Structure):
    _fields_ = [("words", ctypes.c_ubyte * 64)]


class Driver:
    """The few functions of the CUDA driver that PyTorch does not offer for memory of somebody else's."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.library.cuIpcOpenMemHandle_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), Handle, ctypes.c_uint]

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'unknown error').decode()}")

    def opened(self, handle):
        address = ctypes.c_uint64()
        self.call("cuIpcOpenMemHandle_v2", ctypes.byref(address), Handle((ctypes.c_ubyte * 64)(*handle)), 1)
        return address.value

    def close(self, address):
        self.call("cuIpcCloseMemHandle", ctypes.c_uint64(address))

    def allocated(self, count):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(count))
        return address.value

    def freed(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def exported(self, address):
        handle = Handle()
        self.call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_uint64(address))
        return bytes(handle.words).hex()


class Raw:
    """What PyTorch takes for a GPU array of another library."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "|u1", "data": (address, False), "strides": None, "version": 3}


class Mappings:
    """Pieces of memory that were opened, each once, until close()."""

    def __init__(self, device):
        self.device, self.driver, self.opened, self.own = device, None, {}, set()

    def tensor(self, place, dtype, shape):
        """`place`: {"handle", "path" or "descriptor", "offset", "bytes"}."""
        if place["bytes"] == 0:
            return torch.empty(shape, dtype=dtype, device=self.device)
        if place.get("handle"):
            flat = torch.as_tensor(Raw(self.address(place["handle"]) + place["offset"], place["bytes"]), device=self.device)
        else:
            flat = torch.frombuffer(self.inherited(place["descriptor"]) if "descriptor" in place else self.file(place["path"]), dtype=torch.uint8, count=place["bytes"], offset=place["offset"])
        return flat.view(dtype).view(shape)

    def made(self, count):
        """Memory of this process that others can map, nothing else in it."""
        if self.device == "cpu":
            descriptor = os.memfd_create("cudal1", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(descriptor, count)
            fcntl.fcntl(descriptor, ADD_SEALS, SEALS)   # a shorter one would end whoever reads it
            path = f"/proc/{os.getpid()}/fd/{descriptor}"
            self.own.add(descriptor)
            return {"path": path}
        address = self.reached().allocated((count + BLOCK - 1) // BLOCK * BLOCK)
        handle = self.driver.exported(address)
        self.opened[handle] = address
        self.own.add(handle)
        return {"handle": handle}

    def reached(self):
        if self.driver is None:
            torch.zeros(1, device=self.device)  # makes the context current
            self.driver = Driver()
        return self.driver

    def address(self, handle):
        if handle not in self.opened:
            self.opened[handle] = self.reached().opened(bytes.fromhex(handle))
        return self.opened[handle]

    def file(self, path):
        if path not in self.opened:
            descriptor = os.open(path, os.O_RDWR)
            self.opened[path] = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
            os.close(descriptor)
        return self.opened[path]

    def inherited(self, descriptor):
        if descriptor not in self.opened:
            self.opened[descriptor] = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
        return self.opened[descriptor]

    def close(self):
        for name, held in self.opened.items():
            if isinstance(held, int):
                self.driver.freed(held) if name in self.own else self.driver.close(held)
        for descriptor in self.own:
            if isinstance(descriptor, int):
                os.close(descriptor)
        self.opened, self.own = {}, set()  # a file in memory is unmapped once no tensor looks at it
