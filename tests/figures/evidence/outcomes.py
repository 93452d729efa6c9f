# SPDX-License-Identifier: Apache-2.0
"""What the journals of the experiment say, as plain values: one Run for each task and arm."""
import dataclasses
import datetime
import math
import pathlib
import random

import protocol
import runs

NO_ANSWER = ("malformed", "refused", "truncated")
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
    undone: list             # techniques that it was to do without; not empty: an ablation, and no answer of a round

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
        timed = [variant for variant in self.variants if variant.round <= after and variant.score and not variant.undone]
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
                             outcome not in ("COMPILE_FAILED", "INVALID_PLAN", "FORBIDDEN_CODE", *NO_ANSWER),
                             raced.get(event["id"], speedup_of(judgement) if judgement else None), speedup_of(final) if final else None, event["techniques"],
                             event["exemplars"], event["status"] == "duplicate", event.get("undone", [])))
    return found


class Played(dict):
    """{arm: {key: Run}}, the built-in model's as `builtin`, of the tasks that all have begun; `left_out` has the others."""
    def __init__(self, plan, left_out):
        super().__init__()
        self.plan = plan
        self.left_out = left_out

    def arms(self):
        return {arm: list(self[arm].values()) for arm in self.plan.arms}

    def asked(self):
        """(arm, number, runs): what each arm asked for in each round; a first round for all is the first arm's."""
        return [(arm, number, played) for arm, played in self.arms().items() for number in range(1, self.plan.rounds + 1) if arm in self.plan.asked(number)]

    def replies(self):
        """(arm, run, variant) of every reply of the model, each once."""
        return [(arm, run, variant) for arm, number, played in self.asked() for run in played for variant in run.variants
                if variant.round == number and not variant.undone]

    def standing(self, key):
        """Of the built-in model against PyTorch's best baseline, as this experiment measured it."""
        best = self["builtin"][key].best(1)
        return "no answer" if not best else "ahead" if best > protocol.EQUAL else "behind" if best < 1 / protocol.EQUAL else "equal"


def load(state):
    state = pathlib.Path(state)
    plan = protocol.plan(state)
    left_out = runs.not_begun(state, plan)
    keys = {key.replace("/", "."): key for key in sorted(runs.keys(state)) if key not in left_out}
    result = Played(plan, left_out)
    for arm in ("builtin", *result.plan.arms):
        result[arm] = {}
        for folder, key in keys.items():
            events = runs.journal(runs.journal_of(state, arm, folder))
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


def techniques(played):
    """technique: (answers, right, gain): judged answers that name it; gain over the best variant that the prompt showed, or over 1."""
    counted = {}
    for _, run, variant in played.replies():
        if variant.duplicate or variant.outcome in NO_ANSWER:
            continue
        scores = {other.id: other.screened for other in run.variants if other.right and other.screened}
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
