# SPDX-License-Identifier: Apache-2.0
"""The demonstration's parts, and all of it at its smallest size with the simulator as the judge; in a Python that has PyTorch."""
import importlib.util
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("CUDAL1_TEST_BINARY", "cudal1")
DEMONSTRATION = ROOT / "training" / "demonstration"
sys.path[:0] = [str(DEMONSTRATION), str(ROOT / "training"), str(ROOT / "tests" / "cli")]
if importlib.util.find_spec("torch") is None:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)
import torch   # noqa: E402

import corpus, curves, endpoint, evaluation, stages, tokens   # noqa: E401,E402
from cudal1_train import Fault, Judge, Verdict     # noqa: E402
from network import Shape, Transformer, log_chances, sample   # noqa: E402
from tokens import ANSWER, END, Tokenizer, plain              # noqa: E402
from client_test import workers                              # noqa: E402
from fixture import FASTER, TASK                              # noqa: E402

KERNEL = """//@ of      t.cu sha256:00ff
//@ tune    THREADS = 128 | 256
//@ launch  k<<<1, THREADS>>>(A)
// playbook: as written

struct Sum {
  float x;
};

__global__ void k(float* A) { A[0] = 1.5f; }  // \u00e9
"""


def tiny(vocabulary):
    torch.manual_seed(1)
    return Transformer(Shape(vocabulary, layers=2, width=32, heads=2, context=64))


def knows_one_answer(folder):
    """A model that was trained to answer TASK with FASTER, and its tokenizer."""
    question = endpoint.short(TASK)
    tokenizer = Tokenizer.learnt([("a", question), ("a", FASTER)], least=1)
    tokenizer.save(folder / "pieces.json")
    torch.manual_seed(1)
    model = Transformer(Shape(tokenizer.size, layers=2, width=32, heads=2, context=128))
    stages.supervised(model, [(tokenizer.encode(question), tokenizer.encode(FASTER) + [END])], 60, 1e-2, 256, 1, lambda line: None)
    return model, tokenizer, question


def wants_ascii(items):
    """A judge that counts characters of ASCII, and fails at the first answer."""
    values = [float(sum(character.isascii() for character in item["answer"])) for item in items]
    return [Verdict("FASTER", True, value > 0, value, value if i else None, False, False, False, "", None if i else "gone", None, None) for i, value in enumerate(values)]


