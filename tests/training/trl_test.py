# SPDX-License-Identifier: Apache-2.0
"""TRL's own trainers, by the recipes: two steps of each stage with a model of a million parameters, judged by a real server on the simulator."""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if any(importlib.util.find_spec(name) is None for name in ("trl", "datasets", "torch")):
    print(f"skipped: {sys.executable} has no TRL; install it: sh cmake/install_trl.sh")
    sys.exit(77)
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from fixture import BINARY, FASTER, TASK, CliTest, reply   # noqa: E402

RECIPES = ROOT / "training" / "recipes"
NAME = json.dumps({"source": TASK})


class Recipes(CliTest):
    def setUp(self):
        super().setUp()
        said = self.work / "serve.err"
        with open(said, "w") as file:
            self.server = subprocess.Popen([BINARY, "serve", "--device", "sim", "--jobs", "2", "--listen", "127.0.0.1:0", "--store", "store"], cwd=self.work, env=self.environment, stderr=file)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        while not (address := re.search(r"listening on (http://\S+)\n", said.read_text())):
            self.assertIsNone(self.server.poll(), said.read_text())
        self.environment |= {"CUDAL1_URL": address[1], "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": ""}
        prompt = [{"role": "user", "content": "Make it faster.\n" + TASK}]
        answers = [reply(FASTER.replace("256", str(threads))) for threads in (64, 128, 256, 512)]
        self.write("sft.jsonl", "".join(json.dumps({"prompt": prompt, "completion": [{"role": "assistant", "content": answer}]}) + "\n" for answer in answers))
        self.write("prompts.jsonl", json.dumps({"prompt": prompt, "cudal1_task": NAME, "task": "add_one", "task_sha256": "0", "split": "train", "group": "0"}) + "\n")

    def recipe(self, name, *arguments):
        ran = subprocess.run([sys.executable, str(name), *map(str, arguments)], cwd=self.work, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        return ran.stdout

    def last_losses(self, folder):
        state = json.loads(max((self.work / folder).glob("checkpoint-*/trainer_state.json")).read_text())
        return [line for line in state["log_history"] if "loss" in line]

    def test_two_steps_of_each_stage(self):
        self.assertLess(int(self.recipe(pathlib.Path(__file__).with_name("tiny_model.py"), "sft.jsonl", "base").split()[-1]), 1.2e6)
        self.recipe(RECIPES / "trl_sft.py", "--model", "base", "--data", "sft.jsonl", "--out", "stage1", "--steps", 2, "--batch", 2, "--context", 2048, "--rate", 1e-3)
        self.assertEqual(len(self.last_losses("stage1")), 2)
        kept = self.recipe(RECIPES / "trl_self_supervised.py", "--model", "stage1", "--prompts", "prompts.jsonl", "--out", "own.jsonl", "--samples", 2, "--longest", 16)
        self.assertIn("of 2 right", kept)
        self.recipe(RECIPES / "trl_grpo.py", "--model", "stage1", "--prompts", "prompts.jsonl", "--out", "stage3", "--steps", 2, "--group", 4, "--batch", 4, "--accumulate", 1,
                    "--longest", 16, "--style", "compact")
        lines = self.last_losses("stage3")
        self.assertEqual(len(lines), 2)
        # All answers of an untrained model are unreadable or do not run, and none is a fault.
        for line in lines:
            self.assertLess(line["reward"], 0)
            self.assertEqual(line["cudal1/faults"], 0)
        self.assertTrue((self.work / "stage3" / "model.safetensors").exists())


if __name__ == "__main__":
    unittest.main()
