# SPDX-License-Identifier: Apache-2.0
"""A sweep over the modules of this folder on the simulator with the built-in model: what becomes of each, resuming,
shards, and the exports by KernelBench's rules."""

import ast
import json
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from tasks import HERE, TaskTest
import fixture

QUICK = ("--device", "sim", "--rounds", "1", "--samples", "1")
DEFECTS = {"level1/5_ReLU.py": "range identity", "level1/20_Constant.py": "zero", "level2/5_Linear_dropout.py": "unstable",
           "level2/7_Conv3d_GroupNorm_mean.py": "zero", "level3/4_Kept_state.py": "stateful"}
# The built-in model answers what has a torch line of functions that it knows.
UNANSWERED = {"level3/3_GRU.py", "level3/5_Vision_attention.py"}


def outcome(row):
    """What must not depend on when and where a task ran."""
    return {name: row[name] for name in ("key", "status", "verdict", "ratios", "defects", "answers", "right")}


def static_check(code):
    """KernelBench's static checker for CUDA answers, by its rules: comments cut from # and // to the end of the line."""
    code = "\n".join(re.split(r"#|//", line)[0] for line in code.split("\n"))
    errors = [pattern for pattern in (r"\btry\s*:", r"\bexcept\s*:", r"\bexcept\s+\w+", r"\bpass\b", r"\bthreading\b",
                                      r"\bmultiprocessing\b", r"\bconcurrent\.futures\b", r"cuda\.Event\.\w+\s*=", r"time\.\w+\s*=[^=]",
                                      r"_make_subclass|__torch_dispatch__|__torch_function__") if re.search(pattern, code)]
    if "__global__" not in code:
        errors.append("no __global__")
    if "load_inline" not in code and "cpp_extension" not in code:
        errors.append("no load_inline")
    if not re.search(r"\b(threadIdx|blockIdx|blockDim|gridDim)\.", code):
        errors.append("no thread index")
    return errors


class SweepTest(TaskTest):
    def sweep(self, *arguments, code=0, **keywords):
        return json.loads(self.run_cli("sweep", *arguments, "--json", code=code, timeout=900, **keywords).out)

    def test_every_module_ends_as_it_should(self):
        summary = self.sweep(HERE, *QUICK, "--export", "kernelbench", "--export", "torch", "--export", "host")
        rows = {row["key"]: row for row in summary["tasks"]}
        self.assertGreaterEqual(len(rows), 24)
        for key, row in rows.items():
            with self.subTest(key):
                self.assertEqual(DEFECTS.get(key), row["defects"][0] if row["defects"] else None, row)
                if "unstable" in row["defects"]:
                    self.assertEqual(row["status"], "refused", row)
                elif key in UNANSWERED:
                    self.assertEqual(row["status"], "nothing right", row)
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
        import torch
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
                self.check_model(ast.parse(text), ast.parse((HERE / row["key"]).read_text()))
                results = json.loads((level / "eval_results.json").read_text())[str(row["id"])][0]
                self.assertTrue(results["correctness"])
                self.assertEqual(results["runtime"], -1.0, "a prediction is no runtime")
                ast.parse((folder / "torch" / f"{row['task']}.py").read_text())
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

    def test_a_killed_sweep_goes_on_and_shards_merge_to_the_same(self):
        whole = self.sweep(HERE, *QUICK, "--level", "2", "--out", "whole")
        process = self.start_cli("sweep", HERE, *QUICK, "--level", "2", "--out", "killed")
        journal = self.work / "killed" / "journal.jsonl"
        deadline = time.time() + 300
        while time.time() < deadline and not (journal.exists() and len(journal.read_text().splitlines()) > 2):
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        finished = len(journal.read_text().splitlines()) - 1
        self.assertLess(finished, len(whole["tasks"]), "the sweep ended before it was killed")
        resumed = self.sweep(HERE, *QUICK, "--level", "2", "--out", "killed")
        self.assertEqual([outcome(row) for row in resumed["tasks"]], [outcome(row) for row in whole["tasks"]])
        self.assertEqual(len(journal.read_text().splitlines()) - 1, len(whole["tasks"]), "no task ran twice")

        shards = []
        for index in range(4):
            variables = {"SLURM_ARRAY_TASK_ID": str(index + 10), "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_COUNT": "4"}
            self.run_cli("sweep", HERE, *QUICK, "--level", "2", "--out", "sharded", "--shard", "auto", env=variables)
            shards.append(self.work / "sharded" / f"shard-{index + 1}-of-4")
        merged = self.sweep("--merge", *shards)
        self.assertEqual([outcome(row) for row in merged["tasks"]], [outcome(row) for row in whole["tasks"]])
        self.assertEqual(merged["remarks"], [])
        self.assertIn("Shard 2/4 is missing.", self.sweep("--merge", shards[0], shards[2], shards[3])["remarks"])

    def test_kernel_files_sweep_too_and_a_broken_one_ends_nothing(self):
        self.write("tasks/add.cu", fixture.TASK)
        self.write("tasks/broken.cu", "//@ task broken\n//@ launch k<<<1, 1>>>()\n")
        self.write("tasks/notes.py", "print('no task')\n")
        summary = self.sweep("tasks", *QUICK, code=8)
        rows = {row["key"]: row for row in summary["tasks"]}
        self.assertEqual(set(rows), {"add.cu", "broken.cu"})
        self.assertGreater(rows["add.cu"]["ratios"]["reference"]["speedup"], 1)
        self.assertEqual(rows["broken.cu"]["status"], "failed")
        self.assertIn("broken.cu", rows["broken.cu"]["message"])

    def test_selections_and_shards_that_are_none_are_refused(self):
        self.refuses("sweep", HERE, "--id", "3-1", code=2, says=["--id 3-1"])
        self.refuses("sweep", HERE, "--match", "level9/*", code=6, says=["no task"])
        self.refuses("sweep", HERE, "--shard", "5/4", code=2, says=["I from 1 to N"])
        self.refuses("sweep", HERE, "--shard", "auto", code=2, says=["CUDAL1_SHARDS"], env={"JOB_COMPLETION_INDEX": "0"})
        self.sweep("--device", "sim", HERE / "level1" / "4_Swish.py", "--rounds", "1", "--samples", "1", "--out", "one")
        self.refuses("sweep", HERE / "level1" / "4_Swish.py", *QUICK, "--seed", "2", "--out", "one", code=2, says=["another sweep", "--out"])


if __name__ == "__main__":
    unittest.main()
