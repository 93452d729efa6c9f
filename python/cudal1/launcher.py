# SPDX-License-Identifier: Apache-2.0
"""Operators as C++ kernels of PyTorch's dispatcher: what runtime/launcher needs to know of PyTorch, of the driver and of a call."""
import ctypes
import functools
import os
import pathlib
import threading
from typing import Any, Dict, List, Optional, Sequence

import torch

from .driver import L2_PROMOTION_256B, TENSOR_MAP_SWIZZLES, TENSOR_MAP_TYPES, Config, Driver, driver
from .plan import Copy, Launch, Memset
from .program import Error, program

# As in runtime/launcher/call.hpp, with the structures below.
MAX_DIMS, MAX_BUFFERS, MAX_ARGUMENTS, MAX_MAPS, MAX_KEYWORDS = 8, 32, 64, 8, 8
MAX_CALLS = 64   # prepared for one operator; they are looked through one by one
LAUNCH, MEMSET, COPY = 0, 1, 2

_OF_TORCH = ("aoti_torch_get_dim", "aoti_torch_get_sizes", "aoti_torch_get_dtype", "aoti_torch_get_device_index", "aoti_torch_is_contiguous", "aoti_torch_get_data_ptr",
             "aoti_torch_delete_tensor_object", "aoti_torch_empty_strided", "aoti_torch_call_dispatcher", "aoti_torch_check", "aoti_torch_library_init_impl",
             "aoti_torch_library_impl", "aoti_torch_get_current_cuda_stream")
_OF_DRIVER = ("cuLaunchKernelEx", "cuMemsetD8Async", "cuMemcpyDtoDAsync_v2", "cuTensorMapEncodeTiled", "cuGetErrorName", "cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2")


class Buffer(ctypes.Structure):
    _fields_ = [("dims", ctypes.c_int64), ("sizes", ctypes.c_int64 * MAX_DIMS), ("strides", ctypes.c_int64 * MAX_DIMS), ("dtype", ctypes.c_int32), ("input", ctypes.c_int32)]


class TensorMap(ctypes.Structure):
    _fields_ = [("extents", ctypes.c_uint64 * 5), ("strides", ctypes.c_uint64 * 5), ("box", ctypes.c_uint32 * 5), ("steps", ctypes.c_uint32 * 5), ("offset", ctypes.c_int64),
                ("buffer", ctypes.c_int32), ("type", ctypes.c_int32), ("rank", ctypes.c_int32), ("swizzle", ctypes.c_int32), ("promotion", ctypes.c_int32)]


class Argument(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_void_p), ("map", ctypes.POINTER(TensorMap)), ("offset", ctypes.c_int64), ("buffer", ctypes.c_int32)]


class Step(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("buffer", ctypes.c_int32), ("value", ctypes.c_int32), ("arguments", ctypes.c_int32), ("bytes", ctypes.c_uint64),
                ("address", ctypes.c_uint64), ("config", Config), ("function", ctypes.c_void_p), ("argument", ctypes.POINTER(Argument)), ("name", ctypes.c_char_p)]


