# SPDX-License-Identifier: Apache-2.0
"""The experiment end to end on the simulator, with a stand-in for the model: stages that stop without waiting, on two machines."""
import json
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "cli")]
import fixture  # noqa: E402
import outcomes  # noqa: E402
import protocol  # noqa: E402
import replies  # noqa: E402
import runs  # noqa: E402
import tables  # noqa: E402

BROKEN = fixture.FASTER.replace("blockIdx.x", "blockIdxx.x")
SIM = ("sim", 300, ["--jobs", "2"])
KEYS = ("level1/1_add.cu", "level2/3_more.cu")


def stand_in(number, task):
    """The reply to a prompt of this number: round 1 has one that is right and one that does not compile; later ones are right or wrong."""
    code = [fixture.FASTER, BROKEN, fixture.FASTER.replace("256", "128"), fixture.WRONG][number % 4]
    return fixture.reply(code.replace("1.0f", "3.0f") if task == KEYS[1] else code, design="In steps.\n\nTechniques: coalesced access, fusion")


class Evidence(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-evidence-")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.rounds, protocol.ROUNDS = protocol.ROUNDS, 2
        self.addCleanup(lambda: setattr(protocol, "ROUNDS", self.rounds))
        for key, text in zip(KEYS, (fixture.TASK, fixture.TASK.replace("A + 1", "A + 3").replace("+ 1.0f", "+ 3.0f").replace("add_one", "add_more"))):
            (self.work / "kb" / key).parent.mkdir(parents=True, exist_ok=True)
            (self.work / "kb" / key).write_text(text)
        runs.begin(self.work / "gpu", self.work / "kb", KEYS)
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
            (self.work / folder / each["reply"]).write_text(stand_in(number, task).replace("add_one", "add_more" if task == KEYS[1] else "add_one"))
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

        runs.pack(self.work / "gpu", self.work / "state.tar.xz")
        runs.unpack(self.work / "state.tar.xz", self.work / "desk")
        second = self.answer("desk", "round-2")
        self.assertEqual(len(second), 12)
        prompts = {arm: next(text for of, text in sorted(second.items()) if f"/{arm}/" in of) for arm in protocol.ARMS}
        self.assertEqual(prompts["independent"], next(text for _, text in sorted(first.items())), "independent rounds are first rounds")
        self.assertIn("Earlier variants with their scores", prompts["contrastive"])
        self.assertIn("r01-s01", prompts["no-scores"])
        self.assertNotIn("with their scores", prompts["no-scores"])
        runs.pack(self.work / "desk", self.work / "state.tar.xz")
        runs.unpack(self.work / "state.tar.xz", self.work / "other-gpu")
        self.assertTrue(self.stage("other-gpu"), "all rounds are judged")

        state = outcomes.load(self.work / "other-gpu")
        for arm in protocol.ARMS:
            for key in KEYS:
                fates = [(variant.id, variant.outcome, variant.right) for variant in state[arm][key].variants]
                self.assertEqual([fate[0] for fate in fates], ["r01-s01", "r01-s02", "r02-s01", "r02-s02"])
                self.assertEqual([fate[2] for fate in fates], [True, False, True, False], fates)
                self.assertEqual((fates[1][1], fates[3][1]), ("COMPILE_FAILED", "WRONG_RESULT"))
        judged = {path.relative_to(self.work / "gpu"): text.splitlines() for path, text in journals.items()}
        for path, before in judged.items():
            verdicts = [line for line in before if '"event":"variant"' in line or '"event": "variant"' in line]
            after = (self.work / "other-gpu" / path).read_text()
            self.assertTrue(all(line in after for line in verdicts), "verdicts travel, with their times")
        starts = {arm: state[arm][KEYS[0]].events[1]["at"] for arm in state}
        self.assertEqual(len(set(starts.values())), 1, "one reference for all")
        shared = [state[arm][KEYS[0]].variants[0].screened for arm in protocol.ARMS]
        self.assertEqual(len(set(shared)), 1, "round 1 was judged once")
        text = tables.render(self.work / "other-gpu")
        for words in ("| all | 1 | 1 | 2 | 50 % (1 of 2) | 50 % (1 of 2)", "| COMPILE_FAILED | 2 |", "| WRONG_RESULT | 0 | 6 |", "| replies | 16 | 8.0 |", "contrastive / no-scores",
                      "| coalesced access | 16 | 50 % (8 of 16) |", "| no |"):
            self.assertIn(words, text)
        self.assertNotIn("Not as recorded", text)
        changed = next((self.work / "other-gpu").glob("exchange/contrastive/*/r02-s01.md"))
        changed.write_text("another")
        self.assertIn("Not as recorded", tables.render(self.work / "other-gpu"))

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


class Draw(unittest.TestCase):
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


class Interval(unittest.TestCase):
    def test_it_covers_the_mean_and_narrows_with_equal_values(self):
        low, high = outcomes.interval([0.5, 2.0] * 8)
        self.assertTrue(low < 1 < high)
        self.assertEqual([round(value, 9) for value in outcomes.interval([1.5] * 16)], [1.5, 1.5])
        low, high = outcomes.interval([1.2, 1.3, 1.25, 1.4] * 4)
        self.assertGreater(low, 1)


if __name__ == "__main__":
    unittest.main()
