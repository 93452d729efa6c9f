# SPDX-License-Identifier: Apache-2.0
"""Functions of elements, reductions, scans, places and indices: a forward over x, y, z, its inputs, and what the constructor makes."""

MATRIX = "randn(7, 33)"
BATCH = "randn(3, 5, 18)"
IMAGE = "randn(2, 6, 9, 8)"

ACTIVATIONS = [(f"nn.{name}", IMAGE) for name in (
    "ReLU()", "ReLU(inplace=True)", "ReLU6()", "LeakyReLU(0.2)", "PReLU()", "PReLU(6)", "RReLU().eval()", "ELU(1.3)", "CELU(0.7)", "SELU()", "GELU()", "GELU('tanh')",
    "SiLU()", "Mish()", "Sigmoid()", "LogSigmoid()", "Tanh()", "Tanhshrink()", "Softplus(2, 10)", "Softsign()", "Softshrink(0.3)", "Hardshrink(0.3)", "Hardtanh(-0.5, 0.7)",
    "Hardsigmoid()", "Hardswish()", "Threshold(0.1, 20)", "GLU(1)", "Softmax(dim=1)", "Softmin(dim=2)", "Softmax2d()", "LogSoftmax(dim=-1)", "Identity()", "Dropout(0.3).eval()",
    "Dropout2d(0.0)", "AlphaDropout(0.2).eval()", "ChannelShuffle(3)", "ZeroPad2d((1, 2, 0, 3))", "Flatten()", "Flatten(2, 3)", "Unflatten(1, (2, 3))")]

ELEMENTS = [(text, MATRIX) for text in (
    "torch.exp(x).log1p()", "x.abs().sqrt()", "torch.rsqrt(x.square() + 1)", "x.pow(3) - x ** 2.5", "x.abs() ** 0.5", "2 ** x", "torch.sin(x) * torch.cos(x)", "torch.erf(x) + torch.erfc(x)",
    "torch.erfinv(x.tanh() * 0.9)", "torch.sinh(x) / torch.cosh(x)", "torch.asinh(x)", "torch.acosh(x.abs() + 1.5)", "torch.atanh(x.tanh() * 0.5)", "torch.lgamma(x.abs() + 0.5)",
    "torch.digamma(x.abs() + 0.5)", "torch.logit(x.sigmoid(), eps=1e-6)", "torch.floor(x) + torch.ceil(x) - torch.round(x) + torch.trunc(x)", "torch.frac(x)", "torch.sign(x) * x", "torch.sgn(x)",
    "torch.heaviside(x, torch.tensor(0.5))", "x.clamp(-0.5, 0.5)", "x.clamp(min=0.1)", "x.clamp_(max=0.2)", "torch.clip(x, -1, 1)", "torch.nan_to_num(x / 0.0, 1.0, 2.0, -2.0)", "torch.expm1(x)",
    "torch.sigmoid(x).neg().add(1)", "torch.tan(x.tanh())", "torch.sinc(x)", "torch.xlogy(x.abs(), x.square() + 1)", "torch.deg2rad(x)", "torch.rad2deg(x)", "torch.signbit(x)", "torch.positive(x)",
    "torch.special.expit(x) + torch.special.log1p(x.abs())", "torch.logaddexp(x, x * 2)", "torch.logaddexp2(x, x * 2)", "torch.copysign(x, -x.cos())", "torch.ldexp(x, torch.tensor(3))",
    "torch.float_power(x.abs(), 1.5).float()", "torch.true_divide(x, 3)", "torch.fmax(x, -x)", "torch.fmin(x, -x)", "torch.square_(x) + 1", "x.add_(1).mul_(2).sub_(0.5).div_(3)",
    "torch.relu_(x)", "F.relu(x, inplace=True) + x", "torch.special.i0(x)", "torch.polygamma(1, x.abs() + 0.5)")]

