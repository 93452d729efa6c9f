# SPDX-License-Identifier: Apache-2.0
"""A sweep over the modules of this folder on the simulator with the built-in model: what becomes of each, resuming,
shards, and the exports by KernelBench's rules."""

import ast
import csv
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import types
import unittest
from unittest import mock

from tasks import HERE, PYTHON, TaskTest
import fixture
import torch
from kernelbench_rules import judge, static_check

sys.path.insert(0, str(HERE.parents[1] / "lib" / "pytorch"))
from task_module import TaskModule  # noqa: E402
from torch_line import derive, output_names  # noqa: E402

LEVELS = [HERE / f"level{number}" for number in (1, 2, 3)]   # programs of the tests beside them hold the text of tasks
QUICK = ("--device", "sim", "--rounds", "1", "--samples", "1")
DEFECTS = {"level1/5_ReLU.py": "range identity", "level1/20_Constant.py": "zero", "level2/5_Linear_dropout.py": "unstable",
           "level2/7_Conv3d_GroupNorm_mean.py": "zero", "level3/4_Kept_state.py": "stateful"}
# The built-in model answers what has a torch line of functions that it knows.
UNANSWERED = {"level3/3_LSTM_projections.py": "torch.lstm is not known"}


def outcome(row):
    """What must not depend on when and where a task ran."""
    return {name: row[name] for name in ("key", "status", "verdict", "ratios", "defects", "answers", "right")}


def line_evaluator(path):
    """A stand-in for PyTorch's load_inline on a machine without a GPU: its function computes the torch line of the task
    from what the exported wrapper hands over, so that all but the CUDA code is run."""
    task = TaskModule(str(path), path.read_text(), {})
    line, problem, unused = derive(task, task.build(42), task.make_inputs(42))
    assert not problem, problem
    task.leave_out_state(unused - task.parameters)
    given = task.inputs + task.state
    outputs = output_names(task, len(task.forward(task.build(42), task.make_inputs(42))))

    def run(*arguments):
        names = {"torch": torch, "F": torch.nn.functional}
        for each, value in zip(given, arguments):
            wanted = each["tensor"]
            assert value.is_contiguous() and (value.dtype, value.shape) == (wanted.dtype, wanted.shape), each["name"]
            names[each["name"]] = value
        names.update({each["name"]: value for each, value in zip(task.scalars, arguments[len(given):])})
        assert len(arguments) == len(given) + len(task.scalars)
        exec(line, names)
        return [names[each] for each in outputs]

    def load_inline(name, cpp_sources, cuda_sources, functions):
        assert cpp_sources.count("(") == 1 and cpp_sources.endswith(");"), "only the declaration"
        assert "<<<" in cuda_sources and f" {functions[0]}(" in cuda_sources
        return types.SimpleNamespace(**{functions[0]: run})

    return load_inline


