# SPDX-License-Identifier: Apache-2.0
"""A verified answer as a Python module: the CUDA source built by load_inline, and a wrapper that checks what it is given."""

import ast
import re

import torch

from task_module import DTYPES, Refusal

TORCH_TYPES = {"float64": "torch::kFloat64", "float32": "torch::kFloat32", "float16": "torch::kFloat16",
               "bfloat16": "torch::kBFloat16", "int64": "torch::kInt64", "int32": "torch::kInt32", "int16": "torch::kInt16",
               "int8": "torch::kInt8", "uint8": "torch::kUInt8", "bool": "torch::kBool"}
# What KernelBench's static checker takes for a way around it, wherever it stands.
FORBIDDEN = [r"\btry\s*:", r"\bexcept\s*:", r"\bexcept\s+\w+", r"\bpass\b"]


def without_comments(source):
    """CUDA source without comments: KernelBench's checker reads them as code."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.S)
    text = pattern.sub(lambda found: found.group() if found.group()[0] in "\"'" else "", source)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def launcher(source):
    """Name and parameters of the host function in an output file: (name, [(type, name)])."""
    found = re.search(r"^cudaError_t (\w+)\(([^)]*)\)", source, re.M)
    if found is None:
        raise Refusal("the output file has no host launch function")
    parameters = []
    for each in found.group(2).split(","):
        kind, _, name = each.strip().rpartition(" ")
        parameters.append((kind.strip(), name.split("=")[0].strip()))
    return found.group(1), parameters


def tensors_of(task):
    inputs = [(each["name"], each["tensor"]) for each in task.inputs]
    state = [(each["name"], each["tensor"]) for each in task.state]
    return inputs, state, [(each["name"], each["tensor"]) for each in task.outputs]


def cuda_source(task, source):
    """The answer and a function over tensors that checks, allocates and launches on PyTorch's stream."""
    name, parameters = launcher(source)
    inputs, state, outputs = tensors_of(task)
    scalars = {each["name"]: each for each in task.scalars}
    given = inputs + state
    arguments = [f"torch::Tensor {each}" for each, _ in given] + [f"double {each}" for each in scalars]
    body = []
    for each, tensor in given:
        sizes = ", ".join(str(size) for size in tensor.shape)
        body.append(f'  TORCH_CHECK({each}.is_cuda() && {each}.is_contiguous() && {each}.scalar_type() == {TORCH_TYPES[DTYPES[tensor.dtype]]} && '
                    f'{each}.sizes() == torch::IntArrayRef(std::vector<int64_t>{{{sizes}}}), '
                    f'"{each} must be a contiguous {DTYPES[tensor.dtype]} tensor on a GPU of shape [{sizes}]");')
    device = given[0][0] if given else None
    options = f"{device}.options()" if device else "torch::TensorOptions().device(torch::kCUDA)"
    for each, tensor in outputs:
        sizes = ", ".join(str(size) for size in tensor.shape)
        body.append(f"  auto {each} = torch::empty({{{sizes}}}, {options}.dtype({TORCH_TYPES[DTYPES[tensor.dtype]]}));")
    passed = []
    for kind, parameter in parameters:
        if kind == "cudaStream_t":
            passed.append("c10::cuda::getCurrentCUDAStream()")
        elif kind.endswith("*"):
            passed.append(f"({kind}){parameter}.data_ptr()")
        else:
            passed.append(f"({kind}){parameter}")
    body.append(f"  const cudaError_t status = {name}({', '.join(passed)});")
    body.append(f'  TORCH_CHECK(status == cudaSuccess, "{name}: ", cudaGetErrorString(status));')
    body.append(f"  return {{{', '.join(each for each, _ in outputs)}}};")
    declaration = f"std::vector<torch::Tensor> run_{name}({', '.join(arguments)})"
    text = ("#include <torch/extension.h>\n#include <c10/cuda/CUDAStream.h>\n#include <vector>\n" + without_comments(source)
            + f"{declaration} {{\n" + "\n".join(body) + "\n}\n")
    return name, declaration, text


def converted(name, tensor):
    """A harness may cast every input to its own precision; a mask or an index goes back."""
    text = f"{name}.contiguous()"
    return text if tensor.is_floating_point() else f"{name}.to({tensor.dtype}).contiguous()"


