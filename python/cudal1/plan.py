# SPDX-License-Identifier: Apache-2.0
"""A kernel file's plan at given sizes, as `cudal1 plan` evaluates it, and its launches."""
import ctypes
import os
import tempfile
from typing import Any, Dict, List, Sequence, Tuple

from .driver import CLUSTER_DIMENSION, COOPERATIVE, MAX_DYNAMIC_SHARED_SIZE_BYTES, NON_PORTABLE_CLUSTER_SIZE_ALLOWED, PORTABLE_CLUSTER, Attribute, Config, Driver, Functions
from .program import Error, Path, ask

TENSOR_MAP_BYTES = TENSOR_MAP_ALIGNMENT = 128


def plan(path: Path, sizes: Dict[str, int]) -> Dict[str, Any]:
    """Raises cudal1.Error for sizes at which the file has no plan."""
    words: List[str] = []
    for name, value in sizes.items():
        words += ["--set", f"{name}={value}"]
    found = ask(["plan", path, *words])
    for buffer in found["buffers"]:
        if buffer["within"] is not None:
            raise Error(f"{buffer['within']['memory']} is an array of structures, which an operator cannot take; call the host function of the output instead", 2)
    return found


def compiled(path: Path, architecture: str) -> Tuple[bytes, Dict[str, str], List[str]]:
    """The cubin for "sm_90a", from NVRTC or the program's cache, the symbol of each kernel, and those of constant variables."""
    with tempfile.TemporaryDirectory(prefix="cudal1-") as folder:
        file = os.path.join(folder, "kernel.cubin")
        facts = ask(["compile", path, "--arch", architecture, "--cubin", file])
        with open(file, "rb") as cubin:
            return cubin.read(), {kernel["kernel"]: kernel["symbol"] for kernel in facts["kernels"]}, facts["constants"]


class Launch:
    """One launch whose pointers are filled in for each call. Not for two threads at a time."""

    def __init__(self, driver: Driver, step: Dict[str, Any], function: ctypes.c_void_p):
        self.driver, self.name, self.function, self.step = driver, step["kernel"], function, step
        self.config = Config()
        self.config.grid[:], self.config.block[:] = step["grid"], step["block"]
        self.config.shared_bytes = step["shared_bytes"]
        if step["shared_bytes"]:
            driver.check(driver.library.cuFuncSetAttribute(function, MAX_DYNAMIC_SHARED_SIZE_BYTES, step["shared_bytes"]),
                         f"kernel {self.name} asks for {step['shared_bytes']} bytes of dynamic shared memory")
        self.attributes = (Attribute * 2)()
        count = 0
        if step["cooperative"]:
            self.attributes[count].id, self.attributes[count].value[0] = COOPERATIVE, 1
            count += 1
        if step["cluster"][0]:
            cluster = [max(side, 1) for side in step["cluster"]]
            self.attributes[count].id = CLUSTER_DIMENSION
            self.attributes[count].value[:3] = cluster
            count += 1
            if cluster[0] * cluster[1] * cluster[2] > PORTABLE_CLUSTER:
                driver.library.cuFuncSetAttribute(function, NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
        self.config.attributes, self.config.attribute_count = self.attributes, count
        self.pointers: List[Tuple[ctypes.c_uint64, int, int]] = []        # value, buffer, offset
        self.maps: List[Tuple[int, Dict[str, Any]]] = []                  # address of the map, what it maps
        self.kept: List[Any] = []
        self.arguments = (ctypes.c_void_p * max(1, len(step["arguments"])))()
        for index, argument in enumerate(step["arguments"]):
            self.arguments[index] = self._place(argument)
        self.by_reference = ctypes.byref(self.config)

    def _place(self, argument: Dict[str, Any]) -> int:
        if "buffer" in argument:
            value = ctypes.c_uint64()
            self.pointers.append((value, argument["buffer"], argument["offset_bytes"]))
        elif "tensor_map" in argument:
            value = (ctypes.c_char * (TENSOR_MAP_BYTES + TENSOR_MAP_ALIGNMENT))()
            address = -(-ctypes.addressof(value) // TENSOR_MAP_ALIGNMENT) * TENSOR_MAP_ALIGNMENT
            self.kept.append(value)
            self.maps.append((address, argument["tensor_map"]))
            return address
        else:
            value = ctypes.create_string_buffer(bytes.fromhex(argument["bytes"]), 8)
        self.kept.append(value)
        return ctypes.addressof(value)

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        for value, buffer, offset in self.pointers:
            value.value = addresses[buffer] + offset
        for place, map_ in self.maps:
            self.driver.encode(map_, addresses[map_["buffer"]] + map_["offset_bytes"], place)
        self.config.stream = stream
        status = self.driver.launch(self.by_reference, self.function, self.arguments, None)
        if status:
            self.driver.check(status, f"kernel {self.name}")


class Memset:
    def __init__(self, driver: Driver, step: Dict[str, Any], bytes_: int):
        self.driver, self.buffer, self.value, self.bytes = driver, step["memset"], step["byte"], bytes_

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        if self.bytes:
            self.driver.check(self.driver.library.cuMemsetD8Async(addresses[self.buffer], self.value, self.bytes, stream), "a memset")


class Copy:
    """An input into a variable in constant memory, which all streams of the GPU share."""

    def __init__(self, driver: Driver, step: Dict[str, Any], bytes_: int, constants: Dict[str, Tuple[int, int]]):
        self.driver, self.buffer, self.bytes = driver, step["copy"], bytes_
        last = step["variable"].split("::")[-1]
        places = [place for symbol, place in constants.items() if symbol == last or f"{len(last)}{last}E" in symbol]
        if places and places[0][1] != bytes_:
            raise RuntimeError(f"the constant variable {step['variable']} has {places[0][1]} bytes, but its input {bytes_}")
        self.address = places[0][0] if places else None   # no kernel uses it, and the compiler has left it out

    def __call__(self, addresses: Sequence[int], stream: int) -> None:
        if self.address is not None:
            self.driver.check(self.driver.library.cuMemcpyDtoDAsync_v2(self.address, addresses[self.buffer], self.bytes, stream), "a copy")


def steps(driver: Driver, plan_: Dict[str, Any], functions: Functions) -> List[Any]:
    made: List[Any] = []
    for step in plan_["steps"]:
        if "memset" in step:
            made.append(Memset(driver, step, plan_["buffers"][step["memset"]]["bytes"]))
        elif "copy" in step:
            made.append(Copy(driver, step, plan_["buffers"][step["copy"]]["bytes"], functions.constants))
        else:
            made.append(Launch(driver, step, functions[step["kernel"]]))
    return made
