# SPDX-License-Identifier: Apache-2.0
"""CUDA-L1's three stages: supervised tuning, tuning on what the model itself gets right, and GRPO with plain or contrastive prompts."""
from __future__ import annotations

import inspect
import math
import random
import statistics
import time
from typing import Any, Callable, Optional, Sequence

import torch

from corpus import Task
from cudal1_train import Fault, Judge
from network import Transformer, log_chances, sample
from tokens import Tokenizer, plain

Row = tuple[list[int], list[int]]                 # prompt and answer
Log = Callable[[dict], None]


def batches(rows: Sequence[Any], tokens: int, dice: random.Random) -> list[list[Any]]:
    """Of rows of like length, at most so many tokens with what fills them up, in a mixed order."""
    ordered = sorted(rows, key=lambda row: (len(row[0]) + len(row[1]), dice.random()))
    result: list[list[Any]] = [[]]
    for row in ordered:
        if result[-1] and (len(result[-1]) + 1) * (len(row[0]) + len(row[1]) + 64) > tokens:
            result.append([])
        result[-1].append(row)
    dice.shuffle(result)
    return result


def optimizer(model: Transformer, rate: float) -> torch.optim.Optimizer:
    wide = [weight for weight in model.parameters() if weight.dim() > 1]
    thin = [weight for weight in model.parameters() if weight.dim() < 2]
    fused = {"fused": True} if model.device.type == "cuda" and "fused" in inspect.signature(torch.optim.AdamW).parameters else {}     # PyTorch 2
    return torch.optim.AdamW([{"params": wide, "weight_decay": 0.1}, {"params": thin, "weight_decay": 0.0}], lr=rate, betas=(0.9, 0.95), **fused)


def step(model: Transformer, tuner: torch.optim.Optimizer) -> None:
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    tuner.step()
    tuner.zero_grad(set_to_none=True)


