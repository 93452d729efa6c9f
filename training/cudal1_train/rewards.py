# SPDX-License-Identifier: Apache-2.0
"""The functions that trainers call, each in its engine's words. None makes up a reward where there is a fault."""
from __future__ import annotations

import asyncio
import json
import os
from typing import Any, Callable, Optional, Sequence

from .client import Fault, Judge

_judge: Optional[Judge] = None


def shared(judge: Optional[Judge] = None) -> Judge:
    """One for the process, by CUDAL1_URL, CUDAL1_TOKEN and CUDAL1_REWARD, unless another is given."""
    global _judge
    if judge is not None:
        return judge
    if _judge is None:
        _judge = Judge(reward=os.environ.get("CUDAL1_REWARD"))
    return _judge


def text_of(completion: Any) -> str:
    """The answer's text: as it is, or the last message of a conversation."""
    return completion if isinstance(completion, str) else completion[-1]["content"]


def trl_reward(judge: Optional[Judge] = None) -> Callable[..., list[Optional[float]]]:
    """For TRL's GRPOTrainer: the column `cudal1_task` is the task, `cudal1_shown` what its prompt showed. None leaves a sample out of its group."""

    def cudal1_reward(prompts: Sequence[Any], completions: Sequence[Any], cudal1_task: Sequence[str], cudal1_shown: Optional[Sequence[Sequence[str]]] = None,
                      log_metric: Optional[Callable[[str, float], None]] = None, **_: Any) -> list[Optional[float]]:
        shown = cudal1_shown or [()] * len(completions)
        verdicts = shared(judge).judge_all({"task": task, "answer": text_of(completion), "shown": list(copies)}
                                           for task, completion, copies in zip(cudal1_task, completions, shown))
        if log_metric is not None:
            judged = [verdict for verdict in verdicts if verdict.fault is None]
            for name, value in (("executable", [bool(v.executable) for v in judged]), ("right", [bool(v.right) for v in judged]), ("cheat", [v.cheat for v in judged]),
                                ("duplicate", [v.duplicate for v in judged]), ("speedup", [v.score or 0 for v in judged])):
                if value:
                    log_metric(f"cudal1/{name}", sum(value) / len(value))
            log_metric("cudal1/faults", float(len(verdicts) - len(judged)))
        return [verdict.reward for verdict in verdicts]

    return cudal1_reward


async def compute_score(data_source: str, solution_str: str, ground_truth: str, extra_info: Optional[dict] = None, **_: Any) -> dict[str, float]:
    """For verl: verl_reward.py beside this package. `ground_truth` is the task as JSON text. verl makes 0 of an exception,
    so this asks on for as long as the judge's patience lasts, and only then gives up."""
    info = extra_info or {}
    verdict = await asyncio.to_thread(shared().judge, ground_truth, solution_str, shown=list(info.get("cudal1_shown", [])))
    if verdict.reward is None:
        raise Fault(verdict.fault or "the answer was not timed")
    return {"score": verdict.reward, "right": float(bool(verdict.right)), "executable": float(bool(verdict.executable)), "cheat": float(verdict.cheat),
            "duplicate": float(verdict.duplicate), "speedup": float(verdict.score or 0)}


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """For OpenRLHF as a file: openrlhf_reward.py beside this package. By address it asks the server's /get_reward itself."""
    items = [{"task": label if isinstance(label, str) else json.dumps(label), "answer": query[query.rfind(prompt) + len(prompt):] if prompt and prompt in query else query}
             for query, prompt, label in zip(queries, prompts, labels)]
    verdicts = shared().judge_all(items)
    lost = next((verdict for verdict in verdicts if verdict.reward is None), None)
    if lost is not None:
        raise Fault(lost.fault or "the answer was not timed")
    return {"rewards": [verdict.reward for verdict in verdicts], "scores": [float(bool(verdict.right)) for verdict in verdicts],
            "extra_logs": {"right": [float(bool(v.right)) for v in verdicts], "cheat": [float(v.cheat) for v in verdicts], "speedup": [float(v.score or 0) for v in verdicts]}}