class Renamer(ast.NodeTransformer):
    """Both sources of a task run in one namespace, so an answer shares none of the task's names."""

    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_ClassDef(self, node):
        node.name = self.names.get(node.name, node.name)
        return self.without_docstring(node)

    def visit_FunctionDef(self, node):
        node.name = self.names.get(node.name, node.name)
        # A parameter or a variable of the function's own hides the module's name.
        own = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        own |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        outer = self.names
        self.names = {name: other for name, other in outer.items() if name not in own}
        result = self.without_docstring(node)
        self.names = outer
        return result

    def visit_Pass(self, node):
        return ast.copy_location(ast.Expr(ast.Constant(...)), node)

    def without_docstring(self, node):
        self.generic_visit(node)
        if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) and isinstance(node.body[0].value.value, str):
            node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
        return node


def model_source(task, call):
    """The task's module without its inputs, every name of its own changed, Model as ModelNew with another forward."""
    tree = ast.parse(task.source)
    body, names = [], {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in ("get_inputs", "get_init_inputs"):
            continue
        if isinstance(statement, ast.Expr):
            continue  # a docstring
        body.append(statement)
        defined = [statement.name] if isinstance(statement, (ast.ClassDef, ast.FunctionDef)) else []
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            defined = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id in task.constants:
                statement.value = ast.Constant(task.constants[targets[0].id])
        names.update({name: f"{name}_cudal1" for name in defined})
    names["Model"] = "ModelNew"
    for statement in body:
        if isinstance(statement, ast.ClassDef) and statement.name == "Model":
            for method in statement.body:
                if isinstance(method, ast.FunctionDef) and method.name == "forward":
                    method.body = ast.parse(call).body
    module = Renamer(names).visit(ast.Module(body=body, type_ignores=[]))
    return ast.unparse(ast.fix_missing_locations(module))


def load_text(name, declaration, text):
    return (f"from torch.utils.cpp_extension import load_inline as load_inline_cudal1\n"
            f"cuda_source_cudal1 = r'''\n{text}'''\n"
            f"kernels_cudal1 = load_inline_cudal1(name='cudal1_{name}', cpp_sources='#include <vector>\\n{declaration};', "
            f"cuda_sources=cuda_source_cudal1, functions=['run_{name}'])\n")


def returned(task, call, outputs):
    if len(outputs) == 1:
        return f"return {call}[0]"
    return f"return tuple({call})"


def export(task, form, source):
    name, declaration, text = cuda_source(task, source)
    inputs, state, outputs = tensors_of(task)
    if form == "torch":
        arguments = ", ".join([each for each, _ in inputs + state] + [f"{each['name']}={each['value']!r}" for each in task.scalars])
        passed = ", ".join([converted(*each) for each in inputs + state] + [each["name"] for each in task.scalars])
        kinds = "; ".join(f"{each}: {DTYPES[tensor.dtype]}{list(tensor.shape)}" for each, tensor in inputs + state)
        return (f'"""{name}: made by cudal1. Builds on first import; launches on the current stream. {kinds}"""\nimport torch\n'
                f"{load_text(name, declaration, text)}\n\ndef {name}({arguments}):\n    {returned(task, f'kernels_cudal1.run_{name}({passed})', outputs)}\n")
    if any(isinstance(each, (list, tuple)) for each in task.arguments):
        raise Refusal("an answer to a task with lists of inputs cannot be exported for KernelBench")
    passed = [converted(each["argument"], each["tensor"]) for each in task.inputs]
    for entry in task.state:
        value = "self"
        for part in entry["path"].split("."):
            value = f"getattr({value}, '{part}')" if part.isdigit() else f"{value}.{part}"
        passed.append(f"{value}.detach().contiguous()")
    passed += [each["argument"] for each in task.scalars]
    model = model_source(task, returned(task, f"kernels_cudal1.run_{name}({', '.join(passed)})", outputs))
    result = f"import torch\n{load_text(name, declaration, text)}\n{model}\n"
    checked = "\n".join(re.sub(r"(#|//).*", "", line) for line in result.splitlines())
    for pattern in FORBIDDEN:
        if re.search(pattern, checked):
            raise Refusal(f"KernelBench's checker would refuse the export: it matches {pattern}")
    return result
