# SPDX-License-Identifier: Apache-2.0
"""Every function of the evaluator against PyTorch in float64 on the CPU: relative error at most 1e-12.

Each case is a line, and what PyTorch makes of it: the same text, or a formula where this PyTorch lacks the function.
The script fails when a function of the table (tensor_oracle functions) has no case.
"""

import json
import math
import random
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: PyTorch is missing (apt install python3-torch)", file=sys.stderr)
    sys.exit(77)

torch.manual_seed(1)
random.seed(1)
LIMIT = 1e-12
ROUNDS = 3


def real(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def positive(*shape):
    return torch.rand(*shape, dtype=torch.float64) * 3 + 0.1


def unit(*shape):
    return torch.rand(*shape, dtype=torch.float64) * 0.98 + 0.01


def integers(low, high, *shape):
    return torch.randint(low, high, shape)


def truth(*shape):
    return torch.rand(*shape) > 0.5


cases = []


def case(line, inputs, expected=None, sizes=None):
    """`line` is what C is assigned; `expected` an expression for PyTorch where the line is not one."""
    cases.append((line, inputs, expected or line, sizes or {}))


for _ in range(ROUNDS):
    n, m, k, b = (random.randint(1, 7) for _ in range(4))
    X, Y, P, U = real(n, m, k), real(m, 1), positive(n, m, k), unit(n, m)
    I, J, T, S = integers(-9, 9, n, m), integers(1, 5, n, m), truth(n, m), truth(n, m)
    one = {"X": X}
    for name in "abs sign square floor ceil round trunc frac exp exp2 expm1 sin cos tan atan sinh cosh tanh erf erfc sigmoid relu".split():
        case(f"torch.{name}(X)", one)
    case("-X", one)
    case("torch.neg(X)", one)
    for name in "log log2 log10 log1p sqrt rsqrt reciprocal".split():
        case(f"torch.{name}(X)", {"X": P})
    for name in "asin acos".split():
        case(f"torch.{name}(X)", {"X": U})
    for name in "logsigmoid relu6 silu mish softsign tanhshrink hardsigmoid hardswish selu leaky_relu elu celu gelu softplus hardtanh hardshrink softshrink".split():
        case(f"F.{name}(X * 2)", one)
    case("F.swish(X)", one, "F.silu(X)")
    case("F.leaky_relu(X, 0.2) + F.elu(X, alpha=0.7) + F.celu(X, 1.3) + F.gelu(X, approximate='tanh') + F.softplus(X, beta=2, threshold=1)", one)
    case("F.threshold(X, 0.1, 2.5) + F.hardtanh(X, -0.5, 0.25) + F.hardshrink(X, 0.2) + F.softshrink(X, 0.3)", one)
    case("torch.clamp(X, -0.5, 0.5) + X.clamp(min=0.1) + X.clip(max=0.3) + torch.clamp_min(X, 0) + torch.clamp_max(X, 0)", one)
    case("torch.clamp(X, Y - 1, Y + 1)", {"X": real(m, k), "Y": Y})
    case("F.prelu(X, W) + F.prelu(X, V)", {"X": real(n, m, k), "W": real(m), "V": real(1)})
    case("F.glu(X, dim=1)", {"X": real(n, 2 * m, k)})
    case("torch.isnan(X / 0 * 0) | torch.isinf(X / 0) & torch.isfinite(X)", one)
    case("torch.logical_not(X) ^ torch.logical_and(X > 0, Y > 0) ^ torch.logical_or(X > 0, Y < 0) ^ torch.logical_xor(X < 1, Y < 0)", {"X": real(m, k), "Y": Y})
    case("(I & J) + (I | J) + (I ^ J) + ~I", {"I": I, "J": J})
    case("(T & S) | ~T ^ S", {"T": T, "S": S})
    case("X + Y - X * Y / (Y * Y + 1)", {"X": real(m, k), "Y": Y})
    case("torch.add(X, Y, alpha=2) + torch.sub(X, Y, alpha=0.5) + torch.rsub(X, Y)", {"X": real(m, k), "Y": Y})
    case("torch.mul(X, 2) + torch.div(X, Y) + torch.div(X, Y, rounding_mode='floor') + torch.div(X, Y, rounding_mode='trunc')", {"X": real(m, k), "Y": Y})
    case("I // J + I % J + torch.remainder(I, -3) + torch.floor_divide(I, -2) + torch.fmod(I, 4)", {"I": I, "J": J})
    case("X // 0.3 + X % 0.7 + torch.remainder(X, -0.4) + torch.fmod(X, 0.6)", one)
    case("X ** 2 + torch.pow(X, 3) + 2 ** X + P ** X", {"X": X, "P": P})
    case("torch.maximum(X, Y) + torch.minimum(X, Y) * 2 + torch.max(X, Y) + torch.min(X, Y)", {"X": real(m, k), "Y": Y})
    case("torch.atan2(X, Y) + torch.hypot(X, Y)", {"X": real(m, k), "Y": Y})
    case("torch.copysign(X, Y) + X.copysign(-0.0) + torch.linalg.vecdot(X, Y).unsqueeze(1)", {"X": real(m, k), "Y": Y})
    case("(X == X) & (X != 0) & (X < 1) | (X <= -1) | (X > 2) | (X >= 3)", one)
    case("torch.where(X > 0, X, Y) + X.masked_fill(X < 0, 3.5) + X.where(X > 1, Y)", {"X": real(m, k), "Y": Y})
    case("torch.lerp(X, Y, 0.3) + torch.lerp(X, Y, W)", {"X": real(m, k), "Y": real(m, k), "W": unit(m, k)})
    case("torch.addcmul(X, X, X, value=0.5) + torch.addcdiv(X, X, P, value=2)", {"X": X, "P": P})
    case("F.dropout(X, 0.5, training=False)", one)
    case("torch.asinh(X) + torch.acosh(P + 1) + torch.atanh(X.tanh() * 0.5) + torch.xlogy(P, P) + torch.logaddexp(X, P)", {"X": X, "P": P})
    case("torch.asinh(X * 1e12) + torch.logaddexp(X, X)", one)
    case("torch.logit(U) + torch.logit(U * 3, 0.01) + torch.deg2rad(U) + torch.rad2deg(U) + torch.positive(U)", {"U": U})
    case("torch.nan_to_num(X / 0.0, 1.0, 2.0, -2.0) + torch.fmax(X, -X) + torch.fmin(X, X / 2)", one)
    # Reductions.
    for name in "sum mean prod amax amin logsumexp".split():
        case(f"torch.{name}(X, dim=1)", one)
        case(f"X.{name}(dim=-1, keepdim=True)", one)
    case("X.sum() + X.mean() + X.prod() + X.max() + X.min() + X.amax((0, 2)).sum() + X.amin(dim=(0, 1)).sum()", one)
    case("X.sum((0, 2)) + X.mean(dim=[0, 2]) + X.logsumexp((0, 2))", one)
    case("torch.argmax(X, dim=1) + torch.argmin(X, dim=1) + X.argmax()", one)
    case("torch.max(X, dim=1, keepdim=True).values + torch.min(X, 1, True)[0] + X.max(dim=1, keepdim=True).indices + torch.min(X, 1, True)[1]", one)
    case("torch.aminmax(X)[0] + torch.aminmax(X)[1]", one)
    long = {"X": real(n + 1, m + 1, k + 1)}
    case("torch.var(X, dim=1) + X.std(dim=1) + torch.var(X, dim=1, unbiased=False) + X.var(dim=1, correction=0)", long,
         "torch.var(X, dim=1) + X.std(dim=1) + 2 * torch.var(X, dim=1, unbiased=False)")
    case("X.var() + X.std(unbiased=False) + torch.var(X, (0, 2)).sum()", long)
    case("torch.var_mean(X, dim=1)[0] + torch.var_mean(X, 1)[1] + torch.std_mean(X, dim=1)[0] + torch.std_mean(X, 1)[1]", long)
    case("(X > 0).any(dim=1) ^ (X > -1).all(dim=1) ^ (X > 2).any()", one)
    case("torch.norm(X) + torch.norm(X, p='fro') + torch.norm(X, 1) + X.norm(float('inf')) + torch.norm(X, p=3)", one)
    case("torch.norm(X, dim=1) + torch.norm(X, p=1, dim=1) + X.norm(p=3, dim=1) + X.norm(0, 1) + X.norm(float('-inf'), 1)", one)
    case("torch.count_nonzero(X > 0, 1) + torch.nansum(X, 1)", one, "(X > 0).sum(1) + X.sum(1)")
    case("F.normalize(X) + F.normalize(X, p=1, dim=-1) + F.normalize(X, dim=0, eps=0.5)", one)
    case("torch.nanmean(X, dim=1) + torch.nanmean(X)", one)
    # Recurrent layers, of which PyTorch takes the input's product, too.
    layer = {"G": real(n, m, 4 * k), "W": real(4 * k, k), "h": real(m, k), "c": real(m, k), "v": real(4 * k)}
    rest = "torch.eye(G.shape[2], dtype=torch.float64), W, 0 * v, v), True, 1, 0.0, False, False, False)[0]"
    case(f"torch.recurrence(G, W, h, c, v, 'lstm')[..., :{k}]", layer, f"torch.lstm(G, (h[None], c[None]), ({rest}")
    case("torch.recurrence(G, W, h, None, v, 'gru', reverse=True)", {name: each[..., :3 * k] if name in "Gv" else each[:3 * k] if name == "W" else each for name, each in layer.items()},
         f"torch.gru(G.flip(0), h[None], ({rest}.flip(0)")
    for kind in ("tanh", "relu"):
        case(f"torch.recurrence(G, W, h, bias=v, kind='{kind}')", {name: each[..., :k] if name in "Gv" else each[:k] if name == "W" else each for name, each in layer.items()},
             f"torch.rnn_{kind}(G, h[None], ({rest}")
    # Scans and order.
    for name in "cumsum cumprod logcumsumexp".split():
        case(f"torch.{name}(X, dim=1)", one)
    case("torch.cummax(X, 1).values + torch.cummin(X, 1).values + torch.cummax(X, 1).indices + torch.cummin(X, 1).indices", one)
    case("torch.sort(X, dim=1)[0] + X.sort(1, descending=True).indices + torch.argsort(X, dim=1)", one)
    case("torch.topk(X, 1, dim=1)[0] + X.topk(1, dim=1, largest=False).values + X.topk(1, 1).indices", one)
    # Shapes.
    case("X.permute(2, 0, 1) * 2 + X.transpose(0, 1).transpose(0, 2)", one, "X.permute(2, 0, 1) * 3")
    case("X[0].T @ X[0] + X.mT[0] @ X[0] + torch.t(X[0]) @ X[0]", one)
    case("X.reshape(-1, X.shape[-1]) + X.view(X.size(0) * X.size(1), -1) + X.flatten(0, 1) + X.view_as(X).flatten(end_dim=1)", one)
    case("X.flatten().unflatten(0, (N, M, K)) + X.ravel().reshape_as(X)", one, "X + X", {"N": n, "M": m, "K": k})
    case("X.unsqueeze(1).squeeze(1).unsqueeze(-1).squeeze(-1) + X[:, None].squeeze(1)", one)
    case("Y.expand(M, K) + Y.expand(-1, K) + Y.expand_as(X) + torch.broadcast_to(Y, (M, K))", {"X": real(m, k), "Y": Y}, None, {"M": m, "K": k})
    case("X.repeat(2, 1, 3)", one)
    case("X.repeat(2, 2, 1, 3) + torch.tile(X, (2, 2, 1, 3))", one)
    case("torch.repeat_interleave(X, 2, dim=1)", one)
    case("torch.flip(X, [0, 2]) + torch.fliplr(X) + X.flipud() + torch.roll(X, (1, -2), (0, 2))", one)
    case("torch.cat([X, X * 2], dim=1)", one)
    case("torch.stack([X, X * 2], dim=-1) + torch.stack((X, X), -1)", one)
    case("torch.hstack([X, X]).sum() + torch.vstack([X, X]).sum()", one)
    case("X.chunk(2, dim=1)[0] + torch.split(X, 1, dim=1)[0].expand_as(X.chunk(2, 1)[0]) * 2", one)
    case("X.split([1, M], dim=1)[1] + torch.unbind(X, 1)[0].unsqueeze(1)", {"X": real(n, m + 1, k)}, None, {"M": m})
    case("X.contiguous().clone().float().to(torch.float64)", one, "X")
    case("X.half().double()", one)
    case("X.bfloat16().double() + X.long() + X.int() + X.bool() + X.type(torch.int64)", one)
    # Indices.
    case("X[0, ..., :2] + X[-1][..., 0:2]", one)
    case("X[:, 0:1, ::2] * X.select(1, 0)[:, None, ::2] + X.narrow(1, 0, 1)[..., ::2]", one)
    idx = integers(0, m, 4)
    case("X[:, i] + torch.index_select(X, 1, i)", {"X": X, "i": idx})
    case("F.embedding(i, W) + torch.embedding(W, i) + W[i]", {"W": real(m, k), "i": integers(0, m, n, 3)})
    case("torch.gather(X, 1, i) + X.take_along_dim(i, 1)", {"X": real(n, m), "i": integers(0, m, n, 4)})
    case("torch.scatter(X, 1, i, S) + torch.scatter_add(X, 1, i, S)", {"X": real(n, 5), "i": torch.stack([torch.randperm(5)[:3] for _ in range(n)]), "S": real(n, 3)})
    case("F.one_hot(i, num_classes=M)", {"i": integers(0, m, n, 2)}, None, {"M": m})
    # Creation.
    case("torch.zeros(N, M) + torch.ones((N, M)) + torch.full((N, M), 2.5) + torch.eye(N, M) + X", {"X": real(n, m)}, None, {"N": n, "M": m})
    case("torch.zeros_like(X) + torch.ones_like(X) + torch.full_like(X, 0.5) + X.new_zeros(N, 1) + X.new_ones((N, 1))", {"X": real(n, m)}, None, {"N": n})
    case("torch.arange(N) + torch.arange(1, 1 + 2 * N, 2) + torch.linspace(0, 1, N, dtype=torch.float64) + torch.arange(0, N, dtype=torch.float64) + X", {"X": real(n)}, None, {"N": n})
    # Linear algebra.
    A, B = real(n, k), real(k, m)
    case("A @ B + torch.mm(A, B) + torch.matmul(A, B)", {"A": A, "B": B})
    case("torch.bmm(A, B) + A.matmul(B[0])", {"A": real(b, n, k), "B": real(b, k, m)})
    case("torch.matmul(A, B)", {"A": real(b, 1, n, k), "B": real(3, k, m)})
    case("torch.mv(A, v) + A @ v + torch.dot(v, v)", {"A": A, "v": real(k)})
    case("v @ B + torch.matmul(v, W)", {"B": B, "v": real(k), "W": real(m, k, m)})
    case("torch.outer(u, v) + torch.addmm(C0, A, B, beta=0.5, alpha=2)", {"u": real(n), "v": real(m), "C0": real(n, m), "A": A, "B": B})
    case("torch.addbmm(C0[0], A, B) + torch.addr(C0[0], C0[0, :, 0], C0[0, 0])", {"C0": real(b, n, m), "A": real(b, n, k), "B": real(b, k, m)})
    case("torch.inner(X, Y) + torch.vdot(X[0], X[0]) + torch.dist(X, Y)", {"X": real(n, k), "Y": real(n, k)})
    case("torch.baddbmm(C0, A, B)", {"C0": real(b, n, m), "A": real(b, n, k), "B": real(b, k, m)})
    case("F.linear(X, W, b) + F.linear(X, W)", {"X": real(b, n, k), "W": real(m, k), "b": real(m)})
    case("torch.einsum('bij,bjk->bik', A, B) + torch.einsum('bij,bjk->ik', A, B)", {"A": real(b, n, k), "B": real(b, k, m)})
    case("torch.einsum('ii->i', A) + torch.einsum('ij,kj,j->i', A, B, v)", {"A": real(n, n), "B": real(m, n), "v": real(n)})
    case("torch.einsum('bijl,lk', A, B)", {"A": real(b, 2, n, k), "B": real(k, m)}, "torch.einsum('bijl,lk->bijk', A, B)")
    case("torch.tril(X) + X.triu(1) + torch.tril(X, -1) * torch.triu(X, diagonal=-2)", one)
    case("torch.diag(v) @ B + torch.diag(v, 0) @ B", {"v": real(k), "B": B})
    case("torch.diag(A, 1).sum() + torch.diag(A).sum() + torch.trace(A) + torch.diag(v, -2).sum()", {"A": real(n + 1, n + 1), "v": real(k)})
    case("torch.diagonal(X, 0, 1, 2) + X.diagonal(dim1=-2, dim2=-1)", one)
    Q, K, V = real(b, 2, n, k), real(b, 2, m, k), real(b, 2, m, 3)
    scores = "Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5"
    case("F.scaled_dot_product_attention(Q, K, V)", {"Q": Q, "K": K, "V": V}, f"torch.softmax({scores}, -1) @ V")
    case("F.scaled_dot_product_attention(Q, K, V, is_causal=True)", {"Q": Q, "K": K, "V": V},
         f"torch.softmax(({scores}).masked_fill(~torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril(), float('-inf')), -1) @ V")
    case("F.scaled_dot_product_attention(Q, K, V, attn_mask=M, scale=0.3)", {"Q": Q, "K": K, "V": V, "M": real(n, m)},
         "torch.softmax(Q @ K.transpose(-2, -1) * 0.3 + M, -1) @ V")
    # Convolutions.
    for axes in (1, 2, 3):
        g, cin, cout = random.choice([(1, 2, 3), (2, 4, 6), (3, 3, 6)])
        extents = [random.randint(6, 9) for _ in range(axes)]
        kernel = [random.randint(1, 3) for _ in range(axes)]
        s, p, d = random.randint(1, 3), random.randint(0, 2), random.randint(1, 2)
        data = {"X": real(b, cin, *extents), "W": real(cout, cin // g, *kernel), "b": real(cout)}
        case(f"F.conv{axes}d(X, W, b, stride={s}, padding={p}, dilation={d}, groups={g})", data)
        case(f"F.conv{axes}d(X, W, padding='same', groups={g})", data)
        case(f"F.conv{axes}d(X[0], W, groups={g})", data)
        o = random.randint(0, max(s, d) - 1)
        data = {"X": real(b, cin, *extents), "W": real(cin, cout // g, *kernel), "b": real(cout)}
        case(f"F.conv_transpose{axes}d(X, W, b, stride={s}, padding={min(p, 1) if min(kernel) > 1 else 0}, output_padding={o}, groups={g}, dilation={d})", data)
        case(f"F.conv_transpose{axes}d(X, W, groups={g})", data)
        window = random.randint(2, 3)
        data = {"X": real(b, cin, *extents)}
        for ceil in (False, True):
            case(f"F.max_pool{axes}d(X, {window}, stride={s}, padding=1, dilation={d}, ceil_mode={ceil})", data)
            case(f"F.avg_pool{axes}d(X, {window}, stride={s}, padding=1, ceil_mode={ceil}, count_include_pad={ceil})", data)
        case(f"F.avg_pool{axes}d(X, {window}) + F.max_pool{axes}d(X, {window})", data)
        case(f"F.adaptive_avg_pool{axes}d(X, 4) + F.adaptive_max_pool{axes}d(X, {4 if axes == 1 else (4,) * axes})", data)
        case("F.batch_norm(X, None, None, W, B, training=True) + F.batch_norm(X, R, V, training=False, eps=0.01)",
             {"X": real(b + 1, cin, *extents), "W": real(cin), "B": real(cin), "R": real(cin), "V": positive(cin)})
        case("F.instance_norm(X, weight=W, bias=B) + F.instance_norm(X, R, V, use_input_stats=False)",
             {"X": real(b, cin, *extents), "W": real(cin), "B": real(cin), "R": real(cin), "V": positive(cin)})
        case(f"F.group_norm(X, {g}, W, B) + F.group_norm(X, 1, eps=0.1)", {"X": real(b, cin, *extents), "W": real(cin), "B": real(cin)})
        case("F.local_response_norm(X, 3, alpha=0.5, beta=0.6, k=2.0)", {"X": real(b, cin, *extents)})
        case("F.interpolate(X, scale_factor=2)", data)
        case(f"F.interpolate(X, size={tuple(e + 3 for e in extents)}, mode='nearest')", data)
        case("F.pad(X, (1, 2), 'constant', 0.5) + F.pad(X, (2, 1))", data)
        case(f"F.pad(X, {(1, 2) * axes}, mode='reflect') + F.pad(X, {(1, 2) * axes}, mode='replicate') + F.pad(X, {(1, 2) * axes}, mode='circular')", data)
    case("F.pixel_shuffle(X, 2)", {"X": real(b, 8, n, m)})
    case("F.pixel_unshuffle(X, 2)", {"X": real(b, 3, 2 * n, 2 * m)})
    # Normalisations along the last dimensions.
    case("torch.softmax(X, dim=1) + F.softmax(X, -1) + X.softmax(0) + F.softmin(X, 1)", one)
    case("torch.log_softmax(X, dim=1) + F.log_softmax(X, -1)", one)
    case("F.layer_norm(X, (M, K), W, B) + F.layer_norm(X, (K,), eps=0.1) + F.layer_norm(X, X.shape[1:], bias=B)",
         {"X": real(n, m, k + 1), "W": real(m, k + 1), "B": real(m, k + 1)}, None, {"M": m, "K": k + 1})
    case("F.rms_norm(X, (K,), W, 1e-6) + F.rms_norm(X, (K,), eps=0.1)", {"X": X, "W": real(k)},
         "X * torch.rsqrt((X * X).mean(-1, True) + 1e-6) * W + X * torch.rsqrt((X * X).mean(-1, True) + 0.1)", {"K": k})
    # Losses.
    two, target = {"X": real(n, m), "Y": real(n, m)}, {"X": real(n, m + 1), "t": integers(0, m + 1, n), "w": positive(m + 1)}
    for reduction in ("mean", "sum", "none"):
        case(f"F.mse_loss(X, Y, reduction='{reduction}') + F.l1_loss(X, Y, reduction='{reduction}')", two)
        case(f"F.smooth_l1_loss(X, Y, beta=0.7, reduction='{reduction}') + F.huber_loss(X, Y, delta=0.6, reduction='{reduction}') + F.smooth_l1_loss(X, Y, reduction='{reduction}')", two)
        case(f"F.cross_entropy(X, t, w, reduction='{reduction}') + F.cross_entropy(X, t, reduction='{reduction}', label_smoothing=0.1)", target)
        case(f"F.cross_entropy(X, t, w, reduction='{reduction}', ignore_index=0, label_smoothing=0.0) * 1.0", {**target, "t": target["t"].clamp(min=min(1, m))})
        case(f"F.nll_loss(F.log_softmax(X, 1), t, w, reduction='{reduction}')", target)
        case(f"F.cross_entropy(X, P, reduction='{reduction}')", {"X": real(n, m, k), "P": torch.softmax(real(n, m, k), 1)})
        case(f"F.cross_entropy(X, t, reduction='{reduction}')", {"X": real(n, m, k, 2), "t": integers(0, m, n, k, 2)})
        case(f"F.binary_cross_entropy(X, Y, reduction='{reduction}') + F.binary_cross_entropy(X, Y, W, reduction='{reduction}')", {"X": unit(n, m), "Y": unit(n, m), "W": positive(n, m)})
        case(f"F.binary_cross_entropy_with_logits(X, Y, reduction='{reduction}', pos_weight=W) + F.binary_cross_entropy_with_logits(X, Y, W, reduction='{reduction}')",
             {"X": real(n, m), "Y": unit(n, m), "W": positive(m)})
        signs = torch.sign(real(n, m))
        case(f"F.hinge_embedding_loss(X, Y, margin=0.8, reduction='{reduction}') + F.soft_margin_loss(X, Y, reduction='{reduction}')", {"X": real(n, m), "Y": signs})
        case(f"F.margin_ranking_loss(X, Z, Y, margin=0.3, reduction='{reduction}')", {"X": real(n, m), "Z": real(n, m), "Y": signs})
        case(f"F.triplet_margin_loss(X, Y, Z, margin=0.9, reduction='{reduction}') + F.triplet_margin_loss(X, Y, Z, p=1, swap=True, reduction='{reduction}')",
             {"X": real(n, m), "Y": real(n, m), "Z": real(n, m)})
        case(f"F.cosine_embedding_loss(X, Y, t, margin=0.1, reduction='{reduction}')", {"X": real(n, m + 1), "Y": real(n, m + 1), "t": torch.sign(real(n))},
             f"(lambda c: (lambda l: {'l.mean()' if reduction == 'mean' else 'l.sum()' if reduction == 'sum' else 'l'})(torch.where(t == 1, 1 - c, (c - 0.1).clamp(min=0))))"
             "((X * Y).sum(1) / (X.norm(dim=1) * Y.norm(dim=1)))")
        case(f"F.gaussian_nll_loss(X, Y, P, reduction='{reduction}') + F.multilabel_soft_margin_loss(X, Y, reduction='{reduction}').sum()", {"X": real(n, m), "Y": real(n, m), "P": positive(n, m)})
        case(f"F.poisson_nll_loss(X, P, reduction='{reduction}') + F.poisson_nll_loss(P, P, log_input=False, reduction='{reduction}')", {"X": real(n, m), "P": positive(n, m)})
    for reduction in ("mean", "sum", "none", "batchmean"):
        case(f"F.kl_div(X, P, reduction='{reduction}') + F.kl_div(X, torch.log(P), reduction='{reduction}', log_target=True)",
             {"X": torch.log_softmax(real(n, m), 1), "P": torch.softmax(real(n, m), 1)})
    case("F.cosine_similarity(X, Y) + F.cosine_similarity(X, Y, dim=0).sum() + F.pairwise_distance(X, Y) + F.pairwise_distance(X, Y, p=1)", two)
    # Python around it.
    case("X * alpha + math.sqrt(N) - N // 2 + float('inf') * 0.0 * 0 if False else X * alpha + math.sqrt(N) - N // 2 + N ** -0.5", one, None, {"N": 7, "alpha": 0.3})

# Helpers that composites are built of; each is reached through the functions that use it.
INTERNAL = {"reduced_loss", "weighted", "kl_reduced", "batch_size", "embedded_cosine"}
# Composites whose name is no spelling of PyTorch's: name -> what a case must contain.
SPELLED = {"where_method": ".where(", "cummax_pair": "cummax(", "cummin_pair": "cummin(", "to": ".to("}


def number(value):
    return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def packed(tensor):
    name = str(tensor.dtype).split(".")[1]
    return {"dtype": name, "shape": list(tensor.shape), "values": [number(float(v)) for v in tensor.reshape(-1).tolist()]}


def main():
    program = sys.argv[1]
    names = [line.split("(")[0] for line in subprocess.run([program, "functions"], capture_output=True, text=True, check=True).stdout.splitlines()]
    requests = [json.dumps({"line": "C = " + line, "inputs": {k: packed(v) for k, v in inputs.items()}, "sizes": sizes}) for line, inputs, _, sizes in cases]
    replies = subprocess.run([program, "evaluate"], input="\n".join(requests) + "\n", capture_output=True, text=True, check=True).stdout.splitlines()
    failures, worst, reached, compared = [], (0.0, ""), set(), 0
    if len(replies) != len(cases):
        failures.append(f"{len(cases)} cases, but {len(replies)} replies")
    for (line, inputs, expected, sizes), reply in zip(cases, replies):
        reply = json.loads(reply)
        try:
            truth_value = eval(expected, {"torch": torch, "F": F, "math": math, **inputs, **sizes})
        except Exception as error:  # PyTorch of another version lacks something: that is a failure of the case
            failures.append(f"{line}: PyTorch: {error}")
            continue
        if "error" in reply:
            failures.append(f"{line}: {reply['error']}")
            continue
        reached.update(reply["functions"])
        if reply["shape"] != list(truth_value.shape):
            failures.append(f"{line}: shape {reply['shape']}, PyTorch has {list(truth_value.shape)}")
            continue
        ours = torch.tensor([float(v) for v in reply["values"]], dtype=torch.float64)
        theirs = truth_value.to(torch.float64).reshape(-1)
        compared += ours.numel()
        if ours.numel() == 0:
            continue
        same = (ours == theirs) | (torch.isnan(ours) & torch.isnan(theirs))
        # Relative to the largest finite element: cancellation may leave single elements near zero.
        finite = theirs[torch.isfinite(theirs)].abs()
        scale = max(float(finite.max()) if finite.numel() else 1.0, 1e-3)
        error = float(torch.where(same, torch.zeros_like(ours), (ours - theirs).abs() / scale).max())
        if not error <= LIMIT:
            failures.append(f"{line}: relative error {error:.3g}")
        elif error > worst[0]:
            worst = (error, line)
    everything = "\n".join(line for line, _, _, _ in cases)
    for name in names:
        # A row must stand in a graph that was evaluated; a composite leaves no node, so its spelling must stand in a line.
        if name in reached or name in INTERNAL or SPELLED.get(name, f".{name}(") in everything:
            continue
        failures.append(f"{name} has no case")
    for failure in sorted(set(failures)):
        print(failure)
    print(f"{len(names)} functions, {len(cases)} cases, {compared} elements compared with PyTorch {torch.__version__}; "
          f"largest relative error {worst[0]:.2g} ({worst[1][:80]}); {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
