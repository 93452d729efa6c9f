# SPDX-License-Identifier: Apache-2.0
"""A task in KernelBench's form: a module with Model, get_inputs and get_init_inputs, read in a namespace of its own."""

import ast
import contextlib
import hashlib
import inspect
import keyword
import linecache
import math
import os
import re
import sys
import traceback
import types

import torch
from torch.overrides import TorchFunctionMode

from input_patterns import drawing, full_width, generator_for, is_constant, move_constant, repeated, seed_all

DTYPES = {
    torch.float64: "float64", torch.float32: "float32", torch.float16: "float16", torch.bfloat16: "bfloat16",
    torch.int64: "int64", torch.int32: "int32", torch.int16: "int16", torch.int8: "int8", torch.uint8: "uint8",
    torch.bool: "bool",
}
SMALL = 1 << 22   # elements, of inputs whose values cost nothing
MODULES_OWN = frozenset(vars(torch.nn.Module()))   # where a module keeps its parameters, buffers and hooks
WEIGHT_SEED = 42  # KernelBench's own: weights are those that its harness would make
CPP_WORDS = set(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr const_cast "
    "continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto "
    "if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq min max ceil_div dim3".split())


class Refusal(Exception):
    """What the task's author can mend; the message names it."""


def last_line(error, path):
    """The error with the innermost line of the task that it passed through."""
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == path:
            place = f":{frame.lineno}"
    text = str(error).strip().splitlines()
    return f"{path}{place}: {type(error).__name__}: {text[0] if text else 'no message'}"


@contextlib.contextmanager
def in_task(path, doing):
    try:
        yield
    except Refusal:
        raise
    except torch.cuda.OutOfMemoryError as error:
        raise Refusal(f"{path}: {doing} does not fit into the GPU's memory; use smaller constants (--set)") from error
    except MemoryError as error:
        raise Refusal(f"{path}: {doing} does not fit into memory; use smaller constants (--set)") from error
    except Exception as error:  # whatever the user's code raises
        raise Refusal(f"{last_line(error, path)} ({doing})") from error


if not hasattr(torch.cuda, "OutOfMemoryError"):  # before PyTorch 1.13
    torch.cuda.OutOfMemoryError = MemoryError


def of_memory(error):
    """True of what a GPU's full memory causes."""
    def is_it(each):   # what CUDA refuses itself is no OutOfMemoryError of PyTorch's
        return isinstance(each, torch.cuda.OutOfMemoryError) or (isinstance(each, RuntimeError) and "CUDA error: out of memory" in str(each))
    return is_it(error) or is_it(error.__cause__)


def code_digest(source):
    """MD5 of the code without comments and blank lines: identifies a task across copies."""
    try:
        text = ast.unparse(ast.parse(source))
    except SyntaxError:
        text = source
    return hashlib.md5(text.encode()).hexdigest()


def unique_name(text, taken):
    name = re.sub(r"\W", "_", text)
    if not name or name[0].isdigit():
        name = "_" + name
    while name in CPP_WORDS or keyword.iskeyword(name) or name in taken or "__" in name:
        name = name.replace("__", "_") if "__" in name else name + "_"
    taken.add(name)
    return name


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def mapped(value, change):
    """The same structure with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, change) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(item, change) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    return value


def with_numbers(value, factor):
    """The same structure with every real number that is no tensor changed; whole ones may be sizes or axes."""
    if isinstance(value, float):
        return value * factor
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(with_numbers(item, factor) for item in value)
    if isinstance(value, dict):
        return {key: with_numbers(item, factor) for key, item in value.items()}
    return value


def outline(tensor):
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta")


@contextlib.contextmanager
def default_device(device):
    if device == "cpu" or not hasattr(torch, "set_default_device"):
        yield
        return
    torch.set_default_device(device)
    try:
        yield
    finally:
        torch.set_default_device(None)


class SizeGuard(TorchFunctionMode):
    """Refuses a tensor of more than `limit` bytes (0: none) before memory is taken for it."""

    MADE = {"rand", "randn", "zeros", "ones", "empty", "full", "randint"}

    def __init__(self, task, limit):
        super().__init__()
        self.task, self.limit = task, limit

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.limit and getattr(function, "__name__", "") in self.MADE:
            sizes = kwargs.get("size", [each for each in args if isinstance(each, (tuple, list))] or args)
            sizes = sizes[0] if sizes and isinstance(sizes[0], (tuple, list)) else sizes
            width = torch.empty((), dtype=kwargs.get("dtype")).element_size()
            self.task.require_bytes(math.prod(each for each in sizes if isinstance(each, int)) * width, self.limit)
        return function(*args, **kwargs)


class WithoutValues(TorchFunctionMode):
    """Large random tensors come without values."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if getattr(function, "__name__", "") in ("rand", "randn") and "device" not in kwargs and "generator" not in kwargs:
            drawn = function(*args, **kwargs, device="meta")
            if drawn.numel() > SMALL:
                return drawn
        return function(*args, **kwargs)


