#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cudal1 judge` under a trainer's load: verdicts a second, the same verdicts as `bench` one by one, processes killed meanwhile.

  judge_pipe.py CUDAL1 FOLDER [--device sim] [--tasks 8] [--lines 1000] [--kills 20] [--noise 64]

FOLDER keeps the answers that the built-in model gives to lines of lines/coverage.cu at their check sizes; it is filled once. The lines
are those answers in a mixed order, some of them again, some broken: a syntax error, a wrong result, an answer to another task.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from lines import split


def prepare(cudal1, folder, count, device):
    """Tasks of FOLDER with the built-in model's answers to them."""
    tasks = {}
    subprocess.run([sys.executable, pathlib.Path(__file__).with_name("lines.py"), cudal1, pathlib.Path(__file__).parent / "lines/coverage.cu", "--write",
                    *(["--small"] if device == "sim" else []), "--out", folder], check=True)
    for name in sorted(split(pathlib.Path(__file__).parent / "lines/coverage.cu")):
        if len(tasks) == count:
            break
        run = folder / f"{name}-run"
        if not (run / "journal.jsonl").exists():
            subprocess.run([cudal1, "optimize", folder / f"{name}.cu", "--model", "builtin", "--device", device, "--rounds", "2", "--samples", "8",
                            "--confirmations", "1", "--out", run, "--quiet"], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        answers = [path.read_text() for path in sorted((run / "variants").glob("*.cu"))] if (run / "variants").exists() else []
        if len(answers) > 1:
            tasks[folder / f"{name}.cu"] = answers
    return tasks


def of_sweep(folder, count):
    """Tasks of a sweep with the answers in it, drawn at random: what a trainer asks about."""
    found = {run / "task.cu": [path.read_text() for path in sorted((run / "variants").glob("*.cu"))] for run in sorted((folder / "tasks").iterdir()) if (run / "variants").exists()}
    names = sorted(name for name in found if len(found[name]) > 1)
    return {name: found[name] for name in random.Random(1).sample(names, min(count, len(names)))}


def broken(answer, kind):
    if kind == "syntax":
        return answer.replace(";", " @;", 1)
    at = answer.rfind("] = ")      # the last store is off by a little
    return answer[:at] + "] = 1.001f * " + answer[at + 4:] if at > 0 else answer


def load(tasks, count, dice):
    """Lines of (id, task file, answer): each answer once, repetitions, and broken ones."""
    names = list(tasks)
    plain = [(task, answer) for task, answers in tasks.items() for answer in answers]
    lines = list(plain)
    while len(lines) < count:
        task, answer = dice.choice(plain)
        kind = dice.choice(["again", "syntax", "wrong", "other"])
        if kind in ("syntax", "wrong"):
            answer = broken(answer, kind)
        elif kind == "other":
            task = dice.choice([name for name in names if name != task])
        lines.append((task, answer))
    dice.shuffle(lines)
    return [(str(i), task, answer) for i, (task, answer) in enumerate(lines)]


def children(pid):
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            try:
                if b"\0worker\0" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                    yield int(child)
            except FileNotFoundError:
                pass


def judge(cudal1, lines, options, kills=0, dice=random):
    """Verdicts by id, seconds, and how many processes were killed."""
    process = subprocess.Popen([cudal1, "judge", "--brief", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    killed, over = [], threading.Event()

    def kill():
        while len(killed) < kills and not over.wait(dice.uniform(0.1, 0.6)):
            victims = list(children(process.pid))
            if victims:
                os.kill(victims[dice.randrange(len(victims))], signal.SIGKILL)
                killed.append(time.time())

    def feed():
        for name, task, answer in lines:
            process.stdin.write(json.dumps({"id": name, "task": str(task), "answer": answer}) + "\n")
        process.stdin.close()

    begin = time.time()
    threads = [threading.Thread(target=kill), threading.Thread(target=feed)]
    for thread in threads:
        thread.start()
    got = {}
    for text in process.stdout:
        line = json.loads(text)
        got[line["id"]] = line
    seconds = time.time() - begin
    over.set()
    process.wait()
    return got, seconds, len(killed)


def one_by_one(cudal1, lines, options, folder):
    """The same by `bench --quick`, a process for each answer."""
    got, begin = {}, time.time()
    answer_file = folder / "answer.cu"
    for name, task, answer in lines:
        answer_file.write_text(answer)
        out = subprocess.run([cudal1, "bench", task, answer_file, "--quick", "--json", *options], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
        judgement = json.loads(out)["variants"][0]["judgement"]
        speedup = judgement.get("predicted_speedup") or judgement.get("speedup")
        got[name] = (judgement["verdict"], speedup and speedup["value"])
    return got, time.time() - begin


def counted(got):
    counts = {}
    for line in got.values():
        counts[line["verdict"]] = counts.get(line["verdict"], 0) + 1
    return counts


def short(line):
    return line["verdict"], line["speedup"] and line["speedup"]["value"]


HIGHEST = 2.9   # a screening above 3 earns no more than 3 until it is confirmed, so equal rewards say nothing there


def noise(cudal1, tasks, scores, count, options):
    """Lines of text: one kernel under many names, so that each is judged; the spread of each reward beside that of the task's right answers, and beside that of a group as
    training has it, in which each of these answers has one beside it that does not compile and one that is wrong. `scores` are known ones by task."""
    def spread(task):
        own = scores.get(task, [])
        return (max(own, default=0) < HIGHEST, max(own) / min(own) if len(own) > 1 else 0)

    task = max(tasks, key=spread)
    others = [(f"other {i}", task, answer) for i, answer in enumerate(tasks[task])]
    failures = [(f"{kind} {i}", task, broken(answer, kind)) for kind in ("syntax", "wrong") for i, answer in enumerate(tasks[task])]
    copies = [(str(i), task, f"#define NOBODY_{i} {i}\n" + tasks[task][-1]) for i in range(count)]
    with tempfile.TemporaryDirectory() as store:
        options = [*options, "--store", store]
        judge(cudal1, others, [*options, "--reward", "kevin"])   # then the task's mean and best stand still
        judge(cudal1, copies, [*options, "--reward", "kevin"])
        for shape in ("paper", "log", "milestones", "kevin", "correct"):
            yield rewarded(cudal1, task, others, failures, copies, options, shape)


def rewarded(cudal1, task, others, failures, copies, options, shape):
    got, _, _ = judge(cudal1, others + failures + copies, [*options, "--reward", shape])

    def rewards(lines):
        return [got[name]["reward"] for name, _, _ in lines if got[name]["reward"] is not None]

    def beside(lines):
        group = statistics.pstdev(rewards(lines)) if rewards(lines) else 0
        return f"{len(rewards(lines))}, deviation {group:.4f}: " + (f"{100 * own / group:.1f} % of it" if group else "the group has none")

    own = statistics.pstdev(rewards(copies)) if rewards(copies) else 0
    scores = [got[name]["score"] for name, _, _ in copies if got[name]["score"]]
    return (f"reward {shape}, {task.parent.name if task.stem == 'task' else task.stem}: {len(rewards(copies))} of one kernel ({min(scores, default=0):.3f}x to {max(scores, default=0):.3f}x), deviation {own:.4f}; "
            f"right answers of its task {beside(others)}; with failures {beside(others + failures)}")


def work(lines, got):
    """Seconds by task, with the wait for the device; what is first there pays for the reference."""
    seconds = {}
    for name, task, _ in lines:
        each = task.parent.name if task.stem == "task" else task.stem
        seconds[each] = round(seconds.get(each, 0) + got[name]["work_seconds"], 1)
    return seconds


def by_task(lines, got):
    """Scores of the right answers."""
    scores = {}
    for name, task, _ in lines:
        if got[name]["score"]:
            scores.setdefault(task, []).append(got[name]["score"])
    return scores


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cudal1")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", default="sim")
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=100, help="of the lines, judged one by one, too")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--noise", type=int, default=64)
    options = parser.parse_args()
    cudal1, folder, dice = str(pathlib.Path(options.cudal1).resolve()), options.folder.resolve(), random.Random(1)
    folder.mkdir(parents=True, exist_ok=True)
    tasks = prepare(cudal1, folder, options.tasks, options.device)
    lines = load(tasks, options.lines, dice)
    device = ["--device", options.device]
    got, seconds, _ = judge(cudal1, lines, device)
    faults = [line for line in got.values() if line["fault"]]
    work = sum(line["work_seconds"] for line in got.values())
    distinct = sum(not line["cached"] for line in got.values())
    print(f"{len(got)} verdicts on {len(tasks)} tasks in {seconds:.1f} s: {len(got) / seconds:.1f} a second, {distinct / seconds:.1f} of distinct answers; "
          f"{len(faults)} faults; {work:.1f} s of work", flush=True)
    print(f"  {counted(got)}", flush=True)
    alone, alone_seconds = one_by_one(cudal1, lines[:options.alone], device, folder)
    other = [name for name in alone if short(got[name]) != alone[name]]
    print(f"one by one: {len(alone)} in {alone_seconds:.1f} s, {len(alone) / alone_seconds:.1f} a second; {len(other)} verdicts or speed-ups differ", flush=True)
    for name in other[:5]:
        print(f"  {lines[int(name)][1].stem}: {short(got[name])} {alone[name]}")
    again, seconds, killed = judge(cudal1, lines, device, options.kills, dice)
    lost = [line for line in again.values() if line["fault"]]
    other = [name for name, line in again.items() if not line["fault"] and short(line) != short(got[name])]
    zeros = [line for line in lost if line["score"] is not None]
    print(f"{killed} processes killed meanwhile: {len(again)} lines in {seconds:.1f} s, {len(lost)} faults, {len(zeros)} of them with a score, {len(other)} verdicts differ", flush=True)
    for reason in sorted({line["fault"] for line in lost}):
        print(f"  {sum(line['fault'] == reason for line in lost)} of {reason}")
    if options.noise:
        for line in noise(cudal1, tasks, by_task(lines, got), options.noise, device):
            print(line, flush=True)
    return 1 if faults or zeros or other else 0


if __name__ == "__main__":
    sys.exit(main())
