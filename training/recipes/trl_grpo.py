#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stage 3 with TRL's own GRPOTrainer: each prompt is asked of a `cudal1 serve` when it is needed, with two of the task's right answers and their scores as the store has them then.

  cudal1 serve --device cuda:1 --store scores
  trl_grpo.py --model stage2 --prompts prompts.jsonl --out stage3 [--plain]          # prompts: cudal1 dataset --for grpo

CUDAL1_URL names the servers. --plain leaves exemplars out, for comparison. A fault is None, which TRL leaves out of its group."""
import argparse
import json
import os
import pathlib
import random
import sys
from typing import Any, Iterator

os.environ.setdefault("TORCH_CUDNN_SDPA_DEPRIORITIZED", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
import torch                                    # noqa: E402
from datasets import Dataset, IterableDataset   # noqa: E402
from trl import GRPOConfig, GRPOTrainer         # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cudal1_train import Judge                  # noqa: E402
from cudal1_train.rewards import trl_reward     # noqa: E402


def live(tasks: list[str], style: str, seed: int) -> Iterator[dict[str, Any]]:
    """Prompts without end. Made here and not before, so that what the model found meanwhile is shown."""
    judge, dice = Judge(), random.Random(seed)
    while True:
        for task in dice.sample(tasks, len(tasks)):
            prompt = judge.prompt(task, style=style)
            yield {"prompt": list(prompt.messages), "cudal1_task": task, "cudal1_shown": list(prompt.shown)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompts", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--style", choices=("full", "compact"), default="full")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--group", type=int, default=16, help="answers to a prompt")
    parser.add_argument("--batch", type=int, default=16, help="answers at a time on a GPU")
    parser.add_argument("--accumulate", type=int, default=8)
    parser.add_argument("--longest", type=int, default=4096, help="tokens of an answer")
    parser.add_argument("--rate", type=float, default=1e-6)
    parser.add_argument("--reward", default="log")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rows = [json.loads(line) for line in pathlib.Path(asked.prompts).read_text().splitlines()]
    if asked.plain:
        prompts = Dataset.from_list([{"prompt": row["prompt"], "cudal1_task": row["cudal1_task"], "cudal1_shown": []} for row in rows])
    else:
        prompts = IterableDataset.from_generator(live, gen_kwargs={"tasks": [row["cudal1_task"] for row in rows], "style": asked.style, "seed": asked.seed})
    settings = GRPOConfig(output_dir=asked.out, max_steps=asked.steps, num_generations=asked.group, per_device_train_batch_size=asked.batch, gradient_accumulation_steps=asked.accumulate,
                          max_completion_length=asked.longest, learning_rate=asked.rate, epsilon_high=0.28, mask_truncated_completions=True, temperature=1.0, seed=asked.seed,
                          shuffle_dataset=asked.plain,   # a shuffled stream draws its prompts long before they are needed
                          logging_steps=1, report_to="none", bf16=torch.cuda.is_available(), use_cpu=not torch.cuda.is_available())
    trainer = GRPOTrainer(asked.model, reward_funcs=trl_reward(Judge(reward=asked.reward)), args=settings, train_dataset=prompts)
    trainer.train()
    trainer.save_model(asked.out)


if __name__ == "__main__":
    main()
