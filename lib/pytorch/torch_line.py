# SPDX-License-Identifier: Apache-2.0
"""What a forward computes, as one line over tensors: every call of PyTorch's that the module makes, recorded while it
runs. Loops, conditions and shapes are thereby resolved; calls inside PyTorch's own functions are not seen, but for those
of expansions.py."""

import contextlib
import inspect
import types

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode, handle_torch_function

from expand_recurrence import recurrence
from expansions import EXPANSIONS, OUTLINES
from task_module import in_task, tensors_in

ON_HOST = {"item", "tolist", "numpy", "__bool__", "__int__", "__float__", "__index__", "__len__", "__iter__", "nonzero", "unique"}
UNCHANGED = {"contiguous", "clone", "detach", "requires_grad_", "data", "__deepcopy__", "alias"}
MOVING = {"to", "cuda", "cpu", "type_as"}   # from device to device, which changes nothing but for a type
OVERWRITING = {"copy_", "fill_", "zero_", "index_copy_", "scatter_", "masked_scatter_", "index_put_", "set_",
               "normal_", "uniform_", "bernoulli_", "random_"}
PYTHON_TYPES = {bool: torch.bool, int: torch.int64, float: torch.float64}   # as PyTorch takes them for its own
DRAWING = {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "bernoulli", "multinomial", "poisson"}
OPERATORS = {"__radd__": "{1} + {0}", "__rsub__": "{1} - {0}", "rsub": "{1} - {0}", "__rmul__": "{1} * {0}",
             "__rtruediv__": "{1} / {0}", "__rdiv__": "{1} / {0}", "__rpow__": "{1} ** {0}", "__rmatmul__": "{1} @ {0}",
             "__add__": "{0} + {1}", "__sub__": "{0} - {1}", "__mul__": "{0} * {1}", "__truediv__": "{0} / {1}",
             "__div__": "{0} / {1}", "__pow__": "{0} ** {1}", "__matmul__": "{0} @ {1}", "__iadd__": "{0} + {1}",
             "__isub__": "{0} - {1}", "__imul__": "{0} * {1}", "__itruediv__": "{0} / {1}", "__idiv__": "{0} / {1}",
             "__neg__": "-{0}", "__invert__": "~{0}", "__and__": "{0} & {1}", "__or__": "{0} | {1}", "__xor__": "{0} ^ {1}",
             "__gt__": "{0} > {1}", "__lt__": "{0} < {1}", "__ge__": "{0} >= {1}", "__le__": "{0} <= {1}",
             "__eq__": "{0} == {1}", "__ne__": "{0} != {1}", "__floordiv__": "{0} // {1}", "__mod__": "{0} % {1}"}


class NoLine(Exception):
    """Why a module has no torch line."""


class Statement:
    def __init__(self, targets, text, needs):
        self.targets, self.text, self.needs = targets, text, needs


