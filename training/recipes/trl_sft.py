#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stage 1 with TRL's own SFTTrainer, on what `cudal1 dataset --for sft` and `--for contrast` wrote (any --style):

  trl_sft.py --model MODEL --data sft.jsonl contrast.jsonl --out stage1 [--epochs 3]

The loss is on the answers alone. Several GPUs: accelerate launch trl_sft.py …"""
import argparse
import json
import os
import pathlib

os.environ.setdefault("TORCH_CUDNN_SDPA_DEPRIORITIZED", "1")   # else cuDNN plans anew for each length
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
import torch                             # noqa: E402
from datasets import Dataset             # noqa: E402
from trl import SFTConfig, SFTTrainer    # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--steps", type=int, default=-1)
    parser.add_argument("--rate", type=float, default=1e-5)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--context", type=int, default=8192)
    asked = parser.parse_args()
    lines = [json.loads(line) for file in asked.data for line in pathlib.Path(file).read_text().splitlines()]
    rows = Dataset.from_list([{"prompt": line["prompt"], "completion": line["completion"]} for line in lines])
    settings = SFTConfig(output_dir=asked.out, num_train_epochs=asked.epochs, max_steps=asked.steps, learning_rate=asked.rate, per_device_train_batch_size=asked.batch,
                         max_length=asked.context, completion_only_loss=True, packing=False, logging_steps=1, report_to="none", bf16=torch.cuda.is_available(), use_cpu=not torch.cuda.is_available())
    trainer = SFTTrainer(asked.model, args=settings, train_dataset=rows)
    trainer.train()
    trainer.save_model(asked.out)


if __name__ == "__main__":
    main()