class SweepTest(TaskTest):
    def sweep(self, *arguments, code=0, **keywords):
        return json.loads(self.run_cli("sweep", *arguments, "--json", code=code, timeout=900, **keywords).out)

    def test_every_module_ends_as_it_should(self):
        summary = self.sweep(*LEVELS, *QUICK, "--export", "kernelbench", "--export", "torch", "--export", "host")
        rows = {row["key"]: row for row in summary["tasks"]}
        self.assertGreaterEqual(len(rows), 24)
        for key, row in rows.items():
            with self.subTest(key):
                self.assertEqual(DEFECTS.get(key), row["defects"][0] if row["defects"] else None, row)
                if "unstable" in row["defects"]:
                    self.assertEqual(row["status"], "refused", row)
                elif key in UNANSWERED:
                    self.assertEqual(row["status"], "nothing right", row)
                    self.assertIn(UNANSWERED[key], row["message"])
                else:
                    self.assertEqual(row["status"], "verified", row)
                    self.assertTrue(row["predicted"])
        self.check_summary(summary, rows)
        self.check_exports(rows)

    def check_summary(self, summary, rows):
        everything = [each for each in summary["summary"] if each["level"] == "all"]
        verified = [row for row in rows.values() if row["status"] == "verified"]
        tasks = {each["tasks"]: each for each in everything}
        self.assertEqual(tasks["all"]["tried"], len(rows))
        self.assertEqual(tasks["sound"]["tried"], len(rows) - len(DEFECTS))
        self.assertAlmostEqual(tasks["all"]["fast_p"]["0"], len(verified) / len(rows))
        ratios = [row["ratios"]["first right variant"]["speedup"] for row in verified]
        values = torch.tensor(ratios, dtype=torch.float64)
        self.assertAlmostEqual(tasks["all"]["mean"], values.mean().item(), places=5)
        self.assertAlmostEqual(tasks["all"]["geomean"], values.log().mean().exp().item(), places=5)
        for name, share in (("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("max", 1.0)):
            self.assertAlmostEqual(tasks["all"][name], torch.quantile(values, share).item(), places=5)
        self.assertEqual(tasks["all"]["faster"], int((values > 1.01).sum()))
        folder = self.work / "cudal1-sweep"
        self.assertIn("| baseline | level |", (folder / "summary.md").read_text())
        self.assertEqual((folder / "summary.svg").read_text().count("<circle"), len(verified))
        self.assertEqual(len((folder / "summary.csv").read_text().splitlines()), 1 + len(rows))

    def check_exports(self, rows):
        folder = self.work / "cudal1-sweep" / "export"
        for row in rows.values():
            if row["status"] != "verified":
                continue
            with self.subTest(f"export of {row['key']}"):
                level = folder / "kernelbench" / "runs" / f"level{row['level']}"
                text = (level / f"level_{row['level']}_problem_{row['id']}_sample_0_kernel.py").read_text()
                self.assertEqual(static_check(text), [])
                extension = types.SimpleNamespace(load_inline=line_evaluator(HERE / row["key"]))
                with mock.patch.dict(sys.modules, {"torch.utils.cpp_extension": extension}):
                    judged = judge((HERE / row["key"]).read_text(), text)
                # KernelBench casts integer targets as well, and then its own reference fails. It calls one module again and
                # again, so that its reference keeps its state; an answer starts afresh.
                expected = {"level1/16_Cross_entropy.py": None, "level3/4_Kept_state.py": False}.get(row["key"], True)
                self.assertEqual(judged["correct"], expected, judged["reason"])
                self.check_model(ast.parse(text), ast.parse((HERE / row["key"]).read_text()))
                results = json.loads((level / "eval_results.json").read_text())[str(row["id"])][0]
                self.assertTrue(results["correctness"])
                self.assertEqual(results["runtime"], -1.0, "a prediction is no runtime")
                ast.parse((folder / "torch" / f"{row['task']}.py").read_text())
        for key in ("level1/4_Swish.py", "level2/1_Linear_GELU_softmax.py"):   # what nvcc users get is right, by the program itself
            self.run_cli("verify", HERE / key, folder / "host" / f"{rows[key]['task']}.cu", "--device", "sim")
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not pathlib.Path(nvcc).exists():
            return
        for name in ("L1_4_Swish", "L2_1_Linear_GELU_softmax"):
            built = subprocess.run([nvcc, "-arch=sm_90", "-c", f"{name}.cu", "-o", "/dev/null"], cwd=folder / "host", capture_output=True, text=True)
            self.assertEqual(built.returncode, 0, built.stderr)
            self.assertIn(f"cudaError_t {name}(", (folder / "host" / f"{name}.h").read_text())

    def check_model(self, answer, task):
        """ModelNew has the reference's constructor and signatures, and no name of the task's own."""
        classes = {each.name: each for each in answer.body if isinstance(each, ast.ClassDef)}
        reference = next(each for each in task.body if isinstance(each, ast.ClassDef) and each.name == "Model")
        methods = {each.name: each for each in classes["ModelNew"].body if isinstance(each, ast.FunctionDef)}
        for method in (each for each in reference.body if isinstance(each, ast.FunctionDef)):
            self.assertEqual(ast.unparse(methods[method.name].args), ast.unparse(method.args))
        names = {target.id for each in task.body if isinstance(each, ast.Assign) for target in each.targets}
        own = {target.id for each in answer.body if isinstance(each, ast.Assign) for target in each.targets}
        self.assertFalse(names & own)

    def test_devices_are_dealt_out_to_the_tasks_at_a_time(self):
        two = ["--device", "sim,sim", "--rounds", "1", "--samples", "1", "--json"]
        alone = self.run_cli("sweep", HERE, "--match", "level1/1[04]_*", *two, code=8).json()
        self.assertEqual([row["status"] for row in alone["tasks"]], ["failed", "failed"])
        self.assertIn("is judged on one device; give --device sim, or in a sweep --jobs 2", alone["tasks"][0]["message"])
        dealt = self.run_cli("sweep", HERE, "--match", "level1/1[04]_*", *two, "--jobs", "2", "--out", "dealt").json()
        self.assertEqual([row["status"] for row in dealt["tasks"]], ["verified", "verified"])

    def test_a_killed_sweep_goes_on_and_shards_merge_to_the_same(self):
        tasks = (HERE, *QUICK, "--level", "1", "--match", "level1/[4-9]_*")   # quick ones
        whole = self.sweep(*tasks, "--out", "whole")
        process = self.start_cli("sweep", *tasks, "--out", "killed")
        journal = self.work / "killed" / "journal.jsonl"
        deadline = time.time() + 300
        while time.time() < deadline and not (journal.exists() and len(journal.read_text().splitlines()) > 2):
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        finished = len(journal.read_text().splitlines()) - 1
        self.assertLess(finished, len(whole["tasks"]), "the sweep ended before it was killed")
        resumed = self.sweep(*tasks, "--out", "killed", "--jobs", "2")
        self.assertEqual([outcome(row) for row in resumed["tasks"]], [outcome(row) for row in whole["tasks"]])
        self.assertEqual(resumed["summary"], whole["summary"])
        self.assertEqual(len(journal.read_text().splitlines()) - 1, len(whole["tasks"]), "no task ran twice")

        shards = []
        for index in range(4):
            variables = {"SLURM_ARRAY_TASK_ID": str(index + 10), "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_COUNT": "4"}
            self.run_cli("sweep", *tasks, "--out", "sharded", "--shard", "auto", env=variables)
            shards.append(self.work / "sharded" / f"shard-{index + 1}-of-4")
        merged = self.sweep("--merge", *shards)
        self.assertEqual([outcome(row) for row in merged["tasks"]], [outcome(row) for row in whole["tasks"]])
        self.assertEqual(merged["summary"], whole["summary"])
        self.assertEqual(merged["remarks"], [])
        self.assertIn("Shard 2/4 is missing.", self.sweep("--merge", shards[0], shards[2], shards[3])["remarks"])

    def test_no_task_begins_after_the_time_that_is_given(self):
        self.write("right", fixture.reply(fixture.FASTER))
        self.write("model", f"#!/bin/sh\nsleep 2\ncat {self.work}/right\n").chmod(0o755)
        for number in (1, 2):
            self.write(f"tasks/{number}_task.cu", fixture.TASK)
        command = ["sweep", "tasks", "--device", "sim", "--rounds", "1", "--samples", "1", "--model", f"cmd:{self.work}/model", "--json"]
        first = self.run_cli(*command, "--begin-within", "1", code=75)
        self.assertIn("no task began after 1 s (--begin-within)\nthe same command goes on", first.err)
        self.assertEqual([row["status"] for row in first.json()["tasks"]], ["verified"], "what began was ended")
        second = self.run_cli(*command, "--begin-within", "60")
        self.assertEqual([row["status"] for row in second.json()["tasks"]], ["verified"] * 2)
        self.assertEqual(second.err.count("] 1_task.cu"), 0, "no task ran twice")

    def test_an_interrupt_of_four_jobs_ends_within_ten_seconds_and_loses_nothing(self):
        """Two jobs in a forward that does not return, two in an execution that does not end."""
        hangs = "class Model(nn.Module):\n    def forward(self, x):\n        import pathlib, time\n        pathlib.Path({0!r}).touch()\n        time.sleep(600)"
        endless = fixture.FASTER.replace("int i =", "for (volatile int k = 0; k >= 0;) k = k + 1 & 255;\n  int i =")
        self.write("tasks/1_quick.cu", fixture.TASK)
        for number in (2, 3):
            self.module(hangs.format(str(self.work / f"at-{number}")), name=f"tasks/{number}_hangs.py")
        for number in (4, 5):
            self.write(f"tasks/{number}_spins.cu", fixture.TASK.replace("//@ task    add_one", "//@ task    spins"))
        self.write("right", fixture.reply(fixture.FASTER))
        self.write("endless", fixture.reply(endless))
        self.write("model", f"#!/bin/sh\ncase $(cat) in *spins*) touch at-$$; cat {self.work}/endless ;; *) cat {self.work}/right ;; esac\n").chmod(0o755)
        command = ["sweep", "tasks", "--device", "sim", "--rounds", "1", "--samples", "1", "--jobs", "4", "--run-limit", "900", "--model", f"cmd:{self.work}/model"]
        process = self.start_cli(*command)
        journal, at_work = self.work / "cudal1-sweep/journal.jsonl", 0
        deadline = time.time() + 240
        while time.time() < deadline and at_work < 5:
            time.sleep(0.1)
            runs = [self.work / f"cudal1-sweep/tasks/{number}_spins.cu/journal.jsonl" for number in (4, 5)]
            at_work = sum((self.work / f"at-{number}").exists() for number in (2, 3)) + sum(run.exists() and '"reply"' in run.read_text() for run in runs)
            at_work += journal.exists() and '"1_quick.cu","' in journal.read_text().partition("\n")[2]
        self.assertEqual(at_work, 5, "four jobs are at work and one task is done")
        row = journal.read_text().splitlines()[1]
        began = time.time()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertLess(time.time() - began, 10, err)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("stopping within 5 s", err)
        self.assertIn("1_quick.cu", out)
        self.assertIn("4 tasks are not finished", out)
        self.assertEqual(journal.read_text().splitlines()[1:], [row])
        for number in (2, 3):
            self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x + 1", name=f"tasks/{number}_hangs.py")
        self.write("endless", fixture.reply(fixture.WRONG))
        shutil.rmtree(self.work / "cudal1-sweep/tasks/4_spins.cu")
        shutil.rmtree(self.work / "cudal1-sweep/tasks/5_spins.cu")
        after = self.sweep(*command[1:])
        self.assertEqual(len(after["tasks"]), 5)
        self.assertEqual(journal.read_text().splitlines()[1], row, "what was done is not done again")

    def test_sweeps_that_are_not_one_are_kept_apart(self):
        self.write("tasks/add.cu", fixture.TASK)
        for seed in ("1", "2"):
            self.sweep("tasks", *QUICK, "--seed", seed, "--out", f"seed-{seed}")
        self.write("tasks/add.cu", fixture.TASK.replace("N = 64, M = 256", "N = 32, M = 256"))
        self.sweep("tasks", *QUICK, "--out", "smaller")
        merged = self.sweep("--merge", "seed-1", "seed-2", "smaller", "--out", "merged")
        names = ["seed 1, seed-1", "seed 1, smaller", "seed 2"]
        self.assertEqual([row["sweep"] for row in merged["tasks"]], names)
        self.assertEqual([(each["sweep"], each["tried"], each["scored"]) for each in merged["summary"] if each["tasks"] == "all"], [(name, 1, 1) for name in names])
        self.assertEqual([(each["model"], each["winners"]) for each in merged["by_model"]], [("builtin", 1)] * 3)
        self.assertGreater(len(merged["techniques"]), 0)
        with open(self.work / "merged/summary.csv", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([row["sweep"] for row in table], names)
        self.assertGreater(float(table[0]["reference"]), 1)
        self.assertGreater(float(table[0]["share_of_limit"]), 0)
        twice = self.sweep("--merge", "seed-1", "seed-1")
        self.assertEqual([each["tried"] for each in twice["summary"]], [1, 1])
        self.assertIn("1 task was measured twice, and the last row counts: add.cu.", twice["remarks"])

    def test_the_replies_of_a_sweep_are_given_again(self):
        for name, body in (("1_doubles", "x * 2"), ("2_sums", "x.sum(1)")):
            self.module(f"class Model(nn.Module):\n    def forward(self, x):\n        return {body}", name=f"tasks/level1/{name}.py")
        shutil.copy(HERE / "level3" / "3_LSTM_projections.py", self.work / "tasks" / "level1")
        first = self.sweep("tasks", *QUICK, "--out", "first")
        again = self.sweep("tasks", *QUICK, "--out", "again", "--model", "replay:first")
        self.assertEqual([row["status"] for row in first["tasks"]], ["verified", "verified", "nothing right"])
        self.assertEqual([outcome(row) for row in again["tasks"]], [outcome(row) for row in first["tasks"]])
        self.assertEqual(again["tasks"][2]["message"], "the earlier sweep had no reply for it")

    def test_a_task_that_waits_for_replies_is_asked_about_without_pytorch(self):
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2", name="tasks/doubles.py")
        command = ("sweep", "tasks", *QUICK, "--model", "exchange:desk", "--no-repair")
        self.says(self.run_cli(*command, "--python", PYTHON, code=75), "waits for its reply")
        prompt = self.work / "desk/doubles.py/r01-s01.prompt.md"
        text = prompt.read_text()
        prompt.unlink()
        nothing = self.write("nothing.sh", "#!/bin/sh\nexit 1\n")
        nothing.chmod(0o755)
        self.says(self.run_cli(*command, "--python", nothing, code=75), "waits for its reply")
        self.assertEqual(prompt.read_text(), text)
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x * 3", name="tasks/doubles.py")   # another task: it is opened
        self.says(self.run_cli(*command, "--python", nothing, code=8), "doubles.py: failed")
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2", name="tasks/doubles.py")
        (prompt.parent / "r01-s01.refused.md").write_text("no")   # nothing to judge, but the end needs the task
        self.says(self.run_cli(*command, "--python", PYTHON), "no answer is right")

    def test_each_baseline_of_an_answer_has_its_ratio(self):
        """A GPU times them; here the run's journal tells of it, and the sweep is gone on with."""
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2", name="tasks/doubles.py")
        self.sweep("tasks", *QUICK)
        folder = self.work / "cudal1-sweep"
        run = next(folder.glob("tasks/*/journal.jsonl"))
        events = [json.loads(line) for line in run.read_text().splitlines()]
        judgement = next(each for each in events if each["event"] == "confirmation")["judgement"]
        eager, graph = {"name": "eager", "speedup": {"value": 2.0, "low": 1.9, "high": 2.1}, "failed": ""}, {"name": "graph", "speedup": None, "failed": "no memory"}
        judgement["baselines"] = [dict(each, time_ms=1.0, prepare_seconds=0.0) for each in (eager, graph)]
        run.write_text("".join(json.dumps(each) + "\n" for each in events))
        journal = folder / "journal.jsonl"
        journal.write_text(journal.read_text().splitlines(True)[0])
        summary = self.sweep("tasks", *QUICK)
        self.assertEqual(summary["tasks"][0]["ratios"], {"eager": {"speedup": 2.0, "low": 1.9, "high": 2.1}, "graph": {"failed": "no memory"}})
        scored = {each["baseline"]: (each["tried"], each["scored"], each["max"]) for each in summary["summary"] if each["tasks"] == "all"}
        self.assertEqual((scored["eager"], scored["graph"]), ((1, 1, 2.0), (1, 0, 0)))

    def test_a_broken_task_ends_nothing(self):
        self.write("tasks/add.cu", fixture.TASK)
        self.write("tasks/broken.cu", "//@ task broken\n//@ launch k<<<1, 1>>>()\n")
        self.write("tasks/notes.py", "print('no task')\n")
        model = "class Model(nn.Module):\n    def forward(self, x):\n        {0}"
        self.module(model.format("import os; os._exit(3)"), name="tasks/a_exits.py")
        self.module(model.format("return x +"), name="tasks/b_no_python.py")
        self.module(model.format("return x * 2"), name="tasks/c_doubles.py")
        result = self.run_cli("sweep", "tasks", *QUICK, "--json", code=8)
        rows = {row["key"]: row for row in result.json()["tasks"]}
        self.assertEqual({key: row["status"] for key, row in rows.items()},
                         {"a_exits.py": "failed", "add.cu": "verified", "b_no_python.py": "failed", "broken.cu": "failed", "c_doubles.py": "verified"})
        self.assertGreater(rows["add.cu"]["ratios"]["reference"]["speedup"], 1)
        self.assertIn("broken.cu", rows["broken.cu"]["message"])
        self.assertIn("ended", rows["a_exits.py"]["message"])
        self.assertRegex(result.err, r"\[4/5\] .*about \d+ s left; \$0\.00\)")

    def test_a_module_that_hangs_is_left_after_the_time_limit(self):
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        while True:\n            pass", name="tasks/a_hangs.py")
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2", name="tasks/b_doubles.py")
        began = time.time()
        hangs, doubles = self.sweep("tasks", *QUICK, "--time-limit", "10", code=8)["tasks"]
        self.assertLess(time.time() - began, 120)
        self.assertEqual((hangs["status"], doubles["status"]), ("failed", "verified"))
        self.assertIn("gave no answer in 10 s", hangs["message"])

    def test_a_task_that_failed_is_tried_again(self):
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2", name="tasks/doubles.py")
        self.assertEqual(self.sweep("tasks", *QUICK, code=8, env={"CUDAL1_PYTHON": "/bin/false"})["tasks"][0]["status"], "failed")
        self.assertEqual(self.sweep("tasks", *QUICK)["tasks"][0]["status"], "verified")

    def test_a_degenerate_kernel_file_counts_apart(self):
        self.write("tasks/zero.cu", fixture.TASK.replace("A + 1", "A * 0").replace("A[row * M + column] + 1.0f", "A[row * M + column] * 0.0f"))
        row = self.sweep("tasks", *QUICK)["tasks"][0]
        self.assertEqual(row["defects"], ["TASK_DEGENERATE"])
        self.assertNotIn("FASTER", row["verdict"])

    def test_tasks_come_in_the_order_asked_for(self):
        for name in ("1_b.cu", "2_a.cu", "10_c.cu"):
            self.write(f"tasks/{name}", "//@ task broken\n")

        def order(*arguments):
            result = self.run_cli("sweep", "tasks", *QUICK, "--out", "-".join(arguments), *arguments, code=8)
            return re.findall(r"^\[\d/3\] (\S+):", result.err, re.M)

        self.assertEqual(order("--order", "id"), ["1_b.cu", "2_a.cu", "10_c.cu"])
        self.assertEqual(order("--order", "name"), ["10_c.cu", "1_b.cu", "2_a.cu"])
        self.assertEqual(order("--order", "random", "--seed", "1"), order("--order", "random", "--seed", "1", "--format", "csv"))

    def test_a_task_has_its_own_budget(self):
        for name in ("a", "b"):
            self.write(f"tasks/{name}.cu", fixture.TASK)
        self.write("model", "#!/bin/sh\nsleep 1\necho no code\n").chmod(0o755)
        rows = self.sweep("tasks", "--device", "sim", "--rounds", "60", "--samples", "1", "--model", f"cmd:{self.work}/model", "--time-limit", "3")["tasks"]
        self.assertEqual([row["status"] for row in rows], ["nothing right", "nothing right"])
        for row in rows:
            self.assertLess(row["answers"], 60)

    def test_selections_and_shards_that_are_none_are_refused(self):
        self.refuses("sweep", HERE, "--id", "3-1", code=2, says=["--id 3-1"])
        self.refuses("sweep", HERE, "--match", "level9/*", code=10, says=["no task"])
        self.refuses("sweep", HERE, "--shard", "5/4", code=2, says=["I from 1 to N"])
        self.refuses("sweep", HERE, "--shard", "auto", code=2, says=["CUDAL1_SHARDS"], env={"JOB_COMPLETION_INDEX": "0"})
        self.sweep("--device", "sim", HERE / "level1" / "4_Swish.py", "--rounds", "1", "--samples", "1", "--out", "one")
        self.refuses("sweep", HERE / "level1" / "4_Swish.py", *QUICK, "--seed", "2", "--out", "one", code=2,
                     says=["another sweep", "its options had seed 1 then, not seed 2;", "--out"])

    def test_a_task_takes_the_constants_that_it_has(self):
        self.write("tasks/add.cu", fixture.TASK)
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x * 2\nrows: int = 4\n", "return [torch.rand(rows, 8)]", name="tasks/doubles.py")
        result = self.run_cli("sweep", "tasks", *QUICK, "--set", "rows=16", "--set", "N=40", "--export", "torch", "--json", timeout=300)
        self.assertEqual([row["status"] for row in result.json()["tasks"]], ["verified", "verified"])
        self.assertIn("--set rows reaches 1 of 2 tasks", result.err)
        self.assertIn("x: float32[16, 8]", (self.work / "cudal1-sweep/tasks/doubles.py/task.cu").read_text())
        self.refuses("sweep", "tasks", *QUICK, "--set", "row=16", "--out", "other", code=2, says=["--set row", "none of the 2 tasks"])

    def test_what_is_no_answer_to_show_has_no_table(self):
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x.nothing", name="tasks/1_fails.py")
        self.module("class Model(nn.Module):\n    def forward(self, x):\n        return x +", name="tasks/2_fails.py")
        python = self.write("python", f"#!/bin/sh\necho started >>{self.work}/starts\nexec {PYTHON} \"$@\"\n")
        python.chmod(0o755)
        result = self.run_cli("sweep", "tasks", *QUICK, "--shard", "auto", "--python", python, code=8)
        self.assertEqual((self.work / "starts").read_text(), "started\n", "PyTorch stays from task to task")
        self.assertIn("2 tasks on sim:H200 with builtin: 0 verified, 2 failed; 0 are sound measures.", result.out)
        self.assertNotIn("geomean", result.out)
        self.assertIn("shard 1/1 (nothing that names a shard is set)", result.err)


if __name__ == "__main__":
    unittest.main()
