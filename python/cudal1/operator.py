# SPDX-License-Identifier: Apache-2.0
"""Kernel files as PyTorch operators."""
import hashlib
import os
import pathlib
import re
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import torch

from .driver import driver
from .launcher import launcher as _launcher
from .plan import compiled, plan, steps
from .program import Path

NAMESPACE = "cudal1"
_KEY = "CUDA"     # whose kernels these are
ALIGNMENT = 256   # of every buffer that a variant was judged with
_WORD = re.compile(r"[A-Za-z_]\w*$")


class ShapeError(ValueError):
    """Tensors that do not fit the file's declarations, or sizes at which the kernel was not verified."""


class _Registry:
    """One library for all operators of this process; an operator is registered once and stays."""

    def __init__(self) -> None:
        self.library: Optional[torch.library.Library] = None
        self.names: Dict[Any, Tuple[str, Optional[int]]] = {}   # and its number in the launcher
        self.lock = threading.Lock()

    def register(self, name: str, schema: Callable[[str], str], kernels: Dict[str, Callable[..., Any]]) -> None:
        if self.library is None:
            try:
                self.library = torch.library.Library(NAMESPACE, "FRAGMENT")
            except ValueError:   # before PyTorch 2.0
                self.library = torch.library.Library(NAMESPACE, "DEF")
        tag = getattr(getattr(torch, "Tag", None), "pt2_compliant_tag", None)
        if tag is not None:
            self.library.define(schema(name), tags=(tag,))
        else:
            self.library.define(schema(name))
        for key, function in kernels.items():
            self.library.impl(name, function, key)


_registry = _Registry()


class _Threads(threading.local):
    def __init__(self) -> None:
        self.launches: Dict[Any, List[Any]] = {}
        self.quick: Optional["_Quick"] = None


class _Raised(threading.local):
    """By the general form of an operator that C++ has called in this thread."""

    error: Optional[BaseException] = None


_raised = _Raised()


class _Quick:
    """The last call of a thread that ran a kernel: what its tensors were like, and all that a call with tensors like these needs."""

    def __init__(self, operator: "Operator", found: Dict[str, Any], device: torch.device, steps_: List[Any], tensors: Sequence[torch.Tensor]):
        buffers = found["buffers"]
        self.device, self.steps = device, steps_
        self.wanted = [(index, tensor.shape, tensor.dtype) for index, tensor in zip(operator.arguments, tensors)]
        self.made = [(index, buffer["shape"], operator.dtypes[index]) for index, buffer in enumerate(buffers) if index not in operator.arguments]
        self.outputs, self.count = operator.outputs, len(buffers)

    def run(self, tensors: Sequence[torch.Tensor]) -> Any:
        """None where it does not fit: the tensors are other ones, or not as a kernel needs them."""
        if len(tensors) != len(self.wanted):
            return None
        device, addresses = self.device, [0] * self.count
        for tensor, (index, shape, dtype) in zip(tensors, self.wanted):
            if type(tensor) is not torch.Tensor or tensor.shape != shape or tensor.dtype is not dtype or tensor.device != device or not tensor.is_contiguous():
                return None
            address = addresses[index] = tensor.data_ptr()
            if address % ALIGNMENT:
                return None
        held: Dict[int, torch.Tensor] = {}
        for index, shape, dtype in self.made:
            made = held[index] = torch.empty(shape, dtype=dtype, device=device)
            addresses[index] = made.data_ptr()
        stream = _raw_stream(device.index)
        for step in self.steps:
            step(addresses, stream)
        return held[self.outputs[0]] if len(self.outputs) == 1 else tuple(held[index] for index in self.outputs)


def _transformed() -> bool:
    """Whether a call must go through PyTorch's dispatcher, because a mode or a transform looks at every operator."""
    return torch._C._len_torch_dispatch_stack() > 0 or torch._C._are_functorch_transforms_active()


_raw_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)
_HAS_QUICK = all(hasattr(torch._C, name) for name in ("_len_torch_dispatch_stack", "_are_functorch_transforms_active", "_cuda_getCurrentRawStream")) and hasattr(getattr(torch, "compiler", None), "is_compiling")


def _architecture(device: torch.device) -> str:
    major, minor = torch.cuda.get_device_capability(device)
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def _stream(device: torch.device) -> int:
    return torch.cuda.current_stream(device).cuda_stream


