# SPDX-License-Identifier: Apache-2.0
"""The Model Context Protocol server, one message a line as a client writes them. mcp_client.py is the official client."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from fixture import BINARY, SOURCE, CliTest

TASK = {"task": "softmax.cu", "device": "sim", "sizes": {"N": 16, "M": 64}}
RUN = "cudal1-runs/softmax-agent"


class Mcp(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copy(SOURCE / "examples" / "softmax.cu", self.work)
        self.kernel = (self.work / "softmax.cu").read_text()
        self.start()

    def tearDown(self):
        self.stop()
        super().tearDown()

    def start(self):
        self.server = subprocess.Popen([BINARY, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self.work, env=self.environment)
        self.next_id, self.heard = 0, []

    def stop(self):
        self.server.stdin.close()
        self.assertEqual(self.server.wait(20), 0)
        self.server.stdout.close()

    def send(self, text):
        self.server.stdin.write(text + "\n")
        self.server.stdin.flush()

    def ask(self, method, **parameters):
        self.next_id += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": parameters}))
        return self.next_id

    def reply(self, number):
        """The reply to a request; what came before is in `heard`."""
        while True:
            message = json.loads(self.server.stdout.readline())
            if message.get("id", "none") == number:
                return message
            self.heard.append(message)

    def call(self, name, error=None, **arguments):
        result = self.reply(self.ask("tools/call", name=name, arguments=arguments))["result"]
        text = result["content"][0]["text"]
        self.assertEqual(result["isError"], error is not None, text)
        if error is not None:
            self.assertIn(error, text)
            return None
        self.assertEqual(json.loads(text), result["structuredContent"])
        return result["structuredContent"]

    def test_it_greets_and_names_its_tools(self):
        greeting = self.reply(self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"}))["result"]
        self.assertEqual((greeting["protocolVersion"], greeting["serverInfo"]["name"]), ("2025-06-18", "cudal1"))
        self.assertEqual(self.reply(self.ask("initialize", protocolVersion="1999-01-01"))["result"]["protocolVersion"], "2025-11-25")
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        self.assertEqual(self.reply(self.ask("ping"))["result"], {})
        tools = {tool["name"]: tool for tool in self.reply(self.ask("tools/list"))["result"]["tools"]}
        self.assertLessEqual({"describe_task", "compile", "verify_variant", "bench_variant", "profile_variant", "start_run", "submit_variant", "best_so_far",
                              "finish_run", "report"}, set(tools))
        for tool in tools.values():
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertLessEqual(set(tool["inputSchema"]["required"]), set(tool["inputSchema"]["properties"]))

    def test_what_is_no_request_is_said(self):
        self.send("{")
        self.assertEqual(self.reply(None)["error"]["code"], -32700)
        self.send('["a"]')
        self.assertEqual(self.reply(None)["error"]["code"], -32600)
        self.assertEqual(self.reply(self.ask("prompts/list"))["error"]["code"], -32601)
        self.assertIn("no tool nothing", self.reply(self.ask("tools/call", name="nothing"))["error"]["message"])
        self.call("verify_variant", error="`task` is missing", source=self.kernel)
        self.call("verify_variant", error="no argument `tsak`", tsak="softmax.cu", **TASK)
        self.call("verify_variant", error="of another type", task=7, source=self.kernel)
        self.call("verify_variant", error="name the variant", **TASK)
        self.call("verify_variant", error="missing.cu", task="missing.cu", source=self.kernel)
        self.call("submit_variant", error="start_run begins one", run="nowhere", source="x")

    def test_a_kernel_is_judged_without_a_run(self):
        self.assertTrue(self.call("compile", source=self.kernel)["compiled"])
        self.assertIn("softmax", self.call("describe_task", **TASK)["user"])
        judged = self.call("bench_variant", source=self.kernel, **TASK)["variants"][0]["judgement"]
        self.assertEqual(judged["verdict"], "PREDICTED_EQUIVALENT")
        wrong = self.call("verify_variant", source=self.kernel.replace("/ sum", "/ (sum + 1)"), **TASK)
        self.assertEqual((wrong["exit_code"], wrong["variants"][0]["judgement"]["verdict"]), (6, "WRONG_RESULT"))
        self.assertFalse((self.work / "cudal1-runs").exists())

    def test_a_run_is_kept_when_the_server_is_killed(self):
        first = self.call("start_run", **TASK)
        self.assertEqual((first["run"], first["answers"], first["judged"]), (RUN, "r01-s01", 0))
        second = self.call("submit_variant", run=RUN, source=self.kernel, analysis="As it is.", techniques="none")
        self.assertEqual((second["variant"]["judgement"]["verdict"], second["answers"]), ("PREDICTED_EQUIVALENT", "r02-s01"))
        self.assertIn("score 1.00", second["prompt"])
        self.server.kill()
        self.server.wait()
        self.server.stdin.close()
        self.server.stdout.close()
        self.start()
        again = self.call("start_run", **TASK)
        self.assertEqual((again["answers"], again["judged"], again["prompt"]), ("r02-s01", 1, second["prompt"]))
        third = self.call("submit_variant", run=RUN, reply="no kernel at all")
        self.assertIn("r02-s01", third["answers"])   # the answer may be repaired
        self.assertIn("__global__", self.call("best_so_far", run=RUN)["source"])
        done = self.call("finish_run", run=RUN)
        self.assertEqual((done["stopped_because"], done["best"]["level"]), ("rounds", "screening"))
        self.call("submit_variant", error="waits for no answer", run=RUN, source=self.kernel)
        self.assertIn("# softmax", self.call("report", run=RUN)["markdown"])
        self.assertEqual(self.call("report", run=RUN, format="json")["judged"], 1)

    def test_a_call_tells_its_progress_and_can_be_cancelled(self):
        number = self.ask("tools/call", name="start_run", arguments=TASK, _meta={"progressToken": "p"})
        self.reply(number)
        told = [message["params"] for message in self.heard if message.get("method") == "notifications/progress"]
        self.assertEqual([each["progress"] for each in told], list(range(1, len(told) + 1)))
        self.assertEqual({each["progressToken"] for each in told}, {"p"})
        self.assertIn("started", [json.loads(each["message"])["event"] for each in told])

        slow = self.kernel.replace("{\n", "{\n  for (volatile long spin = 0; spin < 4000000000; ++spin) {}\n", 1)
        number = self.ask("tools/call", name="verify_variant", arguments={**TASK, "source": slow, "options": ["--run-limit", "300"]})
        time.sleep(1)
        began = time.time()
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}))
        self.assertEqual(self.reply(self.ask("ping"))["result"], {})
        children = lambda: subprocess.run(["pgrep", "-P", str(self.server.pid)], capture_output=True, text=True).stdout.split()
        while children() and time.time() - began < 15:
            time.sleep(0.1)
        self.assertEqual(children(), [])
        self.assertTrue(self.call("compile", source=self.kernel)["compiled"])
        self.assertNotIn(number, [message.get("id") for message in self.heard])


if __name__ == "__main__":
    unittest.main()