class TaskModule:
    precision = "reference"   # the run's class, as precision.py has them

    def __init__(self, path, source, overrides, device="cpu", limit=0):
        self.path, self.source, self.device = path, source, device
        self.constants = {}
        self.namespace = self._load(overrides)
        with in_task(path, "get_init_inputs"):
            torch.manual_seed(WEIGHT_SEED)
            self.init_inputs = self.namespace["get_init_inputs"]()
        with SizeGuard(self, limit):
            self.model = self.build(WEIGHT_SEED)
            self.arguments = self.outlined_inputs() or self.make_inputs(WEIGHT_SEED)
        self.whole_inputs = any(not each.is_floating_point() and not each.is_complex() and each.numel() > 1 for each in tensors_in(self.arguments))
        self.constant_inputs = any(each.is_floating_point() and each.numel() and not each.is_meta and is_constant(each) for each in tensors_in(self.arguments))
        self._name_inputs()
        self._name_state()
        self.require_bytes(sum(each["tensor"].numel() * each["tensor"].element_size() for each in self.inputs + self.state), limit)
        self.parameters = {name for name, _ in self.model.named_parameters()}
        self.outputs = []  # as inputs, named by who ran forward
        self._keep_outlines()

    def _keep_outlines(self):
        """Names, types and shapes are kept; the values, which may be many, are made again when they are needed."""
        for entry in self.inputs + self.state:
            entry["tensor"] = outline(entry["tensor"])
        self.arguments = mapped(self.arguments, outline)
        self.first, self.model = self.model, None   # for Cases, because the CPU makes large weights in seconds

    def bytes(self):
        """Of one set of inputs, weights and outputs."""
        return sum(each["tensor"].numel() * each["tensor"].element_size() for each in self.inputs + self.state + self.outputs)

    def _load(self, overrides):
        try:
            tree = ast.parse(self.source, self.path)
        except SyntaxError as error:
            raise Refusal(f"{self.path}:{error.lineno}: it is not Python: {error.msg}") from error
        assigned = []
        for statement in tree.body:
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if len(targets) != 1 or not isinstance(targets[0], ast.Name):
                continue
            assigned.append(targets[0].id)
            if targets[0].id in overrides:
                statement.value = ast.copy_location(ast.Constant(overrides[targets[0].id]), statement.value)
        ast.fix_missing_locations(tree)
        module = types.ModuleType("cudal1_task")
        module.__file__ = self.path
        sys.modules["cudal1_task"] = module  # for dataclasses and pickling; the next task takes its place
        folder = os.path.dirname(os.path.abspath(self.path))
        sys.path.insert(0, folder)
        # The text as given, so that messages and torch.compile find its lines even when the file has changed since.
        linecache.cache[self.path] = (len(self.source), None, self.source.splitlines(True), self.path)
        try:
            with in_task(self.path, "loading the module"):
                exec(compile(tree, self.path, "exec"), module.__dict__)
        finally:
            sys.path.remove(folder)
        for name in assigned:
            value = module.__dict__.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                self.constants[name] = value
        for name in overrides:
            if name not in self.constants:
                known = ", ".join(self.constants) or "none"
                raise Refusal(f"{self.path}: --set {name}: the module has no whole-number constant of this name; it has: {known}")
        for name in ("Model", "get_inputs", "get_init_inputs"):
            if not callable(module.__dict__.get(name)):
                raise Refusal(f"{self.path}: it defines no {name}; a task has a class Model, get_inputs() and get_init_inputs()")
        return module.__dict__

    def build(self, seed):
        """The model as KernelBench's harness builds it: seeded, on the CPU, moved, in train mode."""
        with in_task(self.path, "building Model"):
            torch.manual_seed(seed)
            init = self.init_inputs
            model = self.namespace["Model"](**init) if isinstance(init, dict) else self.namespace["Model"](*init)
            if not isinstance(model, torch.nn.Module):
                raise Refusal(f"{self.path}: Model is no torch.nn.Module")
            return model.to(self.device)

    def build_there(self, seed):
        """The model with weights that a GPU draws where it can: others than build() makes of the seed, and as secret."""
        if self.device == "cpu" or not hasattr(torch, "set_default_device"):
            return self.build(seed)
        try:
            with default_device(self.device):
                return self.build(seed)
        except Refusal as error:   # such as a constructor that asks NumPy
            if of_memory(error):
                raise
            return self.build(seed)

    def make_inputs(self, seed, pattern="declared", turn=0, light=None, integers=None, numbers=1.0):
        """`integers`: limits by the names of inputs that are given their full width. `numbers`: what reals by value are multiplied by."""
        with in_task(self.path, "get_inputs"), default_device(self.device):
            seed_all(seed)
            with drawing(pattern, turn, light, self.precision == "half"):
                values = self.namespace["get_inputs"]()
        if not isinstance(values, (list, tuple)):
            raise Refusal(f"{self.path}: get_inputs() gives a {type(values).__name__}, not a list")
        values = with_numbers(mapped(list(values), lambda tensor: tensor.detach().to(self.device)), numbers)
        if pattern == "constants":
            values = mapped(values, lambda tensor: move_constant(tensor, seed))
        if pattern == "repeats":
            values = mapped(values, lambda tensor: repeated(tensor, generator_for(tensor, seed)))
        if integers:
            limits = {id(tensor): integers[each["name"]] for each, tensor in zip(self.inputs, self.input_tensors(values)) if each["name"] in integers}
            values = mapped(values, lambda tensor: full_width(tensor, limits[id(tensor)], seed, turn == 1) if id(tensor) in limits else tensor)
        return values

    def outlined_inputs(self):
        """What make_inputs gives, large random tensors without their values: drawing them on a CPU takes minutes. None where more than shapes is asked of them."""
        if self.device != "cpu":
            return None
        try:
            seed_all(WEIGHT_SEED)
            with WithoutValues():
                values = self.namespace["get_inputs"]()
        except Refusal:
            raise
        except Exception:   # whatever the user's code does with a tensor that has no values
            return None
        return mapped(list(values), torch.Tensor.detach) if isinstance(values, (list, tuple)) else None

    def forward(self, model, arguments, seed=0):
        """Outputs as a flat list of tensors. Random numbers drawn inside are the same for the same seed."""
        with in_task(self.path, "forward"), torch.no_grad():
            torch.manual_seed(seed)
            result = model(*arguments)
        return self.outputs_of(result)

    def outputs_of(self, result):
        outputs = list(tensors_in(result))
        if isinstance(result, (int, float)) or not outputs:
            raise Refusal(f"{self.path}: forward gives a {type(result).__name__}, not a tensor")
        return outputs

    def _name_inputs(self):
        try:
            signature = inspect.signature(self.namespace["Model"].forward)
        except (TypeError, ValueError):
            raise Refusal(f"{self.path}: Model has no forward") from None
        parameters = [p for p in list(signature.parameters.values())[1:]]
        names, spread = [], None
        for parameter in parameters:
            if parameter.kind == parameter.VAR_POSITIONAL:
                spread = parameter.name
            elif parameter.kind != parameter.VAR_KEYWORD:
                names.append(parameter.name)
        required = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        count = len(self.arguments)
        if count < required or (count > len(names) and spread is None):
            raise Refusal(f"{self.path}: get_inputs() gives {count} values, but forward takes {', '.join(names) or 'none'}")
        self.argument_names = [names[i] if i < len(names) else f"{spread}_{i - len(names)}" for i in range(count)]
        self.taken = set()
        self.inputs, self.scalars, self.notes = [], [], []
        for name, value in zip(self.argument_names, self.arguments):
            self._name_argument(name, value)

    def _name_argument(self, name, value):
        if isinstance(value, torch.Tensor) and value.numel() == 0:
            self.notes.append(f"{name} has no elements, and is no input of a variant")
        elif isinstance(value, torch.Tensor):
            self._require_dtype(name, value)
            self.inputs.append({"argument": name, "name": unique_name(name, self.taken), "tensor": value})
            if not value.is_contiguous():
                self.notes.append(f"{name} has the strides {list(value.stride())}; a variant gets it contiguous")
        elif isinstance(value, (bool, int, float)):
            dtype = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float32"
            self.scalars.append({"argument": name, "name": unique_name(name, self.taken), "dtype": dtype, "value": value})
        elif value is None:
            self.notes.append(f"{name} is None, and no input of a variant")
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                self._name_argument(f"{name}_{index}", item)
        else:
            raise Refusal(f"{self.path}: input {name} is a {type(value).__name__}; tensors, numbers, None and lists of them are read")

    def _require_dtype(self, name, tensor):
        if tensor.dtype not in DTYPES or tensor.layout != torch.strided:
            raise Refusal(f"{self.path}: {name} is {str(tensor.dtype).replace('torch.', '')} ({tensor.layout}); "
                          f"dense tensors of {', '.join(DTYPES.values())} are read")

    def state_tensors(self, model):
        """Every tensor that a model holds, with its path: parameters, buffers, and plain attributes."""
        found, seen = [], set()
        for name, tensor in model.state_dict(keep_vars=True).items():
            if isinstance(tensor, torch.Tensor) and id(tensor) not in seen:
                seen.add(id(tensor))
                found.append((name, tensor))
        for prefix, part in model.named_modules():
            others = list(part._buffers.items()) + list(vars(part).items())
            for name, value in others:
                if name in MODULES_OWN:
                    continue
                for index, tensor in enumerate(tensors_in(value)):
                    if id(tensor) in seen:
                        continue
                    seen.add(id(tensor))
                    path = f"{prefix}.{name}" if prefix else name
                    found.append((path if isinstance(value, torch.Tensor) else f"{path}.{index}", tensor))
        return found

    def _name_state(self):
        self.state = []
        for path, tensor in self.state_tensors(self.model):
            self._require_dtype(path, tensor)
            if tensor.numel() == 0:
                self.notes.append(f"{path} has no elements, and is no input of a variant")
                continue
            self.state.append({"path": path, "name": unique_name(path.replace(".", "_"), self.taken), "tensor": tensor})

    def require_bytes(self, total, limit):
        """`limit` bytes for one set of inputs and weights; 0: none."""
        if limit and total > limit:
            known = ", ".join(f"{name}={value}" for name, value in self.constants.items()) or "none"
            raise Refusal(f"{self.path}: its inputs and weights take {total / 2**20:.0f} MiB, more than the {limit / 2**20:.0f} MiB that "
                          f"are verified {'on the simulator' if self.device == 'cpu' else 'through the memory of this machine'}; make its constants smaller with --set (it has: {known})")

    def leave_out_state(self, unused):
        """Forgets tensors of the model that do not reach the outputs."""
        for entry in self.state:
            if entry["path"] in unused:
                self.taken.discard(entry["name"])
        self.state = [entry for entry in self.state if entry["path"] not in unused]

    @staticmethod
    def input_tensors(arguments):
        """Those that a variant gets, in the order of the interface."""
        return [each for each in tensors_in(arguments) if each.numel() > 0]

    def flat_inputs(self, model, arguments):
        """Inputs and state that a variant gets, in the order of the interface."""
        held = dict(self.state_tensors(model))
        return self.input_tensors(arguments) + [held[entry["path"]].detach() for entry in self.state]
