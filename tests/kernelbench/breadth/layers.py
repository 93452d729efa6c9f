# SPDX-License-Identifier: Apache-2.0
"""Layers with weights, windows, norms, losses, products, attention and recurrence: a forward over x, y, z, its inputs, and what the constructor makes."""

LINE, IMAGE, VOLUME = "randn(2, 6, 20)", "randn(2, 6, 9, 11)", "randn(2, 4, 6, 7, 8)"
SEQUENCE = "randn(2, 7, 12)"


def layers(text, names):
    return [(f"self.m({', '.join('xyz'[:1])})", text, f"m=nn.{name}") for name in names]


CONVOLUTIONS = layers(LINE, (
    "Conv1d(6, 8, 3)", "Conv1d(6, 8, 3, stride=2, padding=1)", "Conv1d(6, 8, 5, dilation=2, padding='same')", "Conv1d(6, 6, 3, groups=6)", "Conv1d(6, 8, 1, bias=False)", "Conv1d(6, 8, 4, padding=2, padding_mode='circular')",
    "ConvTranspose1d(6, 8, 4, stride=2, padding=1)", "ConvTranspose1d(6, 8, 3, stride=3, output_padding=1, dilation=2)", "ConvTranspose1d(6, 6, 3, groups=3)")) + layers(IMAGE, (
    "Conv2d(6, 8, 3)", "Conv2d(6, 8, 3, stride=2, padding=1)", "Conv2d(6, 8, (3, 5), stride=(2, 1), padding=(1, 2))", "Conv2d(6, 8, 3, dilation=2, padding=2)", "Conv2d(6, 8, 3, groups=2)", "Conv2d(6, 6, 3, groups=6, padding=1)", "Conv2d(6, 12, 3, groups=6)",
    "Conv2d(6, 8, 3, padding=1, padding_mode='reflect')", "Conv2d(6, 8, 3, padding=1, padding_mode='replicate')", "Conv2d(6, 8, 3, padding=1, padding_mode='circular')", "Conv2d(6, 8, 3, padding='same', dilation=2)", "Conv2d(6, 8, 4, padding='same')", "Conv2d(6, 8, 3, padding='valid')",
    "Conv2d(6, 8, 1)", "Conv2d(6, 8, 1, stride=2)", "Conv2d(6, 8, 7, stride=4, padding=3)", "ConvTranspose2d(6, 8, 3)", "ConvTranspose2d(6, 8, 3, stride=2, padding=1, output_padding=1)", "ConvTranspose2d(6, 8, (3, 4), stride=(2, 3))", "ConvTranspose2d(6, 8, 3, stride=2, dilation=2, padding=1)",
    "ConvTranspose2d(6, 8, 3, groups=2)", "ConvTranspose2d(6, 6, 4, stride=2, groups=6)", "LazyConv2d(8, 3)")) + layers(VOLUME, (
    "Conv3d(4, 6, 3)", "Conv3d(4, 6, (1, 3, 3), padding=(0, 1, 1))", "Conv3d(4, 6, 3, stride=2, padding=1)", "Conv3d(4, 4, 3, groups=4)", "Conv3d(4, 6, 3, dilation=(1, 2, 1))", "ConvTranspose3d(4, 6, 3)", "ConvTranspose3d(4, 6, 3, stride=2, padding=1, output_padding=1)",
    "ConvTranspose3d(4, 6, (2, 3, 2), stride=2, groups=2)")) + [
    ("F.conv2d(x, y)", IMAGE, "randn(5, 6, 3, 3)"), ("F.conv1d(x, y, stride=2)", LINE, "randn(5, 6, 3)"), ("F.conv_transpose2d(x, y, stride=2)", IMAGE, "randn(6, 5, 3, 3)"), ("self.m(x[0])", IMAGE, "m=nn.Conv2d(6, 8, 3)"),
    ("F.conv2d(x, y, groups=2).relu().sum((2, 3))", IMAGE, "randn(4, 3, 3, 3)"), ("torch.conv2d(x, y, padding=1)", IMAGE, "randn(5, 6, 3, 3)"), ("torch.nn.utils.parametrizations.spectral_norm(nn.Linear(11, 5)).eval()(x)", IMAGE), ("self.m(x)", IMAGE, "m=nn.utils.weight_norm(nn.Conv2d(6, 8, 3))"),
    ("self.m(x)", IMAGE, "m=nn.utils.spectral_norm(nn.Conv2d(6, 8, 3)).eval()")]

