#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stage 2: answers of the model itself that a `cudal1 serve` finds right, as rows for another trl_sft.py; nothing is learnt from failures.

  trl_self_supervised.py --model stage1 --prompts prompts.jsonl --out own.jsonl      # prompts: cudal1 dataset --for grpo
  trl_sft.py --model stage1 --data own.jsonl sft.jsonl --out stage2 --epochs 1

CUDAL1_URL names the servers. Run it again with --model stage2 until the share that is right stops rising."""
import argparse
import json
import os
import pathlib
import sys

os.environ.setdefault("TORCH_CUDNN_SDPA_DEPRIORITIZED", "1")
import torch                                                       # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer       # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cudal1_train import Judge                                     # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompts", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--samples", type=int, default=8, help="answers to each prompt")
    parser.add_argument("--most", type=int, default=2, help="of one task's equal answers that are kept")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--longest", type=int, default=2048, help="tokens of an answer")
    asked = parser.parse_args()
    rows = [json.loads(line) for line in pathlib.Path(asked.prompts).read_text().splitlines() for _ in range(asked.samples)]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(asked.model, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(asked.model).to(device).eval()
    judge, kept, taken, right = Judge(reward="correct"), [], {}, 0
    for at in range(0, len(rows), asked.batch):
        part = rows[at:at + asked.batch]
        texts = [tokenizer.apply_chat_template(row["prompt"], add_generation_prompt=True, tokenize=False) for row in part]
        inputs = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(device)
        with torch.no_grad():
            output = model.generate(**inputs, max_new_tokens=asked.longest, do_sample=True, temperature=1.0, pad_token_id=tokenizer.pad_token_id)
        answers = tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1]:], skip_special_tokens=True)
        for row, answer, verdict in zip(part, answers, judge.judge_all({"task": row["cudal1_task"], "answer": answer} for row, answer in zip(part, answers))):
            right += bool(verdict.right)
            key = (row["task_sha256"], verdict.fingerprint)
            if verdict.right and taken.setdefault(key, 0) < asked.most:
                taken[key] += 1
                kept.append({"prompt": row["prompt"], "completion": [{"role": "assistant", "content": answer}], "task": row["task"], "split": row["split"], "group": row["group"]})
    pathlib.Path(asked.out).write_text("".join(json.dumps(row) + "\n" for row in kept))
    print(f"{right} of {len(rows)} right, {len(kept)} kept in {asked.out}")


if __name__ == "__main__":
    main()
