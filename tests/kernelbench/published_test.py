# SPDX-License-Identifier: Apache-2.0
"""`verify task.py answer.py`: each answer of answers/ gets the verdict that it deserves. What the CPU shows runs everywhere,
all of them on a GPU, with a table."""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from tasks import HERE, TaskTest
import torch

SWISH, PRODUCT = "level1/4_Swish.py", "level1/1_Matrix_product.py"
RIGHT = {"FASTER", "EQUIVALENT", "INCONCLUSIVE", "SLOWER"}
# Answer, task, the verdicts that it may get on a GPU, and what the message says.
ANSWERS = [
    ("plain.py", SWISH, {"FASTER"}, "x eager"),
    ("inline_cuda.py", SWISH, {"FASTER"}, "x eager"),
    ("joined_stream.py", SWISH, {"FASTER"}, "x eager"),
    ("kept_output.py", SWISH, RIGHT, "its outputs lie in the memory of its earlier outputs"),
    ("overwritten_input.py", SWISH, RIGHT, "it writes to its inputs"),
    ("flags.py", SWISH, RIGHT, "it sets cuda.matmul.allow_tf32 to True"),
    ("tf32_product.py", PRODUCT, {"WRONG_RESULT"}, "larger than rounding explains"),
    ("half_precision.py", SWISH, {"WRONG_RESULT"}, "larger than rounding explains"),
    ("previous_output.py", SWISH, {"WRONG_RESULT"}, "output"),
    ("cached_by_address.py", SWISH, {"WRONG_RESULT"}, "output"),
    ("cached_by_version.py", SWISH, RIGHT, "x eager"),   # every call that is timed has other values
    ("unwritten_output.py", SWISH, {"WRONG_RESULT"}, "output"),
    ("late_thread.py", SWISH, {"WRONG_RESULT"}, "output"),
    ("tensor_subclass.py", SWISH, {"WRONG_RESULT"}, "a Later, not a plain tensor"),
    ("side_stream.py", SWISH, {"IMPLAUSIBLE", "WRONG_RESULT"}, "t"),   # seen to work on, or its outputs seen too early
    ("patched_synchronize.py", SWISH, {"TAMPERED"}, "it replaces torch.cuda.synchronize"),
    ("patched_event.py", SWISH, {"TAMPERED"}, "it replaces torch.cuda.Event.elapsed_time"),
    ("fails_later.py", SWISH, {"RUNTIME_FAILED"}, "tired"),
    ("writes_files.py", SWISH, {"RUNTIME_FAILED"}, "Permission denied"),
    ("network.py", SWISH, {"RUNTIME_FAILED"}, "Operation not permitted"),
]
SIZES = {SWISH: ("batch_size=4096", "dim=4096"), PRODUCT: ("M=2048", "K=2048", "N=2048")}


class PublishedTest(TaskTest):
    def verified(self, name, task, *options):
        ran = subprocess.run([os.environ["CUDAL1_TEST_BINARY"], "verify", str(HERE / task), str(HERE / "answers" / name), "--json", *options],
                             cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=1200)
        self.assertTrue(ran.stdout, ran.stderr)
        judgement = json.loads(ran.stdout)["variants"][0]["judgement"]
        self.assertEqual(ran.returncode, 0 if judgement["verdict"] in RIGHT else 6, ran.stderr)
        return judgement

    def test_right_wrong_and_tampered_on_the_cpu(self):
        wanted = {"plain.py": ("INCONCLUSIVE", "right; times need a GPU"), "cached_by_address.py": ("WRONG_RESULT", "output["),
                  "patched_event.py": ("TAMPERED", "it replaces torch.cuda.Event.elapsed_time"), "fails_later.py": ("RUNTIME_FAILED", "ValueError: tired")}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            judgements = dict(zip(wanted, pool.map(lambda name: self.verified(name, SWISH, "--device", "sim"), wanted)))
        for name, (verdict, message) in wanted.items():
            with self.subTest(name):
                self.assertEqual(judgements[name]["verdict"], verdict, judgements[name])
                self.assertIn(message, judgements[name]["message"])

    def test_an_answer_to_a_module_that_keeps_state_starts_afresh_for_every_call(self):
        task = "level3/4_Kept_state.py"
        answer = self.write("kept.py", (HERE / task).read_text().replace("Model", "ModelNew"))
        self.assertTrue(self.verified(answer, task, "--device", "sim")["message"].startswith("right; times need a GPU"))

    def test_a_killed_program_leaves_nothing_for_long(self):
        with tempfile.TemporaryDirectory() as folder:
            self.environment["TMPDIR"] = folder
            text = "import time\ntime.sleep(60)\n"
            process = subprocess.Popen([os.environ["CUDAL1_TEST_BINARY"], "verify", str(HERE / SWISH), str(self.write("slow.py", text)), "--device", "sim"],
                                       cwd=self.work, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(600):
                if any(pathlib.Path(folder).iterdir()):
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGKILL)
            process.wait()
            left = [each.name for each in pathlib.Path(folder).iterdir()]
            self.assertEqual(len(left), 1, left)
            self.verified("plain.py", SWISH, "--device", "sim")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    @unittest.skipUnless(torch.cuda.is_available(), "PyTorch finds no GPU")
    def test_each_has_its_verdict_on_a_gpu(self):
        rejected = [each for each in ANSWERS if not each[2] & RIGHT]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:   # what is timed is timed alone
            judgements = dict(zip((each[0] for each in rejected), pool.map(self.on_gpu, rejected)))
        for each in ANSWERS:
            name, _, verdicts, message = each
            with self.subTest(name):
                judgement = judgements.get(name) or self.on_gpu(each)
                steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in judgement["step_seconds"].items())
                print(f"| {name} | {judgement['verdict']} | {judgement['message']} | {steps} |", file=sys.stderr, flush=True)
                self.assertIn(judgement["verdict"], verdicts, judgement)
                self.assertIn(message, judgement["message"])

    def on_gpu(self, each):
        name, task, *_ = each
        options = [argument for size in SIZES[task] for argument in ("--set", size)]
        return self.verified(name, task, *options, "--device", "cuda:0", "--baseline", "eager")


if __name__ == "__main__":
    unittest.main()