POOLS = layers(LINE, (
    "MaxPool1d(3)", "MaxPool1d(4, stride=2, padding=1, dilation=1)", "AvgPool1d(3)", "AvgPool1d(4, stride=2, padding=2, count_include_pad=False)", "LPPool1d(2, 3)", "AdaptiveAvgPool1d(5)", "AdaptiveAvgPool1d(7)", "AdaptiveMaxPool1d(4)", "AdaptiveMaxPool1d(6)")) + layers(IMAGE, (
    "MaxPool2d(2)", "MaxPool2d(3, stride=2, padding=1)", "MaxPool2d(3, 2, ceil_mode=True)", "MaxPool2d(3, dilation=2)", "MaxPool2d((2, 3), (1, 2))", "MaxPool2d(2, return_indices=True)", "AvgPool2d(2)", "AvgPool2d(3, 2, 1)", "AvgPool2d(3, 2, 1, count_include_pad=False)",
    "AvgPool2d(3, 2, ceil_mode=True)", "AvgPool2d(2, divisor_override=3)", "LPPool2d(2, 3)", "LPPool2d(1, (3, 2), stride=2)", "AdaptiveAvgPool2d(1)", "AdaptiveAvgPool2d((3, 11))", "AdaptiveAvgPool2d((4, 5))", "AdaptiveAvgPool2d((None, 1))", "AdaptiveMaxPool2d(1)", "AdaptiveMaxPool2d((2, 4))",
    "AdaptiveAvgPool2d((14, 13))", "AdaptiveMaxPool2d(3, return_indices=True)")) + layers(VOLUME, (
    "MaxPool3d(2)", "MaxPool3d(3, 2, 1)", "MaxPool3d(2, ceil_mode=True)", "AvgPool3d(2)", "AvgPool3d(3, 2, 1)", "AdaptiveAvgPool3d(1)", "AdaptiveAvgPool3d((3, 7, 4))", "AdaptiveAvgPool3d(4)", "AdaptiveMaxPool3d(2)")) + [
    ("F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)", "randn(2, 6, 8, 10)"), ("F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2)", LINE), ("F.max_pool2d(x, 2, stride=1)", IMAGE), ("F.avg_pool2d(x, x.shape[2:])", IMAGE), ("F.adaptive_avg_pool2d(x, 1).flatten(1)", IMAGE),
    ("torch.max_pool2d(x, 2)", IMAGE), ("-F.max_pool2d(-x, 3, 1, 1)", IMAGE)]

NORMS = layers(IMAGE, (
    "BatchNorm2d(6)", "BatchNorm2d(6).eval()", "BatchNorm2d(6, affine=False)", "BatchNorm2d(6, track_running_stats=False).eval()", "InstanceNorm2d(6)", "InstanceNorm2d(6, affine=True)", "InstanceNorm2d(6, track_running_stats=True).eval()", "GroupNorm(3, 6)", "GroupNorm(1, 6, affine=False)",
    "GroupNorm(6, 6)", "LayerNorm(11)", "LayerNorm([6, 9, 11])", "LayerNorm((9, 11), elementwise_affine=False)", "LocalResponseNorm(3)", "LocalResponseNorm(2, alpha=0.1, beta=0.5, k=2)", "CrossMapLRN2d(3)", "SyncBatchNorm(6).eval()")) + layers(LINE, (
    "BatchNorm1d(6)", "BatchNorm1d(6).eval()", "InstanceNorm1d(6)", "GroupNorm(2, 6)", "LocalResponseNorm(4)")) + layers(VOLUME, (
    "BatchNorm3d(4)", "InstanceNorm3d(4, affine=True)", "GroupNorm(2, 4)", "LocalResponseNorm(3)")) + layers("randn(9, 16)", ("BatchNorm1d(16)", "LayerNorm(16, eps=1e-3)", "GroupNorm(4, 16)")) + [
    ("F.layer_norm(x, (12,))", SEQUENCE), ("F.group_norm(x, 2)", IMAGE), ("F.instance_norm(x)", IMAGE), ("F.local_response_norm(x, 5)", IMAGE), ("F.batch_norm(x, y, y.abs() + 1, training=False)", IMAGE, "randn(6)"), ("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * y", SEQUENCE, "randn(12)"),
    ("x / torch.norm(x, p='fro')", SEQUENCE), ("x / x.abs().mean(1, keepdim=True)", SEQUENCE), ("x / x.norm(2, dim=1, keepdim=True)", SEQUENCE), ("(x - x.mean((2, 3), keepdim=True)) / (x.var((2, 3), keepdim=True) + 1e-5).sqrt()", IMAGE)]


