# SPDX-License-Identifier: Apache-2.0
"""The two Python programs by themselves, on the CPU: trials in memory that another process lends, and somebody's ModelNew in
a process of its own."""

import ast
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from rule import numbers, within
from tasks import HERE

PROGRAMS = HERE.parent.parent / "lib" / "pytorch"
FIRST_MEMORY = 6   # the descriptor after the channel, the filter and the gate
SWISH = HERE / "level1" / "4_Swish.py"
NEW = "import torch\nimport torch.nn as nn\n{1}\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        {0}\n"


def is_right(found):
    return all(within(each) for each in found["outputs"])


def wrong_one(found):
    return next(each for each in found["outputs"] if not within(each))


class Program:
    def __init__(self, name):
        self.channel, theirs = socket.socketpair()

        def place():
            os.dup2(theirs.fileno(), 3)

        self.process = subprocess.Popen(self.command(name), preexec_fn=place, pass_fds=(3,), process_group=0 if sys.version_info >= (3, 11) else None,
                                        env=dict(os.environ, OMP_NUM_THREADS="1"))
        theirs.close()

    @staticmethod
    def command(name):
        return [sys.executable, "-u", str(PROGRAMS / name)]

    def ask(self, do, **values):
        text = json.dumps(dict(values, do=do)).encode()
        self.channel.sendall(struct.pack("<Q", len(text)) + text)
        size = struct.unpack("<Q", self.exactly(8))[0]
        return json.loads(self.exactly(size))

    def exactly(self, count):
        parts = b""
        while len(parts) < count:
            part = self.channel.recv(count - len(parts))
            if not part:
                raise EOFError("the program ended")
            parts += part
        return parts

    def close(self):
        self.channel.close()
        self.process.wait(20)


class Confined(Program):
    """The program that runs an answer, started as `verify` starts it. `places`: memory of the host's, told as descriptors."""

    def __init__(self, folder, task, places):
        super().__init__("answer")
        gate = os.memfd_create("gate")
        os.ftruncate(gate, 4096)
        paths = [f"/proc/{os.getpid()}/fd/{gate}"] + sorted({place.pop("path") for place in places if place.setdefault("descriptor", FIRST_MEMORY)})
        self.told = self.ask(None, python=sys.executable, program=str(PROGRAMS / "answer_host.py"), folder=folder, task=str(task), memory=paths,
                             namespaces=True, own_processes=True, local_sockets=False, unconfined=False)
        os.close(gate)

    @staticmethod
    def command(name):
        return [os.environ["CUDAL1_TEST_BINARY"], "worker", name]


class AnswerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host = Program("host.py")
        cls.host.ask("hello", device="cpu", threads=0, rule=numbers())

    @classmethod
    def tearDownClass(cls):
        cls.host.close()

    def open(self, path):
        opened = self.host.ask("open", path=str(path), source=path.read_text(), set={}, limit=0)
        self.assertIn("digest", opened, opened)
        return dict(self.host.ask("offer"), path=str(path), source=path.read_text(), set={})

    def answer(self, task, text):
        offered = self.open(task)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = Confined(folder.name, task, offered["places"] + [each["place"] for each in offered["state"]])
        self.assertIn("Landlock", program.told.get("means", ""), program.told)
        self.addCleanup(program.close)
        program.ask("hello", device="cpu", folder=folder.name)
        self.assertEqual(program.ask("task", afresh=False, **offered), {})
        return program, program.ask("load", path="answer.py", source=text, unconfined=False)

    def judged(self, task, text, pattern="normal", weights=42):
        """What the answer says of itself, and what the host finds in the memory."""
        program, loaded = self.answer(task, text)
        self.assertIn("notes", loaded, loaded)
        return self.called(program, {"seed": 9, "pattern": pattern} | ({"weights": weights} if weights != 42 else {}))

    def called(self, program, trial):
        self.host.ask("fill", set=0, trial=trial)
        said = program.ask("run", weights=trial.get("weights", 42))
        return said, self.host.ask("compare", set=0, trial=trial)

    def called_twice(self, name):
        """Of an answer in a file: both times with fresh inputs at the same addresses."""
        path = HERE / "answers" / name
        program, loaded = self.answer(SWISH, path.read_text())
        self.assertIn("notes", loaded, loaded)
        return [self.called(program, {"seed": seed, "pattern": "normal"}) for seed in (9, 10)]

    def test_a_right_answer_is_right(self):
        said, found = self.judged(SWISH, NEW.format("return x / (1 + torch.exp(-x))", ""), "declared")
        self.assertEqual(said, {"notes": [], "tampered": ""})
        self.assertTrue(is_right(found), found)
        self.assertLess(float(found["outputs"][0]["kernelbench_tolerance"]), 1e-4)

    def test_the_first_wrong_element_is_named(self):
        said, found = self.judged(SWISH, NEW.format("y = x * torch.sigmoid(x); y[2, 3] = 0.5; return y", ""))
        self.assertFalse(is_right(found))
        self.assertEqual(found["outputs"][0]["first"]["index"], [2, 3])
        self.assertEqual(float(found["outputs"][0]["first"]["got"]), 0.5)

    def test_one_wrong_row_does_not_vanish_in_the_whole(self):
        said, found = self.judged(HERE / "level1" / "6_Softmax.py", NEW.format("y = torch.softmax(x, 1); y[5] *= 1.0001; return y", ""))
        self.assertFalse(is_right(found), found)

    def test_half_precision_in_between_is_wrong_although_kernelbench_takes_it(self):
        said, found = self.judged(SWISH, NEW.format("return x * torch.sigmoid(x.bfloat16()).float()", ""), "declared")
        self.assertFalse(is_right(found))
        self.assertLess(float(found["outputs"][0]["kernelbench_tolerance"]), 1e-2)

    def test_nan_is_no_wildcard(self):
        said, found = self.judged(SWISH, NEW.format("return x * float('nan')", ""))
        self.assertIn("NaN where a number", found["outputs"][0]["why"])

    def test_an_index_of_an_equal_element_is_right(self):
        argmax = HERE / "level1" / "11_Argmax.py"
        said, found = self.judged(argmax, NEW.format("return x.shape[1] - 1 - torch.argmax(x.flip(1), 1)", ""), "integers")
        self.assertTrue(is_right(found), found)
        said, found = self.judged(argmax, NEW.format("return torch.argmin(x, 1)", ""), "normal")
        self.assertFalse(is_right(found))

    def test_weights_of_another_seed_are_made_alike(self):
        task = HERE / "level1" / "12_Conv2d.py"
        text = task.read_text().replace("class Model(", "class ModelNew(").replace("super(Model, ", "super(ModelNew, ")
        said, found = self.judged(task, text, "normal", 7)
        self.assertTrue(is_right(found), found)

    def test_weights_that_are_given_reach_an_answer_that_has_the_same(self):
        task = HERE / "level1" / "7_LayerNorm.py"
        text = task.read_text().replace("class Model(", "class ModelNew(").replace("super(Model, ", "super(ModelNew, ")
        trial = {"seed": 9, "pattern": "declared", "weights": 7, "unsettled": True}
        extra, ignored = "super().__init__(); self.more = nn.Parameter(torch.zeros(3))", "return nn.functional.layer_norm(x, self.ln.normalized_shape)"
        for old, new, takes, right in [("", "", True, True), ("super().__init__()", extra, False, None), ("return self.ln(x)", ignored, True, False)]:
            with self.subTest(new):
                program, loaded = self.answer(task, text.replace(old, new) if old else text)
                self.assertIn("notes", loaded, loaded)
                self.assertEqual(program.ask("takes_weights", weights=7)["takes_weights"], takes)
                if not takes:
                    continue
                self.host.ask("make_ready", trial=trial)
                self.host.ask("show")
                self.assertIn("notes", program.ask("run", weights=7, given=True))
                self.host.ask("take")
                self.assertEqual(is_right(self.host.ask("compare", set=1, trial=trial)), right)

    def test_outputs_are_judged_as_they_were_taken(self):
        program, _ = self.answer(SWISH, NEW.format("return x * torch.sigmoid(x)", ""))
        first, second = {"seed": 9, "pattern": "normal"}, {"seed": 10, "pattern": "normal"}
        self.host.ask("make_ready", trial=first)
        self.host.ask("show")
        program.ask("run", weights=42)
        self.host.ask("take")
        self.assertTrue(self.host.ask("resembles")["alike"])
        self.host.ask("make_ready", trial=second)
        self.assertFalse(self.host.ask("resembles")["alike"])
        self.host.ask("show")
        program.ask("run", weights=42)   # other outputs, that are not taken
        self.assertTrue(is_right(self.host.ask("compare", set=1, trial=first)))
        self.assertFalse(is_right(self.host.ask("compare", set=1, trial=second)))

    def test_what_it_does_besides_is_said(self):
        said, found = self.judged(SWISH, NEW.format("y = x * torch.sigmoid(x); x.zero_(); return y", "torch.backends.cudnn.benchmark = True"))
        self.assertEqual(said["notes"], ["it sets cudnn.benchmark to True", "it writes to its inputs"])
        self.assertTrue(is_right(found), "the reference has inputs of its own")

    def test_an_output_that_is_no_plain_tensor_is_named(self):
        cases = [("x.as_subclass(Lazy)", "a Lazy, not a plain tensor"), ("x.double()", "is float64"), ("[x, x]", "2 outputs instead of 1"),
                 ("x[:1]", "[1, 256], expected float32[16, 256]"), ("1.0", "is a float")]
        text = NEW.format("return next(self.all)(x)", "class Lazy(torch.Tensor):\n    pass")
        program, _ = self.answer(SWISH, text + f"    all = iter([{', '.join(f'lambda x: {code}' for code, _ in cases)}])\n")
        for code, wanted in cases:
            with self.subTest(code):
                self.assertIn(wanted, program.ask("run", weights=42).get("wrong", ""))

    def test_what_an_earlier_call_gave_is_wrong(self):
        for name in ("previous_output.py", "cached_by_address.py", "unwritten_output.py"):
            with self.subTest(name):
                (_, first), (_, second) = self.called_twice(name)
                self.assertTrue(is_right(first), first)
                self.assertFalse(is_right(second), second)

    def test_what_a_thread_writes_later_is_wrong(self):
        said, found = self.judged(SWISH, (HERE / "answers" / "late_thread.py").read_text())
        self.assertFalse(is_right(found))

    def test_memory_that_is_used_again_is_said(self):
        for name, note in [("plain.py", []), ("kept_output.py", ["its outputs lie in the memory of its earlier outputs"]),
                           ("overwritten_input.py", ["output lies in the memory of an input", "it writes to its inputs"])]:
            with self.subTest(name):
                _, (said, found) = self.called_twice(name)
                self.assertEqual(said["notes"], note)
                self.assertTrue(is_right(found), found)

    def test_a_change_to_what_judges_it_is_named(self):
        changes = ["torch.cuda.synchronize = lambda *a: None", "import time; time.monotonic = lambda: 0.0",
                   "torch.cuda.Event.elapsed_time = lambda a, b: 1e-3", "torch.equal = lambda a, b: True",
                   "import sys; sys.modules['__main__'].Answer.take = lambda *a: ''"]
        said, _ = self.judged(SWISH, NEW.format("return x * torch.sigmoid(x)", "\n".join(changes)))
        self.assertEqual(said["tampered"], "it replaces torch.cuda.synchronize, time.monotonic, torch.cuda.Event.elapsed_time, torch.equal, the program.take "
                         "in the process that judges it")

    def test_it_has_no_network_and_writes_to_its_own_folder_only(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        target, other = pathlib.Path(folder.name) / "made", pathlib.Path(folder.name) / "somebody's"
        other.write_text("x")
        tries = [("socket.create_connection(('127.0.0.1', 9))", "Operation not permitted"),
                 ("socket.socket(socket.AF_UNIX)", "Operation not permitted"),
                 (f"open('{target}', 'w')", "Permission denied"), (f"os.remove({str(other)!r})", "Permission denied"),
                 ("open('/dev/tty', 'w')", "Permission denied"), ("tempfile.TemporaryFile().write(b'x')", "")]
        lines = ["import os, socket, tempfile", "said = []"]
        for call, _ in tries:
            lines += ["try:", f"    {call}", "    said.append('')", "except OSError as error:", "    said.append(str(error))"]
        _, loaded = self.answer(SWISH, NEW.format("return x", "\n".join([*lines, "raise ValueError(repr(said))"])))
        said = ast.literal_eval(re.search(r"\[.*\]", loaded["refused"]).group())
        for (call, wanted), message in zip(tries, said):
            with self.subTest(call):
                self.assertIn(wanted, message)
                self.assertEqual(bool(wanted), bool(message))
        self.assertFalse(target.exists())

    def test_a_text_without_modelnew_and_one_that_fails_are_named(self):
        self.assertIn("no class ModelNew", self.answer(SWISH, "x = 1")[1]["refused"])
        self.assertIn("ZeroDivisionError", self.answer(SWISH, "1 / 0")[1]["refused"])


class SlicesTest(unittest.TestCase):
    """Large tasks: the truth on secret slices, PyTorch's own output elsewhere."""

    def setUp(self):
        sys.path.insert(0, str(PROGRAMS))
        import torch
        import comparison
        from lent_cases import LentCases
        from task_cases import Cases
        from task_module import TaskModule, outline

        path = HERE / "level1" / "6_Softmax.py"
        comparison.rule.update(numbers())
        task = TaskModule(str(path), path.read_text(), {}, "cpu")
        cases = Cases(task)
        for index, value in enumerate(cases.reference(cases.model({}), task.make_inputs(42))):
            task.outputs.append({"name": f"output{index}", "tensor": outline(value)})
        self.lent, self.torch = LentCases(cases), torch
        self.lent.small = False
        self.lent.offer()
        self.addCleanup(self.lent.forget)
        self.trial = {"seed": 3, "pattern": "normal"}
        self.lent.fill(0, self.trial)

    def compared(self, change):
        inputs, output = self.lent.sets[0][0], self.lent.sets[0][-1]
        output.copy_(self.torch.softmax(inputs, 1))
        change(output)
        return self.lent.compare(0, self.trial)

    def test_the_truth_is_taken_on_slices_and_the_rest_is_compared_with_pytorch(self):
        found = self.compared(lambda output: None)
        self.assertTrue(is_right(found), found)
        self.assertIn("secret slices", found["precision"])

    def test_an_error_anywhere_is_found(self):
        for row in range(self.lent.sets[0][-1].shape[0]):
            found = self.compared(lambda output: output[row, 5].mul_(1.01))
            self.assertFalse(is_right(found), row)
            self.assertEqual(wrong_one(found)["first"]["index"], [row, 5])

    def test_the_truth_of_the_rows_that_differ_most_decides(self):
        for factor, right in ((1, True), (1.01, False)):
            found = self.compared(lambda output: output[7, 5].mul_(factor))
            self.assertEqual([each.get("doubted") for each in found["outputs"]], [None, 0])
            closer = self.lent.look_closer(0, self.trial, 0)["output"]
            self.assertEqual(within(closer), right)
            self.assertEqual(closer["name"], "output0")
            if not right:
                self.assertEqual(closer["first"]["index"], [7, 5])


class StopwatchTest(unittest.TestCase):
    def test_a_baseline_that_fails_when_it_is_timed_is_given_up(self):
        sys.path.insert(0, str(PROGRAMS))
        from baselines import Stopwatch
        watch = Stopwatch.__new__(Stopwatch)   # without a GPU's clock
        watch.held, watch.failed = {"eager": unittest.mock.Mock(seconds=0.5), "graph": unittest.mock.Mock(seconds=1.5)}, {}

        def sample(name, cold):
            if name == "graph":
                raise ValueError("overwritten\nby the next call")
            return 0.25, False

        watch.sample, watch.empty_ms = sample, 0.002
        self.assertEqual(watch.prepare("graph"), {"seconds": 1.5})
        why = "ValueError: overwritten"
        self.assertEqual(watch.time(["eager", "graph", "graph", "eager"], "eager"),
                         {"ms": [0.25, None, None, 0.25], "empty_ms": 0.002, "exposed": 0, "unavailable": {"graph": why}})
        self.assertEqual(watch.prepare("graph"), {"unavailable": why})
        self.assertEqual(watch.time(["eager", "graph"], "graph")["ms"], [0.25, None])

    def test_the_baseline_that_decides_gets_the_memory_of_the_others(self):
        sys.path.insert(0, str(PROGRAMS))
        from baselines import Stopwatch
        import torch
        watch = Stopwatch.__new__(Stopwatch)
        watch.held, watch.failed, watch.empty_ms = {name: unittest.mock.Mock(seconds=1) for name in ("compile", "eager", "graph")}, {}, 0

        def sample(name, cold):
            if len(watch.held) > 1:
                raise torch.cuda.OutOfMemoryError("CUDA out of memory")
            return 0.5, False

        watch.sample = sample
        found = watch.time(["eager", "eager"], "eager")
        self.assertEqual(found["ms"], [0.5, 0.5])
        self.assertEqual(set(watch.failed), {"compile", "graph"})


class AheadTest(unittest.TestCase):
    def setUp(self):
        sys.path.insert(0, str(PROGRAMS))
        import torch
        if not hasattr(torch, "compile"):
            self.skipTest("this PyTorch has no torch.compile")

    def test_what_was_compiled_ahead_runs_when_it_may_and_is_not_compiled_again(self):
        import torch
        from baselines import Ahead
        from precision import flags
        from torch._dynamo.utils import counters

        class Model(torch.nn.Module):
            def forward(self, x):
                return torch.relu(x) + 1

        x = torch.rand(4, 8) - 0.5
        for name in ("compile", "reduce-overhead", "compile/fp32"):
            torch._dynamo.reset()   # the models have the same code
            ahead, before = Ahead(name, Model()), counters["stats"]["unique_graphs"]
            self.assertTrue(ahead.compile([x]), name)
            self.assertEqual(counters["stats"]["unique_graphs"], before + 1)
            ahead.runs = True
            with flags(ahead.flags or "reference"), torch.no_grad():
                self.assertTrue(torch.equal(ahead.function(x), torch.relu(x) + 1))
            self.assertEqual(counters["stats"]["unique_graphs"], before + 1)

    def test_a_compiler_that_takes_times_is_left_for_later(self):
        from baselines import taking_no_times
        from torch._inductor.runtime.benchmarking import benchmarker
        with taking_no_times(), self.assertRaisesRegex(RuntimeError, "no times are taken now"):
            benchmarker.benchmark_gpu(lambda: None)
        self.assertNotIn("refuse", benchmarker.benchmark_gpu.__name__)


class RivalTest(unittest.TestCase):
    def test_a_rival_of_the_users_own_must_agree_with_the_task(self):
        sys.path.insert(0, str(PROGRAMS))
        from baselines import Baseline, rival
        import torch
        baseline = Baseline.__new__(Baseline)
        baseline.sets, baseline.model = [(torch.arange(6.0).reshape(2, 3),)], lambda x: 2 * x
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.py"
            path.write_text("def good(x):\n    return x + x\n\ndef bad(x):\n    return 2.1 * x\n\ndef flat(x):\n    return 2 * x.flatten()\n")
            good = rival(f"python:{path}:good")
            self.assertIs(baseline.agreeing(good), good)
            for function, why in (("bad", "not the task's: off by 0.5"), ("flat", "other shapes")):
                with self.assertRaisesRegex(RuntimeError, why):
                    baseline.agreeing(rival(f"python:{path}:{function}"))
            with self.assertRaisesRegex(RuntimeError, "no function missing"):
                rival(f"python:{path}:missing")

    def test_a_name_that_is_no_baseline_is_refused(self):
        sys.path.insert(0, str(PROGRAMS))
        from baselines import Baseline
        for name in ("fast", "eager/fp64"):
            with self.assertRaisesRegex(ValueError, "no baseline"):
                Baseline(name, None, [])


class DeviceTest(unittest.TestCase):
    def test_a_process_sees_its_own_gpu_only(self):
        sys.path.insert(0, str(PROGRAMS))
        from device_memory import seen_alone
        for visible, index, wanted in (("", 1, "1"), ("3,5", 1, "5"), ("GPU-a,GPU-b", 0, "GPU-a")):
            with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": visible}):
                self.assertEqual(seen_alone(f"cuda:{index}"), "cuda:0")
                self.assertEqual(os.environ["CUDA_VISIBLE_DEVICES"], wanted)
                self.assertEqual(seen_alone("cpu"), "cpu")


if __name__ == "__main__":
    unittest.main()
