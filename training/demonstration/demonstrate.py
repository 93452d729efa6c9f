#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From nothing to a model that writes faster kernels, by CUDA-L1's stages: tasks, the built-in model's verified answers, supervised tuning, tuning on its own right answers,
GRPO with contrastive and with plain prompts; judged on held-out structures after each stage.

  demonstrate.py --cudal1 build/gate/cli/cudal1 --out demonstration             # with a GPU for training; judged by the simulator on all cores
  demonstrate.py --cudal1 cudal1 --out small --tiny                                # minutes on a CPU

Needs Python 3.9 with PyTorch (1.13 or newer), nothing else. The same command goes on where it was interrupted. --out gets table.md, curves.svg, the logs and checkpoints."""
from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Optional, Sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("TORCH_CUDNN_SDPA_DEPRIORITIZED", "1")   # else cuDNN plans anew for each length
import torch   # noqa: E402

import corpus, curves, evaluation, stages   # noqa: E401,E402
from corpus import Example, Task            # noqa: E402
from cudal1_train import Judge              # noqa: E402
from network import Shape, Transformer, sample   # noqa: E402
from tokens import END, Tokenizer           # noqa: E402

KINDS = ("contrastive", "plain")      # of prompts in GRPO
STAGES = ("corpus", "supervised", "self-supervised", "contrastive", "plain")
TINY = {"tasks": 8, "operations": 1, "samples": 3, "layers": 2, "width": 64, "heads": 2, "epochs": 2, "longest": 128, "context": 512, "held_out": 2, "answers": 2, "rounds": 1, "each": 1, "steps": 1,
        "prompts": 2, "group": 2, "batch": 4096, "grpo_batch": 4096, "jobs": 2, "least": 1, "practice": 2}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudal1", default="cudal1")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("demonstration"))
    parser.add_argument("--device", default="sim", help="of the judge: sim, or cuda:N")
    parser.add_argument("--torch-device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--tiny", action="store_true", help="the smallest sizes of everything, to try it")
    for name, value, text in (("seed", 1, "of everything"), ("tasks", 1240, "sampled"), ("operations", 2, "most of a line"), ("versions", 2, "tasks of a structure"), ("samples", 3, "answers of the built-in model to a task"),
                              ("layers", 12, ""), ("width", 512, ""), ("heads", 8, ""), ("context", 1280, "tokens of prompt and answer"), ("vocabulary", 4096, "most tokens"),
                              ("least", 6, "structures that have a token"), ("longest", 384, "tokens of a sampled answer"), ("batch", 4096, "tokens of a supervised step; many small steps, because the answers are few"), ("grpo-batch", 32768, "tokens at a time in GRPO"), ("epochs", 60, "of supervised tuning"),
                              ("held-out", 64, "tasks"), ("answers", 8, "to each of them"), ("rounds", 2, "self-supervised"), ("each", 2, "answers to a task in such a round"),
                              ("practice", 256, "tasks of the second and third stage"), ("steps", 12, "of GRPO"), ("prompts", 8, "in a step"), ("group", 8, "answers to a prompt"),
                              ("jobs", os.cpu_count() or 1, "judged at a time")):
        parser.add_argument(f"--{name}", type=int, default=value, help=text)
    for name, value, text in (("rate", 1e-3, "of learning, supervised"), ("self-rate", 2e-4, ""), ("grpo-rate", 3e-5, ""), ("sweep-seconds", math.inf, "most for the built-in model's answers"), ("sft-seconds", math.inf, "most for the supervised stage"),
                              ("grpo-seconds", math.inf, "most for each kind of GRPO")):
        parser.add_argument(f"--{name}", type=float, default=value, help=text)
    parser.add_argument("--temperature", type=float, default=0.7, help="of evaluated answers; training samples at 1")
    parser.add_argument("--until", choices=STAGES, default=STAGES[-1], help="ends after this stage; the same command without it goes on, also on another machine that has --out")
    parser.add_argument("--train", choices=KINDS, help=argparse.SUPPRESS)     # trains this one stage; the program starts itself so
    parser.add_argument("--reward", default="log")
    parser.add_argument("--exclude", type=pathlib.Path, help="a benchmark's folder, whose structures are not sampled")
    if "--tiny" in sys.argv:
        parser.set_defaults(**TINY)
    return parser.parse_args()


class Demonstration:
    def __init__(self, asked: argparse.Namespace):
        self.options, self.folder, self.began = asked, asked.out, time.monotonic()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.judging = ThreadPoolExecutor(1)        # an evaluation's answers are judged while the next stage begins
        self.evaluations: dict[str, Future[Any]] = {}

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self.began:7.1f} s  {text}", flush=True)

    def server(self, name: str, store: Optional[pathlib.Path] = None) -> contextlib.AbstractContextManager[Judge]:
        return corpus.server(self.options, self.folder / f"{name}.err", store)

    def prepare(self) -> None:
        asked = self.options
        if not (self.folder / "audit.json").exists() or asked.until == "corpus":      # asked for alone, the corpus grows by what --sweep-seconds allow
            if (self.folder / "supervised.pt").exists():
                raise SystemExit(f"{self.folder} has a trained model of its corpus; give another --out for a larger one")
            corpus.make(asked, self.folder)
            (self.folder / "pieces.json").unlink(missing_ok=True)
        self.plain, self.contrast, self.hidden = (corpus.examples(self.folder / name) for name in ("sft-train.jsonl", "contrast-train.jsonl", "sft-test.jsonl"))
        self.train, self.test = corpus.tasks(self.folder, self.plain)[:asked.practice], corpus.tasks(self.folder, self.hidden)[:asked.held_out]
        if not self.train or not self.test:
            raise SystemExit("too few tasks: no structure for training, or none that is held out; ask for more by --tasks")
        if not (self.folder / "pieces.json").exists():
            Tokenizer.learnt(((each.group, text) for each in self.plain for text in (each.prompt, each.answer)), asked.vocabulary, asked.least).save(self.folder / "pieces.json")
        self.tokenizer = Tokenizer.load(self.folder / "pieces.json")
        rows = [(self.tokenizer.encode(each.prompt), self.tokenizer.encode(each.answer) + [END]) for each in self.plain + self.contrast]
        self.rows = [row for row in rows if len(row[0]) + len(row[1]) < asked.context and len(row[1]) <= asked.longest]
        if not self.rows:
            raise SystemExit("every answer is longer than --longest tokens")
        lengths = sorted(len(row[1]) for row in rows)
        self.say(f"{len(self.plain)} verified answers to tasks of {len({each.group for each in self.plain})} structures, {len(self.contrast)} contrasts, {len(self.test)} held-out tasks of "
                 f"{len({task.group for task in self.test})} structures; {self.tokenizer.size} tokens; an answer has {lengths[len(lengths) // 2]} (median), {lengths[-1]} at most; "
                 f"{len(rows) - len(self.rows)} rows are too long and left out")

    def fresh(self, dropout: float = 0.1) -> Transformer:
        asked = self.options
        torch.manual_seed(asked.seed)
        return Transformer(Shape(self.tokenizer.size, asked.layers, asked.width, asked.heads, asked.context), dropout).to(asked.torch_device)

    def load(self, stage: str) -> Transformer:
        model = self.fresh(0.0 if stage != "supervised" else 0.1)
        model.load_state_dict(torch.load(self.folder / f"{stage}.pt", map_location=self.options.torch_device)["weights"])
        return model

    def stage(self, name: str, start: Optional[str], train: Callable[[Transformer, Callable[[dict], None]], None]) -> None:
        """Trains from the stage before and keeps the weights; what is kept is not trained again."""
        if (self.folder / f"{name}.pt").exists():
            return
        model = self.load(start) if start else self.fresh()
        with open(self.folder / f"{name}.log", "w") as file:
            def log(line: dict) -> None:
                file.write(json.dumps(line) + "\n")
                file.flush()
            train(model, log)
        torch.save({"shape": vars(model.shape), "weights": model.state_dict()}, self.folder / f"{name}.part")
        (self.folder / f"{name}.part").rename(self.folder / f"{name}.pt")
        self.say(f"{name}: {(self.folder / f'{name}.log').read_text().splitlines()[-1]}")

    def logged(self, name: str) -> list[dict]:
        path = self.folder / f"{name}.log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def evaluate(self, name: str, stage: Optional[str]) -> None:
        """Sampled now, judged meanwhile."""
        file = self.folder / f"evaluation-{name}.jsonl"
        if file.exists():
            return
        tasks = [task for task in self.test for _ in range(self.options.answers)]
        answers = self.answers(self.load(stage) if stage else self.fresh(), [task.question for task in tasks], 17)
        self.evaluations[name] = self.judging.submit(self.judge, name, tasks, answers, file)

    def evaluate_again(self, name: str) -> None:
        """With prompts that show two of the answers from before, where there are two right ones."""
        file = self.folder / f"evaluation-{name}-again.jsonl"
        if file.exists():
            return
        tasks = [task for task in self.test for _ in range(self.options.answers)]
        with self.server(f"evaluation-{name}-again", self.folder / f"store-evaluation-{name}") as judge:
            prompts = {task.name: stages.contrastive_prompt(judge, task)[0] for task in self.test}
            evaluation.judged(judge, tasks, self.answers(self.load(name), [prompts[task.name] for task in tasks], 18), file)

    def answers(self, model: Transformer, prompts: Sequence[str], seed: int) -> list[str]:
        room = self.options.context - self.options.longest - 1
        encoded = [self.tokenizer.encode(prompt) for prompt in prompts]
        began = time.monotonic()
        got = sample(model, [prompt[-room:] for prompt in encoded], self.options.longest, seed, self.options.temperature)
        self.say(f"{len(got)} answers of {sum(map(len, got)) / len(got):.0f} tokens sampled in {time.monotonic() - began:.1f} s")
        return [self.tokenizer.decode(answer) for answer in got]

    def judge(self, name: str, tasks: Sequence[Task], answers: Sequence[str], file: pathlib.Path) -> None:
        with self.server(f"evaluation-{name}", self.folder / f"store-evaluation-{name}" if name in KINDS else None) as judge:
            rows = evaluation.judged(judge, tasks, answers, file)
        self.say(f"held out, {name}: {sum(row['executable'] for row in rows)} of {len(rows)} executable, {sum(row['right'] for row in rows)} right")

    def nearest(self) -> None:
        """A look-up for comparison: the answers of the training task that is most alike."""
        file = self.folder / "evaluation-nearest.jsonl"
        if file.exists():
            return
        alike = {row["group"]: row["nearest"] for row in json.loads((self.folder / "audit.json").read_text())["tests"]}
        known: dict[str, list[Example]] = {}
        for each in self.plain:
            known.setdefault(each.task, []).append(each)
        pairs = [(task, each.answer) for task in self.test for each in known.get(alike.get(task.group, ""), [])[-self.options.answers:]]
        if pairs:
            self.evaluations["nearest"] = self.judging.submit(self.judge, "nearest", [task for task, _ in pairs], [answer for _, answer in pairs], file)

    def self_supervised(self, model: Transformer, log: Callable[[dict], None]) -> None:
        asked = self.options
        with self.server("self-supervised", self.folder / "store") as judge:
            stages.self_supervised(model, self.tokenizer, self.train, self.rows, judge, asked.rounds, asked.each, asked.longest, asked.self_rate, asked.batch, asked.seed, log)

    def reinforced(self, contrastive: bool) -> Callable[[Transformer, Callable[[dict], None]], None]:
        asked = self.options
        store = self.folder / ("store-contrastive" if contrastive else "store-plain")

        def train(model: Transformer, log: Callable[[dict], None]) -> None:
            shutil.rmtree(store, ignore_errors=True)      # both begin with what the second stage found
            shutil.copytree(self.folder / "store", store)
            with self.server(store.name, store) as judge:
                stages.reinforced(model, self.tokenizer, self.train, judge, contrastive, asked.steps, asked.prompts, asked.group, asked.longest, asked.grpo_rate, asked.reward, asked.grpo_batch,
                                  asked.seed, log, most_seconds=asked.grpo_seconds)
        return train

    def run(self) -> None:
        asked = self.options
        self.prepare()
        if asked.until == "corpus":
            return
        self.evaluate("untrained", None)
        self.nearest()
        last = STAGES.index(asked.until)
        for name, start, train in (("supervised", None, lambda model, log: stages.supervised(model, self.rows, asked.epochs, asked.rate, asked.batch, asked.seed, log, asked.sft_seconds)),
                                   ("self-supervised", "supervised", self.self_supervised)):
            if STAGES.index(name) <= last:
                self.stage(name, start, train)
                self.evaluate(name, name)
        kinds = [kind for kind in KINDS if STAGES.index(kind) <= last]
        self.reinforce(kinds)
        for kind in kinds:
            self.evaluate(kind, kind)
        self.report()
        for kind in kinds:
            self.evaluate_again(kind)
            self.report()      # at once: the time may end before the next
        print((self.folder / "table.md").read_text())

    def reinforce(self, kinds: Sequence[str]) -> None:
        """Both kinds at the same time, each in a process of its own: one samples while the other's answers are judged."""
        children = [subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "--train", kind]) for kind in kinds if not (self.folder / f"{kind}.pt").exists()]
        try:
            if any([child.wait() for child in children]):
                raise SystemExit("a process that trains by GRPO has failed; what it printed says why")
        finally:
            for child in children:
                child.terminate()

    def train_one(self, kind: str) -> None:
        self.prepare()
        self.stage(kind, "self-supervised", self.reinforced(kind == "contrastive"))

    def report(self) -> None:
        for each in self.evaluations.values():
            each.result()
        tested = {task.name for task in self.test}
        by_task: dict[str, list[Example]] = {}
        for each in self.hidden:
            if each.task in tested:
                by_task.setdefault(each.task, []).append(each)
        rows: dict[str, Sequence[evaluation.Row]] = {}
        for title, name in (("an untrained model", "untrained"), ("the nearest training task (look-up)", "nearest"), ("supervised", "supervised"), ("+ self-supervised", "self-supervised"),
                            ("+ GRPO, plain prompts", "plain"), ("the same, shown two of its own", "plain-again"), ("+ GRPO, contrastive prompts", "contrastive"),
                            ("the same, shown two of its own", "contrastive-again")):
            file = self.folder / f"evaluation-{name}.jsonl"
            if file.exists():
                rows[f"{title} " if title in rows else title] = [json.loads(line) for line in file.read_text().splitlines()]
        rows["the playbook, all its right answers"] = evaluation.known([each for known in by_task.values() for each in known])
        rows["the playbook, its best answer"] = evaluation.known([max(known, key=lambda each: each.speedup) for known in by_task.values()])
        grpo = {name: self.logged(name) for name in KINDS}
        steps = "".join(f"GRPO with {name} prompts: {len(lines)} steps.\n" for name, lines in grpo.items() if lines)
        (self.folder / "table.md").write_text(evaluation.table(rows) + (f"\n{steps}" if steps else ""))
        (self.folder / "curves.svg").write_text(curves.picture([
            ("Supervised: loss of a token", "step", {"supervised": [(line["step"], line["loss"]) for line in self.logged("supervised")]}),
            *((f"GRPO: {title}", "step", {name: [(line["step"], line[key]) for line in lines if line[key] is not None] for name, lines in grpo.items()})
              for key, title in (("reward", "reward"), ("right", "share that is right"), ("speedup", "mean speed-up, failures 0")))]))


if __name__ == "__main__":
    torch.set_float32_matmul_precision("high")
    random.seed(0)
    chosen = options()
    if chosen.train:
        Demonstration(chosen).train_one(chosen.train)
    else:
        Demonstration(chosen).run()
