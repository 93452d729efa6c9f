#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many honest variants are refused: those of ../honest, each against two references, in several seeds.

    honest_kernels.py CUDAL1 [--seeds 10] [--device sim] [--jobs 2] [--mode screen] [--only TEXT] [--results FILE] [OPTION…]

Judged by one `cudal1 judge` for each seed. Several GPUs, `--device cuda:0,cuda:1`, take tasks in turn; `--mode final` judges what is right once
more, with fresh inputs. Other options go to `cudal1 judge`: on GPUs `--gpu-budget 20` leaves out what does not decide right or wrong.
One line for each kernel that was refused or could not be judged, then the rates, of operations that took part when bounds
were set and of those held out. With --results each answer is kept as a line of JSON, and the same command goes on where it
was stopped. Kernels that are less exact than their line are counted apart. Needs ../honest beside it and the program alone. Ends with 1 when more than 0.2 % were refused."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "honest"))
sys.dont_write_bytecode = True

from table import LESS_EXACT, pairs, row_text, task_text  # noqa: E402

MOST_REFUSED = 0.002
RIGHT = {"DROP", "SLOWER", "EQUIVALENT", "INCONCLUSIVE", "FASTER"}
REFUSED = {"WRONG_RESULT", "TAMPERED", "SANITIZER_FAILED", "IMPLAUSIBLE", "FORBIDDEN_CODE", "STATEFUL", "UNSUPPORTED", "INVALID_PLAN",
           "COMPILE_FAILED", "RUNTIME_FAILED"}   # the rest, as a time limit on a busy machine, is no answer


def kind_of(verdict):
    plain = verdict.removeprefix("PREDICTED_")
    return "right" if plain in RIGHT else "refused" if plain in REFUSED else "no answer"


def judged(options, folder, work, seed):
    """(kernel, verdict, message) of each answer of a seed, as `cudal1 judge` has them; work is (task, kernel)."""
    command = [options.cudal1, "judge", "--brief", "--device", options.device, "--jobs", str(options.jobs), "--seed", str(seed), "--run-limit", "60", *options.others]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")))

    def feed():
        try:
            for task, kernel in work:
                request = {"id": kernel, "task": str(folder / f"{task}.cu"), "answer": (folder / f"{kernel}.cu").read_text(), "mode": options.mode}
                process.stdin.write(json.dumps(request) + "\n")
            process.stdin.close()
        except OSError:
            pass   # it ended: what it has not answered is told below

    threading.Thread(target=feed, daemon=True).start()
    left = {kernel for _, kernel in work}
    for line in process.stdout:
        answer = json.loads(line)
        left.discard(answer["id"])
        unsupported = answer["fault_kind"] == "unsupported"
        yield answer["id"], answer["verdict"] or ("UNSUPPORTED" if unsupported else "FAILED"), answer["fault"] or answer["message"]
    process.wait()
    for kernel in left:
        yield kernel, "FAILED", f"the judge ended with {process.returncode} before this answer"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cudal1")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--device", default="sim")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--mode", choices=("verify", "screen", "final"), default="screen")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    parser.add_argument("--results", type=pathlib.Path)
    options, options.others = parser.parse_known_args()
    options.cudal1 = str(pathlib.Path(options.cudal1).resolve())

    held, kernels_of = {}, collections.defaultdict(list)
    known = {}
    if options.results and options.results.exists():
        for line in options.results.read_text().splitlines():
            answer = json.loads(line)
            if kind_of(answer["verdict"]) != "no answer":
                known[answer["kernel"], answer["seed"]] = answer
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:   # an interrupted judge may still write
        folder = pathlib.Path(name)
        for operation, reference, variant, source in pairs():
            task, kernel = f"{operation.name}_{reference}", f"{operation.name}__{variant}__{reference}"
            if options.only not in kernel:
                continue
            (folder / f"{task}.cu").write_text(task_text(operation, reference))
            (folder / f"{kernel}.cu").write_text(row_text(operation, reference, variant, source))
            kernels_of[task].append(kernel)
            held[kernel] = operation.held
        answers = {key: answer for key, answer in known.items() if key[0] in held and key[1] <= options.seeds}
        try:
            take_verdicts(options, folder, kernels_of, answers)
        except KeyboardInterrupt:
            pass   # the rates are of what was judged
    return told(answers, held)


def take_verdicts(options, folder, kernels_of, answers):
    kept = options.results.open("a") if options.results else None
    for seed in range(1, options.seeds + 1):
        work = [(task, kernel) for task, kernels in kernels_of.items() for kernel in kernels if (kernel, seed) not in answers]
        for kernel, verdict, message in judged(options, folder, work, seed) if work else ():
            answer = {"kernel": kernel, "seed": seed, "verdict": verdict, "message": message}
            answers[kernel, seed] = answer
            if kept:
                kept.write(json.dumps(answer) + "\n")
                kept.flush()


def told(answers, held):
    counts = collections.defaultdict(collections.Counter)
    first = {}
    for (kernel, _), answer in sorted(answers.items()):
        kind = kind_of(answer["verdict"])
        counts[kernel][kind] += 1
        if kind != "right":
            first.setdefault(kernel, f"{answer['verdict']}, seed {answer['seed']}: {answer['message'][:160]}")
    apart = {kernel: LESS_EXACT.get(kernel.rpartition("__")[0]) for kernel in counts}
    for kernel, reason in first.items():
        reason = f"{apart[kernel]}; {reason}" if apart[kernel] else reason
        print(f"{kernel}{' (held out)' if held[kernel] else ''}: {counts[kernel]['refused']} of {sum(counts[kernel].values())} refused; {reason}")
    worst = 0
    loose = sum((counts[kernel] for kernel in counts if apart[kernel]), collections.Counter())
    print(f"less exact than their line: {loose['refused']} of {loose['right'] + loose['refused']} refused")
    for what, chosen in (("known", False), ("held out", True)):
        total = sum((counts[kernel] for kernel in counts if held[kernel] == chosen and not apart[kernel]), collections.Counter())
        decisions = total["right"] + total["refused"]
        operations = len({kernel.split("__")[0] for kernel in counts if held[kernel] == chosen and not apart[kernel]})
        kernels = len({tuple(kernel.split("__")[:2]) for kernel in counts if held[kernel] == chosen and not apart[kernel]})
        rate = total["refused"] / decisions if decisions else 0
        worst = max(worst, rate)
        print(f"{what}: {total['refused']} of {decisions} refused, {rate:.2%}; {kernels} kernels over {operations} operations; {total['no answer']} without an answer")
    return 1 if worst > MOST_REFUSED or not answers else 0


if __name__ == "__main__":
    sys.exit(main())