def losses(name, inputs, options=("",)):
    return [(f"F.{name}({', '.join('xyz'[:len(inputs)])}{', ' * bool(more)}{more})", *inputs) for more in options]


EACH = ("", "reduction='sum'", "reduction='none'")
PAIR, LOGITS, CLASSES, SIGNS = ("randn(7, 12)", "randn(7, 12)"), "randn(7, 12)", "randint(0, 12, (7,))", "randint(0, 2, (7,)) * 2 - 1"
LOSSES = (
    losses("mse_loss", PAIR, EACH) + losses("l1_loss", PAIR, EACH) + losses("smooth_l1_loss", PAIR, (*EACH, "beta=0.5")) + losses("huber_loss", PAIR, (*EACH, "delta=0.3")) + losses("cross_entropy", (LOGITS, CLASSES), (*EACH, "label_smoothing=0.1", "ignore_index=3"))
    + losses("cross_entropy", (LOGITS, "rand(7, 12).softmax(1)"), EACH) + losses("cross_entropy", ("randn(2, 5, 4, 3)", "randint(0, 5, (2, 4, 3))"), EACH) + losses("nll_loss", ("randn(7, 12).log_softmax(1)", CLASSES), EACH) + losses("kl_div", ("randn(7, 12).log_softmax(1)", "rand(7, 12).softmax(1)"), (*EACH, "reduction='batchmean'", "log_target=True"))
    + losses("binary_cross_entropy", ("rand(7, 12)", "rand(7, 12)"), EACH) + losses("binary_cross_entropy_with_logits", (LOGITS, "rand(7, 12)"), (*EACH, "pos_weight=torch.full((12,), 2.0)")) + losses("hinge_embedding_loss", (LOGITS, "randint(0, 2, (7, 12)) * 2 - 1"), EACH)
    + losses("triplet_margin_loss", (*PAIR, LOGITS), (*EACH, "p=1", "swap=True")) + losses("cosine_embedding_loss", (*PAIR, SIGNS), EACH) + losses("margin_ranking_loss", ("randn(7)", "randn(7)", SIGNS), EACH) + losses("soft_margin_loss", (LOGITS, "randint(0, 2, (7, 12)) * 2 - 1"), EACH)
    + losses("multi_margin_loss", (LOGITS, CLASSES), EACH) + losses("multilabel_soft_margin_loss", (LOGITS, "randint(0, 2, (7, 12)).float()"), EACH) + losses("multilabel_margin_loss", (LOGITS, "randint(0, 12, (7, 12))")) + losses("poisson_nll_loss", PAIR, (*EACH, "full=True", "log_input=False"))
    + losses("gaussian_nll_loss", (*PAIR, "rand(7, 12) + 0.1"), EACH) + losses("triplet_margin_with_distance_loss", (*PAIR, LOGITS)) + losses("ctc_loss", ("randn(9, 2, 5).log_softmax(2)", "randint(1, 5, (2, 3))"), ("input_lengths=(9, 9), target_lengths=(3, 3)",))
    + [("self.m(x, y)", LOGITS, CLASSES, "m=nn.CrossEntropyLoss(weight=torch.rand(12))"), ("self.m(x, y)", LOGITS, LOGITS, "m=nn.MSELoss()"), ("self.m(x, y)", LOGITS, LOGITS, "m=nn.SmoothL1Loss()"), ("self.m(x, y, z)", LOGITS, LOGITS, LOGITS, "m=nn.TripletMarginLoss(margin=0.5)"),
       ("torch.mean(torch.clamp(1 - x * y, min=0))", "randn(8)", "randint(0, 2, (8,)).float() * 2 - 1"), ("-(y * torch.log(x + 1e-8)).sum(1).mean()", "rand(7, 12)", "rand(7, 12)")])

