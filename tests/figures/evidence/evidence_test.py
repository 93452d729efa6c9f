# SPDX-License-Identifier: Apache-2.0
"""The experiment end to end on the simulator, with a stand-in for the model: stages that stop without waiting, on two machines."""
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "cli")]
import estimate  # noqa: E402
import fixture  # noqa: E402
import further  # noqa: E402
import judging  # noqa: E402
import outcomes  # noqa: E402
import protocol  # noqa: E402
import replies  # noqa: E402
import runs  # noqa: E402
import tables  # noqa: E402

BROKEN = fixture.FASTER.replace("blockIdx.x", "blockIdxx.x")
SIM = ("sim", 300, ["--jobs", "2"])
KEYS = ("level1/1_add.cu", "level2/3_more.cu")


def stand_in(number, task, arm=""):
    """The reply to a prompt of this number: round 1 has one that is right and one that does not compile; later ones are right or wrong,
    the independent arm's the other way round."""
    number = {2: 3, 3: 2}.get(number, number) if arm == "independent" else number
    code = [fixture.FASTER, BROKEN, fixture.FASTER.replace("256", "128"), fixture.WRONG][number % 4]
    return fixture.reply(code.replace("1.0f", "3.0f") if task == KEYS[1] else code, design="In steps.\n\nTechniques: coalesced access, fusion")


