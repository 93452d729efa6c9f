# SPDX-License-Identifier: Apache-2.0
"""One judging run for each task: all arms' replies of a round are its samples, so that the task is opened once, equal replies are
judged once, and all race together. Its verdicts are then written into the arms' journals, as if each had asked for them."""
import json
import math
import shutil

import protocol
import replies


NOBODY = "fewer than two of these raced"


def key_text(number, sample):
    return f"r{number:02}-s{sample:02}"


def asked(state, arm, folder, number, sample):
    return state / "exchange" / arm / folder / f"{key_text(number, sample)}.prompt.md"


def gather(state, plan, folder):
    """Replies to where the judging run looks for them, round by round, once all of a round are there. What a smaller round leaves
    over is refused: the run has equally many samples in each."""
    for number in range(1, plan.rounds + 1):
        given = [replies.reply_file(asked(state, arm, folder, number, sample)) for arm, sample in plan.slots(number)]
        if not all(given):
            return
        place = state / "exchange" / protocol.JUDGE / folder
        place.mkdir(parents=True, exist_ok=True)
        for index in range(plan.judged_samples):
            stem = key_text(number, index + 1)
            if any((place / (stem + ending)).exists() for ending in replies.ENDINGS):
                continue
            if index < len(given):
                shutil.copy(given[index], place / (stem + given[index].name.removeprefix(key_text(number, plan.slots(number)[index][1]))))
            else:
                (place / f"{stem}.refused.md").write_text("this round has fewer replies\n")


class Verdicts:
    """A judging run's journal, by its own names."""

    def __init__(self, events):
        self.variants = {event["id"]: event for event in events if event["event"] == "variant"}
        self.races = {event["round"]: event for event in events if event["event"] == "race"}
        self.finished = {event["round"] for event in events if event["event"] == "round"}

    def original(self, name):
        """Of several equal answers the first, which was judged."""
        variant = self.variants.get(name)
        return variant["same_as"] if variant and variant["status"] == "duplicate" else name


def names(plan, arm, number):
    """{the arm's name of a variant: the judging run's}"""
    owner = plan.first if arm not in plan.asked(number) else arm
    return {key_text(number, sample): key_text(number, index + 1)
            for index, (of, sample) in enumerate(plan.slots(number)) if of == owner}


def over(racer, first):
    """A racer over the first one of its arm, from both over the fastest of all."""
    value = racer["value"] / first["value"]
    width = math.hypot(*(0.5 * math.log(each["high"] / each["low"]) for each in (racer, first)))
    return {"value": value, "low": value * math.exp(-width), "high": value * math.exp(width)}


def race_of(verdicts, known, number):
    """The race of a round as one arm may know it: its own variants alone, over the fastest of them. An empty one says that there is
    nothing left to race, as where one is alone."""
    race = verdicts.races.get(number)
    found = {"event": "race", "round": number, "racers": [], "problem": NOBODY, "seconds": 0.0}
    if race is None:
        return found
    ours = {}
    for own, judged in known.items():
        ours.setdefault(verdicts.original(judged), own)
    racers = [dict(racer, id=ours[racer["id"]]) for racer in race["racers"] if racer["id"] in ours]
    if len(racers) < 2:
        return dict(found, problem=race["problem"] or NOBODY, seconds=race["seconds"])
    first = racers[0]["over_fastest"]
    racers = [dict(racers[0], over_fastest={"value": 1.0, "low": 1.0, "high": 1.0}), *(dict(racer, over_fastest=over(racer["over_fastest"], first)) for racer in racers[1:])]
    return dict(found, racers=racers, problem=race["problem"], seconds=race["seconds"])


def raced_elsewhere(judgement, verdicts, original, number):
    """A judgement with the speed-up of the last race up to a round, for an answer that raced with none of its arm: all arms' answers
    are compared as they raced."""
    found = [racer["speedup"] for of in sorted(verdicts.races) if of <= number for racer in verdicts.races[of]["racers"] if racer["id"] == original]
    if not found or not judgement.get("speedup") or found[-1]["value"] == judgement["speedup"]["value"]:
        return judgement
    text, alone = (f"{each['value']:.3f}x [{each['low']:.3f}, {each['high']:.3f}]" for each in (found[-1], judgement["speedup"]))
    return dict(judgement, speedup=found[-1], message=f"{text} over the reference; screened alone: {alone}")


def taken_over(events, verdicts, plan, arm):
    """Events to append to an arm's journal: verdicts of the rounds that it has asked for and the judging run has finished."""
    prompts = {key_text(event["key"]["round"], event["key"]["sample"]): event for event in events if event["event"] == "asked" and event["key"]["attempt"] == 0}
    written = {event["id"] for event in events if event["event"] == "variant"}
    raced = {event["round"] for event in events if event["event"] == "race"}
    known, originals, found = {}, set(), []
    for number in sorted(verdicts.finished):
        ours = names(plan, arm, number)
        if not all(own in prompts for own in ours):
            break
        known.update(ours)
        race = race_of(verdicts, known, number)
        racers = {racer["id"] for racer in race["racers"]}
        for own, judged in ours.items():
            original = verdicts.original(judged)
            event = verdicts.variants.get(original)
            fresh = original not in originals
            originals.add(original)
            # What was no answer, and what the arm itself has had before, its own run says.
            if own in written or event is None or event["status"] != "judged" or not fresh:
                continue
            reply = verdicts.variants[judged]
            judgement = event["judgement"] if own in racers else raced_elsewhere(event["judgement"], verdicts, original, number)
            found.append(dict(event, id=own, judgement=judgement, key=prompts[own]["key"], model=prompts[own]["model"], exemplars=prompts[own]["exemplars"], status="judged", same_as="",
                              **{name: reply[name] for name in ("techniques", "analysis", "design", "source")}))
        if number not in raced:
            found.append(dict(race, schema=1, at=verdicts.variants[next(iter(ours.values()))]["at"]))
    return found


def same_confirmations(events, verdicts, plan, arm):
    """{the judging run's name of an answer: its final verdict}, of an arm's journal."""
    known = {own: verdicts.original(judged) for number in verdicts.finished for own, judged in names(plan, arm, number).items()}
    return {known[event["id"]]: event for event in events if event["event"] == "confirmation" and event["id"] in known}


def confirmations_to(events, finals, verdicts, plan, arm):
    """Final verdicts that another arm got for the same answer. Of equal answers of the arm the first counts."""
    own_names = {}
    for number in sorted(verdicts.finished):
        for own, judged in names(plan, arm, number).items():
            own_names.setdefault(verdicts.original(judged), own)
    have = {event["id"] for event in events if event["event"] == "confirmation"}
    return [dict(final, id=own_names[judged]) for judged, final in finals.items() if judged in own_names and own_names[judged] not in have]


def append(path, events):
    with open(path, "a", encoding="utf-8") as file:
        file.write("".join(json.dumps(event) + "\n" for event in events))