PRODUCTS = [
    ("x @ y", "randn(17, 33)", "randn(33, 9)"), ("torch.mm(x, y.T)", "randn(17, 33)", "randn(9, 33)"), ("torch.matmul(x.T, y)", "randn(33, 17)", "randn(33, 9)"), ("torch.bmm(x, y)", "randn(3, 7, 12)", "randn(3, 12, 5)"), ("torch.matmul(x, y)", "randn(2, 3, 7, 12)", "randn(12, 5)"), ("torch.matmul(x, y)", "randn(2, 3, 7, 12)", "randn(3, 12, 5)"),
    ("torch.mv(x, y)", "randn(17, 33)", "randn(33)"), ("torch.dot(x, y)", "randn(33)", "randn(33)"), ("torch.inner(x, y)", "randn(7, 33)", "randn(5, 33)"), ("torch.vdot(x, y)", "randn(33)", "randn(33)"), ("torch.outer(x, y)", "randn(7)", "randn(9)"), ("torch.ger(x, y)", "randn(7)", "randn(9)"), ("torch.kron(x, y)", "randn(3, 4)", "randn(5, 2)"),
    ("torch.addmm(x, y, z, beta=0.5, alpha=2)", "randn(5)", "randn(7, 12)", "randn(12, 5)"), ("torch.addmv(x, y, z)", "randn(7)", "randn(7, 12)", "randn(12)"), ("torch.addbmm(x, y, z)", "randn(7, 5)", "randn(3, 7, 12)", "randn(3, 12, 5)"), ("torch.baddbmm(x, y, z, beta=2)", "randn(3, 7, 5)", "randn(3, 7, 12)", "randn(3, 12, 5)"), ("torch.addr(x, y, z)", "randn(7, 9)", "randn(7)", "randn(9)"),
    ("torch.chain_matmul(x, y, z)", "randn(7, 12)", "randn(12, 5)", "randn(5, 6)"), ("torch.linalg.multi_dot([x, y, z])", "randn(7, 12)", "randn(12, 5)", "randn(5, 6)"), ("torch.tensordot(x, y, dims=2)", "randn(3, 4, 5)", "randn(4, 5, 6)"), ("torch.tensordot(x, y, dims=([0], [1]))", "randn(3, 4)", "randn(6, 3)"), ("torch.einsum('bij,bjk->bik', x, y)", "randn(3, 7, 12)", "randn(3, 12, 5)"),
    ("torch.einsum('bhqd,bhkd->bhqk', x, y)", "randn(2, 3, 7, 8)", "randn(2, 3, 9, 8)"), ("torch.einsum('bijl,lk->bijk', x, y)", "randn(2, 3, 4, 5)", "randn(5, 6)"), ("torch.einsum('i,j->ij', x, y)", "randn(7)", "randn(9)"), ("torch.einsum('ii->i', x)", "randn(7, 7)"), ("torch.einsum('ij->ji', x)", "randn(7, 5)"), ("torch.einsum('...ij,...jk->...ik', x, y)", "randn(3, 7, 12)", "randn(3, 12, 5)"),
    ("torch.einsum('bi,ij,bj->b', x, y, z)", "randn(4, 5)", "randn(5, 6)", "randn(4, 6)"), ("torch.einsum(x, [0, 1], y, [1, 2])", "randn(4, 5)", "randn(5, 6)"), ("F.bilinear(x, y, z)", "randn(7, 5)", "randn(7, 6)", "randn(4, 5, 6)"), ("self.m(x, y)", "randn(7, 5)", "randn(7, 6)", "m=nn.Bilinear(5, 6, 4)"), ("self.m(x)", SEQUENCE, "m=nn.Linear(12, 8)"), ("self.m(x)", SEQUENCE, "m=nn.Linear(12, 8, bias=False)"),
    ("self.m(x)", "randn(12)", "m=nn.Linear(12, 8)"), ("self.m(x)", "randn(9, 12)", "m=nn.LazyLinear(8)"), ("torch.tril(x @ y)", "randn(9, 9)", "randn(9, 9)"), ("torch.triu(x) @ torch.triu(y)", "randn(9, 9)", "randn(9, 9)"), ("torch.diag(x) @ y", "randn(9)", "randn(9, 5)"), ("torch.matrix_power(x, 3)", "randn(6, 6)"), ("torch.linalg.inv(x)", "randn(4, 4)"), ("torch.linalg.det(x)", "randn(4, 4)"),
    ("x.half() @ y.half()", "randn(17, 32)", "randn(32, 8)"), ("x.bfloat16() @ y.bfloat16()", "randn(17, 32)", "randn(32, 8)"), ("x.T @ x", "randn(17, 9)"), ("(x @ y).sum(1).max()", "randn(17, 33)", "randn(33, 9)"), ("x * y.unsqueeze(1)", "randn(3, 5, 8)", "randn(3, 8)"), ("torch.fft.rfft(x).abs()", "randn(4, 16)"), ("torch.fft.fft2(x).real", "randn(4, 16)"), ("torch.linalg.vecdot(x, y)", "randn(4, 16)", "randn(4, 16)"),
]

