#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of training that need a GPU, each with its time limit; one line for each in OUT/figures.txt as it is known.

  training_gpu.py CUDAL1 OUT [--device cuda:0] [--second cuda:1] [--parts judge,noise,alone,kills,scale] [--sweep FOLDER] [--demonstration FOLDER --demonstration-seconds 500]

judge   verdicts a second with verification and 50 ms of screening, and the share of time in which the GPU works                   about 40 s
noise   one kernel judged 64 times under 64 names: each reward's spread beside that of its task's answers                            about 70 s
alone   the first of these lines by `bench`, one by one: verdicts a second, and whether they are the same                            about 80 s
kills   the same lines while processes are killed                                                                                    about 40 s
scale   verdicts a second on --device and --second together against --device alone; without --second, of the simulator with 4, 8 and 16 cores, which is what the server itself can do
--sweep takes the tasks and answers of a sweep, such as CORPUS/sweep-test of demonstrate.py: a trainer's tasks, whose plain kernels take no longer than 2 ms. Without it the answers to lines/coverage.cu are made first,
and the plain kernels of some of these take a second.
The demonstration takes FOLDER, whose corpus `demonstrate.py --until corpus` made without a GPU, trains on the GPU and lets the simulator judge. The same command goes on where it was cut off.
With `--device sim` everything runs without a GPU; this only tries the script."""
import argparse
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

import judge_pipe

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Load(threading.Thread):
    """The share of time in which the GPU executes kernels, by NVML, four times a second; None without a GPU."""

    def __init__(self, device):
        super().__init__(daemon=True)
        self.number, self.over, self.seen = device.partition(":")[2], threading.Event(), []

    def run(self):
        while self.number and not self.over.wait(0.25):
            got = subprocess.run(["nvidia-smi", f"--id={self.number}", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"], capture_output=True, text=True)
            if got.returncode == 0:
                self.seen.append(float(got.stdout))

    def share(self):
        self.over.set()
        self.join()
        return f"{statistics.fmean(self.seen):.0f} % of its time" if self.seen else "not known"


class Figures:
    def __init__(self, asked):
        self.asked, self.cudal1, self.began = asked, str(pathlib.Path(asked.cudal1).resolve()), time.monotonic()
        asked.out.mkdir(parents=True, exist_ok=True)
        self.options = ["--device", asked.device]

    def say(self, text):
        line = f"{time.monotonic() - self.began:6.1f} s  {text}"
        print(line, flush=True)
        with open(self.asked.out / "figures.txt", "a") as file:
            file.write(line + "\n")

    def prepare(self):
        self.got = None
        self.tasks = (judge_pipe.of_sweep(self.asked.sweep.resolve(), self.asked.tasks) if self.asked.sweep else
                      judge_pipe.prepare(self.cudal1, self.asked.out.resolve() / "answers", self.asked.tasks, self.asked.device))
        self.lines = judge_pipe.load(self.tasks, self.asked.lines, random.Random(1))
        self.say(f"{len(self.tasks)} tasks with {sum(map(len, self.tasks.values()))} answers on {self.asked.device}")

    def judge(self):
        load = Load(self.asked.device)
        load.start()
        self.got, seconds, _ = judge_pipe.judge(self.cudal1, self.lines, self.options)
        distinct, faults = sum(not line["cached"] for line in self.got.values()), sum(line["fault"] is not None for line in self.got.values())
        self.say(f"judge: {len(self.got)} verdicts in {seconds:.1f} s, {len(self.got) / seconds:.1f} a second, {distinct / seconds:.1f} of distinct answers; {faults} faults; "
                 f"the GPU works {load.share()}; {judge_pipe.counted(self.got)}; work on each task {judge_pipe.work(self.lines, self.got)}")

    def judged(self):
        if self.got is None:
            self.judge()

    def alone(self):
        self.judged()
        some = self.lines[:self.asked.alone]
        alone, seconds = judge_pipe.one_by_one(self.cudal1, some, self.options, self.asked.out)
        other = [name for name in alone if self.got[name]["verdict"] != alone[name][0]]
        self.say(f"bench one by one: {len(alone)} in {seconds:.1f} s, {len(alone) / seconds:.2f} a second; {len(other)} verdicts differ: {[(self.got[name]['verdict'], alone[name][0]) for name in other[:4]]}")

    def kills(self):
        self.judged()
        again, seconds, killed = judge_pipe.judge(self.cudal1, self.lines, self.options, 20, random.Random(2))
        lost = [line for line in again.values() if line["fault"]]
        self.say(f"{killed} processes killed: {len(again)} lines in {seconds:.1f} s, {len(lost)} without a verdict, {sum(line['score'] is not None for line in lost)} of these with a score, "
                 f"{sum(line['verdict'] != self.got[name]['verdict'] for name, line in again.items() if not line['fault'])} verdicts differ")

    def noise(self):
        self.judged()
        for line in judge_pipe.noise(self.cudal1, self.tasks, judge_pipe.by_task(self.lines, self.got), self.asked.copies, self.options):
            self.say(line)

    def scale(self):
        kinds = {"one GPU": self.options, "two": ["--device", f"{self.asked.device},{self.asked.second}"]} if self.asked.second else {
            f"{jobs} cores": ["--device", "sim", "--jobs", str(jobs)] for jobs in (4, 8, 16) if jobs <= (os.cpu_count() or 1)}
        rates = {}
        for name, options in kinds.items():
            got, seconds, _ = judge_pipe.judge(self.cudal1, self.lines, options)
            rates[name] = len(got) / seconds
        self.say("scale: " + ", ".join(f"{rate:.1f} verdicts a second on {name}" for name, rate in rates.items()))

    def demonstration(self, folder, seconds):
        if not (folder / "audit.json").exists():
            raise SystemExit(f"{folder} has no corpus; make it first, on any machine: demonstrate.py --cudal1 CUDAL1 --out {folder} --until corpus --sweep-seconds 3600")
        part = seconds / 10      # of these, sampling and judging for the table take about three; both kinds of GRPO run at once
        command = [sys.executable, str(ROOT / "training/demonstration/demonstrate.py"), "--cudal1", self.cudal1, "--out", str(folder), "--sft-seconds", str(3 * part), "--rounds", "1",
                   "--each", "2", "--practice", "128", "--grpo-seconds", str(3 * part), *self.asked.demonstration_options.split()]
        process = subprocess.Popen(command, start_new_session=True)
        try:
            process.wait(seconds)
            self.say("demonstration: " + (folder / "table.md").read_text())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)      # with the server that it started
            process.wait()
            self.say(f"demonstration: cut off after {seconds} s; the same command goes on")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cudal1")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--second", default="")
    parser.add_argument("--parts", default="judge,noise,alone,kills,scale")
    parser.add_argument("--sweep", type=pathlib.Path)
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--alone", type=int, default=40)
    parser.add_argument("--copies", type=int, default=64)
    parser.add_argument("--demonstration", type=pathlib.Path)
    parser.add_argument("--demonstration-seconds", type=int, default=500)
    parser.add_argument("--demonstration-options", default="")
    asked = parser.parse_args()
    figures, parts = Figures(asked), [part for part in asked.parts.split(",") if part]
    if parts:
        figures.prepare()
    for part in parts:
        {"judge": figures.judge, "alone": figures.alone, "kills": figures.kills, "noise": figures.noise, "scale": figures.scale}[part]()
    if asked.demonstration:
        figures.demonstration(asked.demonstration.resolve(), asked.demonstration_seconds)


if __name__ == "__main__":
    main()
