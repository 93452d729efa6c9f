# SPDX-License-Identifier: Apache-2.0
"""verifiers' own code, from its wheel, loads the taskset of training/ and scores it with a real server on the simulator."""
import asyncio
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if importlib.util.find_spec("verifiers") is None:
    print(f"skipped: {sys.executable} has no verifiers; install it: sh cmake/install_python_packages.sh")
    sys.exit(77)
sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "training")]
from fixture import BINARY, FASTER, TASK, WRONG, CliTest, reply   # noqa: E402
import verifiers.v1 as vf                                           # noqa: E402
from verifiers.v1.configs.agent import AgentConfig                  # noqa: E402
from verifiers.v1.graph import MessageNode                          # noqa: E402
from verifiers.v1.trace import AgentInfo, Trace, TraceTask          # noqa: E402
from verifiers.v1.types import AssistantMessage                     # noqa: E402
from verifiers.v1.utils.loaders import load_taskset, taskset_config_type   # noqa: E402

from cudal1_train import rewards   # noqa: E402


def row(name, source):
    return json.dumps({"prompt": [{"role": "system", "content": "You write kernels."}, {"role": "user", "content": "Make it faster."}], "cudal1_task": json.dumps({"source": source}),
                       "task": name, "task_sha256": name, "split": "train", "group": "0"}) + "\n"


def trace_of(task, answer):
    """What verifiers records of a model's one answer."""
    trace = Trace(task=TraceTask(type=type(task).__name__, data=task.data), agent=AgentInfo(config=AgentConfig()))
    trace.nodes.append(MessageNode(message=AssistantMessage(content=answer), sampled=True))
    return trace


class Verifiers(CliTest):
    def setUp(self):
        super().setUp()
        said = self.work / "serve.err"
        with open(said, "w") as file:
            server = subprocess.Popen([BINARY, "serve", "--device", "sim", "--jobs", "2", "--listen", "127.0.0.1:0"], cwd=self.work, env=self.environment, stderr=file)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        while not (address := re.search(r"listening on (http://\S+)\n", said.read_text())):
            self.assertIsNone(server.poll(), said.read_text())
        os.environ["CUDAL1_URL"] = address[1]
        self.addCleanup(os.environ.pop, "CUDAL1_URL")
        rewards._judge = None
        self.addCleanup(setattr, rewards, "_judge", None)

    def test_its_own_loader_and_scoring(self):
        rows = self.write("prompts.jsonl", row("add_one", TASK) + row("broken", TASK.replace("+ 1.0f", "+ 3.0f")))
        add_one, broken = load_taskset(taskset_config_type("verifiers_tasks")(id="verifiers_tasks", rows=str(rows)))
        self.assertEqual((add_one.data.name, add_one.data.system_prompt, add_one.data.prompt), ("add_one", "You write kernels.", "Make it faster."))
        traces = [trace_of(add_one, answer) for answer in (reply(FASTER), WRONG, "No.")]

        async def score():
            await asyncio.gather(*(add_one.score(trace) for trace in traces))

        asyncio.run(score())
        self.assertEqual([trace.rewards["cudal1"].value for trace in traces], [2.5, 0, -0.3])
        self.assertEqual([trace.metrics["right"] for trace in traces], [1, 0, 0])
        lost = trace_of(broken, FASTER)     # the task's own kernel is wrong: that is nobody's reward
        with self.assertRaises(vf.TaskError):
            asyncio.run(broken.score(lost))
        self.assertIsNone(lost.rewards["cudal1"])


if __name__ == "__main__":
    unittest.main()
