// SPDX-License-Identifier: Apache-2.0
#include "tensor/function.hpp"

#include <iterator>

namespace cudal1::tensor {

namespace {

// Bodies are Python expressions of the parameters. Beside the functions of the table they may use is_tensor, is_number,
// is_dtype, is_list, is_bool, scaled (a product that leaves a factor of one out), shape_of, parts and refuse, see binder_call.cpp.
const Composite table[] = {
  // Arithmetic with its options.
  {"add(input, other, alpha: number = 1)", "torch .", "input + scaled(other, alpha)"},
  {"sub(input, other, alpha: number = 1)", "torch . torch.subtract .subtract", "input - scaled(other, alpha)"},
  {"rsub(input, other)", "torch .", "other - input"},
  {"div(input, other, rounding_mode = None)", "torch . torch.divide .divide",
   "div(input, other) if rounding_mode is None else floor_divide(input, other) if rounding_mode == 'floor' else trunc(div(input, other)) "
   "if rounding_mode == 'trunc' else refuse('torch.div with this rounding_mode')"},
  {"addcmul(input, tensor1, tensor2, value: number = 1)", "torch .", "input + scaled(tensor1 * tensor2, value)"},
  {"addcdiv(input, tensor1, tensor2, value: number = 1)", "torch .", "input + scaled(tensor1 / tensor2, value)"},
  {"clamp(input, min = None, max = None)", "torch . torch.clip .clip",
   "clamp(input, min, max) if not is_tensor(min) and not is_tensor(max) else minimum(maximum(input, min), max) "
   "if min is not None and max is not None else maximum(input, min) if max is None else minimum(input, max)"},
  {"clamp_min(input, min)", "torch .", "torch.clamp(input, min)"},
  {"clamp_max(input, max)", "torch .", "torch.clamp(input, None, max)"},
  {"masked_fill(input, mask, value)", "torch .", "where(mask, value, input)"},
  {"where_method(input, condition, other)", ".where", "where(condition, input, other)"},
  {"swish(input)", "F", "silu(input)"},
  {"dropout(input, p: number = 0.5, training = True)", "torch F F.dropout1d F.dropout2d F.dropout3d F.alpha_dropout F.feature_dropout",
   "input if not training or p == 0 else refuse('dropout with training=True')"},

  {"asinh(input)", "torch . torch.arcsinh", "where(abs(input) > 1000000000.0, sign(input) * (log(abs(input)) + 0.6931471805599453), "
   "sign(input) * log1p(abs(input) + square(input) / (1 + sqrt(square(input) + 1))))"},
  {"acosh(input)", "torch . torch.arccosh", "log(input + sqrt(square(input) - 1))"},
  {"atanh(input)", "torch . torch.arctanh", "0.5 * (log1p(input) - log1p(-input))"},
  {"xlogy(input, other)", "torch . .special_xlogy", "where(input == 0, 0.0, input * log(other))"},
  {"logaddexp(input, other)", "torch .", "maximum(input, other) + log1p(exp(-where(input == other, 0.0, abs(input - other))))"},
  {"logit(input, eps = None)", "torch . .special_logit", "log(input / (1 - input)) if eps is None else torch.logit(torch.clamp(input, eps, 1 - eps))"},
  {"nan_to_num(input, nan = None, posinf = None, neginf = None)", "torch .",
   "where(isnan(input), 0.0 if nan is None else nan, where(input == float('inf'), 3.4028234663852886e38 if posinf is None else posinf, "
   "where(input == -float('inf'), -3.4028234663852886e38 if neginf is None else neginf, input)))"},
  {"deg2rad(input)", "torch .", "input * 0.017453292519943295"},
  {"rad2deg(input)", "torch .", "input * 57.29577951308232"},
  {"positive(input)", "torch .", "input"},
  {"fmax(input, other)", "torch .", "where(isnan(input), other, where(isnan(other), input, maximum(input, other)))"},
  {"fmin(input, other)", "torch .", "where(isnan(input), other, where(isnan(other), input, minimum(input, other)))"},
  {"dist(input, other, p: number = 2)", "torch .", "norm(input - other, p)"},

  // Matrices.
  {"addmm(input, mat1, mat2, beta: number = 1, alpha: number = 1)", "torch . torch.addmv .addmv",
   "scaled(input, beta) + scaled(matmul(mat1, mat2), alpha)"},
  {"baddbmm(input, batch1, batch2, beta: number = 1, alpha: number = 1)", "torch .",
   "scaled(input, beta) + scaled(matmul(batch1, batch2), alpha)"},
  {"vecdot(x, y, dim = -1)", "torch.linalg.vecdot", "sum(x * y, dim)"},
  {"outer(input, vec2)", "torch . torch.ger .ger", "unsqueeze(input, 1) * unsqueeze(vec2, 0)"},
  {"linear(input, weight, bias = None)", "F torch",
   "matmul(input, transpose(weight, -2, -1)) if bias is None else matmul(input, transpose(weight, -2, -1)) + bias"},
  {"t(input)", "torch .", "permute(input, None)"},
  {"trace(input)", "torch .", "sum(diagonal(input))"},
  {"addbmm(input, batch1, batch2, beta: number = 1, alpha: number = 1)", "torch .", "scaled(input, beta) + scaled(sum(matmul(batch1, batch2), 0), alpha)"},
  {"addr(input, vec1, vec2, beta: number = 1, alpha: number = 1)", "torch .", "scaled(input, beta) + scaled(unsqueeze(vec1, 1) * unsqueeze(vec2, 0), alpha)"},
  {"vdot(input, other)", "torch .", "sum(input * other)"},
  {"inner(input, other)", "torch .", "matmul(input, permute(other, (1, 0)))"},

  // Extremes with their places.
  {"max(input, dim = None, keepdim = False)", "torch .",
   "amax(input) if dim is None else maximum(input, dim) if is_tensor(dim) else (amax(input, dim, keepdim), argmax(input, dim, keepdim))"},
  {"min(input, dim = None, keepdim = False)", "torch .",
   "amin(input) if dim is None else minimum(input, dim) if is_tensor(dim) else (amin(input, dim, keepdim), argmin(input, dim, keepdim))"},
  {"aminmax(input, dim = None, keepdim = False)", "torch .", "(amin(input, dim, keepdim), amax(input, dim, keepdim))"},
  {"cummax_pair(input, dim)", "torch.cummax .cummax", "(cummax(input, dim), cummax_index(input, dim))"},
  {"cummin_pair(input, dim)", "torch.cummin .cummin", "(cummin(input, dim), cummin_index(input, dim))"},
  {"sort(input, dim = -1, descending = False)", "torch .", "(sort(input, dim, descending), argsort(input, dim, descending))"},
  {"topk(input, k, dim = -1, largest = True)", "torch .", "(topk(input, k, dim, largest), topk_index(input, k, dim, largest))"},

  // Statistics.
  {"var(input, dim = None, unbiased = True, keepdim = False, correction = None)", "torch .",
   "var(input, dim, (1 if unbiased else 0) if correction is None else correction, keepdim) "
   "if not is_bool(dim) else var(input, None, 1 if dim else 0)"},
  {"std(input, dim = None, unbiased = True, keepdim = False, correction = None)", "torch .",
   "std(input, dim, (1 if unbiased else 0) if correction is None else correction, keepdim) "
   "if not is_bool(dim) else std(input, None, 1 if dim else 0)"},
  {"var_mean(input, dim = None, unbiased = True, keepdim = False, correction = None)", "torch",
   "(torch.var(input, dim, unbiased, keepdim, correction), mean(input, dim, keepdim))"},
  {"std_mean(input, dim = None, unbiased = True, keepdim = False, correction = None)", "torch",
   "(torch.std(input, dim, unbiased, keepdim, correction), mean(input, dim, keepdim))"},
  {"count_nonzero(input, dim = None)", "torch .", "sum(ne(input, 0), dim)"},
  {"nansum(input, dim = None, keepdim = False)", "torch .", "sum(where(isnan(input), 0.0, input), dim, keepdim)"},
  {"nanmean(input, dim = None, keepdim = False)", "torch .", "torch.nansum(input, dim, keepdim) / sum(where(isnan(input), 0.0, 1.0), dim, keepdim)"},
  {"softmin(input, dim)", "F", "softmax(-input, dim)"},
  {"normalize(input, p: number = 2.0, dim: int = 1, eps: number = 0.000000000001)", "F",
   "input / clamp(norm(input, p, dim, True), eps)"},

  // Shapes.
  {"ravel(input)", "torch .", "reshape(input, -1)"},
  {"split(input, split_size, dim = 0)", "torch .", "parts('split', input, split_size if is_list(split_size) else None, 'split_size', split_size, 'dim', dim)"},
  {"chunk(input, chunks, dim = 0)", "torch .", "parts('chunk', input, chunks, 'chunks', chunks, 'dim', dim)"},
  {"unbind(input, dim = 0)", "torch .", "parts('select', input, None, 'dim', dim)"},
  {"hstack(operands: tensors)", "torch", "cat(operands, 1)"},
  {"vstack(operands: tensors)", "torch", "cat(operands, 0)"},
  {"fliplr(input)", "torch .", "flip(input, 1)"},
  {"flipud(input)", "torch .", "flip(input, 0)"},

  // Copies and types.
  {"contiguous(input)", ". .clone .detach .cuda .cpu .item torch.clone torch.detach", "input"},
  {"to(input, dtype = None, other = None)", ".", "cast(input, dtype) if is_dtype(dtype) else cast(input, other) if is_dtype(other) else input"},
  {"type(input, dtype)", ".", "cast(input, dtype)"},
  {"float(input)", ".", "cast(input, 'float32')"},
  {"double(input)", ".", "cast(input, 'float64')"},
  {"half(input)", ".", "cast(input, 'float16')"},
  {"bfloat16(input)", ".", "cast(input, 'bfloat16')"},
  {"long(input)", ".", "cast(input, 'int64')"},
  {"int(input)", ".", "cast(input, 'int32')"},
  {"bool(input)", ".", "cast(input, 'bool')"},

  // Creation.
  {"zeros(size: ints, dtype = None)", "torch", "full(size, 0, 'float32' if dtype is None else dtype)"},
  {"ones(size: ints, dtype = None)", "torch", "full(size, 1, 'float32' if dtype is None else dtype)"},
  {"zeros_like(input, dtype = None)", "torch", "full_like(input, 0, dtype)"},
  {"ones_like(input, dtype = None)", "torch", "full_like(input, 1, dtype)"},
  {"new_zeros(input, size: ints)", ".", "full(size, 0, 'float32')"},
  {"new_ones(input, size: ints)", ".", "full(size, 1, 'float32')"},

  // Indices.
  {"index_select(input, dim, index)", "torch .", "index(input, index, dim)"},
  {"embedding(input, weight, padding_idx = None, max_norm = None, norm_type = None, scale_grad_by_freq = None, sparse = None)", "F",
   "index(weight, input, 0) if max_norm is None else refuse('an embedding with max_norm')"},
  {"embedding(weight, indices, padding_idx = None, scale_grad_by_freq = None, sparse = None)", "torch", "index(weight, indices, 0)"},
  {"take_along_dim(input, indices, dim)", "torch .", "gather(input, indices, dim)"},
  {"gather(input, dim, index)", "torch .", "gather(input, index, dim)"},
  {"scatter(input, dim, index, src)", "torch .", "scatter(input, index, src, dim)"},
  {"scatter_add(input, dim, index, src)", "torch .", "scatter_add(input, index, src, dim)"},

  // Losses.
  {"reduced_loss(input, reduction)", "",
   "mean(input) if reduction == 'mean' else sum(input) if reduction == 'sum' else input if reduction == 'none' else refuse('this reduction')"},
  {"mse_loss(input, target, reduction: word = 'mean')", "F", "reduced_loss(square(input - target), reduction)"},
  {"l1_loss(input, target, reduction: word = 'mean')", "F", "reduced_loss(abs(input - target), reduction)"},
  {"smooth_l1_loss(input, target, reduction: word = 'mean', beta: number = 1.0)", "F",
   "torch.nn.functional.l1_loss(input, target, reduction) if beta == 0 else "
   "reduced_loss(where(abs(input - target) < beta, 0.5 * square(input - target) / beta, abs(input - target) - 0.5 * beta), reduction)"},
  {"huber_loss(input, target, reduction: word = 'mean', delta: number = 1.0)", "F",
   "reduced_loss(where(abs(input - target) < delta, 0.5 * square(input - target), delta * (abs(input - target) - 0.5 * delta)), reduction)"},
  {"kl_div(input, target, size_average = None, reduce = None, reduction: word = 'mean', log_target = False)", "F",
   "kl_reduced(exp(target) * (target - input) if log_target else where(target == 0, 0.0, target * log(where(target == 0, 1.0, target))) - target * input, input, reduction)"},
  {"kl_reduced(loss, input, reduction)", "", "sum(loss) / batch_size(input) if reduction == 'batchmean' else reduced_loss(loss, reduction)"},
  {"batch_size(input)", "", "shape_of(input)[0]"},
  {"binary_cross_entropy(input, target, weight = None, size_average = None, reduce = None, reduction: word = 'mean')", "F",
   "reduced_loss(weighted(-(target * clamp(log(input), -100.0) + (1 - target) * clamp(log1p(-input), -100.0)), weight), reduction)"},
  {"weighted(input, weight)", "", "input if weight is None else input * weight"},
  {"binary_cross_entropy_with_logits(input, target, weight = None, size_average = None, reduce = None, reduction: word = 'mean', pos_weight = None)", "F",
   "reduced_loss(weighted((1 - target) * input - (1 if pos_weight is None else (1 + (pos_weight - 1) * target)) * logsigmoid(input), weight), reduction)"},
  {"hinge_embedding_loss(input, target, margin: number = 1.0, size_average = None, reduce = None, reduction: word = 'mean')", "F",
   "reduced_loss(where(target == -1, 0.0, input) + where(target == 1, 0.0, clamp(margin - input, 0)), reduction)"},
  {"soft_margin_loss(input, target, reduction: word = 'mean')", "F", "reduced_loss(log1p(exp(-target * input)), reduction)"},
  {"margin_ranking_loss(input1, input2, target, margin: number = 0, reduction: word = 'mean')", "F",
   "reduced_loss(clamp(-target * (input1 - input2) + margin, 0), reduction)"},
  {"pairwise_distance(x1, x2, p: number = 2.0, eps: number = 0.000001, keepdim = False)", "F", "norm(x1 - x2 + eps, p, -1, keepdim)"},
  {"triplet_margin_loss(anchor, positive, negative, margin: number = 1.0, p: number = 2.0, eps: number = 0.000001, swap = False, size_average = None, "
   "reduce = None, reduction: word = 'mean')", "F",
   "reduced_loss(clamp(margin + norm(anchor - positive + eps, p, -1) - (minimum(norm(anchor - negative + eps, p, -1), norm(positive - negative + eps, p, -1)) "
   "if swap else norm(anchor - negative + eps, p, -1)), 0), reduction)"},
  {"cosine_similarity(x1, x2, dim: int = 1, eps: number = 0.00000001)", "F torch",
   "sum(x1 * x2, dim) / (clamp(norm(x1, 2, dim), eps) * clamp(norm(x2, 2, dim), eps))"},
  {"cosine_embedding_loss(input1, input2, target, margin: number = 0, reduction: word = 'mean')", "F",
   "reduced_loss(where(target == 1, 1 - embedded_cosine(input1, input2), 0.0) + where(target == -1, clamp(embedded_cosine(input1, input2) - margin, 0), 0.0), reduction)"},
  {"embedded_cosine(x1, x2)", "", "sum(x1 * x2, -1) / sqrt((sum(x1 * x1, -1) + 0.000000000001) * (sum(x2 * x2, -1) + 0.000000000001))"},
  {"poisson_nll_loss(input, target, log_input = True, full = False, size_average = None, eps: number = 0.00000001, reduce = None, reduction: word = 'mean')", "F",
   "reduced_loss((exp(input) - target * input if log_input else input - target * log(input + eps)) + (where(target > 1, target * log(where(target > 1, target, 1.0)) - target + "
   "0.5 * log(6.283185307179586 * where(target > 1, target, 1.0)), 0.0) if full else 0.0), reduction)"},
  {"gaussian_nll_loss(input, target, var, full = False, eps: number = 0.000001, reduction: word = 'mean')", "F",
   "reduced_loss(0.5 * (log(clamp(var, eps)) + square(input - target) / clamp(var, eps)) + (0.9189385332046727 if full else 0.0), reduction)"},
  {"multilabel_soft_margin_loss(input, target, weight = None, size_average = None, reduce = None, reduction: word = 'mean')", "F",
   "reduced_loss(mean(weighted(-(target * logsigmoid(input) + (1 - target) * logsigmoid(-input)), weight), -1), reduction)"},
};

}  // namespace

std::vector<Composite> composites() { return {std::begin(table), std::end(table)}; }

}  // namespace cudal1::tensor
