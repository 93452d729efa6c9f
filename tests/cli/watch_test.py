# SPDX-License-Identifier: Apache-2.0
"""cudal1 watch: the report over HTTP while a run goes on."""
import re
import signal
import subprocess
import threading
import unittest
import urllib.request

from fixture import BINARY, FASTER, TASK, CliTest, interrupt, reply


class Watch(CliTest):
    def watch(self, run):
        server = subprocess.Popen([BINARY, "watch", run, "--port", "0"], cwd=self.work, env=self.environment, text=True, stderr=subprocess.PIPE)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait, 20)
        self.addCleanup(server.kill)
        said = server.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        self.assertTrue(found, said)
        return server, found[0]

    def optimize(self, rounds):
        return self.run_cli("optimize", "task.cu", "--device", "sim", "--model", "replay:replies", "--rounds", rounds, "--samples", "1", "--out", "run", "--confirmations", "1", code=None)

    def run_cli(self, *arguments, code=0, **more):
        if code is None:
            return subprocess.run([BINARY, *map(str, arguments)], cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=300)
        return super().run_cli(*arguments, code=code, **more)

    def test_the_page_follows_the_run(self):
        self.write("task.cu", TASK)
        for number, size in ((1, 256), (2, 128)):
            self.write(f"replies/r0{number}-s01.md", reply(FASTER.replace("256", str(size))))
        self.optimize(1)
        server, address = self.watch("run")
        page = urllib.request.urlopen(address + "/", timeout=30).read().decode()
        self.assertIn("r01-s01", page)
        self.assertNotIn("r02-s01", page)
        self.assertIn('new EventSource("/events")', page)
        events = urllib.request.urlopen(address + "/events", timeout=60)
        told = []
        reader = threading.Thread(target=lambda: told.append(events.readline().decode()))
        reader.start()
        self.optimize(2)
        reader.join(60)
        self.assertEqual(told, ["data: changed\n"])
        self.assertIn("r02-s01", urllib.request.urlopen(address + "/", timeout=30).read().decode())
        interrupt(server, signal.SIGTERM)
        self.assertEqual(server.wait(20), 143)

    def test_a_port_is_never_shared(self):
        self.write("task.cu", TASK)
        self.write("replies/r01-s01.md", reply(FASTER))
        self.optimize(1)
        _, address = self.watch("run")
        self.refuses("watch", "run", "--port", address.rsplit(":", 1)[1], code=2, says=["another program has it", "--port 0"])

    def test_a_folder_without_a_run_is_said(self):
        self.refuses("watch", "nowhere", code=11, says=("nowhere holds no run",))


if __name__ == "__main__":
    unittest.main()