RESAMPLING = [(text, IMAGE) for text in (
    "F.interpolate(x, scale_factor=2)", "F.interpolate(x, size=(18, 22), mode='nearest')", "F.interpolate(x, size=(13, 7))", "F.interpolate(x, scale_factor=2, mode='bilinear')", "F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=True)", "F.interpolate(x, size=(5, 17), mode='bilinear', align_corners=False)", "F.interpolate(x, scale_factor=2, mode='bicubic')",
    "F.interpolate(x, scale_factor=0.5, mode='bilinear')", "F.interpolate(x, size=(4, 5), mode='area')", "F.interpolate(x, scale_factor=(2, 3))", "F.interpolate(x, size=(6, 5), mode='nearest-exact')", "nn.Upsample(scale_factor=2, mode='bilinear')(x)", "nn.UpsamplingNearest2d(scale_factor=2)(x)", "nn.UpsamplingBilinear2d(scale_factor=2)(x)", "nn.ReflectionPad2d(2)(x)", "nn.ReplicationPad2d((1, 2, 3, 0))(x)",
    "nn.ConstantPad2d(1, 3.5)(x)", "F.unfold(x, 3)", "F.unfold(x, (2, 3), dilation=2, padding=1, stride=2)", "nn.Unfold(2, stride=2)(x)", "F.fold(F.unfold(x, 3, padding=1), (9, 11), 3, padding=1)", "F.channel_shuffle(x, 2)", "x.unfold(2, 3, 2).unfold(3, 3, 2)", "F.grid_sample(x, torch.zeros(2, 4, 4, 2), align_corners=False)", "F.affine_grid(torch.eye(2, 3).expand(2, 2, 3), (2, 6, 4, 4), align_corners=False)")] + [
    ("F.pixel_shuffle(x, 2)", "randn(2, 8, 5, 6)"), ("nn.PixelUnshuffle(2)(x)", "randn(2, 3, 6, 8)"), ("F.interpolate(x, scale_factor=2, mode='linear')", LINE), ("F.interpolate(x, size=9, mode='linear', align_corners=True)", LINE), ("F.interpolate(x, scale_factor=2)", VOLUME), ("F.interpolate(x, scale_factor=2, mode='trilinear')", VOLUME), ("nn.ReflectionPad1d(3)(x)", LINE), ("nn.ReplicationPad3d(1)(x)", VOLUME)]

