# SPDX-License-Identifier: Apache-2.0
"""`cudal1 serve` as trainers meet it: over HTTP, with the simulator as judge."""
import concurrent.futures
import json
import re
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from fixture import BINARY, FASTER, TASK, WRONG, CliTest, interrupt, reply


def blocks(size):
    return FASTER.replace("256", str(size))


class Serve(CliTest):
    def start(self, *options, env=None):
        self.server = subprocess.Popen([BINARY, "serve", "--device", "sim", "--jobs", "2", "--listen", "127.0.0.1:0", *options], cwd=self.work,
                                       env=self.environment | (env or {}), text=True, stderr=subprocess.PIPE)
        self.addCleanup(self.stop)
        self.said = ""
        while "listening on" not in self.said:
            text = self.server.stderr.readline()
            self.assertTrue(text, self.said)
            self.said += text
        self.address = re.search(r"http://\S+", self.said)[0]

    def stop(self):
        if self.server.poll() is None:
            self.server.kill()
        self.server.wait(20)
        self.server.stderr.close()

    def ask(self, path, body=None, status=200, headers=None):
        """The reply's text, with its headers."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=120) as got:
                code, self.headers, text = got.status, got.headers, got.read().decode()
        except urllib.error.HTTPError as error:
            code, self.headers, text = error.code, error.headers, error.read().decode()
        self.assertEqual(code, status, text)
        return text

    def say(self, *arguments, **more):
        return json.loads(self.ask(*arguments, **more))

    def healthy(self):
        for _ in range(600):
            try:
                with urllib.request.urlopen(self.address + "/health", timeout=10) as got:
                    return json.loads(got.read())
            except urllib.error.HTTPError as error:
                self.assertEqual(error.code, 503)
                time.sleep(0.1)
        self.fail("it never became healthy")

    def test_judging_rewards_jobs_and_metrics(self):
        task_file = self.write("add_one.cu", TASK)
        self.start(task_file, "--store", "store")
        self.assertEqual(self.healthy()["status"], "ok")
        task = {"source": TASK}
        one = self.say("/v1/judge", {"id": "x", "task": task, "answer": reply(FASTER)})
        self.assertEqual((one["id"], one["verdict"], one["reward_name"], one["reward"]), ("x", "PREDICTED_FASTER", "log", 2.5))
        several = self.say("/v1/judge?reward=correct&brief=1", [{"id": i, "task": "add_one.cu", "answer": answer} for i, answer in enumerate((FASTER, WRONG, "no"))])
        self.assertEqual([(line["id"], line["reward"]) for line in several], [(0, 1), (1, 0), (2, 0)])
        lines = self.ask("/v1/judge", {"items": [{"id": i, "task": task, "answer": blocks(32 + i)} for i in range(3)]}, headers={"Accept": "application/x-ndjson"})
        self.assertEqual(sorted(json.loads(line)["id"] for line in lines.splitlines()), [0, 1, 2])
        # OpenRLHF: one query a call, many calls at once.
        def rewarded(answer):
            return self.say("/get_reward", {"query": ["Make it faster." + answer], "prompts": ["Make it faster."], "labels": [json.dumps({"sha256": one["task_sha256"]})]})
        with concurrent.futures.ThreadPoolExecutor(8) as calls:
            rewards = [got["rewards"][0] for got in calls.map(rewarded, [FASTER, WRONG, "no", blocks(64), FASTER])]
        self.assertEqual(rewards[1:3], [0, -0.3])
        self.assertGreater(min(rewards[0], rewards[3]), 1)
        self.assertEqual(rewards[0], rewards[4])
        self.ask("/get_reward", {"query": ["a"], "labels": [TASK.replace("+ 1.0f", "+ 3.0f")]}, status=200)   # unreadable, whatever the task
        self.ask("/get_reward", {"query": [FASTER], "labels": [TASK.replace("+ 1.0f", "+ 3.0f")]}, status=422)
        job = self.say("/v1/jobs", [{"id": "j", "task": task, "answer": blocks(128)}], status=202)["job"]
        done = self.say(f"/v1/jobs/{job}?wait=60")
        self.assertEqual((done["done"], done["rulings"][0]["id"]), (True, "j"))
        self.ask("/v1/jobs/00-00", status=404)
        metrics = self.ask("/metrics")
        self.assertIn('cudal1_verdicts_total{verdict="PREDICTED_FASTER"}', metrics)
        self.assertIn("cudal1_cheats_total 0", metrics)
        self.assertEqual(self.say("/v1/devices")["places"], ["sim:H200"] * 2)
        interrupt(self.server, signal.SIGTERM)
        self.assertEqual(self.server.wait(60), 143)
        # What is right is known to the next server.
        self.server.stderr.close()
        self.start(task_file, "--store", "store")
        again = self.say("/v1/judge", {"task": task, "answer": FASTER})
        self.assertEqual((again["cached"], again["speedup"]), (True, one["speedup"]))

    def test_prompts_show_what_is_right_so_far(self):
        self.start()
        task = {"source": TASK}
        cold = self.say("/v1/prompt", {"task": task})
        self.assertEqual([message["role"] for message in cold["messages"]], ["system", "user"])
        self.assertEqual(cold["exemplars"], [])
        warm = self.say(f"/v1/tasks/{cold['task_sha256']}/warm", {})
        self.assertGreater(warm["reference"][0]["time_ms"], 0)
        judged = self.say("/v1/judge", [{"task": task, "answer": answer} for answer in (reply(FASTER, analysis="It waits for memory."), WRONG)])
        shown = self.say("/v1/prompt", {"task": task, "exemplars": 2})
        self.assertEqual([each["fingerprint"] for each in shown["exemplars"]], ["reference", judged[0]["fingerprint"]])
        self.assertEqual(shown["shown"], [judged[0]["fingerprint"]])
        text = shown["messages"][1]["content"]
        self.assertIn("It waits for memory.", text)
        self.assertNotIn(judged[0]["fingerprint"], text)
        compact = self.say("/v1/prompt", {"task": task, "style": "compact"})["messages"]
        self.assertEqual(len(compact), 1)
        self.assertRegex(compact[0]["content"], r"(?s)^//@ task    add_one\n.*\n// 1x\n.*// 10\.\dx\n.*// faster\n$")
        copy = self.say("/v1/judge", {"task": task, "answer": FASTER, "shown": shown["shown"]})
        self.assertEqual((copy["duplicate"], copy["reward"]), (True, 1))
        self.assertEqual(self.say("/v1/tasks")["tasks"][0]["right_answers"], 1)
        for body in ({"task": task, "sampling": "best"}, {"task": task, "exemplars": "two"}, {}):
            self.ask("/v1/prompt", body, status=422)

    def test_an_address_is_never_shared_and_unknown_paths_are_named(self):
        self.start()
        self.refuses("serve", "--device", "sim", "--listen", self.address.removeprefix("http://"), code=2, says=["another program has it"])
        self.assertIn("GET /nosuch is not served", self.say("/nosuch", status=404)["error"])

    def test_who_may_ask_and_how_much(self):
        self.refuses("serve", "--listen", "0.0.0.0:0", "--device", "sim", code=2, says=["token"])
        self.refuses("serve", "--listen", "here", "--device", "sim", code=2, says=["HOST:PORT"])
        self.start("--queue", "2", env={"CUDAL1_SERVE_TOKEN": "s3cret"})
        self.ask("/v1/tasks", status=401)
        self.ask("/v1/tasks", status=401, headers={"Authorization": "Bearer s3cre"})
        mine = {"Authorization": "Bearer s3cret"}
        self.ask("/v1/tasks", headers=mine)
        self.ask("/v1/tasks", headers=mine | {"Origin": "http://example.org"}, status=403)
        answer = {"task": {"source": TASK}, "answer": FASTER}
        self.ask("/v1/judge", [answer] * 3, headers=mine, status=429)
        self.assertEqual(self.headers["Retry-After"], "5")
        secret = self.say("/v1/judge", {"task": "/etc/passwd", "answer": FASTER}, headers=mine)
        self.assertIn("reads no file", secret["fault"])
        self.assertIsNone(secret["reward"])
        self.ask("/v1/judge", status=404, headers=mine)
        request = urllib.request.Request(self.address + "/v1/judge", b"nonsense", mine)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        self.assertEqual(refused.exception.code, 422)
        refused.exception.close()
        self.say("/v1/drain", {}, headers=mine)
        self.assertEqual(self.server.wait(60), 0)


if __name__ == "__main__":
    unittest.main()
