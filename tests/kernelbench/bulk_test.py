# SPDX-License-Identifier: Apache-2.0
"""`verify --answers`: published answers in bulk on the CPU, in the forms that they are published in, gone on with and in shards."""

import json
import re
import shutil
import subprocess
import unittest

from tasks import HERE, TaskTest
import fixture

TASK = "class Model(nn.Module):\n    def forward(self, x):\n        return x * {0}"
NEW = "import torch\nimport torch.nn as nn\n\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        {0}\n"
RIGHT, NEARLY, RAISES = NEW.format("return x + x"), NEW.format("return x * 2.002"), NEW.format("raise ValueError('tired')")
FOR_A_GPU = NEW.format("return x.cuda() * 2")


def entry(level, task, code, **scores):
    return {"level_id": level, "task_id": task, "ref_code": "", "custom_code": code, "score_default": scores.get("eager"),
            "score_torch_compile_default": scores.get("compile"), "score_cuda_graph": None}


class BulkTest(TaskTest):
    def tasks(self, *numbers):
        for number in numbers:
            self.module(TASK.format(2), name=f"tasks/level1/{number}_doubles.py")

    def verify(self, *arguments, code=0):
        return self.run_cli("verify", *arguments, "--tasks", "tasks", "--device", "sim", "--json", code=code)

    def test_an_answer_reads_its_own_text(self):
        """As PyTorch's compiler does."""
        self.tasks(1)
        self.module(NEW.format("assert 'return x + x' in open(__file__).read(); return x + x"), name="published/level1/1_doubles.py")
        self.assertEqual(self.verify("--answers", "published").json()["tasks"][0]["status"], "verified")
        untimed = self.verify("--answers", "published", "--untimed", "--out", "untimed").json()["tasks"][0]
        self.assertEqual(untimed["status"], "verified")
        self.assertIn("not timed", untimed["remarks"])   # beside what a container lacks to confine it

    def test_a_release_is_judged_entry_by_entry_and_gone_on_with(self):
        self.tasks(1, 2, 3, 4, 5)
        lines = [entry(1, 1, RIGHT, eager=2.5, compile=1.5), entry(1, 2, NEARLY, eager=9.0), entry(1, 3, "None"), entry(1, 4, RAISES), entry(1, 9, RIGHT), entry(1, 1, None)]
        lines[0]["ref_code"] = (self.work / "tasks/level1/1_doubles.py").read_text().replace("(4, 8)", "(4, 16)")
        self.write("release.json", "".join(json.dumps(each) + "\n" for each in lines))
        result = self.verify("--answers", "release.json")
        said = result.json()
        rows = {row["key"]: row for row in said["tasks"]}
        one, two, three, four, again = (rows[f"level1/{key}"] for key in ("1_doubles.py", "2_doubles.py", "3_doubles.py", "4_doubles.py", "1_doubles.py sample 1"))
        self.assertEqual([row["status"] for row in (one, two, three, four, again)], ["verified", "nothing right", "no answer", "nothing right", "no answer"])
        self.assertEqual((one["device"], one["answer"], one["claimed"]), ("CPU", "release.json:1", {"compile": 1.5, "eager": 2.5}))
        self.assertEqual(two["verdict"], "WRONG_RESULT")
        self.assertEqual([(row["kernelbench"]["accepts_at_1e-2"], row["kernelbench"]["accepts_at_1e-4"]) for row in (one, two)], [(True, True), (True, False)])
        self.assertEqual(four["verdict"], "RUNTIME_FAILED")
        self.assertIn("tired", four["message"])
        whole = next(each for each in said["published"] if each["tasks"] == "all")
        counts = {name: whole[name] for name in ("entries", "without_code", "not_judged", "failed", "wrong", "right", "at_1e-2", "at_1e-4", "timed")}
        self.assertEqual(counts, {"entries": 5, "without_code": 2, "not_judged": 0, "failed": 1, "wrong": 1, "right": 1, "at_1e-2": 2, "at_1e-4": 1, "timed": 0})
        remarks = "\n".join(said["remarks"])
        for part in ("1 task has no answer there: level1/5_doubles.py.", "1 answer has no task in tasks: level1/9.", "for another text of the task"):
            self.assertIn(part, remarks)
        journal = (self.work / "cudal1-answers/journal.jsonl").read_text()
        second = self.verify("--answers", "release.json")
        self.assertEqual(second.json()["tasks"], said["tasks"])
        self.assertEqual((self.work / "cudal1-answers/journal.jsonl").read_text(), journal, "nothing is judged twice")
        table = self.run_cli("verify", "--answers", "release.json", "--tasks", "tasks", "--device", "sim").out
        self.assertRegex(table, r"eager claimed +limit")
        self.assertRegex(table, r"all +all +5 +2 +0 +1 +1 +1 +2 +1 +0")

    def test_the_other_forms_are_read(self):
        self.tasks(1, 2)
        self.write("codes.json", json.dumps({"1": [{"task_id": 1, "custom_code": None, "score": None}, {"task_id": 2, "custom_code": "None", "score": "1.250"}]}))
        rows = self.verify("--answers", "codes.json", "--out", "codes").json()["tasks"]
        self.assertEqual([(row["status"], row["claimed"]) for row in rows], [("no answer", {}), ("no answer", {"eager": 1.25})])
        self.write("runs/mine/level_1_problem_2_sample_0_kernel.py", RIGHT)
        self.write("runs/mine/level_1_problem_2_sample_1_kernel.py", FOR_A_GPU)
        self.write("runs/mine/eval_results.json", json.dumps({"2": [{"sample_id": 0, "runtime": 0.5, "ref_runtime": 1.5}, {"sample_id": 1, "runtime": -1.0}]}))
        first, second = self.verify("--answers", "runs", "--out", "from-runs", code=8).json()["tasks"]
        self.assertEqual((first["status"], first["claimed"]), ("verified", {"eager": 3.0}))
        self.assertEqual((second["status"], second["key"]), ("failed", "level1/2_doubles.py sample 1"))
        self.assertIn("it needs a GPU", second["message"])
        self.write("folder/level1/1_doubles.py", "None")
        self.write("folder/level1/2_doubles.py", RIGHT)
        self.write("folder/level1/3_something.py", "print('no answer')\n")
        rows = self.verify("--answers", "folder", "--out", "from-folder").json()["tasks"]
        self.assertEqual([row["status"] for row in rows], ["no answer", "verified"])

    def test_shards_are_joined_and_tasks_may_come_with_the_answers(self):
        text = self.module(TASK.format(2), name="one.py").read_text()
        self.write("release.json", "".join(json.dumps(dict(entry(1, number, "None"), ref_code=text)) + "\n" for number in range(1, 7)))
        for shard in (1, 2):
            self.run_cli("verify", "--answers", "release.json", "--device", "sim", "--shard", f"{shard}/2", "--out", "out")
        merged = self.run_cli("sweep", "--merge", "out/shard-1-of-2", "out/shard-2-of-2", "--json").json()
        self.assertEqual([(row["id"], row["status"]) for row in merged["tasks"]], [(number, "no answer") for number in range(1, 7)])
        self.assertEqual(merged["remarks"], [])

    def script(self, parts, seconds, *options, **environment):
        """The script of the figures."""
        command = ["sh", str(HERE.parent / "figures" / "kernelbench_sweep.sh"), parts, str(fixture.BINARY), "kb", "folder", str(seconds), *options]
        return subprocess.run(command, cwd=self.work, env=self.environment | {"DEVICE": "sim", "COMMIT": "abc"} | environment, capture_output=True, text=True, timeout=240)

    def test_the_script_of_the_figures_goes_on_from_its_rows(self):
        self.tasks(1, 2)
        (self.work / "kb").mkdir()
        (self.work / "tasks").rename(self.work / "kb" / "v0")
        self.write("kb/v0/level2/empty", "")
        self.write("kb/v0/level3/empty", "")
        self.write("release.json", "".join(json.dumps(entry(1, number, "None", eager=1.23456789)) + "\n" for number in (1, 2)))
        early = self.script("answers", 70, ANSWERS="release.json")
        self.assertEqual(early.returncode, 75, "no task begins in the last seconds")
        self.assertTrue(early.stdout.startswith("answers: time is up; the same command goes on\n"), early.stdout)
        self.assertRegex(early.stdout, r"answers +0 +2 +\d+\.\d +\d+ s\nabout \d+ s left")
        first = self.script("answers", 300, ANSWERS="release.json")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("level 1: 2 no answer", first.stdout)
        self.assertIn("2 of 2 tasks, the first 2 of their order", first.stdout)
        self.assertRegex(first.stdout, r"answers +2 +2 +\d+\.\d +0 s, measured\nabout 0 s left")
        rows = (self.work / "folder/answers.jsonl").read_text()
        self.assertEqual([json.loads(line)["claimed"]["eager"] for line in rows.splitlines()[1:]], [1.2346, 1.2346])
        shutil.rmtree(self.work / "folder" / "answers")   # another machine
        again = self.script("answers", 300, ANSWERS="release.json")
        self.assertEqual((again.returncode, (self.work / "folder/answers.jsonl").read_text()), (0, rows), again.stderr)
        other = self.script("answers", 300, ANSWERS="release.json", COMMIT="def")
        self.assertEqual((other.returncode, (self.work / "folder/answers.jsonl").read_text()), (2, rows))
        self.assertIn("folder/answers.jsonl is of another commit than def; give another FOLDER", other.stderr)

    def test_the_script_of_the_figures_goes_on_behind_tasks_that_fail(self):
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        raise ValueError('tired')", name="kb/v0/level1/1_raises.py")
        self.module(TASK.format(2), name="kb/main/level1/2_doubles.py")
        ran = self.script("v0-1,main-1", 300)
        self.assertEqual(ran.returncode, 0, ran.stderr)

        def statuses():
            return [json.loads((self.work / f"folder/{part}.jsonl").read_text().splitlines()[1])["status"] for part in ("v0-1", "main-1")]

        self.assertEqual(statuses(), ["failed", "verified"])
        self.module(TASK.format(3), name="kb/v0/level1/1_raises.py")
        left_out = self.script("v0-1,main-1", 300)
        self.assertEqual((left_out.returncode, statuses()), (0, ["failed", "verified"]), left_out.stderr)
        self.assertIn("v0-1: every task has its row; AGAIN=1 tries those again that failed\n", left_out.stdout)
        again = self.script("v0-1,main-1", 300, AGAIN="1")
        self.assertEqual((again.returncode, statuses()), (0, ["verified", "verified"]), again.stderr)

    def test_a_repeat_has_other_secret_inputs_than_the_sweep_itself(self):
        self.module(TASK.format(2), name="kb/v0/level1/2_doubles.py")
        ran = self.script("v0-1,repeat1,repeat2", 300)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        heads = [json.loads((self.work / f"folder/{part}.jsonl").read_text().splitlines()[0]) for part in ("v0-1", "repeat1", "repeat2")]
        self.assertEqual([re.search(r"seed (\d+)", each["options"])[1] for each in heads], ["1", "2", "3"])

    def test_the_script_of_the_figures_fails_where_rows_cannot_be_kept(self):
        self.module(TASK.format(2), name="kb/v0/level1/2_doubles.py")
        for place in ("folder/v0-1.jsonl/in_the_way", "folder/v0-1/calls/in_the_way"):
            with self.subTest(place):
                self.write(place, "")
                ran = self.script("v0-1,repeat1", 300)
                self.assertEqual(ran.returncode, 1, ran.stderr)
                self.assertFalse((self.work / "folder/repeat1.jsonl").exists())
                shutil.rmtree(self.work / "folder")

    def test_the_script_of_the_figures_goes_on_with_a_shard(self):
        self.tasks(*range(1, 7))
        (self.work / "kb").mkdir()
        (self.work / "tasks").rename(self.work / "kb" / "v0")
        self.write("kb/v0/level2/empty", "")
        self.write("kb/v0/level3/empty", "")
        self.write("release.json", "".join(json.dumps(entry(1, number, "None")) + "\n" for number in range(1, 7)))
        rows = self.work / "folder/answers.jsonl"

        def call(option="--shard"):
            ran = self.script("answers", 300, *([option, "2/2"] if option == "--shard" else [option]), ANSWERS="release.json")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            return rows.read_text().splitlines(True)

        whole = call()
        self.assertGreater(len(whole), 2)
        journal = self.work / "folder/answers/shard-2-of-2/journal.jsonl"
        for restored in (False, True):
            rows.write_text("".join(whole[:2]))   # what an earlier call had got
            if restored:
                shutil.rmtree(self.work / "folder/answers")
            else:
                journal.write_text("".join(whole[:2]))
            after = call("--shard=2/2" if restored else "--shard")
            self.assertEqual([json.loads(line)["key"] for line in after[1:]], [json.loads(line)["key"] for line in whole[1:]], "the second call's rows are kept")
            self.assertEqual(journal.read_text().splitlines(True)[1], whole[1], "the first call's row is not made again")
        self.assertEqual(self.script("answers", 300, "--shard", "auto", ANSWERS="release.json").returncode, 2)

    def test_what_is_no_set_of_answers_is_refused(self):
        self.tasks(1)
        self.write("release.json", json.dumps(entry(1, 9, RIGHT)) + "\n")
        self.write("other.json", "{\"name\": 3}\n")
        self.write("empty/notes.txt", "")
        self.refuses("verify", "tasks/level1/1_doubles.py", "--answers", "release.json", code=2, says=["--answers instead of both"])
        self.refuses("verify", "tasks/level1/1_doubles.py", code=2, says=["TASK and VARIANT"])
        self.refuses("verify", "--answers", "release.json", "--tasks", "tasks", "--device", "sim", code=6, says=["none of these 1 answers"])
        self.refuses("verify", "--answers", "release.json", "--device", "sim", code=2, says=["comes without its task; --tasks"])
        self.refuses("verify", "--answers", "other.json", "--tasks", "tasks", code=6, says=["other.json"])
        self.refuses("verify", "--answers", "empty", "--tasks", "tasks", code=6, says=["holds no answers"])


if __name__ == "__main__":
    unittest.main()
