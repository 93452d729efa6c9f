# SPDX-License-Identifier: Apache-2.0
"""What docs/evidence.md fixes before the first reply: the arms, the numbers of replies, and the draw of the tasks."""
import dataclasses
import json
import pathlib
import random
import re

SEED = 20261123          # of the draw, of the runs, of the order of prompts and of the bootstrap
LEVELS = {1: 6, 2: 6, 3: 4}
BUILTIN = ["--model", "builtin", "--rounds", "1", "--samples", "2", "--confirmations", "1"]
# Another machine of the same GPU may have another driver: the runs go on, and each has its driver in its journal. An answer that
# waits for itself is killed after five seconds.
COMMON = ["--seed", str(SEED), "--no-repair", "--no-sanitizer", "--force", "--final-pairs", "12", "--run-limit", "5"]
ON_A_GPU = ["--baseline", "best,eager,compile"]
# All replies of a task and a round are judged in one run, which asks nobody; the arms' runs take its verdicts over.
JUDGE = "judge"
JUDGING = ["--sampling", "none", "--confirmations", "0"]


@dataclasses.dataclass
class Arm:
    options: list        # of `cudal1 sweep`, by which it differs from the others
    identity: dict       # what they change in the first line of a run's journal


@dataclasses.dataclass
class Plan:
    """What is played on each task of a state. If one first round is for all, the first arm plays it."""
    rounds: int
    samples: int
    arms: dict
    shared_round: bool = True

    @property
    def first(self):
        return next(iter(self.arms))

    def asked(self, number):
        """The arms that ask in a round, one after the other."""
        return [self.first] if number == 1 and self.shared_round else list(self.arms)

    def slots(self, number):
        """(arm, sample) in the order in which the judging run has them as its samples 1, 2, …"""
        return [(arm, sample) for arm in self.asked(number) for sample in range(1, self.samples + 1)]

    @property
    def judged_samples(self):
        return max(len(self.slots(number)) for number in range(1, self.rounds + 1))


def of_rows(rounds, samples, arms, shared_round=True):
    return Plan(rounds, samples, {name: Arm(**arm) for name, arm in arms.items()}, shared_round)


CONTRAST = {"contrastive": {"options": [], "identity": {}},
            "no-scores": {"options": ["--hide-scores"], "identity": {"show_scores": False}},
            "independent": {"options": ["--sampling", "none"], "identity": {"sampling": "none"}}}
MENDED = {"mended": {"options": ["--start-from", "builtin"], "identity": {"start_from_sha256": "builtin"}}}
PASSES = {"first": {"rounds": 3, "samples": 2, "arms": CONTRAST},
          "second": {"rounds": 2, "samples": 2, "arms": MENDED}}


def plan(state):
    return of_rows(**json.loads((pathlib.Path(state) / "plan.json").read_text()))

EQUAL = 1.02             # the built-in model is ahead above, behind below 1 / EQUAL
DEGENERATE = {"zero", "constant", "input-independent", "weights only", "identity", "unstable", "stateful", "ill-conditioned"}
RECURRENT_OR_ATTENTION = re.compile(r"RNN|LSTM|GRU|Mamba|Attention|GPT|Transformer|ViT", re.I)
CONVOLUTION = re.compile(r"conv", re.I)
AT_LEAST = {"convolution": 4, "recurrent or attention": 3}
AT_LEAST_OF_STANDING = {"ahead": 3, "equal": 1, "behind": 3, "no answer": 3}


@dataclasses.dataclass
class Task:
    key: str
    level: int
    standing: str        # of the built-in model against PyTorch's best baseline, as far as its rows tell

    @property
    def kinds(self):
        name = self.key.split("/")[1]
        kinds = {"convolution"} if self.level < 3 and CONVOLUTION.search(name) else set()
        return kinds | ({"recurrent or attention"} if RECURRENT_OR_ATTENTION.search(name) else set())


def standing(row):
    """Ahead, equal or behind; `no answer` where none was right or there was none; `unknown` where the task never ran to an end."""
    if row is None or row["status"] in ("failed", "refused"):
        return "unknown"
    if row["status"] != "verified":
        return "no answer"
    ratios = [each["speedup"] for each in row["ratios"].values() if "speedup" in each]
    if not ratios:
        return "unknown"
    least = min(ratios)
    return "ahead" if least > EQUAL else "behind" if least < 1 / EQUAL else "equal"


def pool(tasks, rows_file):
    """The tasks below `tasks` that may be drawn. Of several rows of a task the last that ran to an end counts."""
    rows = {}
    for line in pathlib.Path(rows_file).read_text().splitlines():
        row = json.loads(line)
        if "key" in row and (row["status"] != "failed" or row["key"] not in rows):
            rows[row["key"]] = row
    found = []
    for path in sorted(pathlib.Path(tasks).glob("level[123]/*.py")):
        key = f"{path.parent.name}/{path.name}"
        row = rows.get(key)
        if int(path.name.split("_")[0]) % 2 == 0 or (row and DEGENERATE & set(row["defects"])):
            continue
        found.append(Task(key, int(path.parent.name[-1]), standing(row)))
    return found


def holds(drawn):
    kinds = all(sum(kind in task.kinds for task in drawn) >= least for kind, least in AT_LEAST.items())
    return kinds and all(sum(task.standing == name for task in drawn) >= least for name, least in AT_LEAST_OF_STANDING.items())


def draw(tasks, seed=SEED):
    """Uniform over all choices of the levels' sizes that hold what is asked: whole draws are repeated until one does. Returns it,
    and for each level the tasks left in an order of their own: a task that cannot be opened is replaced by the first of its
    level and standing there."""
    source = random.Random(seed)
    for tries in range(1, 1_000_000):
        shuffled = {level: source.sample(of_level, len(of_level)) for level in LEVELS for of_level in [[task for task in tasks if task.level == level]]}
        drawn = [task for level, count in LEVELS.items() for task in shuffled[level][:count]]
        if holds(drawn):
            return drawn, {level: shuffled[level][count:] for level, count in LEVELS.items()}, tries
    raise SystemExit("no draw holds what is asked")


def drawn(file):
    """The tasks of drawn.txt, and [(task, those of its level and standing in the reserve, in the draw's order)]."""
    rows = [line.removeprefix("# ").split(None, 1) for line in pathlib.Path(file).read_text().splitlines() if line.removeprefix("# ").startswith("level")]
    chosen = [line.split()[0] for line in pathlib.Path(file).read_text().splitlines() if line.startswith("level")]
    standing = {key: name.strip() for key, name in rows}
    # Each takes from a list of its own, so that two tasks of a kind do not wait for one another.
    alike = {key: [other for other, name in rows if other not in chosen and other[:6] == key[:6] and name.strip() == standing[key]] for key in chosen}
    return chosen, [(key, alike[key]) for key in chosen]
