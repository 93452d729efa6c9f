# SPDX-License-Identifier: Apache-2.0
"""What the journals of the experiment say, as plain values: one Run for each task and arm."""
import collections
import dataclasses
import datetime
import math
import pathlib
import random

import protocol
from runs import journal

RIGHT = ("FASTER", "EQUIVALENT", "INCONCLUSIVE", "SLOWER", "DROP")   # outcome::is_right


def verdict_of(judgement):
    return judgement["verdict"].removeprefix("PREDICTED_")


def speedup_of(judgement):
    """Over the reference, which on a GPU is PyTorch's best baseline (protocol.ON_A_GPU), and of a final verdict over whatever
    baseline was the fastest in it. None where nothing was timed."""
    told = judgement.get("speedup") or judgement.get("predicted_speedup")
    ratios = [told["value"]] if told else []
    if judgement.get("level") == "final":
        ratios += [each["speedup"]["value"] for each in judgement.get("baselines", []) if each.get("speedup")]
    return min(ratios, default=None)


@dataclasses.dataclass
class Variant:
    id: str
    round: int
    outcome: str             # a verdict, or why there is none: malformed, refused, truncated
    right: bool
    compiles: bool
    screened: float | None   # over PyTorch's best baseline
    confirmed: float | None
    techniques: list
    shown: list
    duplicate: bool

    @property
    def score(self):
        return (self.confirmed or self.screened) if self.right else None


@dataclasses.dataclass
class Run:
    arm: str
    key: str
    level: int
    variants: list
    events: list

    def best(self, after):
        """The score of the one that was the fastest when it was screened: a final verdict corrects it, and chooses no other."""
        timed = [variant for variant in self.variants if variant.round <= after and variant.score]
        return max(timed, key=lambda variant: variant.screened or variant.score).score if timed else None


def variants_of(events):
    confirmed = {event["id"]: event["judgement"] for event in events if event["event"] == "confirmation"}
    raced = {racer["id"]: racer["speedup"]["value"] for event in events if event["event"] == "race" for racer in event["racers"]}
    found = []
    for event in events:
        if event["event"] != "variant":
            continue
        judgement = event.get("judgement")
        outcome = verdict_of(judgement) if judgement else event["status"]
        final = confirmed.get(event["id"])
        right = outcome in RIGHT and (final is None or verdict_of(final) in RIGHT)
        found.append(Variant(event["id"], event["key"]["round"], verdict_of(final) if final and outcome in RIGHT else outcome, right,
                             outcome not in ("COMPILE_FAILED", "INVALID_PLAN", "FORBIDDEN_CODE", "malformed", "refused", "truncated"),
                             raced.get(event["id"], speedup_of(judgement) if judgement else None), speedup_of(final) if final else None, event["techniques"],
                             event["exemplars"], event["status"] == "duplicate"))
    return found


def load(state):
    """{arm: {key: Run}}, the built-in model's as `builtin`."""
    state = pathlib.Path(state)
    keys = {key.replace("/", "."): key for key in (str(path.relative_to(state / "tasks")) for path in sorted((state / "tasks").rglob("*")) if path.is_file())}
    result = {}
    for arm in ("builtin", *protocol.ARMS):
        result[arm] = {}
        for folder, key in keys.items():
            events = journal(state / arm / "tasks" / folder / "journal.jsonl")
            level = int(key[5]) if key.startswith("level") else 0
            result[arm][key] = Run(arm, key, level, variants_of(events), events)
    return result


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def interval(values, level=0.95, resamples=10_000, seed=protocol.SEED):
    """Of the geometric mean, by resampling tasks: paired, because each value is one task's ratio of two arms."""
    source = random.Random(seed)
    logs = [math.log(value) for value in values]
    means = sorted(sum(source.choices(logs, k=len(logs))) / len(logs) for _ in range(resamples))
    tail = (1 - level) / 2
    return tuple(math.exp(means[min(int(share * resamples), resamples - 1)]) for share in (tail, 1 - tail))


def failures(runs):
    return collections.Counter(variant.outcome for run in runs for variant in run.variants if not variant.right and not variant.duplicate)


def techniques(runs):
    """technique: (answers, right, gain): judged answers that name it; gain over the best variant that the prompt showed, or over 1."""
    counted = {}
    for run in runs:
        scores = {variant.id: variant.screened for variant in run.variants if variant.right and variant.screened}
        for variant in run.variants:
            if variant.duplicate or variant.outcome in ("malformed", "refused", "truncated"):
                continue
            shown = max([1.0] + [scores[id_] for id_ in variant.shown if id_ in scores])
            for name in sorted(set(variant.techniques)):
                use = counted.setdefault(name, [0, 0, []])
                use[0] += 1
                use[1] += variant.right
                if variant.right and variant.screened:
                    use[2].append(variant.screened / shown)
    return counted


def moment(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").timestamp()