class Parts(unittest.TestCase):
    def test_text_comes_back_and_recurring_paragraphs_are_one_token(self):
        text = plain(KERNEL)
        self.assertNotIn("sha256", text)
        self.assertNotIn("playbook", text)
        self.assertIn("THREADS = 128\n", text)
        learnt = Tokenizer.learnt([(group, text) for group in "abcd"], most=1000, least=4)
        for each in (text, KERNEL, "unknown \t\u20ac\n\n\nx"):
            self.assertEqual(learnt.decode(learnt.encode(each)), each)
        self.assertLess(len(learnt.encode(text)), 5)
        self.assertGreater(len(Tokenizer.learnt([("a", text)] * 4, least=4).encode(text)), 50)   # of one structure alone: no tokens

    def test_variables_are_numbered_as_they_appear_in_each_kernel_of_a_prompt(self):
        self.assertEqual(plain("v7 = A_3_line[v2] + v7; acc12 += v2;"), "v0 = A_0_line[v1] + v0; acc0 += v1;")
        for kept in ("dim3 float4 log1pf x9", "mov.b32 %v1.k16", "m64n128k16", "//@ input k1: float32[N]\nk1 + k1"):
            self.assertEqual(plain(kept), kept)
        self.assertEqual(plain("//@ input k0: float32[N]\nk0[i] = k7 + k9"), "//@ input k0: float32[N]\nk0[i] = k1 + k2")
        self.assertEqual(plain("//@ torch Y = A\n// 1.42x\nv5 = v6;\n// 3x\nv6 = v5;\n// faster\n"), "//@ torch Y = A\n// 1.42x\nv0 = v1;\n// 3x\nv0 = v1;\n// faster\n")

    def test_sampling_with_kept_keys_is_the_same_as_reading_everything(self):
        model = tiny(300)
        prompts = [[5, 6, 7], [9], [20, 21, 22, 23, 24]]
        for prompt, answer in zip(prompts, sample(model, prompts, 12, seed=3, temperature=1e-4)):
            text = [*prompt, ANSWER]
            for token in answer:
                self.assertEqual(int(model(torch.tensor([text]))[0, -1].argmax()), token)
                text.append(token)
        chances, of_answer = log_chances(model, [(prompts[0], [8, END])])
        self.assertEqual(int(of_answer.sum()), 2)
        logits = model(torch.tensor([[5, 6, 7, ANSWER, 8]])).log_softmax(-1)
        self.assertAlmostEqual(float(chances[0, of_answer[0]].sum()), float(logits[0, 3, 8] + logits[0, 4, END]), places=4)

    def test_a_fault_has_no_advantage_and_does_not_count_for_the_others(self):
        self.assertEqual(stages.advantages([None, 1.0, 3.0])[0], 0)
        self.assertAlmostEqual(stages.advantages([None, 1.0, 3.0])[2], 1, places=3)
        self.assertEqual(stages.advantages([None, 2.0]), [0, 0])

    def test_a_task_that_the_server_refuses_keeps_its_plain_prompt(self):
        class Refusing:
            def prompt(self, task, style):
                raise Fault("422: TASK_DEGENERATE")
        self.assertEqual(stages.contrastive_prompt(Refusing(), corpus.Task("t", "a", TASK, "asked plainly")), ("asked plainly", []))

    def test_grpo_makes_what_is_rewarded_likelier(self):
        tokenizer, logged = Tokenizer([]), []
        task = types.SimpleNamespace(name="t", group="g", source="s", question="q\n")
        judge = types.SimpleNamespace(judge_all=lambda items: wants_ascii(list(items)))
        stages.reinforced(tiny(tokenizer.size), tokenizer, [task], judge, False, steps=8, prompts=1, group=32, longest=4, rate=1e-2, reward="log", tokens=4096, seed=1, log=logged.append)
        self.assertGreater(logged[-1]["reward"], logged[0]["reward"] + 0.8)
        self.assertEqual(logged[-1]["faults"], 1)

    def test_supervised_tuning_learns_and_intervals_contain_the_figure(self):
        model, logged = tiny(300), []
        rows = [([10 + i], [50 + i, END]) for i in range(8)]
        stages.supervised(model, rows, 40, 1e-2, 64, 1, logged.append)
        self.assertLess(logged[-1]["loss"], 0.3 * logged[0]["loss"])
        self.assertEqual([answer[0] for answer in sample(model, [[12], [13]], 2, 1, temperature=1e-3)], [52, 53])
        made = [{"task": str(i % 8), "verdict": "FASTER", "executable": True, "right": i % 2 == 0, "speedup": 2.0, "cheat": False, "fault": None, "fingerprint": str(i)} for i in range(32)]
        low, high = evaluation.figures(made)["right %"][1:]
        self.assertEqual(evaluation.figures(made)["right %"][0], 50)
        self.assertLess(low, 50)
        self.assertGreater(high, 50)
        self.assertIn("polyline", curves.picture([("a", "step", {"b": [(0, 1), (1, 2)]})]))

    def test_the_prompt_of_optimize_becomes_the_short_one(self):
        asked = (ROOT / "tests" / "unit" / "prompt" / "golden" / "contrast_round.md").read_text()
        got = endpoint.short(asked)
        self.assertTrue(got.startswith("//@"))
        self.assertTrue(got.endswith("// faster\n"))
        self.assertEqual(got.count("// 2.5x\n"), 1)
        self.assertNotIn("// 1x\n", got)            # the reference is not one of the variants

    def test_optimize_asks_a_trained_model(self):
        """The loop closed: a model that was trained to give one answer, behind its endpoint, is asked by `optimize`, judged and found right."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            (out / "task.cu").write_text(TASK)
            model, _, _ = knows_one_answer(out)
            torch.save({"shape": vars(model.shape), "weights": model.state_dict()}, out / "supervised.pt")
            serving = subprocess.Popen([sys.executable, str(DEMONSTRATION / "endpoint.py"), str(out), "--stage", "supervised", "--port", "0", "--longest", "60", "--temperature", "0.01"],
                                       stdout=subprocess.PIPE, text=True)
            try:
                address = serving.stdout.readline().split()[-1]
                run = subprocess.run([BINARY, "optimize", str(out / "task.cu"), "--device", "sim", "--model", "vllm/demonstration", "--base-url", address, "--rounds", "1", "--samples", "1",
                                      "--out", str(out / "run"), "-o", str(out / "best.cu"), "--quiet"],
                                     env=os.environ | {"XDG_CACHE_HOME": folder, "HOME": folder}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            finally:
                serving.kill()
                serving.wait()
                serving.stdout.close()
            self.assertEqual(run.returncode, 0, run.stdout)
            self.assertIn("PREDICTED_FASTER", run.stdout)
            self.assertIn("if (i < n) C[i] = A[i] + 1.0f;", (out / "best.cu").read_text())

    def test_training_goes_on_when_workers_and_the_server_are_killed(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            free.close()
            environment, servers = os.environ | {"XDG_CACHE_HOME": folder, "HOME": folder}, []

            def start():
                servers.append(subprocess.Popen([BINARY, "serve", "--device", "sim", "--jobs", "2", "--listen", f"127.0.0.1:{port}"], env=environment, stderr=subprocess.DEVNULL))

            def kill_workers():
                for each in workers(servers[-1].pid):
                    os.kill(each, signal.SIGKILL)

            def kill_server():
                servers[-1].kill()
                servers[-1].wait()
                time.sleep(0.5)
                start()

            class Haunted(Judge):
                """Something is killed while the second and the third step are judged."""
                haunting = [lambda: None, kill_workers, kill_server]

                def judge_all(self, items):
                    ghost = threading.Timer(0.05, self.haunting.pop(0))
                    ghost.start()
                    try:
                        return super().judge_all(items)
                    finally:
                        ghost.join()

            try:
                start()
                model, tokenizer, question = knows_one_answer(pathlib.Path(folder))
                # Three sizes, so that each step has something to judge that is not known yet.
                tasks = [types.SimpleNamespace(name="add_one", group="g", source=TASK.replace("N = 64", f"N = {rows}"), question=question) for rows in (64, 65, 66)]
                logged = []
                stages.reinforced(model, tokenizer, tasks, Haunted(f"http://127.0.0.1:{port}", patience=120), False, steps=3, prompts=1, group=4, longest=60, rate=1e-4, reward="log",
                                  tokens=4096, seed=1, log=logged.append)
            finally:
                servers[-1].kill()
                servers[-1].wait()
            self.assertEqual(len(servers), 2)
            self.assertEqual([line["faults"] for line in logged], [0, 0, 0])
            for line in logged:
                self.assertGreater(line["reward"], 0)     # what it knows earns something; a fault that counted as 0 would lower it

    def test_all_of_it_and_what_is_there_is_not_done_again(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            run = [sys.executable, str(DEMONSTRATION / "demonstrate.py"), "--cudal1", os.environ["CUDAL1_TEST_BINARY"], "--out", str(out), "--tiny"]
            environment = os.environ | {"XDG_CACHE_HOME": folder, "HOME": folder}
            first = subprocess.run(run, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            rows = [line for line in first.splitlines() if line.startswith("| ")]
            self.assertEqual(len(rows), 12)
            self.assertIn("GRPO with plain prompts: 1 steps.", first)
            self.assertIn("| the playbook, its best answer | 2 | 2 | 0 [0, 0] | 100 [100, 100] | 100 [100, 100] |", first)
            audit = json.loads((out / "audit.json").read_text())
            self.assertEqual(audit["equal"], 0)
            row = json.loads((out / "sft-train.jsonl").read_text().splitlines()[0])       # what the model learns runs as the verified answer does
            ask = [{"task": str(out / "tasks" / f"{row['task']}.cu"), "answer": answer, "mode": "verify"} for text in [row["completion"][0]["content"]]
                   for answer in (tokens.CHOICE.sub(r"\1", text), plain(text))]
            said = subprocess.run([BINARY, "judge", "--device", "sim"], input="".join(json.dumps(line) + "\n" for line in ask), env=environment, capture_output=True, text=True).stdout
            codes = [json.loads(line)["code"] for line in said.splitlines()]
            self.assertEqual(len(codes[0]), 64)
            self.assertEqual(codes[0], codes[1])
            begun = {path: path.stat().st_mtime_ns for path in out.glob("*.pt")}
            self.assertEqual(len(begun), 4)
            (out / "plain.pt").unlink()
            second = subprocess.run(run, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertEqual([line for line in second.splitlines() if line.startswith("| ")], rows)
            self.assertIn("plain: ", second)
            self.assertNotIn("supervised: ", second.replace("self-", ""))
            self.assertEqual({path: stamp for path, stamp in begun.items() if path.name != "plain.pt"}, {path: path.stat().st_mtime_ns for path in begun if path.name != "plain.pt"})


if __name__ == "__main__":
    random.seed(1)
    unittest.main()