BINARY = [(text, MATRIX, MATRIX) for text in (
    "x + y", "x - 2 * y", "torch.add(x, y, alpha=0.3)", "torch.sub(x, y, alpha=2)", "x * y / (y.abs() + 1)", "torch.maximum(x, y) + torch.minimum(x, y)", "torch.max(x, y)", "torch.atan2(x, y)",
    "torch.hypot(x, y)", "torch.fmod(x, 0.7) + torch.remainder(y, 0.3)", "torch.div(x, y, rounding_mode='floor')", "torch.div(x, y, rounding_mode='trunc')", "x // 0.5", "x % 0.5", "torch.where(x > y, x, y * 2)",
    "(x > 0) & (y < 0)", "(x > 0).float() * y", "(x >= y).int() + (x != y).long()", "torch.lerp(x, y, 0.3)", "torch.addcmul(x, x, y, value=0.5)", "torch.addcdiv(x, y, y.abs() + 1, value=2)",
    "torch.isclose(x, y)", "torch.logical_and(x > 0, y > 0) | torch.logical_not(x > 1)", "x.masked_fill(y > 0, -1e9)", "x.masked_fill(y > 0, float('-inf')).softmax(-1)", "torch.eq(x, y).all()", "torch.dist(x, y)",
    "torch.cosine_similarity(x, y, dim=1)", "F.cosine_similarity(x, y, dim=0)", "nn.CosineSimilarity(dim=-1)(x, y)", "F.pairwise_distance(x, y)", "nn.PairwiseDistance(p=1)(x, y)", "torch.cdist(x, y)", "torch.cdist(x, y, p=1)",
    "torch.stack([x, y], 1)", "torch.cat([x, y, x], dim=-1)", "torch.hstack([x, y])", "torch.vstack([x, y])", "torch.dstack([x, y])", "torch.column_stack([x, y])", "torch.cross(x[:, :3], y[:, :3], dim=1)", "x.sub(y).pow(2).mean().sqrt()",
    "torch.rsub(x, y)", "torch.swapaxes(x, 0, 1) @ y", "x.where(y > 0, y)", "torch.complex(x, y).abs()")]

REDUCTIONS = [(text, BATCH) for text in (
    "x.sum()", "x.sum(1)", "x.sum((0, 2), keepdim=True)", "torch.sum(x, dim=-1)", "x.mean()", "x.mean([1, 2])", "x.prod(dim=1)", "x.prod()", "x.amax(-1)", "x.amin((0, 1), keepdim=True)", "x.max()", "x.max(dim=1)", "torch.max(x, 2)[0]",
    "torch.min(x, dim=1, keepdim=True).values", "x.min(dim=0).indices", "x.argmax()", "x.argmax(dim=1)", "torch.argmin(x, dim=-1, keepdim=True)", "x.any()", "(x > 1).any(dim=1)", "(x > -2).all(-1)", "x.var()", "x.var(1)", "torch.var(x, dim=(1, 2), unbiased=False)",
    "x.std(-1, keepdim=True)", "torch.std_mean(x, dim=1)", "torch.var_mean(x, dim=(0, 2), unbiased=False)", "x.median()", "x.median(dim=1)", "torch.median(x, dim=-1).values", "x.mode(dim=1).values", "torch.quantile(x, 0.3, dim=1)", "torch.nanmean(x, dim=1)",
    "torch.nansum(x)", "torch.logsumexp(x, dim=1)", "torch.logsumexp(x, dim=(1, 2), keepdim=True)", "torch.norm(x)", "torch.norm(x, p=1, dim=1)", "x.norm(dim=-1, keepdim=True)", "torch.norm(x, p=float('inf'), dim=2)", "torch.norm(x, p='fro')",
    "torch.linalg.norm(x)", "torch.linalg.norm(x, dim=(1, 2))", "torch.linalg.vector_norm(x, ord=3, dim=1)", "torch.linalg.matrix_norm(x)", "F.normalize(x, dim=1)", "F.normalize(x, p=1, dim=-1)", "torch.count_nonzero(x > 0, dim=1)", "torch.aminmax(x, dim=1)",
    "x.softmax(1).sum(2)", "torch.log_softmax(x, 1)", "F.softmin(x, dim=1)", "F.gumbel_softmax(x)", "torch.special.logsumexp(x, 1)", "torch.special.softmax(x, dim=1)", "torch.trace(x[0])", "torch.numel(x) * x", "torch.cov(x[0])", "torch.histc(x, 5)", "x.argmax(1).float()",
    "x.sum(dim=1).unsqueeze(1).expand_as(x) * x", "torch.kthvalue(x, 2, dim=1).values", "torch.renorm(x, 2, 0, 1.0)", "torch.sum(x > 0, dim=1)", "x.mean(dim=(-1, -2), keepdim=True)", "(x - x.mean()) / x.std()", "torch.prod(x > -3, dim=1)", "x.double().sum().float()",
    "torch.sum(x, dtype=torch.float64)", "torch.corrcoef(x[0])", "torch.unique(x)", "torch.bincount(x.abs().long().flatten())")]

