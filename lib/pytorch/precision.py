# SPDX-License-Identifier: Apache-2.0
"""How exact the products inside a module must be, operation by operation: a run's class of precision. Results and sums stay
what the module declares; a class speaks of float32 operands, because those of 16-bit types have no more bits to lose."""

import contextlib
import re

import torch

ROUNDOFF = {"fp32": 2.0 ** -24, "tf32": 2.0 ** -11, "half": 2.0 ** -8}   # of one operand; half is bfloat16 or float16
# "reference": as inexact as PyTorch's default flags let that operation be. cuDNN may use TF32, cuBLAS may not.
CLASSES = ("reference", "fp32", "tf32", "half")
RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu", "_cudnn_rnn", "quantized_lstm"}   # layers that cuDNN computes whole
PRODUCTS = {"mm", "addmm", "_addmm_activation", "bmm", "baddbmm", "addbmm", "mv", "addmv", "dot", "vdot", "inner", "matmul", "__matmul__",
            "__rmatmul__", "linear", "einsum", "tensordot", "bilinear", "_trilinear", "chain_matmul", "multi_dot", "linalg_multi_dot",
            "multi_head_attention_forward", "_native_multi_head_attention", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"}


def name_of(function):
    """"conv2d" of torch.conv2d, of torch.ops.aten.conv2d.default and of "aten::conv2d"."""
    text = function if isinstance(function, str) else getattr(function, "__name__", None) or str(function)
    parts = text.split("::")[-1].split(".")
    if parts[0] == "torch":
        return parts[-1]
    return parts[1] if parts[0] == "aten" and len(parts) > 1 else parts[0]


def kind_of(function):
    """"convolution" of what cuDNN multiplies, "product" of what cuBLAS does; empty of everything else."""
    name = name_of(function)
    if re.search("conv(?!ert)", name) or name in RECURRENT:
        return "convolution"
    return "product" if name in PRODUCTS or "scaled_dot_product" in name else ""


def class_of(kind, precision):
    """The class that an operation of this kind is held to: "fp32", "tf32" or "half"."""
    if precision not in CLASSES:
        raise ValueError(f"{precision} is no class of precision; they are {', '.join(CLASSES)}")
    if not kind:
        return "fp32"
    return ("tf32" if kind == "convolution" else "fp32") if precision == "reference" else precision


def operand_roundoff(function, precision):
    """The largest relative error of rounding one float32 operand of an operation as the class allows. `function`: of torch or
    aten, or its name. What multiplies no operands together gives float32's own."""
    return ROUNDOFF[class_of(kind_of(function), precision)]


def allowed(precision):
    """PyTorch's own flags in a class: whether TF32 is allowed to convolutions, and to products. It has none for half."""
    return class_of("convolution", precision) != "fp32", class_of("product", precision) != "fp32"


def set_flags(convolutions, products):
    torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32 = convolutions, products


@contextlib.contextmanager
def flags(precision):
    """PyTorch's flags of a class while something runs."""
    before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
    set_flags(*allowed(precision))
    try:
        yield
    finally:
        set_flags(*before)
