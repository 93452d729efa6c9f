# SPDX-License-Identifier: Apache-2.0
"""A transformer in plain PyTorch (1.13 or newer), and sampling from it."""
from __future__ import annotations

import copy
import dataclasses
from typing import Callable, Optional, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tokens import ANSWER, END


@dataclasses.dataclass(frozen=True)
class Shape:
    vocabulary: int
    layers: int = 12
    width: int = 512
    heads: int = 8
    context: int = 1536     # tokens of prompt and answer; those of a sampled answer are bounded apart


def turned(x: Tensor, places: Tensor) -> Tensor:
    """Rotary embedding of x[batch, head, place, width]: only distances matter, so rows may begin with empty places."""
    half = x.shape[-1] // 2
    angle = places[:, None].float() * 10000 ** (-torch.arange(half, device=x.device).float() / half)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def attended(q: Tensor, k: Tensor, v: Tensor, seen: Optional[Tensor]) -> Tensor:
    """`seen`: which keys each query sees; without it those before it."""
    if seen is None and hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    if seen is None:
        seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
    scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    return scores.masked_fill(~seen, float("-inf")).softmax(-1) @ v


class Norm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return (x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.weight


class Block(nn.Module):
    def __init__(self, shape: Shape, dropout: float):
        super().__init__()
        hidden = shape.width * 8 // 3 // 64 * 64
        self.heads, self.dropout = shape.heads, nn.Dropout(dropout)
        self.before, self.between = Norm(shape.width), Norm(shape.width)
        self.qkv, self.out = nn.Linear(shape.width, 3 * shape.width, bias=False), nn.Linear(shape.width, shape.width, bias=False)
        self.gate, self.up, self.down = (nn.Linear(*size, bias=False) for size in ((shape.width, hidden), (shape.width, hidden), (hidden, shape.width)))

    def forward(self, x: Tensor, places: Tensor, seen: Optional[Tensor], kept: Optional[Tensor]) -> Tensor:
        """`kept`: keys and values of all places, [2, batch, head, place, width]; those of `places` are written there."""
        batch, length, width = x.shape
        q, k, v = self.qkv(self.before(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k = turned(q, places), turned(k, places)
        if kept is not None:
            kept[0].index_copy_(2, places, k)
            kept[1].index_copy_(2, places, v)
            k, v = kept[0, :, :, :seen.shape[-1]], kept[1, :, :, :seen.shape[-1]]
        x = x + self.dropout(self.out(attended(q, k, v, seen).transpose(1, 2).reshape(batch, length, width)))
        inner = self.between(x)
        return x + self.dropout(self.down(F.silu(self.gate(inner)) * self.up(inner)))


class Transformer(nn.Module):
    def __init__(self, shape: Shape, dropout: float = 0.0):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape, dropout) for _ in range(shape.layers))
        self.norm = Norm(shape.width)
        for name, weight in self.named_parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02 / ((2 * shape.layers) ** 0.5 if name.endswith(("out.weight", "down.weight")) else 1))

    def forward(self, tokens: Tensor, places: Optional[Tensor] = None, seen: Optional[Tensor] = None, kept: Optional[Tensor] = None) -> Tensor:
        if places is None:
            places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, places, seen, None if kept is None else kept[i])
        return self.norm(x) @ self.embedding.weight.T

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device


def repeated(step: Callable[[], Tensor], device: torch.device) -> Callable[[], Tensor]:
    """The same step with what its tensors hold at each call. On a GPU its hundreds of launches are recorded as one."""
    if device.type != "cuda":
        return step
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):      # libraries set themselves up before anything is recorded
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()

    def replay() -> Tensor:
        graph.replay()
        return result
    return replay


@torch.no_grad()
def sample(model: Transformer, prompts: Sequence[Sequence[int]], longest: int, seed: int, temperature: float = 1.0, rows: int = 512) -> list[list[int]]:
    """An answer to each prompt, at most `longest` tokens; one that did not end has no END. Prompts end at the same place, so rows begin with empty ones."""
    if len(prompts) > rows:
        return [answer for at in range(0, len(prompts), rows) for answer in sample(model, prompts[at:at + rows], longest, seed + at, temperature, rows)]
    device, shape = model.device, model.shape
    if device.type == "cuda":
        model = copy.deepcopy(model).to(torch.bfloat16)
    model.eval()
    dice = torch.Generator(device).manual_seed(seed)
    width = max(len(prompt) for prompt in prompts) + 1
    tokens = torch.tensor([[END] * (width - 1 - len(prompt)) + list(prompt) + [ANSWER] for prompt in prompts], device=device)
    places = torch.arange(width + longest, device=device)
    real = places[None, :] >= torch.tensor([width - 1 - len(prompt) for prompt in prompts], device=device)[:, None]
    kept = torch.zeros(shape.layers, 2, len(prompts), shape.heads, width + longest, shape.width // shape.heads, device=device, dtype=model.embedding.weight.dtype)
    # An empty place sees itself, so that no row of attention is empty.
    first = (real[:, None, :width] & (places[None, :width] <= places[:width, None])) | torch.eye(width, dtype=torch.bool, device=device)
    logits = torch.cat([model(tokens[at:at + 32], places[:width], first[at:at + 32, None], kept[:, :, at:at + 32])[:, -1] for at in range(0, len(prompts), 32)])
    answers, ended = [], torch.zeros(len(prompts), dtype=torch.bool, device=device)
    token, place = torch.zeros(len(prompts), dtype=torch.long, device=device), places[:1].clone()
    steps: dict[int, Callable[[], Tensor]] = {}
    for step in range(longest):
        token.copy_(torch.multinomial((logits.float() / temperature).softmax(-1), 1, generator=dice)[:, 0].masked_fill(ended, END))
        answers.append(token.clone())
        ended |= token == END
        if step % 16 == 15 and bool(ended.all()):
            break
        place.fill_(width + step)
        upto = min((width + step + 128) // 128 * 128, width + longest)     # few different shapes
        if upto not in steps:
            steps[upto] = repeated(lambda upto=upto: model(token[:, None], place, (real[:, :upto] & (places[:upto] <= place))[:, None, None, :], kept)[:, -1], device)
        logits = steps[upto]()
    return [row[:row.index(END) + 1] if END in row else row for row in torch.stack(answers, 1).tolist()]


def log_chances(model: Transformer, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> tuple[Tensor, Tensor]:
    """Of each token of the answers, in rows of prompt and answer, and which places they are at."""
    length = max(len(prompt) + 1 + len(answer) for prompt, answer in rows)
    length = (length + 63) // 64 * 64
    tokens = torch.full((len(rows), length), END)
    of_answer = torch.zeros(len(rows), length, dtype=torch.bool)
    for i, (prompt, answer) in enumerate(rows):
        text = [*prompt, ANSWER, *answer]
        tokens[i, :len(text)] = torch.tensor(text)
        of_answer[i, len(prompt) + 1:len(text)] = True
    tokens, of_answer = tokens.to(model.device, non_blocking=True), of_answer.to(model.device, non_blocking=True)
    with torch.autocast(model.device.type, torch.bfloat16, enabled=model.device.type == "cuda"):
        logits = model(tokens[:, :-1])
    chosen = -F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten(), reduction="none").view(len(rows), -1)
    return chosen, of_answer[:, 1:]
