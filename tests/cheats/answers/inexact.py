# SPDX-License-Identifier: Apache-2.0
"""Answers whose numbers are not quite right, and sound ones: for each task a module, its inputs, and what is put in the place
of a piece of its text. A name that begins with `sound` says that the answer is right; of all others some trial must show
that they are not."""

TASKS = {
    "losses of logits": ("""
class Model(nn.Module):
    def forward(self, x, y):
        return F.binary_cross_entropy_with_logits(x, y, reduction="none")
""", "torch.randn(7, 120), torch.rand(7, 120)", {
        "stops at a number": ("F.binary_cross_entropy_with_logits(x, y, reduction=\"none\")", "F.binary_cross_entropy_with_logits(x.clamp(-12, 12), y, reduction=\"none\")"),
        "sound: by powers": ("F.binary_cross_entropy_with_logits(x, y, reduction=\"none\")", "(1 - y) * x + self.rest(x)", """
    def rest(self, x):
        least = torch.clamp(-x, min=0)
        return least + torch.log(torch.exp(-least) + torch.exp(-x - least))
"""),
    }),
    "exponential unit": ("""
class Model(nn.Module):
    def forward(self, x):
        return torch.celu(x, 0.7)
""", "torch.randn(40, 120)", {
        "another unit": ("torch.celu(x, 0.7)", "F.elu(x, 0.7)"),
        "sound: exact next to 0": ("torch.celu(x, 0.7)", "torch.where(x > 0, x, 0.7 * torch.expm1(x / 0.7))"),
    }),
    "mean beside a variance": ("""
class Model(nn.Module):
    def forward(self, x):
        return torch.var_mean(x, (0, 2))[1]
""", "torch.randn(9, 5, 70)", {
        "of some": ("torch.var_mean(x, (0, 2))[1]", "torch.var_mean(x[:8], (0, 2))[1]"),
        "sound: alone": ("torch.var_mean(x, (0, 2))[1]", "x.sum(2).sum(0) / 630"),
    }),
    "between neighbours": ("""
class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True)
""", "torch.randn(2, 3, 9, 11)", {
        "other places": ("align_corners=True", "align_corners=False"),
        "sound: places as quotients": ("F.interpolate(x, scale_factor=2, mode=\"bilinear\", align_corners=True)", "self.along(self.along(x, 2, 18), 3, 22)", """
    def along(self, x, dim, count):
        place = torch.arange(count) * (x.shape[dim] - 1) / (count - 1)
        low = place.floor().clamp(max=x.shape[dim] - 2)
        weight = (place - low).reshape([-1 if i == dim else 1 for i in range(4)])
        return x.index_select(dim, low.long()) * (1 - weight) + x.index_select(dim, low.long() + 1) * weight
"""),
    }),
    "sum of products": ("""
class Model(nn.Module):
    def forward(self, x, y, z):
        return torch.addbmm(x, y, z)
""", "torch.randn(12, 14), torch.randn(5, 12, 30), torch.randn(5, 30, 14)", {
        "factors in bfloat16": ("torch.addbmm(x, y, z)", "torch.addbmm(x, y.bfloat16().float(), z.bfloat16().float())"),
        "sound: one product": ("torch.addbmm(x, y, z)", "x + y.permute(1, 0, 2).reshape(12, 150) @ z.reshape(150, 14)"),
    }),
    "norm": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(96)
        self.lin = nn.Linear(96, 64)
    def forward(self, x):
        return self.lin(self.ln(x))
""", "torch.randn(200, 96)", {
        "ignores the norm's weight and bias": ("self.ln(x)", "F.layer_norm(x, (96,))"),
        "ignores the norm's bias": ("self.ln(x)", "F.layer_norm(x, (96,), self.ln.weight)"),
        "ignores a bias": ("self.lin(self.ln(x))", "F.linear(self.ln(x), self.lin.weight)"),
        "works in bfloat16 inside": ("self.lin(self.ln(x))", "F.linear(self.ln(x).bfloat16(), self.lin.weight.bfloat16(), self.lin.bias.bfloat16()).float()"),
        "sound: by hand": ("self.ln(x)", "((x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, unbiased=False, keepdim=True) + 1e-5) * self.ln.weight + self.ln.bias)"),
    }),
    "batch norm": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 16, 3)
        self.bn = nn.BatchNorm2d(16)
        self.scale = nn.Parameter(torch.ones(16, 1, 1))
    def forward(self, x):
        return torch.relu(self.bn(self.conv(x))) * self.scale
""", "torch.randn(8, 4, 12, 12)", {
        "ignores weight and bias of the norm": ("self.bn(self.conv(x))", "F.batch_norm(self.conv(x), None, None, training=True)"),
        "ignores a parameter of ones": (" * self.scale", ""),
        "another epsilon": ("self.bn(self.conv(x))", "F.batch_norm(self.conv(x), None, None, self.bn.weight, self.bn.bias, training=True, eps=1e-3)"),
        "statistics of half of the batch": ("self.bn(self.conv(x))", "self.half(self.conv(x))", """
    def half(self, y):
        m, v = y[:4].mean((0, 2, 3), keepdim=True), y[:4].var((0, 2, 3), unbiased=False, keepdim=True)
        return (y - m) / torch.sqrt(v + 1e-5) * self.bn.weight.view(1, -1, 1, 1) + self.bn.bias.view(1, -1, 1, 1)
"""),
        "sound: channels last": ("self.conv(x)", "self.conv(x.contiguous(memory_format=torch.channels_last))"),
    }),
    "product": ("""
class Model(nn.Module):
    def forward(self, A, B):
        return A @ B
""", "torch.randn(96, 1000), torch.randn(1000, 80)", {
        "bfloat16": ("A @ B", "(A.bfloat16() @ B.bfloat16()).float()"),
        "one operand in bfloat16": ("A @ B", "A @ B.bfloat16().float()"),
        "TF32": ("A @ B", "self.cut(A) @ self.cut(B)", "\n    def cut(self, x):\n        return ((x.view(torch.int32) + 0x1000) & ~0x1fff).view(torch.float32)\n"),
        "an ignored per cent": ("A @ B", "A[:, :990] @ B[:990]"),
        "one term of a thousand left out": ("A @ B", "A[:, :999] @ B[:999]"),
        "half of the sum, twice": ("A @ B", "2 * (A[:, ::2] @ B[::2])"),
        "partial sums in float16": ("A @ B", "sum((A[:, i:i + 125] @ B[i:i + 125]).half() for i in range(0, 1000, 125)).float()"),
        "one row of the call before": ("A @ B", "self.late(A @ B)", """
    kept = 0.0
    def late(self, C):
        ModelNew.kept, C[57] = C[57].clone(), self.kept
        return C
"""),
        "sound: halves of the sum": ("A @ B", "A[:, :500] @ B[:500] + A[:, 500:] @ B[500:]"),
        "sound: float64": ("A @ B", "(A.double() @ B.double()).float()"),
    }),
    "convolution": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 32, 1)
    def forward(self, x):
        return self.conv(x)