class Recorder(TorchFunctionMode):
    def __init__(self, names):
        super().__init__()
        self.names = dict(names)  # id of a tensor → its name in the line
        self.kept = []            # recorded tensors stay alive, so that no id is used twice
        self.statements, self.problem = [], None
        self.unexpanded = ""      # the last function whose expansion failed: it may have met a tensor without values

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        expansion = EXPANSIONS.get(function) or EXPANSIONS.get(getattr(function, "__name__", ""))
        if expansion is not None:
            result = self.expanded(expansion, args, kwargs)
            if result is not NotImplemented:
                return result
        if self.problem is None and self.overwritten(function, args, kwargs):
            return args[0]
        result = self.result_of(function, args, kwargs)
        if self.problem is None:
            try:
                self.record(function, args, kwargs, result)
            except NoLine as why:
                self.problem = str(why)
        return result

    def expanded(self, expansion, args, kwargs):
        """What an expansion gives; of one that does not cover the call, or fails, nothing stays in the record."""
        statements, kept, names, problem = len(self.statements), len(self.kept), dict(self.names), self.problem
        try:
            with self:
                result = expansion(*args, **kwargs)
        except Exception:   # PyTorch makes the call, or says what is wrong with it
            self.unexpanded = getattr(expansion, "__name__", "?")
            result = NotImplemented
        if result is NotImplemented:
            del self.statements[statements:], self.kept[kept:]
            self.names, self.problem = names, problem
        return result

    def overwritten(self, function, args, kwargs):
        """Whether an operation in place is one of those that are recorded as simpler ones; then it is done."""
        name = getattr(function, "__name__", "")
        expansion = EXPANSIONS.get(name[:-1]) if name.endswith("_") and not name.endswith("__") else None
        if expansion is None or not args or not self.is_whole(args[0]):
            return False
        result = self.expanded(expansion, args, kwargs)
        if result is NotImplemented or id(result) not in self.names or result.dtype != args[0].dtype:
            return False
        function(*args, **kwargs)
        self.kept.append(args[0])
        self.names[id(args[0])] = self.names[id(result)]
        return True

    @staticmethod
    def result_of(function, args, kwargs):
        try:
            return function(*args, **kwargs)
        except NotImplementedError:
            outlined = OUTLINES.get(getattr(function, "__name__", ""))
            if outlined is None or not args[0].is_meta:
                raise
            return outlined(*args, **kwargs)

    def record(self, function, args, kwargs, result):
        name = getattr(function, "__name__", "")
        if name == "__get__":
            name = getattr(function.__self__, "__name__", "")
        elif name == "__set__":
            raise NoLine("it replaces an attribute of a tensor")
        inputs = list(tensors_in((list(args), kwargs)))
        if name in ON_HOST and inputs:
            raise NoLine(f"it reads the value of a tensor on the host ({name.strip('_')})")
        if name == "__setitem__":
            raise NoLine("it overwrites a tensor (__setitem__)")
        results = list(tensors_in(result))
        if not results:
            return
        self.kept.extend(results)
        moved = name in MOVING and inputs and results[0].dtype == inputs[0].dtype
        if (name in UNCHANGED or moved) and len(results) == 1 and inputs:
            self.names[id(results[0])] = self.name_of(inputs[0])
            return
        if name == "copy_" and self.is_whole(args[0]) and args[0].shape == args[1].shape and args[0].dtype == args[1].dtype:
            self.names[id(args[0])] = self.name_of(args[1])
            return
        if name in OVERWRITING or "out" in kwargs and kwargs["out"] is not None:
            raise NoLine(f"it overwrites a tensor ({name})")
        if name in ("dropout", "alpha_dropout", "feature_dropout", "dropout1d", "dropout2d", "dropout3d"):
            p = kwargs.get("p", args[1] if len(args) > 1 else 0.5)
            training = kwargs.get("training", args[2] if len(args) > 2 else True)
            if p == 0 or not training:
                self.names[id(results[0])] = self.name_of(inputs[0])
                return
            raise NoLine("it draws random numbers (dropout)")
        if name in DRAWING:
            raise NoLine(f"it draws random numbers ({name})")
        in_place = bool(inputs) and any(each is inputs[0] for each in results)
        if in_place and not self.is_whole(results[0]):
            raise NoLine("it writes to a tensor in place that others share")
        if name == "batch_norm" and kwargs.get("training", args[5] if len(args) > 5 else False):
            args = (args[0], None, None) + tuple(args[3:])  # the running statistics are written, not read
        text = self.call(function, name, args, kwargs, in_place)
        if len(results) == 1 and isinstance(result, (list, tuple)):
            text += "[0]"
        needs = {self.name_of(each) for each in tensors_in((list(args), kwargs))}
        targets = []
        for each in results:
            target = f"t{len(self.statements)}" if len(results) == 1 else f"t{len(self.statements)}_{len(targets)}"
            self.names[id(each)] = target
            targets.append(target)
        self.statements.append(Statement(targets, text, needs))

    def is_whole(self, tensor):
        """No other tensor shares its memory, as far as was seen."""
        return not tensor._is_view() and not any(each._base is tensor for each in self.kept if each._is_view())

    def name_of(self, tensor):
        name = self.names.get(id(tensor))
        if name is None:
            if tensor.numel() == 1 and tensor.device.type == "cpu":
                return repr(tensor.item())
            raise NoLine("it uses a tensor that was made out of sight")
        return name

    def text_of(self, value):
        if isinstance(value, torch.Tensor):
            return self.name_of(value)
        if isinstance(value, bool) or value is None or value is Ellipsis:
            return "..." if value is Ellipsis else repr(value)
        if isinstance(value, (int, float)):
            return f"float('{value}')" if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))) else repr(value)
        if isinstance(value, str):
            return f"'{value}'"
        if isinstance(value, torch.dtype) or isinstance(value, type) and value in PYTHON_TYPES:
            return str(PYTHON_TYPES.get(value, value))
        if isinstance(value, slice):
            part = [("" if each is None else self.text_of(each)) for each in (value.start, value.stop, value.step)]
            return ":".join(part if part[2] else part[:2])
        if isinstance(value, (list, tuple)):
            items = [self.text_of(each) for each in value]
            return "(" + ", ".join(items) + (",)" if len(items) == 1 else ")")
        raise NoLine(f"it gives a {type(value).__name__} to PyTorch")

    def call(self, function, name, args, kwargs, in_place):
        if name in ("__getitem__",):
            items = args[1] if isinstance(args[1], tuple) else (args[1],)
            return f"{self.text_of(args[0])}[{', '.join(self.text_of(each) for each in items)}]"
        if name in OPERATORS:
            return OPERATORS[name].format(*(self.text_of(each) for each in args))
        if getattr(function, "__name__", "") == "__get__":
            return f"{self.text_of(args[0])}.{name}"
        if in_place and name.endswith("_") and not name.endswith("__"):
            name = name[:-1]
        texts = [self.text_of(each) for each in args if not isinstance(each, torch.device)]
        texts += [f"{key}={self.text_of(each)}" for key, each in kwargs.items()
                  if key not in ("device", "inplace", "layout", "pin_memory", "memory_format", "generator") and each is not None
                  and not self.is_default(function, key, each)]
        owner = self.owner_of(function, name)
        if owner == "":
            return f"{texts[0]}.{name}({', '.join(texts[1:])})"
        return f"{owner}{name}({', '.join(texts)})"

    @staticmethod
    def is_default(function, key, value):
        """Functions of PyTorch in Python may name every argument, also those that the module leaves out."""
        if not isinstance(function, types.FunctionType) or not isinstance(value, (bool, int, float, str)):
            return False
        parameter = inspect.signature(function).parameters.get(key)
        return parameter is not None and type(parameter.default) is type(value) and parameter.default == value

    @staticmethod
    def owner_of(function, name):
        if function is recurrence:
            return "torch."
        if getattr(F, name, None) is function or getattr(function, "__module__", "") == "torch.nn.functional":
            return "F."
        if getattr(torch, name, None) is function:
            return "torch."
        if getattr(function, "__objclass__", None) is not None or getattr(torch.Tensor, name, None) is function:
            return ""
        return "torch." if hasattr(torch, name) else ""