class Evidence(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-evidence-")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        for key, text in zip(KEYS, (fixture.TASK, fixture.TASK.replace("A + 1", "A + 3").replace("+ 1.0f", "+ 3.0f").replace("add_one", "add_more"))):
            (self.work / "kb" / key).parent.mkdir(parents=True, exist_ok=True)
            (self.work / "kb" / key).write_text(text)
        runs.begin(self.work / "gpu", self.work / "kb", KEYS, dict(protocol.PASSES["first"], rounds=2))
        os.environ["HOME"] = str(self.work)

    def stage(self, place):
        return runs.stage(self.work / place, fixture.BINARY, *SIM)

    def answer(self, place, folder):
        """Prompts of the state as files, answered one by one, and taken. Returns the prompts by where they are from."""
        replies.write_prompts(self.work / place, self.work / folder)
        manifest = json.loads((self.work / folder / "manifest.json").read_text())
        for each in manifest:
            key = pathlib.Path(each["of"]).name
            number = 2 * (int(key[1:3]) - 1) + int(key[5:7]) - 1
            task = next(task for task in KEYS if task.replace("/", ".") in each["of"])
            (self.work / folder / each["reply"]).write_text(stand_in(number, task, each["of"].split("/")[1]).replace("add_one", "add_more" if task == KEYS[1] else "add_one"))
        self.assertEqual(replies.take_replies(self.work / place, self.work / folder, "a stand-in"), 0)
        return {each["of"]: (self.work / folder / each["prompt"]).read_text() for each in manifest}

    def test_stages_on_two_machines(self):
        self.assertFalse(self.stage("gpu"), "nothing is answered yet")
        first = self.answer("gpu", "round-1")
        self.assertEqual(len(first), 4, "one first round for all arms")
        self.assertFalse(self.stage("gpu"))
        journals = {path: path.read_text() for path in (self.work / "gpu").glob("*/tasks/*/journal.jsonl")}
        self.assertFalse(self.stage("gpu"), "still no replies")
        self.assertEqual(journals, {path: path.read_text() for path in journals}, "nothing is judged or asked twice")

        with self.assertRaises(SystemExit, msg="one program for a pass"):
            runs.stage(self.work / "gpu", __file__, *SIM)
        runs.pack(self.work / "gpu", self.work / "state.tar.xz")
        runs.unpack(self.work / "state.tar.xz", self.work / "desk")
        second = self.answer("desk", "round-2")
        self.assertEqual(len(second), 12)
        prompts = {arm: next(text for of, text in sorted(second.items()) if f"/{arm}/" in of) for arm in protocol.CONTRAST}
        self.assertEqual(prompts["independent"], next(text for _, text in sorted(first.items())), "independent rounds are first rounds")
        self.assertIn("Earlier variants with their scores", prompts["contrastive"])
        self.assertIn("r01-s01", prompts["no-scores"])
        self.assertNotIn("with their scores", prompts["no-scores"])
        runs.pack(self.work / "desk", self.work / "state.tar.xz")
        runs.unpack(self.work / "state.tar.xz", self.work / "other-gpu")
        self.assertTrue(self.stage("other-gpu"), "all rounds are judged")

        state = outcomes.load(self.work / "other-gpu")
        for arm in protocol.CONTRAST:
            for key in KEYS:
                fates = [(variant.id, variant.outcome, variant.right) for variant in state[arm][key].variants]
                self.assertEqual([fate[0] for fate in fates], ["r01-s01", "r01-s02", "r02-s01", "r02-s02"])
                last = [False, True] if arm == "independent" else [True, False]
                self.assertEqual([fate[2] for fate in fates], [True, False, *last], fates)
                self.assertEqual((fates[1][1], fates[2 + last.index(False)][1]), ("COMPILE_FAILED", "WRONG_RESULT"))
                exemplars = {variant.id: variant.shown for variant in state[arm][key].variants}
                self.assertEqual("r01-s01" in exemplars["r02-s01"], arm != "independent", "an arm keeps its own exemplars")
        judged = {path.relative_to(self.work / "gpu"): text.splitlines() for path, text in journals.items()}
        for path, before in judged.items():
            verdicts = [line for line in before if '"event":"variant"' in line or '"event": "variant"' in line]
            after = (self.work / "other-gpu" / path).read_text()
            self.assertTrue(all(line in after for line in verdicts), "verdicts travel, with their times")
        starts = {arm: state[arm][KEYS[0]].events[1]["at"] for arm in state}
        self.assertEqual(len(set(starts.values())), 1, "one reference for all")
        shared = [state[arm][KEYS[0]].variants[0].screened for arm in protocol.CONTRAST]
        self.assertEqual(len(set(shared)), 1, "round 1 was judged once")
        self.each_answer_was_judged_once()
        self.the_second_pass_and_what_follows(state)
        text = tables.render(self.work / "other-gpu")
        for words in ("| all | 1 | 1 | 2 | 50 % (1 of 2) | 50 % (1 of 2)", "| COMPILE_FAILED | 2 |", "| WRONG_RESULT | 0 | 6 |", "| replies | 16 | 8.0 |", "| replies to ablations beside them | 6 |", "| still named |", "contrastive / no-scores",
                      "| coalesced access | 16 | 50 % (8 of 16) |", "| no |"):
            self.assertIn(words, text)
        self.assertNotIn("Not as recorded", text)
        changed = next((self.work / "other-gpu").glob("exchange/contrastive/*/r02-s01.md"))
        changed.write_text("another")
        self.assertIn("Not as recorded", tables.render(self.work / "other-gpu"))

    def each_answer_was_judged_once(self):
        """Six replies of a round are four texts of two: two of them judged, in one run; no arm's own run judged anything."""
        place = self.work / "other-gpu"
        for folder in runs.folders(place, protocol.JUDGE):
            events = runs.journal(runs.journal_of(place, protocol.JUDGE, folder))
            self.assertFalse([event for event in events if event["event"] == "confirmation"], "final verdicts are the arms'")
            variants = [event for event in events if event["event"] == "variant" and event["status"] != "refused"]
            self.assertEqual([event["status"] for event in variants], ["judged"] * 4 + ["duplicate"] * 4)
            judged = {event["source"]: event["judgement"] for event in variants}
            finals = []
            for arm in protocol.CONTRAST:
                events = runs.journal(runs.journal_of(place, arm, folder))
                self.assertTrue(all(event["judgement"] == judged[event["source"]] for event in events if event["event"] == "variant"), "verdicts of its own replies")
                finals += [(event["judgement"]["judging_seconds"]) for event in events if event["event"] == "confirmation"]
            self.assertEqual((len(finals), len(set(finals))), (3, 1), "one final verdict for three equal winners")

    def the_second_pass_and_what_follows(self, first):
        place = self.work / "other-gpu"
        further.second_pass(place, self.work / "kb", KEYS[:1], self.work / "second", dict(protocol.PASSES["second"], rounds=1))
        self.assertFalse(self.stage("second"))
        self.assertEqual([stage["sweeps"].keys() for stage in runs.journal(self.work / "second" / "stages.jsonl")], [{"mended"}], "the built-in model is not asked again")
        begun = [event["judgement"]["judging_seconds"] for event in runs.journal(runs.journal_of(self.work / "second", "mended", KEYS[0].replace("/", "."))) if event["event"] == "variant"]
        known = [event["judgement"]["judging_seconds"] for event in runs.journal(runs.journal_of(place, "builtin", KEYS[0].replace("/", "."))) if event["event"] == "variant"]
        self.assertEqual(begun, known, "the built-in model's answers are not judged again")
        prompts = self.answer("second", "second-1")
        self.assertEqual(len(prompts), 2)
        self.assertTrue(all("r00-s01" in text and "Earlier variants with their scores" in text for text in prompts.values()), "from the built-in model's best on")
        self.assertTrue(self.stage("second"))
        second = outcomes.load(self.work / "second")
        self.assertEqual([(variant.id, variant.right) for variant in second["mended"][KEYS[0]].variants][-2:], [("r01-s01", True), ("r01-s02", False)])
        self.assertEqual(second["builtin"][KEYS[0]].best(1), first["builtin"][KEYS[0]].best(1))
        self.assertIn("| first | 1 | 2 | 50 % (1 of 2) |", tables.render(place, self.work / "second"))

        self.assertEqual([key for key, _ in further.winners(place)], sorted(KEYS))
        self.assertFalse(further.ablate(place, fixture.BINARY, *SIM))
        replies.write_prompts(place, self.work / "ablation")
        manifest = json.loads((self.work / "ablation/manifest.json").read_text())
        self.assertEqual(len(manifest), 6, "two techniques of two winners, each alone and both")
        for each in manifest:
            (self.work / "ablation" / each["reply"]).write_text(stand_in(3, KEYS[1]))
        replies.take_replies(place, self.work / "ablation", "a stand-in")
        self.assertTrue(further.ablate(place, fixture.BINARY, *SIM))
        self.assertEqual({became for _, _, _, became, _ in further.factors(place)}, {"still named"})

        command = further.replay(place, KEYS[0], self.work / "h100")
        self.assertIn("--model replay:replies", command)
        options = ["--device", "sim", "--rounds", "1", "--samples", "1", "--no-repair", "--json"]
        done = subprocess.run([fixture.BINARY, "optimize", pathlib.Path(KEYS[0]).name, "--model", "replay:replies", *options],
                              cwd=self.work / "h100", capture_output=True, text=True)
        self.assertIn("PREDICTED_FASTER", done.stdout, done.stderr)

    def test_replies_in_any_order_are_judged_together(self):
        """Replies to a later round may be there before those of other arms, and before anything was judged."""
        self.assertFalse(self.stage("gpu"))
        state, first = self.work / "gpu", self.work / "gpu/exchange/contrastive"
        for folder in runs.folders(state, "contrastive"):
            for sample in (1, 2):   # an independent arm's prompts are those of round 1
                place = state / f"exchange/independent/{folder}/r02-s{sample:02}.prompt.md"
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text((first / folder / f"r01-s{sample:02}.prompt.md").read_text())
        early = self.answer("gpu", "early")
        self.assertEqual(len(early), 8)
        self.assertFalse(self.stage("gpu"))
        self.assertFalse(list(state.rglob("*" + runs.HELD)))
        for folder in runs.folders(state, "independent"):
            told = [event["id"] for event in runs.journal(runs.journal_of(state, "independent", folder)) if event["event"] == "variant"]
            self.assertEqual(told, ["r01-s01", "r01-s02"], "round 2 waits for the other arms")
        self.assertEqual(len(self.answer("gpu", "rest")), 8)
        self.assertTrue(self.stage("gpu"))
        for folder in runs.folders(state, protocol.JUDGE):
            self.assertEqual(runs.verdicts_of(state, folder).finished, {1, 2})

    def test_a_reply_to_another_prompt_is_not_taken(self):
        place = self.work / "state/exchange/contrastive/task"
        place.mkdir(parents=True)
        (place / "r01-s01.prompt.md").write_text("one question")
        replies.write_prompts(self.work / "state", self.work / "out")
        (self.work / "out/p1001.refused.md").write_text("no\n\n")
        (place / "r01-s01.prompt.md").write_text("another question")
        with self.assertRaises(SystemExit):
            replies.take_replies(self.work / "state", self.work / "out", "a stand-in")
        (place / "r01-s01.prompt.md").write_text("one question")
        self.assertEqual(replies.take_replies(self.work / "state", self.work / "out", "a stand-in"), 0)
        self.assertTrue((place / "r01-s01.refused.md").exists(), "a refusal stays one")
        (self.work / "out/p1001.refused.md").write_text("yes\n")
        replies.take_replies(self.work / "state", self.work / "out", "a stand-in")
        self.assertEqual((place / "r01-s01.refused.md").read_text(), "no\n\n", "a reply that was taken stays")


    def test_what_is_missing_and_what_holds_no_kernel_file_is_named(self):
        desk = self.work / "desk"
        desk.mkdir()
        whole = fixture.reply(fixture.FASTER)
        texts = {"p1001": whole, "p1002": None, "p1003": "", "p1004": whole.replace("```", ""), "p1005": whole.replace("## Algorithm Design", ""),
                 "p1006": whole.replace("//@ launch", "// launch"), "p1007": whole.rsplit("```", 1)[0]}
        (desk / "manifest.json").write_text(json.dumps([{"prompt": f"{name}.prompt.md", "reply": f"{name}.md"} for name in texts]))
        for name, text in texts.items():
            if text is not None:
                (desk / f"{name}.md").write_text(text)
        self.assertEqual(replies.look(desk), [("p1002.md", replies.MISSING), ("p1003.md", replies.MISSING), ("p1004.md", "no fenced block"),
                                              ("p1005.md", "no heading Algorithm Design"), ("p1006.md", "no block with a kernel and a launch line"),
                                              ("p1007.md", "no fenced block that is closed")])

    def test_a_task_that_cannot_be_opened_gives_way_to_the_reserve(self):
        state = self.work / "gpu2"
        (self.work / "kb/level1/5_broken.cu").write_text(fixture.TASK.replace("A + 1", "A + "))
        (self.work / "kb/level1/7_good.cu").write_text(fixture.TASK)
        runs.begin(state, self.work / "kb", ["level1/5_broken.cu"], reserve=[("level1/5_broken.cu", ["level1/7_good.cu", KEYS[0]])])
        self.assertFalse(runs.stage(state, fixture.BINARY, *SIM))
        self.assertEqual(runs.keys(state), {"level1/7_good.cu"})
        self.assertEqual((state / "replaced.txt").read_text(), "level1/5_broken.cu by level1/7_good.cu\n")
        self.assertEqual(len(replies.waiting(state)), 2)
        self.assertEqual(json.loads((state / "reserve.json").read_text())["level1/7_good.cu"], [KEYS[0]])

    def test_a_task_is_replaced_only_before_it_was_opened(self):
        state = self.work / "gpu"
        (self.work / "kb/level1/5_new.cu").write_text(fixture.TASK)
        runs.replace(state, self.work / "kb", KEYS[0], "level1/5_new.cu")
        self.assertEqual(runs.keys(state), {"level1/5_new.cu", KEYS[1]})
        runs.write_journal(runs.journal_of(state, "builtin", KEYS[1].replace("/", ".")), [{"event": "run"}])
        with self.assertRaises(SystemExit):
            runs.replace(state, self.work / "kb", KEYS[1], KEYS[0])


LINEAR = """\
//@ launch  linear<<<8, BLOCK>>>(x, layers_0_weight, layers_0_bias, hidden, 32, 48, 1)
//@ launch  linear<<<8, BLOCK>>>(hidden, layers_2_weight, layers_2_bias, hidden2, 48, 40, 1)
//@ launch  linear<<<8, BLOCK>>>(hidden2, layers_4_weight, layers_4_bias, output, 40, 10, 0)
//@ scratch hidden: float32[8, 48]
//@ scratch hidden2: float32[8, 40]
__global__ void linear(const float* x, const float* w, const float* b, float* y, int inner, int outer, int relu) {
  for (int n = threadIdx.x; n < outer; n += BLOCK) {
    float sum = b[n];
    for (int k = 0; k < inner; ++k) sum += x[blockIdx.x * inner + k] * w[n * inner + k];
    y[blockIdx.x * outer + n] = relu ? fmaxf(sum, 0.0f) : sum;
  }
}
"""


PYTHON = os.environ.get("CUDAL1_PYTHON")


@unittest.skipUnless(PYTHON and subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0, "no Python with PyTorch")
class Module(unittest.TestCase):
    """A network of KernelBench's form past its first round, with the ways in which replies to it fail."""
    KEY = "level3/1_MLP.py"
    REPLIES = {"r01-s01": LINEAR.replace("BLOCK", "64"), "r01-s02": "text alone", "r02-s01": LINEAR.replace("BLOCK", "32").replace("fmaxf(sum, 0.0f)", "sum"),
               "r02-s02": LINEAR.replace("BLOCK", "128").replace("output,", "outputs,")}
    PLAN = {"rounds": 2, "samples": 2, "arms": {arm: protocol.CONTRAST[arm] for arm in ("contrastive", "independent")}}

    def test_rounds(self):
        with tempfile.TemporaryDirectory(prefix="cudal1-evidence-") as folder:
            state = pathlib.Path(folder) / "state"
            runs.begin(state, HERE.parents[1] / "kernelbench", [self.KEY], self.PLAN)
            for number in range(1, 3):
                self.assertFalse(runs.stage(state, fixture.BINARY, "sim", 300, ["--python", PYTHON]))
                desk = pathlib.Path(folder) / f"desk{number}"
                replies.write_prompts(state, desk)
                for each in json.loads((desk / "manifest.json").read_text()):
                    text = self.REPLIES[pathlib.Path(each["of"]).name[:7]]
                    (desk / each["reply"]).write_text(fixture.reply(text) if "launch" in text else text)
                if number == 2:
                    found = further.compiles(state, desk, fixture.BINARY)
                    self.assertEqual([(self.REPLIES["r02-s02"] in (desk / name).read_text(), "outputs" in why) for name, why in found], [(True, True)] * 2)
                self.assertEqual(replies.take_replies(state, desk, "a stand-in"), 0)
            self.assertTrue(runs.stage(state, fixture.BINARY, "sim", 300, ["--python", PYTHON]))
            played = outcomes.load(state)
            for arm in self.PLAN["arms"]:
                self.assertEqual([variant.outcome in outcomes.RIGHT or variant.outcome for variant in played[arm][self.KEY].variants],
                                 [True, "malformed", "WRONG_RESULT", "INVALID_PLAN"])


class Judging(unittest.TestCase):
    PLAN = protocol.of_rows(2, 2, protocol.CONTRAST)

    def test_slots_of_rounds(self):
        self.assertEqual(self.PLAN.judged_samples, 6)
        self.assertEqual(judging.names(self.PLAN, "no-scores", 1), {"r01-s01": "r01-s01", "r01-s02": "r01-s02"}, "the first round is one for all")
        self.assertEqual(judging.names(self.PLAN, "independent", 2), {"r02-s01": "r02-s05", "r02-s02": "r02-s06"})

    @staticmethod
    def variant(name, same_as="", speedup=1.0):
        text = {"model": "", "exemplars": [], "techniques": [], "analysis": "", "design": "", "source": name}
        judgement = {"verdict": "FASTER", "message": "", "speedup": {"value": speedup, "low": 0.9 * speedup, "high": 1.1 * speedup}}
        return {"event": "variant", "id": name, "status": "duplicate" if same_as else "judged", "same_as": same_as, "at": "", "judgement": judgement, **text}

    @staticmethod
    def racer(name, speedup, over_fastest, width=0.0):
        over = {"value": over_fastest, "low": over_fastest * math.exp(-width), "high": over_fastest * math.exp(width)}
        return {"id": name, "over_fastest": over, "turns": 9, "speedup": {"value": speedup, "low": 0.95 * speedup, "high": 1.05 * speedup}}

    def test_an_arm_knows_of_a_race_its_own_variants(self):
        racers = [self.racer("r02-s01", 3, 1), self.racer("r01-s02", 2, 2 / 3, 0.03), self.racer("r02-s06", 1, 1 / 3, 0.04)]
        verdicts = judging.Verdicts([self.variant("r01-s02"), self.variant("r02-s01"), self.variant("r02-s05", "r02-s01"), self.variant("r02-s06"),
                                     {"event": "race", "round": 2, "racers": racers, "problem": "", "seconds": 0.1}])
        known = {**judging.names(self.PLAN, "independent", 1), **judging.names(self.PLAN, "independent", 2)}
        self.assertEqual([(racer["id"], racer["speedup"]["value"]) for racer in judging.race_of(verdicts, known, 2)["racers"]],
                         [("r02-s01", 3), ("r01-s02", 2), ("r02-s02", 1)], "an equal answer of another arm stands for one's own")
        fewer = {own: judged for own, judged in known.items() if own != "r02-s01"}
        first, second = judging.race_of(verdicts, fewer, 2)["racers"]
        self.assertEqual((first["id"], first["over_fastest"]), ("r01-s02", {"value": 1.0, "low": 1.0, "high": 1.0}), "the fastest of the arm")
        self.assertEqual([round(second["over_fastest"][name], 9) for name in ("value", "low", "high")], [0.5, round(0.5 * math.exp(-0.05), 9), round(0.5 * math.exp(0.05), 9)])
        nothing = judging.race_of(verdicts, judging.names(self.PLAN, "no-scores", 2), 2)
        self.assertEqual((nothing["racers"], nothing["problem"]), ([], judging.NOBODY))
        alone = judging.race_of(verdicts, {"r02-s01": "r02-s01"}, 2)
        self.assertEqual((alone["racers"], alone["problem"]), ([], judging.NOBODY), "one alone does not race")
        self.assertEqual(judging.race_of(verdicts, known, 1)["racers"], [], "a round without a race")

    def test_who_raced_with_other_arms_alone_has_the_speed_up_of_the_race_and_no_race(self):
        names = [f"r{number:02}-s{sample:02}" for number in (1, 2) for sample in range(1, 7) if number == 2 or sample < 3]
        race = {"event": "race", "round": 2, "racers": [self.racer("r02-s01", 3, 1), self.racer("r02-s05", 2.5, 2.5 / 3, 0.02)], "problem": "", "seconds": 0.1}
        verdicts = judging.Verdicts([self.variant(name, speedup=2.75 if name == "r02-s05" else 1.5) for name in names] + [race]
                                    + [{"event": "round", "round": number} for number in (1, 2)])
        asked = [{"event": "asked", "key": {"round": number, "sample": sample, "attempt": 0}, "model": "", "exemplars": []} for number in (1, 2) for sample in (1, 2)]
        found = judging.taken_over(asked, verdicts, self.PLAN, "independent")
        self.assertEqual([event["racers"] for event in found if event["event"] == "race"], [[], []])
        told = {event["id"]: event["judgement"] for event in found if event["event"] == "variant"}
        self.assertEqual({name: judgement["speedup"]["value"] for name, judgement in told.items()}, {"r01-s01": 1.5, "r01-s02": 1.5, "r02-s01": 2.5, "r02-s02": 1.5})
        self.assertEqual(told["r02-s01"]["message"], "2.500x [2.375, 2.625] over the reference; screened alone: 2.750x [2.475, 3.025]")


def event_of(number, sample, speedup, verdict="FASTER"):
    return {"event": "variant", "id": f"r{number:02}-s{sample:02}", "key": {"round": number, "sample": sample, "attempt": 0}, "status": "judged", "same_as": "", "exemplars": [],
            "techniques": [], "judgement": {"verdict": verdict, "level": "screening", "speedup": {"value": speedup}}}


class Played(unittest.TestCase):
    """States whose journals are written here; no sweep plays anything."""
    PLAN = dict(protocol.PASSES["first"], rounds=2)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-evidence-")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.state = self.work / "state"
        for key in KEYS:
            (self.work / "kb" / key).parent.mkdir(parents=True, exist_ok=True)
            (self.work / "kb" / key).write_text("")
        runs.begin(self.state, self.work / "kb", KEYS, self.PLAN)

    def journals(self, key, of_arms):
        """Of the judging run, which has the answers 1.5 and 1.2 of round 1 and six slower ones of round 2, and of the arms."""
        folder = key.replace("/", ".")
        rounds = [[event_of(1, 1, 1.5), event_of(1, 2, 1.2)], [event_of(2, sample, 1.1) for sample in range(1, 7)]]
        ends = [{"event": "round", "round": number} for number in (1, 2)]
        start = [{"event": "run", "models": []}, {"event": "start"}]
        runs.write_journal(runs.journal_of(self.state, protocol.JUDGE, folder), [*start, *rounds[0], ends[0], *rounds[1], ends[1]])
        runs.write_journal(runs.journal_of(self.state, "builtin", folder), [*start, event_of(1, 1, 1.3)])
        for arm, more in of_arms.items():
            runs.write_journal(runs.journal_of(self.state, arm, folder), [*start, *rounds[0], {"event": "race", "round": 1, "racers": []}, ends[0], *rounds[1][:2],
                                                                         {"event": "race", "round": 2, "racers": []}, ends[1], *more])

    def stage(self):
        """Without a sweep that does anything."""
        with unittest.mock.patch.object(runs, "sweep", return_value=(0, 0.1)):
            return runs.stage(self.state, __file__, *SIM)

    def test_what_a_later_arm_confirmed_is_confirmed_in_all(self):
        final = {"event": "confirmation", "id": "r01-s01", "judgement": {"verdict": "FASTER", "level": "final", "speedup": {"value": 1.4}}}
        for key in KEYS:
            self.journals(key, {"contrastive": [], "no-scores": [], "independent": [final]})
        self.stage()
        played = outcomes.load(self.state)
        self.assertEqual([played[arm][key].best(number) for arm in protocol.CONTRAST for key in KEYS for number in (1, 2)], [1.4] * 12)
        self.assertIn("Confirmed over screened, 2 winners", tables.confirmations(played), "one of a task, though three arms have it")
        self.assertEqual([sum(event["event"] == "confirmation" for event in played[arm][KEYS[0]].events) for arm in protocol.CONTRAST], [1, 1, 1])


    def test_a_task_without_a_run_is_left_out_and_named(self):
        arms = {arm: [] for arm in protocol.CONTRAST}
        self.assertIn("No task has been played.", tables.render(self.state), "tables before the first stage")
        self.journals(KEYS[0], arms)
        self.journals(KEYS[1], {arm: [] for arm in list(arms)[:2]})
        runs.journal_of(self.state, protocol.JUDGE, KEYS[1].replace("/", ".")).unlink()
        played = outcomes.load(self.state)
        self.assertEqual([list(played[arm]) for arm in ("builtin", *arms)], [[KEYS[0]]] * 4)
        self.assertEqual(played.left_out, {KEYS[1]: ["independent"]})
        text = tables.render(self.state)
        self.assertIn(f"Left out, as these have no run of it: {KEYS[1]} (independent).", text)
        self.assertIn("| contrastive / no-scores | 2 | 1x | 0 · 1 · 0 | no |", text)
        self.assertEqual(tables.with_interval([tables.floored(run, 2) for run in played.arms()["independent"]]), "1.5x", "and not the mean with 1")

    def test_a_stage_is_not_done_while_a_task_has_no_run(self):
        self.journals(KEYS[0], {arm: [] for arm in protocol.CONTRAST})
        (self.state / "builtin/journal.jsonl").write_text("".join(json.dumps({"key": key, "status": "failed"}) + "\n" for key in KEYS))
        self.assertFalse(self.stage(), "a task that could not be opened, and nothing in the reserve")
        (self.state / "tasks" / KEYS[1]).unlink()
        self.assertTrue(self.stage())
        self.assertNotIn("Left out", tables.render(self.state))


    def program(self, name, text):
        path = self.work / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def on_gpu(self, *calls):
        """(status, what its temporary folder has then, what it said)"""
        (self.work / "tmp").mkdir(exist_ok=True)
        (self.work / "out").mkdir(exist_ok=True)
        done = subprocess.run(["bash", HERE / "on_gpu.sh", self.work / "lent", self.work / "out", "60", *calls], env=dict(os.environ, TMPDIR=str(self.work / "tmp"), DEVICE="sim"),
                              capture_output=True, text=True)
        return done.returncode, [path.name for path in (self.work / "tmp").glob("*/*")], done.stdout

    def test_a_job_on_a_gpu_ends_with_the_worst_status_and_keeps_what_it_could_not_pack(self):
        self.program("lent/cudal1", "exit 3\n")
        runs.pack(self.state, self.work / "lent/state.tar.xz")
        status, left, said = self.on_gpu("stage state")
        self.assertEqual((status, left), (runs.WAITING, []), said)
        runs.unpack(self.work / "out/state.tar.xz", self.work / "back")
        self.assertEqual([stage["sweeps"]["builtin"]["code"] for stage in runs.journal(self.work / "back/stages.jsonl")], [3])
        self.assertEqual(self.on_gpu("stage state", "stage none")[:2], (1, []), "a state that is not there, after one that is packed")
        (self.work / "out/state.tar.xz").unlink()
        (self.work / "out/state.tar.xz").mkdir()
        status, left, said = self.on_gpu("stage state")
        self.assertEqual((status, left), (1, ["state"]))
        self.assertIn("not everything could be packed", said)

    def test_a_sweep_that_does_not_end_when_interrupted_is_killed(self):
        program = self.program("deaf", "trap '' INT\nexec sleep 60\n")
        settings = {"cudal1": str(program), "device": "sim", "more": []}
        with unittest.mock.patch.object(runs, "GRACE", 0.5):
            code, took = runs.sweep(self.state, "builtin", [], settings, time.monotonic() + 5.5)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertLess(took, 30)


class Draw(unittest.TestCase):
    def test_the_drawn_tasks_are_what_is_asked(self):
        rows = [line.split(None, 1) for line in (HERE / "drawn.txt").read_text().splitlines() if not line.startswith("#")]
        drawn = [protocol.Task(key, int(key[5]), standing) for key, standing in rows]
        chosen, reserve = protocol.drawn(HERE / "drawn.txt")
        self.assertEqual(chosen, [task.key for task in drawn])
        self.assertEqual([others[:1] for key, others in reserve if key.startswith("level1/7_")], [[]], "no other of level 1 is equal")
        self.assertEqual([others[0] for key, others in reserve if key.startswith("level1/97")], ["level1/67_conv_standard_1D.py"])
        self.assertTrue(protocol.holds(drawn))
        self.assertEqual([sum(task.level == level for task in drawn) for level in protocol.LEVELS], list(protocol.LEVELS.values()))

    def test_it_holds_what_is_asked_and_is_the_seeds(self):
        kinds = ["conv", "GRU", "Matmul"]
        standings = ["ahead", "equal", "behind", "no answer", "unknown"]
        pool = [protocol.Task(f"level{level}/{id_}_{kinds[id_ % 3]}.py", level, standings[id_ % 5]) for level in (1, 2, 3) for id_ in range(1, 50, 2)]
        drawn, rest, _ = protocol.draw(pool)
        self.assertEqual([sum(task.level == level for task in drawn) for level in (1, 2, 3)], [6, 6, 4])
        self.assertTrue(protocol.holds(drawn))
        self.assertEqual(drawn, protocol.draw(pool)[0])
        self.assertNotEqual(drawn, protocol.draw(pool, seed=1)[0])
        self.assertEqual(len(drawn) + sum(map(len, rest.values())), len(pool))

    def test_even_and_degenerate_tasks_are_not_in_the_pool(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = []
            for name, status, defects in (("1_a", "verified", []), ("2_b", "verified", []), ("3_c", "verified", ["zero"]), ("5_d", "nothing right", []), ("7_e", "failed", [])):
                path = pathlib.Path(folder) / "level1" / f"{name}.py"
                path.parent.mkdir(exist_ok=True)
                path.touch()
                rows.append({"key": f"level1/{name}.py", "status": status, "defects": defects, "ratios": {"eager": {"speedup": 0.9}, "compile": {"failed": "no"}}})
            (pathlib.Path(folder) / "rows").write_text("".join(json.dumps(row) + "\n" for row in rows))
            pool = protocol.pool(folder, pathlib.Path(folder) / "rows")
        self.assertEqual([(task.key[7:8], task.standing) for task in pool], [("1", "behind"), ("5", "no answer"), ("7", "unknown")])


class Outcomes(unittest.TestCase):
    def test_a_race_and_a_final_verdict_correct_what_was_screened(self):
        def variant(number, verdict, speedup):
            return {"event": "variant", "id": f"r01-s{number:02}", "key": {"round": 1}, "status": "judged", "exemplars": [], "techniques": [],
                    "judgement": {"verdict": verdict, "level": "screening", "speedup": {"value": speedup},
                                  "baselines": [{"name": "eager", "speedup": {"value": 9.0}}, {"name": "compile", "speedup": {"value": 0.1}}]}}
        final = {"verdict": "FASTER", "level": "final", "speedup": {"value": 1.6}, "baselines": [{"name": "compile", "speedup": {"value": 1.5}}, {"name": "graph", "speedup": None}]}
        events = [variant(1, "FASTER", 2.0), variant(2, "DROP", 0.5), variant(3, "IMPLAUSIBLE", 90.0), variant(4, "FASTER", 1.6),
                  {"event": "race", "round": 1, "racers": [{"id": "r01-s01", "speedup": {"value": 1.7}}]}, {"event": "confirmation", "id": "r01-s01", "judgement": final}]
        found = outcomes.variants_of(events)
        self.assertEqual([each.right for each in found], [True, True, False, True])
        self.assertEqual([each.screened for each in found], [1.7, 0.5, 90.0, 1.6])
        self.assertEqual([each.score for each in found], [1.5, 0.5, None, 1.6])
        self.assertEqual(outcomes.Run("a", "k", 1, found, events).best(1), 1.5, "the winner of the round, as its final verdict has it")

    def test_a_final_verdict_that_finds_it_wrong_counts(self):
        judgement = {"verdict": "FASTER", "level": "screening", "speedup": {"value": 2.0}}
        events = [{"event": "variant", "id": "r01-s01", "key": {"round": 1}, "status": "judged", "exemplars": [], "techniques": [], "judgement": judgement},
                  {"event": "confirmation", "id": "r01-s01", "judgement": {"verdict": "WRONG_RESULT", "level": "final"}}]
        self.assertEqual([(each.outcome, each.right, each.score) for each in outcomes.variants_of(events)], [("WRONG_RESULT", False, None)])


class Estimate(unittest.TestCase):
    def test_it_adds_what_rows_took_and_what_a_stage_does(self):
        def row(status, judged, answers):
            return {"key": "k", "status": status, "answers": answers, "commit": estimate.ALONE,
                    "breakdown_seconds": {"load": 1.0, "task gate": 1.0, "baselines": 3.0, "search and judging": judged}}
        seconds = estimate.parts([row("verified", 14.0, 2), row("nothing right", 4.0, 2)])
        self.assertEqual(seconds, {"open": 2.0, "baselines": 3.0, "reply": 2.0, "final": 10.0})
        stages = estimate.stages(protocol.of_rows(2, 2, protocol.CONTRAST), 1, seconds)
        self.assertEqual([(what.split(" ")[0], took) for what, took in stages],
                         [("built-in", 2 * estimate.START + (5 + 4 + 10 + 2) / 2), ("2", 4 * estimate.START + (5 + 4 + 6) / 2),
                          ("6", 4 * estimate.START + (5 + 12 + 6 + 2 * 13) / 2)])

    def test_rows_of_another_commit_count_where_there_are_no_others(self):
        rows = [{"key": "k", "status": status, "answers": 2, "commit": commit, "breakdown_seconds": {"load": 1.0, "search and judging": 4.0 if status == "verified" else 2.0}}
                for commit in (estimate.ALONE, "another") for status in ("verified", "nothing right")]
        with tempfile.TemporaryDirectory() as folder:
            file, state = pathlib.Path(folder) / "rows", pathlib.Path(folder) / "state"
            (pathlib.Path(folder) / "task.py").touch()
            runs.begin(state, folder, ["task.py"])
            for chosen, waits in ((rows, False), (rows[2:], True)):
                file.write_text("".join(json.dumps(row) + "\n" for row in chosen))
                self.assertEqual(estimate.read(file), chosen[:2])
                self.assertEqual("contain waits" in estimate.render(state, file), waits)
            for chosen, missing in ((rows[2:3], "answered with nothing right"), (rows[3:], "verified"), ([], "verified")):
                file.write_text("".join(json.dumps(row) + "\n" for row in chosen))
                with self.assertRaisesRegex(SystemExit, f"no task that was {missing},"):
                    estimate.render(state, file)

    def test_the_rows_that_are_there_make_one(self):
        rows = estimate.read(HERE.parent / "kernelbench_results" / "main-h200.jsonl")
        self.assertTrue(all(value > 0 for value in estimate.parts(rows).values()))


class Interval(unittest.TestCase):
    def test_it_covers_the_mean_and_narrows_with_equal_values(self):
        low, high = outcomes.interval([0.5, 2.0] * 8)
        self.assertTrue(low < 1 < high)
        self.assertEqual([round(value, 9) for value in outcomes.interval([1.5] * 16)], [1.5, 1.5])
        low, high = outcomes.interval([1.2, 1.3, 1.25, 1.4] * 4)
        self.assertGreater(low, 1)


if __name__ == "__main__":
    unittest.main()
