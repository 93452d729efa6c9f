# SPDX-License-Identifier: Apache-2.0
"""`verify --answers`: published answers in bulk on the CPU, in the forms that they are published in, gone on with and in shards."""

import json
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

    def test_the_script_of_the_figures_goes_on_from_its_rows(self):
        self.tasks(1, 2)
        (self.work / "kb").mkdir()
        (self.work / "tasks").rename(self.work / "kb" / "v0")
        self.write("release.json", "".join(json.dumps(entry(1, number, "None", eager=1.23456789)) + "\n" for number in (1, 2)))
        script = [shutil.which("sh"), HERE.parent / "figures" / "kernelbench_sweep.sh", "answers", fixture.BINARY, "kb", "folder"]
        environment = self.environment | {"ANSWERS": "release.json", "DEVICE": "sim"}
        early = subprocess.run([*map(str, script), "100"], cwd=self.work, env=environment, capture_output=True, text=True, timeout=180)
        self.assertEqual((early.returncode, early.stdout), (75, "answers: time is up; the same command goes on\n"), "no task begins in the last seconds")
        script.append("300")
        first = subprocess.run(list(map(str, script)), cwd=self.work, env=environment | {"COMMIT": "abc"}, capture_output=True, text=True, timeout=180)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("level 1: 2 no answer", first.stdout)
        self.assertIn("2 of 2 tasks, the first 2 of their order", first.stdout)
        rows = (self.work / "folder/answers.jsonl").read_text()
        self.assertEqual([json.loads(line)["claimed"]["eager"] for line in rows.splitlines()[1:]], [1.2346, 1.2346])
        shutil.rmtree(self.work / "folder" / "answers")   # another machine
        again = subprocess.run(list(map(str, script)), cwd=self.work, env=environment | {"COMMIT": "def"}, capture_output=True, text=True, timeout=180)
        self.assertEqual((again.returncode, (self.work / "folder/answers.jsonl").read_text()), (0, rows), again.stderr)

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
