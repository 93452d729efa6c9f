# SPDX-License-Identifier: Apache-2.0
"""`cudal1 judge`: many answers over one pipe, the same verdicts as `bench` gives one by one, and faults that are no scores."""
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import unittest

from fixture import BINARY, FASTER, TASK, WRONG, CliTest, interrupt, reply

DOUBLE = TASK.replace("add_one", "double_it").replace("C = A + 1", "C = 2 * A").replace("A[row * M + column] + 1.0f", "2.0f * A[row * M + column]")
FASTER_DOUBLE = FASTER.replace("add_one", "double_it").replace("A[i] + 1.0f", "2.0f * A[i]")


def blocks(source, size):
    return source.replace("256", str(size))


def device_workers(pid):
    """Processes below the judge that execute kernels."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            command = pathlib.Path(f"/proc/{child}/cmdline")
            if command.exists() and b"worker\0device" in command.read_bytes():
                found.append(int(child))
    return found


class Judge(CliTest):
    def start(self, *options, jobs=2):
        self.judge = subprocess.Popen([BINARY, "judge", "--device", "sim", "--jobs", str(jobs), *options], cwd=self.work, env=self.environment, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop)

    def stop(self):
        if self.judge.poll() is None:
            self.judge.kill()
        for pipe in (self.judge.stdin, self.judge.stdout, self.judge.stderr):
            pipe.close()
        self.judge.wait(20)

    def send(self, name, task, answer, **more):
        self.judge.stdin.write(json.dumps({"id": name, "task": {"source": task}, "answer": answer, **more}) + "\n")
        self.judge.stdin.flush()

    def line(self):
        text = self.judge.stdout.readline()
        self.assertTrue(text, "the judge wrote no line")
        return json.loads(text)

    def lines(self, count):
        return {line["id"]: line for line in (self.line() for _ in range(count))}

    def end(self, code=0):
        self.judge.stdin.close()
        self.assertEqual(self.judge.wait(60), code)

    def test_verdicts_are_those_of_bench(self):
        tasks = {"add_one": (TASK, FASTER), "double_it": (DOUBLE, FASTER_DOUBLE)}
        answers = {f"{name} {size}": (task, blocks(faster, size)) for name, (task, faster) in tasks.items() for size in (64, 128, 512)}
        answers |= {"wrong": (TASK, WRONG), "unknown": (TASK, FASTER.replace("C[i]", "B[i]")), "other task": (DOUBLE, FASTER),
                    "no plan": (TASK, FASTER.replace("//@ launch", "// launch"))}
        self.start()
        for name, (task, answer) in answers.items():
            self.send(name, task, answer if name == "wrong" else reply(answer), group=name.split()[0])
            self.send(name + " again", task, "// the same\n" + answer)
        got = self.lines(2 * len(answers))
        for name, (task, answer) in answers.items():
            again = got[name + " again"]
            self.assertEqual((again["cached"], again["same_as"], again["verdict"]), (True, name, got[name]["verdict"]), again)
            self.assertEqual(got[name]["group"], name.split()[0])
        for task in {task for task, _ in answers.values()}:
            mine = {name: answer for name, (other, answer) in answers.items() if other == task}
            files = {name: self.write(name.replace(" ", "_") + ".cu", answer) for name, answer in mine.items()}
            bench = self.run_cli("bench", self.write("task.cu", task), *files.values(), "--quick", "--json", "--device", "sim", code=6)
            for name, variant in zip(mine, bench.json()["variants"]):
                judged, alone = got[name]["judgement"], variant["judgement"]
                for field in ("verdict", "speedup", "level", "predicted", "workloads", "resources"):
                    self.assertEqual(judged.get(field), alone.get(field), f"{name}: {field}")
                self.assertEqual(got[name]["verdict"], alone["verdict"])
        self.end()
        self.assertIn("10 equal to others", self.judge.stderr.read())

    def test_lines_that_cannot_be_judged_are_faults(self):
        self.start("--brief")
        self.judge.stdin.write("nonsense\n\n")
        self.send("typo", TASK, FASTER, mod="screen")
        self.send("broken", TASK.replace("+ 1.0f", "+ 3.0f"), FASTER)
        self.send("no kernel", TASK, "I would rather not.")
        self.send("fine", TASK, FASTER, mode="verify")
        self.send("final", TASK, blocks(FASTER, 128), mode="final")
        got = self.lines(6)
        self.assertEqual({name: line["fault_kind"] for name, line in got.items()},
                         {None: "request", "typo": "request", "broken": "task", "no kernel": None, "fine": None, "final": None})
        for name in (None, "typo", "broken"):
            for field in ("verdict", "executable", "right", "score"):
                self.assertIsNone(got[name][field], got[name])
        self.assertIn("the task's own kernel is not right", got["broken"]["fault"])
        self.assertEqual((got["no kernel"]["verdict"], got["no kernel"]["score"]), ("UNREADABLE", 0))
        self.assertEqual((got["fine"]["verdict"], got["fine"]["speedup"], got["fine"]["right"]), ("DROP", None, True))
        self.assertEqual(got["final"]["level"], "final")
        self.assertNotIn("judgement", got["fine"])
        self.end()

    def test_rewards_come_from_the_same_line(self):
        self.start("--brief", "--reward", "log")
        self.send("leap", TASK, FASTER)
        leap = self.line()
        self.assertEqual((leap["reward_name"], leap["level"]), ("log", "final"), leap)   # more than 3x is confirmed first
        self.assertEqual(leap["reward"], 2.5)
        self.send("half", TASK, blocks(FASTER, 32))
        half = self.line()
        self.assertAlmostEqual(half["reward"], 1 + math.log(half["speedup"]["low"]) / math.log(leap["score"]), places=6)
        self.send("wrong", TASK, WRONG)
        self.send("no kernel", TASK, "No.")
        self.send("fault", TASK.replace("+ 1.0f", "+ 3.0f"), FASTER)
        self.send("copy", TASK, FASTER, shown=[leap["fingerprint"]])
        self.send("other reward", TASK, FASTER, reward="kevin")
        rewards = {name: line["reward"] for name, line in self.lines(5).items()}
        self.assertAlmostEqual(rewards.pop("other reward"), 0.3 + leap["score"])
        self.assertEqual(rewards, {"wrong": 0, "no kernel": -0.3, "fault": None, "copy": 1})
        self.end()

    def test_answers_that_run_the_same_machine_code_have_one_code(self):
        def renamed(answer):
            return re.sub(r"\bi\b", "at", answer).replace("add_one", "plus_one")

        tuned = FASTER.replace("256", "THREADS").replace("//@ launch", "//@ tune THREADS = 256\n//@ launch")
        answers = {
            "plain": FASTER,
            "other names": renamed(FASTER),
            "tuned": tuned,
            "tuned, other names": renamed(tuned),
            "tuned otherwise": tuned.replace("256", "128"),
            "table": FASTER.replace("__global__", "__device__ const float one[2] = {1.0f, 2.0f};\n__global__", 1).replace("1.0f;", "one[i % 1];"),
            "other table": FASTER.replace("__global__", "__device__ const float one[2] = {1.0f, 3.0f};\n__global__", 1).replace("1.0f;", "one[i % 1];"),
        }
        self.start("--brief")
        for name, answer in answers.items():
            self.send(name, TASK, answer, mode="verify")
        got = self.lines(len(answers))
        self.assertTrue(all(line["right"] for line in got.values()), got)
        codes = {name: line["code"] for name, line in got.items()}
        self.assertEqual({len(code) for code in codes.values()}, {64})
        self.assertEqual((codes["plain"], codes["tuned"]), (codes["other names"], codes["tuned, other names"]))
        self.assertEqual(len({codes[name] for name in ("plain", "tuned", "tuned otherwise", "table", "other table")}), 5, codes)
        self.end()

    def test_a_worker_that_is_killed_costs_no_answer_its_verdict(self):
        self.start("--brief")
        self.send("warm", TASK, FASTER)
        self.assertEqual(self.line()["verdict"], "PREDICTED_FASTER")
        for worker in device_workers(self.judge.pid):
            os.kill(worker, signal.SIGKILL)
        self.send("after", TASK, blocks(FASTER, 128))
        self.assertEqual(self.line()["verdict"], "PREDICTED_FASTER")
        # Killed without a pause there is no verdict, and none is made up.
        over = threading.Event()

        def kill():
            while not over.wait(0.002):
                for worker in device_workers(self.judge.pid):
                    try:
                        os.kill(worker, signal.SIGKILL)
                    except ProcessLookupError:
                        pass

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            for size in (32, 64, 512):
                self.send(size, TASK, blocks(FASTER, size))
            lost = self.lines(3)
        finally:
            over.set()
            killer.join()
        for line in lost.values():
            self.assertEqual((line["fault_kind"], line["verdict"], line["right"], line["score"]), ("worker", None, None, None), line)
        for size in (32, 64, 512):
            self.send(size, TASK, blocks(FASTER, size))
        for line in self.lines(3).values():
            self.assertEqual((line["verdict"], line["cached"]), ("PREDICTED_FASTER", False), line)
        self.end()

    def test_a_signal_ends_it_after_what_is_under_way(self):
        self.start("--brief", jobs=1)
        count = 40
        for i in range(count):
            self.send(i, TASK if i % 2 else DOUBLE, blocks(FASTER if i % 2 else FASTER_DOUBLE, 32 + i))
        first = self.line()
        interrupt(self.judge, signal.SIGTERM)
        rest = [json.loads(text) for text in self.judge.stdout]
        self.assertEqual(self.judge.wait(60), 143)
        kinds = [line["fault_kind"] for line in [first, *rest]]
        self.assertEqual(len(kinds), count)
        self.assertIn("closed", kinds)
        self.assertLess(kinds.count(None), count)
        self.assertGreater(kinds.count(None), 0)


if __name__ == "__main__":
    unittest.main()