SCANS = [(text, BATCH) for text in (
    "torch.cumsum(x, dim=1)", "x.cumsum(-1)", "x.cumsum(0)", "torch.cumprod(x, dim=1)", "torch.cumprod(x, dim=2)", "torch.cummax(x, dim=1)", "torch.cummax(x, dim=2)[0]", "torch.cummin(x, dim=1).values", "torch.logcumsumexp(x, dim=1)",
    "torch.cumsum(x.flip(1), dim=1).flip(1)", "torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), x), dim=1)[:-1].cumsum(1)", "torch.cumsum(x * (x > 0), dim=2)", "torch.cumsum(x, dim=1) - x", "torch.cumsum((x > 0).int(), dim=1)", "torch.diff(x, dim=1)", "torch.diff(x)",
    "torch.trapz(x, dim=1)", "torch.sort(x, dim=1)[0]", "torch.sort(x, dim=-1, descending=True)", "x.argsort(dim=1)", "torch.topk(x, 3, dim=-1)", "torch.topk(x, 2, dim=1, largest=False).values", "x.topk(4)[1]", "torch.msort(x)", "x.sort()[0][..., -1]")]

PLACES = [(text, BATCH) for text in (
    "x.view(15, 18)", "x.reshape(3, -1)", "x.flatten(1)", "x.permute(2, 0, 1).contiguous()", "x.transpose(1, 2) * 2", "x.unsqueeze(-1).squeeze(0)", "x.t_() if x.dim() == 2 else x.mT", "x.swapdims(0, 2)", "torch.movedim(x, 0, 2)", "x.expand(3, 5, 18) + 1", "x.repeat(2, 1, 3)",
    "torch.tile(x, (2, 2))", "x.repeat_interleave(3, dim=1)", "torch.roll(x, 2, 1)", "torch.roll(x, (1, -2), (0, 2))", "torch.roll(x, 5)", "x.flip(1)", "torch.flip(x, [0, 2])", "torch.rot90(x, 1, (1, 2))", "x[:, ::2]", "x[..., 1:-1]", "x[:, -1, :]", "x[:, None, 2:4]", "x[0]", "x[1, 2]",
    "torch.chunk(x, 3, dim=-1)", "torch.cat(x.split(4, dim=2)[::-1], dim=2)", "torch.split(x, [2, 3], dim=1)[1]", "x.unbind(1)[2]", "torch.tensor_split(x, 4, dim=2)[0]", "x.narrow(1, 1, 3)", "x.select(2, 4)", "torch.stack(x.unbind(0), dim=2)", "torch.unflatten(x, 2, (3, 6))", "x.view_as(x) + x.reshape_as(x)",
    "F.pad(x, (1, 2))", "F.pad(x, (1, 2, 3, 0), value=0.5)", "F.pad(x, (2, 3), mode='reflect')", "F.pad(x, (2, 3), mode='replicate')", "F.pad(x, (2, 3), mode='circular')", "F.pad(x, (-1, -2))", "F.pad(x, (1, -1))", "torch.tril(x)", "torch.triu(x, 1)", "x.tril(-1).triu(-3)", "torch.diagonal(x, dim1=1, dim2=2)",
    "torch.diag_embed(x[:, 0])", "torch.diag(x[0, 0])", "torch.diag(x[0])", "torch.block_diag(x[0], x[1])", "torch.meshgrid(x[0, 0], x[0, 1], indexing='ij')[0]", "torch.broadcast_to(x[:1], (4, 5, 18))", "x.unfold(2, 4, 3)", "torch.as_strided(x, (3, 5), (90, 18))", "torch.atleast_3d(x)", "torch.squeeze(x[:, :1])",
    "x.half().float()", "x.to(torch.bfloat16) * 2", "x.double()", "x.int()", "(x * 10).long() % 3", "x.bool()", "x.type_as(x)", "x.to(torch.float16).softmax(-1)", "torch.zeros(3, 5, 18) + x", "torch.ones_like(x) - x", "x + torch.arange(18)", "x * torch.linspace(0, 1, 18)", "x + torch.eye(5, 18)",
    "x * torch.tensor([2.0] * 18)", "x + torch.full((18,), 2.0)", "x.new_zeros(3, 5, 18) + x", "torch.empty_like(x).copy_(x)", "x * torch.tril(torch.ones(5, 18))", "torch.zeros_like(x).fill_(2) * x", "x * torch.hann_window(18)", "x + torch.logspace(0, 1, 18)")]

