# SPDX-License-Identifier: Apache-2.0
"""`cudal1 tasks` and `cudal1 dataset`: tasks are made, split and compared, and runs become rows that a trainer reads."""
import json
import re
import subprocess
import unittest

from fixture import BINARY, FASTER, TASK, CliTest


class Training(CliTest):
    def make(self, out, *options, count=4, code=0):
        result = self.run_cli("tasks", "make", "--out", out, "--count", count, "--seed", 5, "--operations", 2, "--least-us", 0, "--most-us", 100000, *options, code=code)
        return result, [json.loads(line) for line in (self.work / out / "tasks.jsonl").read_text().splitlines()]

    def test_made_tasks_are_sound_and_the_same_for_a_seed(self):
        result, tasks = self.make("made", "--quiet")
        self.assertIn("4 tasks in made", result.out)
        self.assertEqual(len(tasks), 4)
        sources = {task["file"]: (self.work / "made" / task["file"]).read_text() for task in tasks}
        for task in tasks:
            self.assertEqual(task["torch"], tasks[0]["torch"] if task["group"] == tasks[0]["group"] else task["torch"])
            self.assertIn(task["split"], ("train", "test"))
        # Its own kernel is right for each, in 16 bits too.
        self.assertTrue(any("float16" in source for source in sources.values()))
        task = tasks[1]["file"]
        self.run_cli("verify", self.work / "made" / task, self.work / "made" / task, "--device", "sim", "--quick")
        _, again = self.make("again", "--no-check")
        same = {task["file"]: task for task in again}
        for file, source in sources.items():
            if file in same:
                self.assertEqual((self.work / "again" / file).read_text(), source)
        # What is excluded is not made, at any size.
        _, other = self.make("other", "--exclude", "made", "--no-check")
        self.assertFalse({task["group"] for task in tasks} & {task["group"] for task in other})
        split = [json.loads(line) for line in self.run_cli("tasks", "split", "made").out.splitlines()]
        self.assertEqual({task["name"]: task["split"] for task in split}, {task["name"]: task["split"] for task in tasks})
        self.assertEqual(self.run_cli("tasks", "split", "made", "--split", "test").out.count("\n"), sum(task["split"] == "test" for task in tasks))
        seen = self.run_cli("tasks", "audit", "--train", "made", "--test", "made/tasks.jsonl", "--json", code=8).json()
        self.assertEqual(seen["equal"], len({task["group"] for task in tasks}))
        fresh = self.run_cli("tasks", "audit", "--train", "made", "--test", "other", "--near", 1, "--json").json()
        self.assertEqual((fresh["equal"], fresh["near"]), (0, 0))
        self.assertTrue(all(0 <= row["similarity"] < 1 for row in fresh["tests"]))

    def test_the_examples_have_structures_of_their_own(self):
        self.write("relu.cu", TASK.replace("A + 1\n", "torch.relu(A)\n"))
        self.write("larger.cu", TASK.replace("N = 64, M = 256", "N = 640, M = 2560"))
        self.write("task.cu", TASK)
        listed = {line["file"].rsplit("/", 1)[-1]: line for line in map(json.loads, self.run_cli("tasks", "split", ".").out.splitlines())}
        self.assertEqual(listed["task.cu"]["group"], listed["larger.cu"]["group"])
        self.assertNotEqual(listed["task.cu"]["sha256"], listed["larger.cu"]["sha256"])
        self.assertNotEqual(listed["task.cu"]["group"], listed["relu.cu"]["group"])
        self.refuses("tasks", "split", "no-such-file.cu", code=11, says=["no-such-file.cu"])

    def test_a_run_becomes_rows(self):
        task = self.write("task.cu", TASK)
        self.run_cli("optimize", task, "--model", "builtin", "--device", "sim", "--rounds", 1, "--samples", 4, "--confirmations", 1, "--out", "runs/one", "--quiet")
        rows = {}
        for purpose in ("sft", "contrast", "preference", "grpo"):
            self.run_cli("dataset", "runs", "--for", purpose, "--split", "all", "-o", f"{purpose}.jsonl")
            rows[purpose] = [json.loads(line) for line in (self.work / f"{purpose}.jsonl").read_text().splitlines()]
            for row in rows[purpose]:
                self.assertEqual(list(row), list(rows[purpose][0]))   # the same columns in each line
        self.assertGreater(len(rows["sft"]), 0)
        self.assertEqual(len(rows["grpo"]), 1)
        # An answer of the data is judged to be right.
        lines = "".join(json.dumps({"id": i, "task": {"source": TASK}, "answer": row["completion"][0]["content"]}) + "\n" for i, row in enumerate(rows["sft"]))
        judged = [json.loads(line) for line in self.run_cli("judge", "--device", "sim", "--brief", text_input=lines).out.splitlines()]
        self.assertTrue(judged and all(line["right"] for line in judged), judged)
        other = "test" if rows["sft"][0]["split"] == "train" else "train"
        self.assertEqual(self.run_cli("dataset", "runs", "--split", other).out, "")
        self.run_cli("tasks", "audit", "--train", "sft.jsonl", "--test", task, code=8)
        self.refuses("dataset", ".", "--for", "sft", code=11, says=["no run"])

    def test_a_harbor_task_is_scored_by_the_server(self):
        task = self.write("task.cu", TASK)
        self.run_cli("optimize", task, "--model", "builtin", "--device", "sim", "--rounds", 1, "--samples", 1, "--confirmations", 1, "--out", "runs/one", "--quiet")
        self.run_cli("dataset", "runs", "--for", "harbor", "-o", "harbor")
        folder = self.work / "harbor" / "add_one"
        self.assertTrue((folder / "environment" / "Dockerfile").exists())
        root = self.work / "container"
        test = (folder / "tests" / "test.sh").read_text()
        for place in ("/tests/", "/app/", "/logs/"):
            test = test.replace(place, f"{root}{place}")
        self.write("container/tests/test.sh", test)
        self.write("container/tests/task.cu", (folder / "tests" / "task.cu").read_text())
        self.write("container/app/answer.cu", FASTER)
        server = subprocess.Popen([BINARY, "serve", "--device", "sim", "--jobs", "1", "--listen", "127.0.0.1:0"], env=self.environment, cwd=self.work, stderr=subprocess.PIPE, text=True)
        try:
            said = ""
            while "listening on" not in said:
                said = server.stderr.readline()
                self.assertTrue(said)
            script = ["sh", str(root / "tests/test.sh")]
            environment = self.environment | {"CUDAL1_URL": re.search(r"http://\S+", said)[0]}
            environment.pop("CUDAL1_TOKEN", None)
            subprocess.run(script, env=environment, check=True, timeout=120)
            reward = json.loads((root / "logs/verifier/reward.json").read_text())
            self.assertEqual((reward["right"], reward["reward"], reward["cheat"]), (1, 2.5, 0))
            (root / "logs/verifier/reward.json").unlink()
        finally:
            server.kill()
            server.wait()
            server.stderr.close()
        # Without its server it has no reward, rather than one of 0.
        self.assertNotEqual(subprocess.run(script, env=environment, capture_output=True, timeout=120).returncode, 0)
        self.assertFalse((root / "logs/verifier/reward.json").exists())


if __name__ == "__main__":
    unittest.main()
