# SPDX-License-Identifier: Apache-2.0
"""verifiers and prime-rl: the rows of `cudal1 dataset --for grpo` as a taskset that `cudal1 serve` scores.

  PYTHONPATH=training CUDAL1_URL=http://127.0.0.1:8780 eval verifiers_tasks --taskset.rows prompts.jsonl

Prompts have no exemplars unless `live` is set: then each is asked of the server when it is needed. Where there is no verdict scoring fails, and the sample has no reward."""
import asyncio
import json
import pathlib
from typing import Iterator

import verifiers.v1 as vf

from cudal1_train import Fault
from cudal1_train.rewards import shared

__all__ = ["KernelTaskset"]


class KernelData(vf.TaskData):
    cudal1_task: str
    """The task as JSON text, as the server wants it."""
    cudal1_shown: list[str] = []
    """The answers that the prompt shows; a copy of one earns nothing."""


class KernelTask(vf.Task[KernelData]):
    @vf.reward
    async def cudal1(self, trace: vf.Trace) -> float:
        verdict = await asyncio.to_thread(shared().judge, self.data.cudal1_task, trace.last_reply, shown=list(self.data.cudal1_shown))
        if verdict.reward is None:
            raise Fault(verdict.fault or "the answer was not timed")
        trace.record_metrics({"executable": bool(verdict.executable), "right": bool(verdict.right), "cheat": verdict.cheat, "duplicate": verdict.duplicate,
                              "speedup": verdict.score or 0})
        return verdict.reward


class KernelTasksetConfig(vf.TasksetConfig):
    rows: str = "prompts.jsonl"
    """What `cudal1 dataset --for grpo` wrote."""
    live: bool = False
    """Ask the server for contrastive prompts."""


class KernelTaskset(vf.Taskset[KernelTask, KernelTasksetConfig]):
    def load(self) -> Iterator[KernelTask]:
        for line in pathlib.Path(self.config.rows).read_text().splitlines():
            row = json.loads(line)
            messages, shown = row["prompt"], []
            if self.config.live:
                prompt = shared().prompt(row["cudal1_task"])
                messages, shown = list(prompt.messages), list(prompt.shown)
            texts = {message["role"]: message["content"] for message in messages}
            yield KernelTask(KernelData(id=row["task_sha256"], name=row["task"], prompt=texts["user"], system_prompt=texts.get("system"), cudal1_task=row["cudal1_task"], cudal1_shown=shown),
                             self.config.task)