INDICES = [
    ("torch.gather(x, 1, y)", BATCH, "randint(0, 5, (3, 4, 18))"), ("x.gather(-1, y)", MATRIX, "randint(0, 33, (7, 1))"), ("torch.scatter(x, 1, y, z)", MATRIX, "randint(0, 33, (7, 5))", "randn(7, 5)"),
    ("torch.zeros_like(x).scatter_(1, y, 1.0)", MATRIX, "torch.arange(7).unsqueeze(1)"), ("x.scatter_add(0, y, z)", MATRIX, "randint(0, 7, (20, 33))", "randn(20, 33)"), ("torch.zeros(9, 33).index_add(0, y, x)", MATRIX, "randint(0, 9, (7,))"),
    ("torch.zeros(9, 33).index_add_(0, y, x)", MATRIX, "randint(0, 9, (7,))"), ("x.scatter_reduce(0, y, z, 'amax')", MATRIX, "randint(0, 7, (7, 33))", MATRIX), ("torch.index_select(x, 1, y)", BATCH, "randint(0, 5, (7,))"), ("torch.index_select(x, 0, y)", BATCH, "randint(0, 3, (7,))"),
    ("x[y]", MATRIX, "randint(0, 7, (5,))"), ("x[:, y]", MATRIX, "randint(0, 33, (5,))"), ("x[torch.arange(7), y]", MATRIX, "randint(0, 33, (7,))"), ("torch.take(x, y)", MATRIX, "randint(0, 200, (9,))"), ("torch.take_along_dim(x, y, 1)", MATRIX, "randint(0, 33, (7, 4))"),
    ("F.one_hot(y, 9).float() @ x", "randn(9, 11)", "randint(0, 9, (6,))"), ("F.embedding(y, x)", MATRIX, "randint(0, 7, (4, 6))"), ("self.m(x)", "randint(0, 12, (4, 6))", "m=nn.Embedding(12, 10)"), ("self.m(x)", "randint(0, 12, (4, 6))", "m=nn.Embedding(12, 10, padding_idx=0)"),
    ("self.m(x)", "randint(0, 12, (4, 6))", "m=nn.EmbeddingBag(12, 10, mode='sum')"), ("self.m(x)", "randint(0, 12, (4, 6))", "m=nn.EmbeddingBag(12, 10, mode='mean')"), ("self.m(x)", "randint(0, 12, (4, 6))", "m=nn.EmbeddingBag(12, 10, mode='max')"),
    ("self.m(x, y)", "randint(0, 12, (20,))", "torch.tensor([0, 4, 9])", "m=nn.EmbeddingBag(12, 10, mode='sum')"), ("torch.masked_select(x, y)", MATRIX, "torch.ones(7, 33).bool()"), ("x[y]", MATRIX, "torch.ones(7, 33).bool()"), ("x.index_fill(1, y, 2.0)", MATRIX, "torch.tensor([1, 5])"),
    ("torch.searchsorted(x, y)", "torch.arange(10.0)", "rand(7)"), ("torch.bucketize(y, x)", "torch.arange(10.0)", "rand(7)"), ("torch.where(y == 1, x, 0.0)", MATRIX, "randint(0, 3, (7, 33))"), ("x * y", MATRIX, "randint(0, 3, (7, 33))"), ("x // 2 + x % 3", "randint(0, 100, (7, 33))"),
    ("torch.bitwise_and(x, 7) | (x << 2)", "randint(0, 100, (7, 33))"), ("x.float().mean(1)", "randint(0, 100, (7, 33))"), ("x.sum(1)", "randint(0, 100, (7, 33))"), ("x.max(1)[0]", "randint(0, 100, (7, 33))"), ("torch.logical_not(x)", "randint(0, 2, (7, 33)).bool()"), ("x & y", "randint(0, 2, (7, 33)).bool()", "randint(0, 2, (7, 33)).bool()"),
]