def supervised(model: Transformer, rows: Sequence[Row], epochs: int, rate: float, tokens: int, seed: int, log: Log, most_seconds: float = math.inf) -> None:
    """The rate rises for a twentieth of the time and falls as a cosine; `most_seconds` shortens the plan after its first steps."""
    dice, tuner, began = random.Random(seed), optimizer(model, rate), time.monotonic()
    model.train()
    plan = [batch for _ in range(epochs) for batch in batches(rows, tokens, dice)]
    for i, batch in enumerate(plan):
        done = max(i / len(plan), (time.monotonic() - began) / most_seconds)
        if done >= 1:
            break
        for group in tuner.param_groups:
            group["lr"] = rate * min(1.0, (i + 1) / max(1, min(len(plan) // 20, 100))) * (0.05 + 0.475 * (1 + math.cos(math.pi * done)))
        chances, of_answer = log_chances(model, batch)
        loss = -(chances * of_answer).sum() / of_answer.sum()
        loss.backward()
        step(model, tuner)
        if i % 10 == 0 or i == len(plan) - 1:
            log({"step": i, "epoch": i * epochs / len(plan), "loss": loss.item(), "seconds": time.monotonic() - began})


def self_supervised(model: Transformer, tokenizer: Tokenizer, tasks: Sequence[Task], rows: Sequence[Row], judge: Judge, rounds: int, each: int, longest: int, rate: float, tokens: int,
                    seed: int, log: Log, most_of_one: int = 2) -> None:
    """Samples, keeps what is right, at most so many equal ones of a task, and tunes on it beside as many rows of the first stage. Nothing is learnt from failures."""
    for turn in range(rounds):
        dice = random.Random(f"{seed} {turn}")
        asked = [task for task in tasks for _ in range(each)]
        prompts = [tokenizer.encode(task.question) for task in asked]
        answers = sample(model, prompts, longest, seed + turn)
        verdicts = judge.judge_all({"task": task.source, "answer": tokenizer.decode(answer), "reward": "correct"} for task, answer in zip(asked, answers))
        taken: dict[tuple[str, Optional[str]], int] = {}
        kept: list[Row] = []
        for task, prompt, answer, verdict in zip(asked, prompts, answers, verdicts):
            key = (task.name, verdict.kind)
            if verdict.right and taken.get(key, 0) < most_of_one:
                taken[key] = taken.get(key, 0) + 1
                kept.append((prompt, answer))
        log({"round": turn, "sampled": len(answers), "kept": len(kept), "distinct": len(taken), "right": statistics.fmean(bool(verdict.right) for verdict in verdicts),
             "faults": sum(verdict.fault is not None for verdict in verdicts)})
        if kept:
            supervised(model, kept + dice.sample(list(rows), min(len(rows), len(kept))), 1, rate, tokens, seed + turn, log)


def contrastive_prompt(judge: Judge, task: Task) -> tuple[str, list[str]]:
    """With two of the task's right answers and their scores, as the store has them now, or plain while it has fewer."""
    try:
        prompt = judge.prompt(task.source, style="compact")
    except Fault as fault:      # one task must not end a training
        print(f"{task.name} keeps its plain prompt: {fault}", flush=True)
        return task.question, []
    if len(prompt.shown) < 2:
        return task.question, []
    return plain(prompt.messages[-1]["content"]), list(prompt.shown)


def advantages(rewards: Sequence[Optional[float]]) -> list[float]:
    """Within one group; a fault has none, and does not count for the others."""
    real = [reward for reward in rewards if reward is not None]
    if len(real) < 2:
        return [0.0] * len(rewards)
    mean, deviation = statistics.fmean(real), statistics.pstdev(real)
    return [0.0 if reward is None else (reward - mean) / (deviation + 1e-4) for reward in rewards]


def reinforced(model: Transformer, tokenizer: Tokenizer, tasks: Sequence[Task], judge: Judge, contrastive: bool, steps: int, prompts: int, group: int, longest: int, rate: float,
               reward: str, tokens: int, seed: int, log: Log, passes: int = 2, low: float = 0.2, high: float = 0.28, most_seconds: float = math.inf) -> None:
    """GRPO: token-level, clipped as DAPO does, without a reference model."""
    dice, tuner, began = random.Random(seed), optimizer(model, rate), time.monotonic()
    order = [task for _ in range(steps * prompts // len(tasks) + 1) for task in dice.sample(list(tasks), len(tasks))]
    for turn in range(steps):
        if time.monotonic() - began > most_seconds:
            break
        chosen = order[turn * prompts:(turn + 1) * prompts]
        texts = [contrastive_prompt(judge, task) if contrastive else (task.question, []) for task in chosen]
        encoded = [tokenizer.encode(text) for text, _ in texts]
        room = model.shape.context - longest - 1
        asked = [tokenizer.encode(task.question) if len(prompt) > room else prompt for task, prompt in zip(chosen, encoded)]
        answers = sample(model, [prompt for prompt in asked for _ in range(group)], longest, seed + 1000 * turn)
        sampled = time.monotonic()
        verdicts = judge.judge_all({"task": chosen[i // group].source, "answer": tokenizer.decode(answer), "reward": reward, "shown": texts[i // group][1]} for i, answer in enumerate(answers))
        decided = time.monotonic()
        earned = [verdict.reward for verdict in verdicts]
        better = [value for at in range(0, len(earned), group) for value in advantages(earned[at:at + group])]
        rows = [(asked[i // group], answer, value) for i, (answer, value) in enumerate(zip(answers, better)) if value != 0]
        learn(model, tuner, rows, tokens, passes, low, high)
        real = [verdict for verdict in verdicts if verdict.fault is None]
        log({"step": turn, "reward": statistics.fmean(value for value in earned if value is not None) if real else None, "right": statistics.fmean(bool(v.right) for v in real) if real else None,
             "speedup": statistics.fmean((v.score or 0) if v.right else 0 for v in real) if real else None, "duplicates": sum(v.duplicate for v in real), "cheats": sum(v.cheat for v in real),
             "cached": sum(v.cached for v in real), "equal_groups": sum(not any(better[at:at + group]) for at in range(0, len(better), group)), "with_exemplars": sum(bool(shown) for _, shown in texts),
             "faults": len(verdicts) - len(real), "judge_seconds": decided - sampled, "seconds": time.monotonic() - began})


def learn(model: Transformer, tuner: torch.optim.Optimizer, rows: Sequence[tuple[list[int], list[int], float]], tokens: int, passes: int, low: float, high: float) -> None:
    if not rows:
        return
    model.eval()      # the same chances as when they were sampled, but for rounding
    parts = batches(rows, tokens, random.Random(0))
    total = sum(len(answer) for _, answer, _ in rows)
    old: list[torch.Tensor] = []
    for turn in range(passes):
        for i, part in enumerate(parts):
            chances, of_answer = log_chances(model, [(prompt, answer) for prompt, answer, _ in part])
            value = torch.tensor([value for _, _, value in part], device=chances.device)[:, None]
            if turn == 0:
                old.append(chances.detach())
            ratio = (chances - old[i]).exp()
            gain = torch.minimum(ratio * value, ratio.clamp(1 - low, 1 + high) * value)
            (-(gain * of_answer).sum() / total).backward()
        step(model, tuner)
