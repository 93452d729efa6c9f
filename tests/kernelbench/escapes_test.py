# SPDX-License-Identifier: Apache-2.0
"""Published answers that try to get out: tests/cheats/answers/escapes.py in the answer's own thread, in another, in one of
OpenMP's pool and in a child; and what an answer might leave behind."""

import ctypes
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

from tasks import HERE, TaskTest

ESCAPES = HERE.parent / "cheats" / "answers"
SWISH = HERE / "level1" / "4_Swish.py"
WITHOUT_NAMESPACES = [sys.executable, str(HERE.parent / "cli" / "without_syscalls.py"), "namespaces"]
# Runs the table in four places. GOMP_parallel runs code in the threads of OpenMP's pool, which PyTorch makes early.
FOUR_PLACES = """
import ctypes, glob, os, threading
import torch
found = {"here": tried()}
def elsewhere():
    found["another thread"] = tried()
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
torch.randn(1 << 20).add_(1)
here = threading.get_native_id()
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def pooled(_):
    if threading.get_native_id() != here:
        found["a pool's thread"] = tried()
gomp = ctypes.CDLL(glob.glob("/usr/lib/*/libgomp.so.1")[0])
gomp.GOMP_parallel.argtypes = [CALLBACK, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
callback = CALLBACK(pooled)
gomp.GOMP_parallel(callback, None, 2, 0)
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, repr(tried()).encode())
    os._exit(0)
os.wait()
found["a child"] = eval(os.read(read, 1 << 16))
"""
TOLD = "raise RuntimeError(f'tried {len(ESCAPES)}: ' + repr(found))\n"