@contextlib.contextmanager
def every_index_seen():
    """PyTorch before 2.0 tells a mode of few indices that are read, x[:, 0] but not x[0], and of none that is written."""
    if int(torch.__version__.split(".")[0]) >= 2:
        yield
        return
    own = {name: getattr(torch.Tensor, name) for name in ("__getitem__", "__setitem__")}

    def telling(name):
        def told(tensor, *rest):
            if torch._C._len_torch_function_stack() > 0:   # a mode looks on
                return handle_torch_function(told, (tensor,), tensor, *rest)
            return own[name](tensor, *rest)
        told.__name__ = name
        return told

    for name in own:
        setattr(torch.Tensor, name, telling(name))
    try:
        yield
    finally:
        for name in own:
            delattr(torch.Tensor, name)   # what lies below is PyTorch's own


def derive(task, model, arguments, every_expansion=False):
    """The line over the interface's names, or why there is none; and the paths of state that no output depends on. `every_expansion`: none
    where an expansion failed."""
    names = {}
    for entry, tensor in zip(task.inputs, task.input_tensors(arguments)):
        names[id(tensor)] = entry["name"]
    held = dict(task.state_tensors(model))
    for entry in task.state:
        names[id(held[entry["path"]])] = entry["name"]
    recorder = Recorder(names)
    torch.manual_seed(0)
    with in_task(task.path, "forward"), torch.no_grad(), every_index_seen(), recorder:
        result = model(*arguments)
    outputs = task.outputs_of(result)
    problem = recorder.problem or (f"the expansion {recorder.unexpanded} failed" if every_expansion and recorder.unexpanded else None)
    wanted, line = set(), []
    try:
        finals = [recorder.name_of(each) for each in outputs]
    except NoLine as why:
        finals, problem = [], problem or str(why)
    wanted.update(finals)
    for statement in reversed(recorder.statements):
        if wanted.isdisjoint(statement.targets):
            continue
        wanted.update(statement.needs)
        line.insert(0, f"{', '.join(statement.targets)} = {statement.text}")
    unused = {entry["path"] for entry in task.state if entry["name"] not in wanted} if problem is None else set()
    for name, final in zip(output_names(task, len(outputs)), finals):
        if line and final.startswith("t") and line[-1].startswith(f"{final} = ") and finals.count(final) == 1:
            line[-1] = f"{name} = " + line[-1].split(" = ", 1)[1]
        else:
            line.append(f"{name} = {final}")
    return ("; ".join(line), "", unused) if problem is None else ("", problem, unused)


def output_names(task, count):
    taken = {each["name"] for each in task.inputs + task.scalars + task.state}
    names = []
    for index in range(count):
        name = "output" if count == 1 else f"output{index}"
        while name in taken:
            name += "_"
        names.append(name)
    return names
