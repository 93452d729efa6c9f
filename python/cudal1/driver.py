# SPDX-License-Identifier: Apache-2.0
"""The few functions of the CUDA driver that a launch needs."""
import ctypes
import functools
import os
from typing import Dict, Sequence, Tuple

from .program import Error

# Of cuda.h; these numbers never change.
MAX_DYNAMIC_SHARED_SIZE_BYTES, NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 8, 14
COOPERATIVE, CLUSTER_DIMENSION = 2, 4
PORTABLE_CLUSTER = 8
TENSOR_MAP_TYPES = {"uint8": 0, "uint16": 1, "uint32": 2, "int32": 3, "uint64": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9, "tf32": 11}
TENSOR_MAP_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
L2_PROMOTION_256B = 3


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("attribute_count", ctypes.c_uint)]


class Functions(Dict[str, ctypes.c_void_p]):
    """A module's kernels by name, and where its constant variables lie: address and bytes by symbol."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: Dict[str, Tuple[int, int]] = {}


class Driver:
    def __init__(self, path: str):
        try:
            self.library = ctypes.CDLL(path)
        except OSError as error:
            raise Error(f"the NVIDIA driver cannot be opened ({error}); a kernel runs on a machine with a GPU", 5) from None
        self.launch = self.library.cuLaunchKernelEx
        self.launch.argtypes = [ctypes.POINTER(Config), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
        self.library.cuMemcpyDtoDAsync_v2.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
        for name in ("cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async"):
            function = getattr(self.library, name)
            function.argtypes = [ctypes.c_uint64, {"8A": ctypes.c_ubyte, "16": ctypes.c_ushort, "32": ctypes.c_uint}[name[9:11]], ctypes.c_size_t, ctypes.c_void_p]

    def check(self, status: int, what: str) -> None:
        if status == 0:
            return
        text = ctypes.c_char_p()
        self.library.cuGetErrorName(status, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value.decode() if text.value else status}")

    def functions(self, image: bytes, symbols: Dict[str, str], constants: Sequence[str] = ()) -> Functions:
        """Loads a cubin into the current context, for good, and finds its kernels and constant variables."""
        module = ctypes.c_void_p()
        self.check(self.library.cuModuleLoadData(ctypes.byref(module), image), "the cubin cannot be loaded")
        found = Functions()
        for symbol in constants:
            address, size = ctypes.c_uint64(), ctypes.c_size_t()
            if self.library.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, symbol.encode()) == 0:  # what nobody uses is not there
                found.constants[symbol] = (address.value, size.value)
        for kernel, symbol in symbols.items():
            function = ctypes.c_void_p()
            self.check(self.library.cuModuleGetFunction(ctypes.byref(function), module, symbol.encode()), f"kernel {kernel}")
            found[kernel] = function
        return found

    def encode(self, map_, address: int, into: int) -> None:
        """cuTensorMapEncodeTiled, as the device worker calls it."""
        rank = len(map_["extents"])
        extents = (ctypes.c_uint64 * 5)(*map_["extents"])
        strides = (ctypes.c_uint64 * 5)(*map_["strides_bytes"])
        box = (ctypes.c_uint32 * 5)(*map_["box"])
        steps = (ctypes.c_uint32 * 5)(*([1] * 5))
        self.check(self.library.cuTensorMapEncodeTiled(ctypes.c_void_p(into), TENSOR_MAP_TYPES[map_["element"]], rank, ctypes.c_void_p(address), extents, strides, box,
                                                       steps, 0, TENSOR_MAP_SWIZZLES[map_["swizzle_bytes"]], L2_PROMOTION_256B, 0), "a tensor map")


@functools.lru_cache(maxsize=None)
def driver() -> Driver:
    return Driver(os.environ.get("CUDAL1_DRIVER", "libcuda.so.1"))