class EscapesTest(TaskTest):
    def outside(self):
        """What is there to be reached, and read again afterwards."""
        folder = self.work.parent / "outside"
        folder.mkdir()
        for name in ("victim", "second", "third"):
            (folder / name).write_text("untouched")
        private = self.home / "key"
        private.write_text("private")
        server, abstract, tcp = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX), socket.socket()
        datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.unique = f"cudal1-test-{os.getpid()}-{id(folder)}"
        server.bind(str(folder / "server"))
        abstract.bind("\0" + self.unique)
        datagrams.bind("\0" + self.unique + "-datagrams")
        datagrams.setblocking(False)
        tcp.bind(("127.0.0.1", 0))
        for each in (server, abstract, tcp):
            each.listen()
            each.setblocking(False)
        self.heard = [server, abstract, tcp, datagrams]
        for each in self.heard:
            self.addCleanup(each.close)
        self.readable = ctypes.create_string_buffer(8)
        return {"folder": str(folder), "victim": str(folder / "victim"), "second": str(folder / "second"), "third": str(folder / "third"),
                "private": str(private), "home": str(self.home), "server": str(folder / "server"), "abstract": self.unique,
                "datagrams": self.unique + "-datagrams", "port": tcp.getsockname()[1], "parent": os.getpid(), "host": os.getpid(), "address": ctypes.addressof(self.readable),
                "variables": ["sk-secret-key", "a-private-setting"], "own": "/nonexistent", "program": "/nonexistent"}

    def state(self, outside):
        folder = pathlib.Path(outside["folder"])
        return {each.name: (each.read_text() if each.is_file() else "", each.lstat().st_mode, each.lstat().st_mtime, os.listxattr(each) if each.is_file() else [])
                for each in folder.iterdir()}

    def received(self):
        count = 0
        for each in self.heard:
            try:
                each.recv(100) if each.type == socket.SOCK_DGRAM else each.accept()[0].close()
                count += 1
            except BlockingIOError:
                pass
        return count

    def answer(self, outside, text, name="answer.py"):
        # Paths of the answer's own are known in its process only.
        here = 'OUTSIDE["own"] = os.environ.get("HOME", ""); OUTSIDE["program"] = os.path.dirname(sys.modules["protocol"].__file__)\n'
        table = (ESCAPES / "escapes.py").read_text()
        return self.write(name, f"import os, sys\nOUTSIDE = {outside!r}\n{here}{table}\n{text}")

    def verified(self, path, code=6, task=SWISH, prefix=(), **environment):
        self.environment |= {"AN_API_KEY": "sk-secret-key", "SETTING": "a-private-setting"}
        ran = self.run_cli("verify", task, path, "--device", "sim", "--json", code=code, env=environment, prefix=prefix, timeout=240)
        return ran.json()["variants"][0]["judgement"]

    def test_no_way_out_succeeds(self):
        outside = self.outside()
        path = self.answer(outside, FOUR_PLACES + TOLD)
        before = self.state(outside)
        for threads, prefix in (("2", ()), ("1", WITHOUT_NAMESPACES)):
            with self.subTest(threads=threads, prefix=prefix):
                message = self.verified(path, prefix=prefix, OMP_NUM_THREADS=threads)["message"]
                self.assertIn("tried ", message)
                count = int(re.search(r"tried (\d+)", message).group(1))
                self.assertGreaterEqual(count, 80)
                found = eval(re.search(r"\{.*\}", message).group())
                self.assertEqual(set(found), {"here", "another thread", "a pool's thread", "a child"})
                for place, names in found.items():
                    self.assertEqual(names, [], place)
        self.assertEqual(self.state(outside), before)
        self.assertEqual(self.received(), 0)
        self.assertFalse(pathlib.Path("/tmp/cudal1-escaped").exists())

    def test_nothing_is_left_behind_nobody_is_stopped_and_claims_are_short(self):
        confinement = next(each for each in self.run_cli("doctor", "--json").json()["findings"] if each["what"] == "confinement")
        namespaces = "own processes" in confinement["detail"]   # a chroot has none
        for name, prefix in (("survivors.py", ()), ("survivors.py", WITHOUT_NAMESPACES), ("stops_the_parent.py", ()), ("long_claims.py", ())):
            with self.subTest(name=name, prefix=prefix):
                message = self.verified(ESCAPES / name, code=0, prefix=prefix)["message"]
                self.assertTrue(message.startswith("right"), message)
                self.assertEqual("confined without namespaces" in message, bool(prefix) or not namespaces, message)
                self.assertLess(len(message), 8000)
                self.assertNotRegex(message, r"[\n\r\x1b]")
        left = subprocess.run(["pgrep", "-f", "sleep 987654"], capture_output=True, text=True).stdout
        self.assertEqual(left, "")
        self.assertFalse(pathlib.Path("/dev/shm/cudal1-left-behind").exists())

    def test_a_reply_that_cannot_be_read_is_a_failure_of_the_answer(self):
        self.assertIn("unreadable", self.verified(ESCAPES / "deep_reply.py")["message"])

    def test_zeroed_inputs_make_nothing_right(self):
        self.assertEqual(self.verified(ESCAPES / "zeroed_inputs.py", task=HERE / "level1" / "11_Argmax.py")["verdict"], "WRONG_RESULT")

    def test_a_changed_program_is_laid_out_anew(self):
        self.verified(HERE / "answers" / "plain.py", code=0)
        folder = next((self.work.parent / "cache" / "cudal1").glob("pytorch-*"))
        (folder / "comparison.py").write_text((folder / "comparison.py").read_text() + "\nComparison.run = lambda self: {'right': True}\n")
        (folder / "secrets.py").write_text("raise ImportError('planted')\n")
        (folder / "__pycache__").mkdir(exist_ok=True)
        self.assertEqual(self.verified(HERE / "answers" / "half_precision.py")["verdict"], "WRONG_RESULT")
        self.assertFalse((folder / "secrets.py").exists() or (folder / "__pycache__").exists())

    def test_the_ways_out_are_some_where_nothing_is_confined(self):
        outside = self.outside()
        with tempfile.TemporaryDirectory() as own:
            outside |= {"own": own, "program": own, "parent": os.getpid()}
            (pathlib.Path(own) / "protocol.py").write_text("")
            table = (ESCAPES / "escapes.py").read_text()
            without = "tried(lambda name: 'temporary files' not in name)"
            ran = subprocess.run([sys.executable, "-c", f"OUTSIDE = {outside!r}\n{table}\nprint(repr({without}))"], capture_output=True, text=True, timeout=60,
                                 env=dict(os.environ, AN_API_KEY="sk-secret-key"))
        found = eval(ran.stdout)
        print(f"{len(found)} succeed where nothing is confined", file=sys.stderr)
        self.assertGreaterEqual(len(found), 40, f"{found}\n{ran.stderr}")
        self.assertGreater(self.received(), 0)


if __name__ == "__main__":
    unittest.main()