class Operator:
    """A kernel file's function of its inputs, in the order of the file's lines: `y = op(x)`.

    Inputs come first to last, inouts among them and changed in place; outputs are returned, one or a tuple. Sizes are read off the
    shapes; one that no shape gives is a keyword. `shapes` is "verified" (the sizes at which cudal1 verified the kernel, which an
    output file names) or "any". For other sizes `fallback` is called with the same arguments, or ShapeError is raised.
    """

    def __init__(self, path: Path, *, shapes: str = "verified", fallback: Optional[Callable[..., Any]] = None, launcher: bool = True):
        if shapes not in ("verified", "any"):
            raise ValueError(f"shapes={shapes!r}: expected \"verified\" or \"any\"")
        self.path = pathlib.Path(path).resolve()
        self.digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        self.fallback, self.any_shape = fallback, shapes == "any"
        self._plans: Dict[Tuple[Tuple[str, int], ...], Dict[str, Any]] = {}
        self._functions: Dict[int, Any] = {}
        self._threads = _Threads()
        self._lock = threading.Lock()
        self._launcher = _launcher() if launcher else None
        self.declared = plan(self.path, {})
        self.verified = [frozenset(sizes.items()) for sizes in self.declared["verified"]]
        if not self.verified and not self.any_shape and fallback is None:
            raise ShapeError(f"{self.path.name} does not say at which sizes it was verified, as output files of `cudal1 optimize` do; "
                             "shapes=\"any\" runs it at all")
        self._read_interface()
        self._register()

    # The interface.

    def _read_interface(self) -> None:
        buffers = self.declared["buffers"]
        self.arguments = [index for index, buffer in enumerate(buffers) if buffer["role"] in ("input", "inout")]
        self.outputs = [index for index, buffer in enumerate(buffers) if buffer["role"] == "output"]
        self.dtypes = [getattr(torch, buffer["dtype"]) for buffer in buffers]
        seen = {extent for index in self.arguments for extent in buffers[index]["extents"]}
        # Inouts count versions, and scratch memory with a value is filled: both by PyTorch's own operators.
        self._may_be_quick = _HAS_QUICK and bool(self.arguments) and all(buffer["role"] != "inout" and buffer["initial"] is None for buffer in buffers)
        if not self._may_be_quick:
            self._launcher = None
        self.keywords = {name: value for name, value in self.declared["sizes"].items() if name not in seen}

    def _schema(self, name: str) -> str:
        buffers = self.declared["buffers"]
        parts, mutated = [], 0
        for index in self.arguments:
            alias = ""
            if buffers[index]["role"] == "inout":
                alias = f"({chr(ord('a') + mutated % 26)}!)"
                mutated += 1
            parts.append(f"Tensor{alias} {buffers[index]['name']}")
        if self.keywords:
            parts.append("*")
            parts += [f"int {size}={value}" for size, value in self.keywords.items()]
        result = "Tensor" if len(self.outputs) == 1 else "(" + ", ".join(["Tensor"] * len(self.outputs)) + ")"
        return f"{name}({', '.join(parts)}) -> {result}"

    def _register(self) -> None:
        stem = re.sub(r"\W", "_", self.declared["task"])
        with _registry.lock:
            key = (self.digest, self.any_shape, self.fallback, self._launcher is not None)
            name, number = _registry.names.get(key, (None, None))
            if name is None:
                same = sum(1 for other in _registry.names if other[0] == self.digest)
                name = f"{stem}_{self.digest[:8]}" + (f"_{same}" if same else "")
                kernels = {_KEY: self._on_gpu, "CPU": self._elsewhere, "Meta": self._shapes_alone}
                if self._launcher is not None:
                    _registry.register(f"{name}_general", self._schema, {_KEY: self._general})
                    del kernels[_KEY]
                if int(torch.__version__.split(".")[0]) < 2:
                    kernels["AutogradMeta"] = self._shapes_alone   # which has no way through to Meta there
                _registry.register(name, self._schema, kernels)
                if self._launcher is not None:
                    number = self._launcher.register(NAMESPACE, name, _KEY, f"{name}_general")
                    if number is None:   # more operators than it has room for
                        _registry.library.impl(name, self._on_gpu, _KEY)
                _registry.names[key] = (name, number)
        self.name = f"{NAMESPACE}::{name}"
        self.op = getattr(getattr(torch.ops, NAMESPACE), name)
        self.number, self.native = number, number is not None
        self.direct = self.op.default._op if self.native else None   # what torch.ops calls in the end

    def __repr__(self) -> str:
        return f"<cudal1 operator {self._schema(self.name)}>"

    def __call__(self, *tensors: torch.Tensor, **sizes: int) -> Any:
        if torch.is_grad_enabled() and any([getattr(tensor, "requires_grad", False) for tensor in tensors]):
            raise RuntimeError(f"{self.name} has no derivative; call it under torch.no_grad() or with tensors that need none")
        if self.native and not torch.compiler.is_compiling():
            _raised.error = None   # of a call that was not made here
            try:
                return self.direct(*tensors, **sizes)
            except RuntimeError as error:
                raised, _raised.error = _raised.error, None
                if raised is None or str(raised)[:500] not in str(error):   # one that this call has not raised
                    raise
            raise raised
        # In plain eager code a call like the last one goes around PyTorch's dispatcher, which takes longer than all else.
        if self._may_be_quick and not sizes and not torch.compiler.is_compiling() and not _transformed():
            quick = self._threads.quick
            result = None if quick is None else quick.run(tensors)
            if result is not None:
                return result
        return self.op(*tensors, **sizes)

    # Sizes and shapes.

    def _sizes(self, tensors: Sequence[torch.Tensor], keywords: Dict[str, int]) -> Dict[str, Any]:
        buffers = self.declared["buffers"]
        sizes: Dict[str, Any] = dict(keywords)
        for index, tensor in zip(self.arguments, tensors):
            buffer = buffers[index]
            if tensor.dtype != self.dtypes[index]:
                raise ShapeError(f"{self.name}: {buffer['name']} is {tensor.dtype}, but {self.dtypes[index]} is declared")
            if tensor.dim() != len(buffer["extents"]):
                raise ShapeError(f"{self.name}: {buffer['name']} has the shape {list(tensor.shape)}, but [{', '.join(buffer['extents'])}] is declared")
            for extent, found in zip(buffer["extents"], tensor.shape):
                if extent not in self.declared["sizes"]:
                    continue
                if sizes.setdefault(extent, found) != found:
                    raise ShapeError(f"{self.name}: {buffer['name']} has the shape {list(tensor.shape)}, where {extent} is {found}, but it is {sizes[extent]} elsewhere")
        return sizes

    def _planned(self, tensors: Sequence[torch.Tensor], keywords: Dict[str, int]) -> Tuple[Tuple[Tuple[str, int], ...], Dict[str, Any]]:
        sizes = self._sizes(tensors, {**self.keywords, **keywords})
        key = tuple(sorted((name, int(value)) for name, value in sizes.items()))
        found = self._plans.get(key)
        if found is None:
            found = self._plan(key)
            for index, tensor in zip(self.arguments, tensors):
                buffer = found["buffers"][index]
                if list(tensor.shape) != buffer["shape"]:
                    del self._plans[key]
                    raise ShapeError(f"{self.name}: {buffer['name']} has the shape {list(tensor.shape)}; [{', '.join(buffer['extents'])}] is {buffer['shape']} here")
        return key, found

    def _plan(self, key: Tuple[Tuple[str, int], ...]) -> Dict[str, Any]:
        if hashlib.sha256(self.path.read_bytes()).hexdigest() != self.digest:
            raise RuntimeError(f"{self.path} has changed since it was loaded; load it again")
        found = plan(self.path, dict(key))
        found["allowed"] = self.any_shape or frozenset(key) in self.verified
        self._plans[key] = found
        return found

    def _symbolic_shape(self, index: int, sizes: Dict[str, Any]) -> Optional[List[Any]]:
        """Where every extent is a size's name: also with symbols in place of numbers."""
        extents = self.declared["buffers"][index]["extents"]
        return [sizes[extent] for extent in extents] if all(_WORD.match(extent) and extent in sizes for extent in extents) else None

    def _result(self, made: List[torch.Tensor]) -> Any:
        return made[0] if len(made) == 1 else tuple(made)

    # The kernels of the operator.

    def _shapes_alone(self, *tensors: torch.Tensor, **keywords: int) -> Any:
        sizes = self._sizes(tensors, {**self.keywords, **keywords})
        shapes = [self._symbolic_shape(index, sizes) for index in self.outputs]
        if any(shape is None for shape in shapes):
            _, found = self._planned(tensors, keywords)
            shapes = [found["buffers"][index]["shape"] for index in self.outputs]
        return self._result([torch.empty(shape, dtype=self.dtypes[index], device="meta") for index, shape in zip(self.outputs, shapes)])

    def _elsewhere(self, *tensors: torch.Tensor, **keywords: int) -> Any:
        self._sizes(tensors, {**self.keywords, **keywords})
        if self.fallback is None:
            raise RuntimeError(f"{self.name} runs on a CUDA device; its tensors are on {tensors[0].device if tensors else 'none'}")
        return self.fallback(*tensors, **keywords)

    def _on_gpu(self, *tensors: torch.Tensor, **keywords: int) -> Any:
        device = tensors[0].device if tensors else torch.device("cuda")
        if any(tensor.device != device for tensor in tensors):
            raise ShapeError(f"{self.name}: its tensors are on several devices")
        if device.type == "cuda" and device.index != torch.cuda.current_device():
            with torch.cuda.device(device):   # whose context is what a launch takes place in
                return self._on_gpu(*tensors, **keywords)
        key, found = self._planned(tensors, keywords)
        if not found["allowed"]:
            if self.fallback is not None:
                return self.fallback(*tensors, **keywords)
            raise ShapeError(f"{self.name} was not verified at {', '.join(f'{name}={value}' for name, value in key)}; load it with shapes=\"any\" or a fallback")
        result = self._run(key, found, device, tensors)
        if self.native:
            self._prepare_native(key, found, device)
        elif self._may_be_quick and not keywords:
            self._threads.quick = _Quick(self, found, device, self._launches(key, found, device), tensors)
        return result

    def _general(self, *tensors: torch.Tensor, **keywords: int) -> Any:
        """What C++ calls for a call that is like no prepared one. An exception's type would be lost on the way; the words are not."""
        try:
            return self._on_gpu(*tensors, **keywords)
        except BaseException as error:   # also KeyboardInterrupt, while a kernel is compiled
            _raised.error = error
            self._launcher.failed(str(error) or type(error).__name__)
            return self._result([torch.empty(0) for _ in self.outputs])

    def _prepare_native(self, key: Any, found: Dict[str, Any], device: torch.device) -> None:
        sizes = dict(key)
        self._launcher.prepare(self.number, (device.index, key), device, found["buffers"], self.arguments, self.outputs, [sizes[name] for name in self.keywords],
                               self._launches(key, found, device), self.dtypes)

    def _launches(self, key: Any, found: Dict[str, Any], device: torch.device) -> List[Any]:
        place = (device.index, key)
        ready = self._threads.launches.get(place)
        if ready is None:
            with self._lock:
                functions = self._functions.get(device.index)
                if functions is None:
                    functions = driver().functions(*compiled(self.path, _architecture(device)))
                    self._functions[device.index] = functions
            ready = self._threads.launches[place] = steps(driver(), found, functions)
        return ready

    def _run(self, key: Any, found: Dict[str, Any], device: torch.device, tensors: Sequence[torch.Tensor]) -> Any:
        buffers = found["buffers"]
        held: List[Optional[torch.Tensor]] = [None] * len(buffers)
        copied: List[Tuple[torch.Tensor, torch.Tensor]] = []
        for index, tensor in zip(self.arguments, tensors):
            fit = tensor if tensor.is_contiguous() and tensor.data_ptr() % ALIGNMENT == 0 else tensor.clone(memory_format=torch.contiguous_format)
            if fit is not tensor and buffers[index]["role"] == "inout":
                copied.append((tensor, fit))
            held[index] = fit
        for index, buffer in enumerate(buffers):
            if held[index] is None:
                if buffer["initial"] is None:
                    held[index] = torch.empty(buffer["shape"], dtype=self.dtypes[index], device=device)
                else:
                    held[index] = torch.full(buffer["shape"], buffer["initial"], dtype=self.dtypes[index], device=device)
        addresses = [tensor.data_ptr() for tensor in held]
        stream = _stream(device)
        for step in self._launches(key, found, device):
            step(addresses, stream)
        for original, copy in copied:
            original.copy_(copy)
        return self._result([held[index] for index in self.outputs])

    def prepare(self, device: Union[str, int, torch.device, None] = None) -> "Operator":
        """Compiles now and loads onto the device, so that the first call, or a capture into a CUDA graph, does not."""
        place = torch.device("cuda", torch.cuda.current_device()) if device is None else torch.device(device)
        place = torch.device("cuda", torch.cuda.current_device() if place.index is None else place.index)
        with torch.cuda.device(place):
            torch.empty(1, device=place)   # the context is there
            for sizes in self.declared["verified"] or [self.declared["sizes"]]:
                key = tuple(sorted(sizes.items()))
                if key not in self._plans:
                    self._plan(key)
                self._launches(key, self._plans[key], place)
                if self.native and (self.any_shape or frozenset(key) in self.verified):
                    self._prepare_native(key, self._plans[key], place)
        return self


def load(path: Path, *, shapes: str = "verified", fallback: Optional[Callable[..., Any]] = None, prepare: Optional[bool] = None, launcher: bool = True) -> Operator:
    """The operator of a kernel file, compiled by NVRTC for this GPU now (or, with prepare=False, at its first call) and cached.

    With launcher=False its calls run through Python, as they do before PyTorch 2.8.
    """
    operator = Operator(os.fspath(path), shapes=shapes, fallback=fallback, launcher=launcher)
    if prepare or (prepare is None and torch.cuda.is_available()):
        operator.prepare()
    return operator