class Call(ctypes.Structure):
    _fields_ = [("next", ctypes.c_void_p), ("context", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("tensors", ctypes.c_int32),
                ("keywords", ctypes.c_int32), ("buffers", ctypes.c_int32), ("outputs", ctypes.c_int32), ("steps", ctypes.c_int32), ("keyword", ctypes.c_int64 * MAX_KEYWORDS),
                ("output", ctypes.c_int32 * MAX_BUFFERS), ("buffer", ctypes.POINTER(Buffer)), ("step", ctypes.POINTER(Step))]


def _table(functions: Sequence[Any]) -> Any:
    return (ctypes.c_void_p * len(functions))(*(ctypes.cast(function, ctypes.c_void_p).value for function in functions))


def _strides(shape: Sequence[int]) -> List[int]:
    strides, next_ = [0] * len(shape), 1
    for index in reversed(range(len(shape))):
        strides[index], next_ = next_, next_ * max(shape[index], 1)
    return strides


class Launcher:
    """The library, told of PyTorch's and the driver's functions."""

    def __init__(self, library: ctypes.CDLL, of_torch: Sequence[Any], of_driver: Driver):
        self.library, self.driver = library, of_driver
        self.kept: List[Any] = [of_torch]   # for good, as operators are
        self.prepared: Dict[int, Dict[Any, bool]] = {}   # False: refused, and not tried again
        self.lock = threading.Lock()
        self.tables = _table(of_torch), _table([getattr(of_driver.library, name) for name in _OF_DRIVER])
        library.cudal1_launcher_begin(*self.tables)

    def register(self, space: str, name: str, key: str, general: str) -> Optional[int]:
        """Of the operator, which is defined already; None where there is no room for one more."""
        number = self.library.cudal1_launcher_register(space.encode(), name.encode(), key.encode(), f"{space}::{general}".encode())
        return None if number < 0 else number

    def failed(self, words: str) -> None:
        self.library.cudal1_launcher_failed(words.encode()[:900])

    def prepare(self, number: int, key: Any, device: torch.device, buffers: Sequence[Dict[str, Any]], arguments: Sequence[int], outputs: Sequence[int], keywords: Sequence[int],
                steps: Sequence[Any], dtypes: Sequence[torch.dtype]) -> bool:
        """From now on calls with tensors like these run without Python; `key` tells them apart. False where a call like this cannot."""
        with self.lock:
            known = self.prepared.setdefault(number, {})
            if key not in known and len(known) < MAX_CALLS:
                known[key] = self._prepare(number, device, buffers, arguments, outputs, keywords, steps, dtypes)
            return known.get(key, False)

    def _prepare(self, number: int, device: torch.device, buffers: Sequence[Dict[str, Any]], arguments: Sequence[int], outputs: Sequence[int], keywords: Sequence[int],
                 steps: Sequence[Any], dtypes: Sequence[torch.dtype]) -> bool:
        if len(buffers) > MAX_BUFFERS or len(keywords) > MAX_KEYWORDS or any(len(buffer["shape"]) > MAX_DIMS for buffer in buffers):
            return False
        call = Call(device_type=self._number(f"device_type_{device.type}"), device=-1 if device.index is None else device.index, tensors=len(arguments), keywords=len(keywords), buffers=len(buffers),
                    outputs=len(outputs), steps=len(steps))
        context = ctypes.c_void_p()
        self.driver.library.cuCtxGetCurrent(ctypes.byref(context))
        call.context = context
        call.keyword[:len(keywords)], call.output[:len(outputs)] = keywords, outputs
        described = (Buffer * len(buffers))()
        for index, buffer in enumerate(buffers):
            shape, one = buffer["shape"], described[index]
            one.dims, one.sizes[:len(shape)], one.strides[:len(shape)] = len(shape), shape, _strides(shape)
            one.dtype, one.input = self._number(f"dtype_{str(dtypes[index]).split('.')[1]}"), arguments.index(index) if index in arguments else -1
        prepared = (Step * max(len(steps), 1))()
        for one, step in zip(prepared, steps):
            if not self._describe(one, step):
                return False
        call.buffer, call.step = described, prepared
        self.kept += [call, described, prepared, steps]
        self.library.cudal1_launcher_prepare(number, ctypes.byref(call))
        return True

    def _number(self, what: str) -> int:
        return getattr(_torch_libraries()[0], f"aoti_torch_{what}")()

    def _describe(self, one: Step, step: Any) -> bool:
        if isinstance(step, Memset):
            one.kind, one.buffer, one.value, one.bytes, one.name = MEMSET, step.buffer, step.value, step.bytes, b"a memset"
            return True
        if isinstance(step, Copy):
            one.kind, one.buffer, one.bytes, one.address, one.name = COPY, step.buffer, step.bytes, step.address or 0, b"a copy"
            return True
        assert isinstance(step, Launch)
        given = step.step["arguments"]
        if len(given) > MAX_ARGUMENTS or len(step.maps) > MAX_MAPS:
            return False
        arguments = (Argument * max(len(given), 1))()
        for index, (argument, word) in enumerate(zip(arguments, given)):
            argument.buffer = -1
            if "buffer" in word:
                argument.buffer, argument.offset = word["buffer"], word["offset_bytes"]
            elif "tensor_map" in word:
                argument.map = ctypes.pointer(_map(word["tensor_map"]))
            else:
                argument.bytes = step.arguments[index]
        one.kind, one.arguments, one.config, one.function, one.argument, one.name = LAUNCH, len(given), step.config, step.function, arguments, step.name.encode()
        self.kept.append(arguments)
        return True


def _map(map_: Dict[str, Any]) -> TensorMap:
    rank = len(map_["extents"])
    made = TensorMap(offset=map_["offset_bytes"], buffer=map_["buffer"], type=TENSOR_MAP_TYPES[map_["element"]], rank=rank, swizzle=TENSOR_MAP_SWIZZLES[map_["swizzle_bytes"]],
                     promotion=L2_PROMOTION_256B)
    made.extents[:rank], made.strides[:len(map_["strides_bytes"])], made.box[:len(map_["box"])], made.steps[:] = map_["extents"], map_["strides_bytes"], map_["box"], [1] * 5
    return made


def _file() -> Optional[pathlib.Path]:
    """In the library folder beside the program's own."""
    named = os.environ.get("CUDAL1_LAUNCHER")
    if named:
        return None if named == "off" else pathlib.Path(named)
    try:
        place = pathlib.Path(program()).resolve().parents[1] / "lib" / "cudal1" / "libcudal1_launcher.so"
    except (Error, IndexError):
        return None
    return place if place.is_file() else None


@functools.lru_cache(maxsize=None)
def _torch_libraries() -> List[ctypes.CDLL]:
    folder = pathlib.Path(torch.__file__).parent / "lib"
    return [ctypes.CDLL(str(folder / name)) for name in ("libtorch_cpu.so", "libtorch_cuda.so") if (folder / name).is_file()]


@functools.lru_cache(maxsize=None)
def launcher() -> Optional[Launcher]:
    """None before PyTorch 2.8, without a GPU's PyTorch, without the library, and with CUDAL1_LAUNCHER=off: then operators run through Python."""
    file = _file()
    if file is None:
        return None
    try:
        libraries = _torch_libraries()
        functions = [next(getattr(library, name) for library in libraries if hasattr(library, name)) for name in _OF_TORCH]
        return Launcher(ctypes.CDLL(str(file)), functions, driver())
    except (OSError, StopIteration, AttributeError, Error):
        return None