""", "torch.rand(8, 3, 14, 14)", {
        "inputs in bfloat16": ("self.conv(x)", "self.conv(x.bfloat16().float())"),
        "weights in bfloat16": ("self.conv(x)", "F.conv2d(x, self.conv.weight.bfloat16().float(), self.conv.bias)"),
        "results in float16": ("self.conv(x)", "self.conv(x).half().float()"),
        "results in float16, all but one": ("self.conv(x)", "self.all_but_one(self.conv(x))", """
    def all_but_one(self, y):
        z = y.half().float()
        z[0, 0, 0, 0] = y[0, 0, 0, 0]
        return z
"""),
        "results in float16, times nearly 1": ("self.conv(x)", "self.conv(x).half().float() * (1 + 2.0 ** -22)"),
        "sound: TF32": ("self.conv(x)", "F.conv2d(self.cut(x), self.cut(self.conv.weight), self.conv.bias)",
                        "\n    def cut(self, x):\n        return ((x.view(torch.int32) + 0x1000) & ~0x1fff).view(torch.float32)\n"),
        "sound: float64": ("self.conv(x)", "F.conv2d(x.double(), self.conv.weight.double(), self.conv.bias.double()).float()"),
    }),
    "softmax": ("""
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
""", "torch.rand(64, 700)", {
        "without the maximum": ("torch.softmax(x, dim=1)", "torch.exp(x) / torch.exp(x).sum(1, keepdim=True)"),
        "the maximum of a sample": ("torch.softmax(x, dim=1)", "self.shifted(x, x[:, ::8])", "\n    def shifted(self, x, some):\n        e = torch.exp(x - some.amax(1, keepdim=True))\n        return e / e.sum(1, keepdim=True)\n"),
        "looks at the first inputs": ("torch.softmax(x, dim=1)", "torch.softmax(x, 1) if bool(((x.view(-1)[:64] > 1) | (x.view(-1)[:64] < 0)).any()) else torch.exp(x) / torch.exp(x).sum(1, keepdim=True)"),
        "constant": ("torch.softmax(x, dim=1)", "torch.full_like(x, 1 / 700)"),
        "sound: float64": ("torch.softmax(x, dim=1)", "torch.softmax(x.double(), 1).float()"),
    }),
    "nearly saturated": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(128, 64)
        self.register_buffer("shift", torch.zeros(64))
    def forward(self, x):
        return torch.sigmoid(self.lin(x) + 8 + self.shift)
""", "torch.rand(100, 128)", {
        "constant": ("torch.sigmoid(self.lin(x) + 8 + self.shift)", "torch.full((100, 64), 0.9997)"),
        "ignores a buffer of zeros": (" + self.shift", ""),
        "ignores its input": ("self.lin(x)", "self.lin.bias.expand(100, 64)"),
    }),
    "attention": ("""
class Model(nn.Module):
    def forward(self, q, k, v):
        return torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1) @ v
""", "torch.randn(2, 2, 96, 64), torch.randn(2, 2, 96, 64), torch.randn(2, 2, 96, 64)", {
        "bfloat16": ("torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1) @ v", "(torch.softmax((q.bfloat16() @ k.bfloat16().transpose(-2, -1)).float() / 8, -1).bfloat16() @ v.bfloat16()).float()"),
        "the last key ignored": ("q @ k.transpose(-2, -1) / 8, dim=-1) @ v", "q @ k[:, :, :95].transpose(-2, -1) / 8, dim=-1) @ v[:, :, :95]"),
        "small weights cut off": ("torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1) @ v", "F.threshold(torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1), 1e-3, 0) @ v"),
        "sound: scaled before": ("q @ k.transpose(-2, -1) / 8", "(q / 8) @ k.transpose(-2, -1)"),
    }),
    "classes": ("""
class Model(nn.Module):
    def forward(self, predictions, targets):
        return F.cross_entropy(predictions, targets)
""", "torch.rand(512, 10), torch.randint(0, 10, (512,))", {
        "half of the batch": ("predictions, targets)\n", "predictions[:256], targets[:256])\n"),
        "constant": ("F.cross_entropy(predictions, targets)", "torch.tensor(2.3)"),
        "ignores the targets": ("F.cross_entropy(predictions, targets)", "(torch.logsumexp(predictions, 1) - predictions.mean(1)).mean()"),
    }),
    "largest": ("""
class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=1)
""", "torch.randn(2000, 60)", {
        "in half precision": ("torch.argmax(x, dim=1)", "torch.argmax(x.half(), dim=1)"),
        "skips the last": ("torch.argmax(x, dim=1)", "torch.argmax(x[:, :59], dim=1)"),
    }),
    "GELU": ("""
class Model(nn.Module):
    def forward(self, x):
        return F.gelu(x)
""", "torch.randn(64, 512)", {
        "by the hyperbolic tangent": ("F.gelu(x)", "F.gelu(x, approximate='tanh')"),
        "ReLU far out": ("F.gelu(x)", "torch.where(x.abs() > 4, torch.relu(x), F.gelu(x))"),
        "one element of the call before": ("F.gelu(x)", "self.late(F.gelu(x))", """
    kept = 0.0
    def late(self, y):
        ModelNew.kept, y[63, 500] = float(y[63, 500]), self.kept
        return y
"""),
    }),
    "floor": ("""
class Model(nn.Module):
    def forward(self, x):
        return torch.floor(x)
""", "10 * torch.randn(64, 512)", {
        "right up to a million": ("torch.floor(x)", "torch.floor(x.clamp(-1e6, 1e6))"),
        "sound: by what is left": ("torch.floor(x)", "torch.where(x.abs() < 2**23, x - torch.remainder(x, 1), x)"),
    }),
    "rows by index": ("""
class Model(nn.Module):
    def forward(self, x, positions, left_out):
        return x[positions].masked_fill(left_out, 0.0)
""", "torch.randn(64, 120), torch.arange(64), torch.zeros(64, 120, dtype=torch.bool)", {
        "ignores positions that count up": ("x[positions]", "x"),
        "ignores a mask that is all false": (".masked_fill(left_out, 0.0)", ".clone()"),
        "sound: by a selection": ("x[positions]", "torch.index_select(x, 0, positions)"),
    }),
    "sums by index": ("""
class Model(nn.Module):
    def forward(self, x, i):
        return torch.ones(20000).index_add(0, i, x)
""", "torch.randn(12), torch.randint(0, 20000, (12,))", {
        "equal indices, which are rare, count once": ("torch.ones(20000).index_add(0, i, x)", "torch.ones(20000).index_copy(0, i, 1 + x)"),
        "sound: the other way round": ("torch.ones(20000).index_add(0, i, x)", "torch.ones(20000).index_add(0, i.flip(0), x.flip(0))"),
    }),
    "loss": ("""
class Model(nn.Module):
    def forward(self, a, b):
        return ((a - b) ** 2).mean()
""", "torch.rand(128, 400), torch.rand(128, 400)", {
        "bfloat16, which averages out": ("((a - b) ** 2).mean()", "((a.bfloat16().float() - b.bfloat16().float()) ** 2).mean()"),
        "sound: the other order": ("((a - b) ** 2).mean()", "F.mse_loss(b.t(), a.t())"),
    }),
    "running log-sum": ("""
class Model(nn.Module):
    def forward(self, x):
        return torch.logcumsumexp(x, dim=1)
""", "torch.randn(30, 200)", {
        "without a maximum": ("torch.logcumsumexp(x, dim=1)", "torch.log(torch.cumsum(torch.exp(x), 1))"),
        "sound: pair by pair": ("torch.logcumsumexp(x, dim=1)", "self.each(x)", """
    def each(self, x):
        y = [x[:, 0]]
        for k in range(1, x.shape[1]):
            y.append(torch.logaddexp(y[-1], x[:, k]))
        return torch.stack(y, 1)
"""),
    }),
    "number": ("""
class Model(nn.Module):
    def forward(self, x, s):
        return x * s
""", "torch.randn(64, 120), 3.14", {
        "takes a number for granted": ("x * s", "x * 3.14"),
        "sound: as it comes": ("x * s", "s * x"),
    }),
    "recurrence": ("""
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(12, 16)
    def forward(self, x, h0):
        return self.rnn(x, h0)[0]
""", "torch.randn(9, 5, 12), torch.zeros(1, 5, 16)", {
        "ignores a state of zeros": ("self.rnn(x, h0)", "self.rnn(x)"),
    }),
}


def task(model, inputs):
    return (f"import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n{model}\n"
            f"def get_inputs():\n    return [{inputs}]\n\ndef get_init_inputs():\n    return []\n")


def answer(model, old, new, more=""):
    if old not in model:
        raise ValueError(f"{old!r} stands nowhere")
    return "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n" + (model.rstrip() + "\n" + more).replace(old, new, 1).replace("class Model(", "class ModelNew(")
