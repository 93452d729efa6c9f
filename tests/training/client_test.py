# SPDX-License-Identifier: Apache-2.0
"""The Python client against a real server with the simulator: rewards in each engine's words, servers that are killed, and the engines' own loaders."""
import asyncio
import fcntl
import importlib.util
import json
import logging
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.path.insert(0, str(ROOT / "training"))
from fixture import BINARY, FASTER, TASK, WRONG, CliTest, reply   # noqa: E402

from cudal1_train import Fault, Judge, gpu_gate   # noqa: E402
from cudal1_train import rewards   # noqa: E402

TRAINERS = pathlib.Path(os.environ.get("CUDAL1_TRAINERS", ROOT / "build" / "trainers"))   # of pip install --no-deps --target
NAME = json.dumps({"source": TASK})


def blocks(size):
    return FASTER.replace("256", str(size))


def workers(server):
    found = []
    for listed in pathlib.Path(f"/proc/{server}/task").glob("*/children"):
        for child in listed.read_text().split():
            try:
                if b"\0worker\0" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(int(child))
            except FileNotFoundError:
                pass
    return found


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Client(CliTest):
    def setUp(self):
        super().setUp()
        self.servers = []
        self.addCleanup(self.stop)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self):
        server = subprocess.Popen([BINARY, "serve", "--device", "sim", "--jobs", "2", "--listen", f"127.0.0.1:{self.port}", "--store", "store"], cwd=self.work,
                                  env=self.environment, text=True, stderr=subprocess.PIPE)
        self.servers.append(server)
        while "listening on" not in (said := server.stderr.readline()):
            self.assertTrue(said, "the server ended")
        return server

    def stop(self):
        for server in self.servers:
            server.kill()
            server.wait()
            server.stderr.close()

    def test_rewards_in_each_engines_words(self):
        self.start()
        judge = Judge(self.url, reward="log", patience=60)
        logged = {}
        trl = rewards.trl_reward(judge)
        completions = [[{"role": "assistant", "content": reply(FASTER)}], [{"role": "assistant", "content": WRONG}], [{"role": "assistant", "content": "No."}]]
        broken = json.dumps({"source": TASK.replace("+ 1.0f", "+ 3.0f")})
        got = trl(prompts=["p"] * 4, completions=[*completions, FASTER], completion_ids=[[]] * 4, cudal1_task=[NAME] * 3 + [broken], trainer_state=None,
                  log_metric=lambda name, value: logged.update({name: value}))
        self.assertEqual(got, [2.5, 0, -0.3, None])   # a fault is left out
        self.assertEqual((logged["cudal1/faults"], logged["cudal1/right"]), (1, 1 / 3))
        prompt = judge.prompt(NAME)
        self.assertEqual(trl(["p"], [FASTER], cudal1_task=[NAME], cudal1_shown=[prompt.shown]), [1])   # a copy
        self.assertIn("## Performance Analysis", prompt.messages[0]["content"])
        with self.assertRaises(Fault):
            judge.prompt(broken)

    def test_a_server_that_is_killed_and_started_again_costs_no_reward(self):
        server = self.start()
        judge = Judge([self.url, "http://127.0.0.1:9"], reward="correct", patience=120)   # nobody is at the second address
        answers = [blocks(32 + i) if i % 3 else WRONG.replace("256", str(64 + i)) for i in range(24)]
        results = []
        asking = threading.Thread(target=lambda: results.extend(judge.judge_all({"task": NAME, "answer": answer} for answer in answers)))
        asking.start()
        while "cudal1_verdicts_total{" not in judge._open(self.url, "/metrics", None).read().decode():
            time.sleep(0.05)
        server.kill()
        server.wait()
        time.sleep(1)
        self.start()
        asking.join(120)
        self.assertEqual([result.fault for result in results], [None] * len(answers))
        self.assertEqual([result.reward for result in results], [1 if i % 3 else 0 for i in range(24)])

    def test_workers_that_are_killed_cost_no_reward(self):
        server = self.start()
        judge = Judge(self.url, reward="correct", patience=120)
        answers = [blocks(32 + i) if i % 3 else WRONG.replace("256", str(64 + i)) for i in range(24)]
        over, killed = threading.Event(), []

        def kill():
            while len(killed) < 4 and not over.wait(0.3):
                if victims := workers(server.pid):
                    os.kill(random.choice(victims), signal.SIGKILL)
                    killed.append(1)

        killer = threading.Thread(target=kill)
        killer.start()
        results = judge.judge_all({"task": NAME, "answer": answer} for answer in answers)
        over.set()
        killer.join()
        self.assertTrue(killed)
        self.assertEqual([result.reward for result in results], [1 if i % 3 else 0 for i in range(24)])

    def test_servers_of_many_machines_announce_themselves_and_leave(self):
        """The scripts of training/machines as Slurm starts them, here as plain processes: two judges, a trainer that waits for both, one judge preempted."""
        folder = self.work / "servers"
        environment = self.environment | {"CUDAL1_SERVERS": str(folder), "CUDAL1_SERVE_TOKEN": "secret", "CUDAL1_TRAINING": str(ROOT / "training"), "CUDAL1": BINARY}
        judges = [subprocess.Popen(["sh", str(ROOT / "training" / "machines" / "slurm_judges.sh"), "--device", "sim", "--jobs", "1"], env=environment, cwd=self.work, stderr=subprocess.DEVNULL)
                  for _ in range(2)]
        self.addCleanup(lambda: [judge.wait() for judge in judges if judge.poll() is None])
        self.addCleanup(lambda: [judge.terminate() for judge in judges if judge.poll() is None])      # not kill: each has a server to end
        program = self.write("asks.py", f"import sys; sys.path.insert(0, {str(ROOT / 'training')!r})\nfrom cudal1_train import Judge\nimport json, pathlib\njudge = Judge(reward='correct')\n"
                                        f"print(len(judge.urls), judge.judge(json.dumps({{'source': {TASK!r}}}), {FASTER!r}).reward)\n")
        asked = subprocess.run(["sh", str(ROOT / "training" / "machines" / "slurm_trainer.sh"), "2", str(program)], env=environment, cwd=self.work, stdout=subprocess.PIPE, text=True, check=True, timeout=240)
        self.assertEqual(asked.stdout, "2 1.0\n")
        judges[0].send_signal(signal.SIGTERM)
        self.assertEqual(judges[0].wait(60), 128 + signal.SIGTERM)
        self.assertEqual(len(list(folder.glob("*.url"))), 1)
        judges[1].send_signal(signal.SIGTERM)
        judges[1].wait(60)
        self.assertEqual(list(folder.iterdir()), [])

    def test_turns_on_a_gpu_are_the_judges_own_lock(self):
        os.environ["XDG_CACHE_HOME"], before = str(self.work), os.environ.get("XDG_CACHE_HOME")
        self.addCleanup(lambda: os.environ.pop("XDG_CACHE_HOME") if before is None else os.environ.update(XDG_CACHE_HOME=before))
        with gpu_gate("GPU-1"), open(self.work / "cudal1" / "gpu-GPU-1.lock", "rb") as other:
            with self.assertRaises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with open(self.work / "cudal1" / "gpu-GPU-1.lock", "rb") as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_verls_own_loader(self):
        loader = TRAINERS / "verl" / "utils" / "import_utils.py"
        if not loader.exists():
            self.skipTest(f"{loader} is not there: pip install --no-deps --target {TRAINERS} verl==0.9.1")
        self.start()
        os.environ["CUDAL1_URL"] = self.url
        self.addCleanup(os.environ.pop, "CUDAL1_URL")
        compute_score = load(loader, "verl_import_utils").load_extern_object(str(ROOT / "training" / "verl_reward.py"), "compute_score")
        rewards._judge = None
        self.addCleanup(setattr, rewards, "_judge", None)

        async def both():
            return await asyncio.gather(*(compute_score(data_source="cudal1", solution_str=answer, ground_truth=NAME, extra_info={"split": "train"}) for answer in (FASTER, WRONG)))

        faster, wrong = asyncio.run(both())
        self.assertEqual((faster["score"], faster["right"], wrong["score"], wrong["right"]), (2.5, 1, 0, 0))

    def test_openrlhfs_own_client(self):
        agent = TRAINERS / "openrlhf" / "utils" / "agent.py"
        if not agent.exists() or importlib.util.find_spec("aiohttp") is None:
            self.skipTest(f"{agent} or aiohttp is not there: pip install aiohttp; pip install --no-deps --target {TRAINERS} openrlhf==0.11.2")
        self.start()
        sys.modules["openrlhf.utils.logging_utils"] = types.SimpleNamespace(init_logger=logging.getLogger)
        self.addCleanup(sys.modules.pop, "openrlhf.utils.logging_utils")
        executor = load(agent, "openrlhf_agent").SingleTurnAgentExecutor([self.url + "/get_reward"])

        async def calls():
            return await asyncio.gather(*(executor._fetch_rewards_via_http([f"<s>Make it faster.{answer}</s>"], ["Make it faster."], [NAME]) for answer in (reply(FASTER), WRONG, "No.")))

        got = asyncio.run(calls())
        self.assertEqual([shard["rewards"] for batch in got for shard in batch], [[2.5], [0], [-0.3]])
        self.assertEqual([shard["scores"] for batch in got for shard in batch], [[1], [0], [0]])


if __name__ == "__main__":
    unittest.main()