HEADS = ("randn(2, 3, 7, 8)",) * 3
BY_HAND = "torch.softmax({}, dim=-1) @ z"
SCORES = "x @ y.transpose(-2, -1) / 8 ** 0.5"
ATTENTION = [
    (BY_HAND.format(SCORES), *HEADS), (BY_HAND.format(SCORES + " + torch.triu(torch.full((7, 7), float('-inf')), 1)"), *HEADS), (BY_HAND.format(f"({SCORES}).masked_fill(torch.ones(7, 7).triu(1).bool(), float('-inf'))"), *HEADS),
    ("F.scaled_dot_product_attention(x, y, z)", *HEADS), ("F.scaled_dot_product_attention(x, y, z, is_causal=True)", *HEADS), ("F.scaled_dot_product_attention(x, y, z, attn_mask=torch.ones(7, 7).tril().bool())", *HEADS),
    ("F.scaled_dot_product_attention(x, y, z, attn_mask=torch.zeros(7, 7))", *HEADS)] + [
    (f"self.m({call})", *inputs, f"m=nn.{name}") for call, inputs, name in (
        ("x, x, x", (SEQUENCE,), "MultiheadAttention(12, 3, batch_first=True)"), ("x, x, x", (SEQUENCE,), "MultiheadAttention(12, 3)"), ("x, y, y", (SEQUENCE, "randn(2, 9, 12)"), "MultiheadAttention(12, 3, batch_first=True)"), ("x, x, x, need_weights=False", (SEQUENCE,), "MultiheadAttention(12, 4, batch_first=True, bias=False)"),
        ("x, x, x, attn_mask=torch.ones(7, 7).triu(1).bool()", (SEQUENCE,), "MultiheadAttention(12, 3, batch_first=True)"), ("x, x, x, key_padding_mask=torch.arange(7).expand(2, 7) > 4", (SEQUENCE,), "MultiheadAttention(12, 3, batch_first=True)"), ("x, y, y", (SEQUENCE, "randn(2, 9, 10)"), "MultiheadAttention(12, 3, kdim=10, vdim=10, batch_first=True)"),
        ("x, x, x", (SEQUENCE,), "MultiheadAttention(12, 3, batch_first=True, add_bias_kv=True)"), ("x, x, x", (SEQUENCE,), "MultiheadAttention(12, 3, batch_first=True, add_zero_attn=True)"), ("x, x, x", ("randn(7, 12)",), "MultiheadAttention(12, 3)"), ("x", (SEQUENCE,), "TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True)"), ("x", (SEQUENCE,), "TransformerEncoderLayer(12, 3, 20, batch_first=True).eval()"),
        ("x", (SEQUENCE,), "TransformerEncoderLayer(12, 3, 20, dropout=0.0, activation='gelu', norm_first=True)"), ("x", (SEQUENCE,), "TransformerEncoder(nn.TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True), 2)"), ("x, y", (SEQUENCE, "randn(2, 9, 12)"), "TransformerDecoderLayer(12, 3, 20, dropout=0.0, batch_first=True)"), ("x, y", (SEQUENCE, "randn(2, 9, 12)"), "Transformer(12, 3, 1, 1, 20, dropout=0.0, batch_first=True)"),
        ("x, src_mask=torch.ones(7, 7).triu(1).bool()", (SEQUENCE,), "TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True)"))]

RECURRENT = [(f"self.m({call})", *inputs, f"m=nn.{name}") for call, inputs, name in (
    ("x", (SEQUENCE,), "RNN(12, 8)"), ("x", (SEQUENCE,), "RNN(12, 8, nonlinearity='relu', batch_first=True)"), ("x", (SEQUENCE,), "RNN(12, 8, num_layers=2, bidirectional=True)"), ("x", (SEQUENCE,), "LSTM(12, 8)"), ("x", (SEQUENCE,), "LSTM(12, 8, batch_first=True)"), ("x", (SEQUENCE,), "LSTM(12, 8, 2, batch_first=True)"),
    ("x", (SEQUENCE,), "LSTM(12, 8, 2, batch_first=True, bidirectional=True)"), ("x", (SEQUENCE,), "LSTM(12, 8, bias=False)"), ("x", (SEQUENCE,), "LSTM(12, 8, proj_size=5)"), ("x, (y, z)", (SEQUENCE, "randn(1, 7, 8)", "randn(1, 7, 8)"), "LSTM(12, 8)"), ("x", (SEQUENCE,), "LSTM(12, 8, 2, dropout=0.2).eval()"), ("x", (SEQUENCE,), "GRU(12, 8)"), ("x", (SEQUENCE,), "GRU(12, 8, 2, batch_first=True)"),
    ("x", (SEQUENCE,), "GRU(12, 8, bidirectional=True)"), ("x", (SEQUENCE,), "GRU(12, 8, bias=False)"), ("x, y", (SEQUENCE, "randn(1, 7, 8)"), "GRU(12, 8)"), ("x", ("randn(7, 12)",), "GRU(12, 8)"), ("x", ("randn(5, 12)",), "RNNCell(12, 8)"), ("x", ("randn(5, 12)",), "LSTMCell(12, 8)"), ("x, (y, z)", ("randn(5, 12)", "randn(5, 8)", "randn(5, 8)"), "LSTMCell(12, 8)"), ("x, y", ("randn(5, 12)", "randn(5, 8)"), "GRUCell(12, 8)"))]
