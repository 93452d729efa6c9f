# SPDX-License-Identifier: Apache-2.0
"""--device ssh:HOST against sshd on the loopback: same verdicts, and a connection that breaks."""
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from fixture import FASTER, TASK, WRONG, CliTest
from kill_resume import difference, stable

SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Remote(CliTest):
    def setUp(self):
        if not SSHD or not shutil.which("ssh"):
            self.skipTest("sshd is not installed: apt-get install openssh-server")
        super().setUp()
        root = self.home.parent / "sshd"
        root.mkdir()
        self.far = root / "cache"
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", root / name], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        if os.geteuid() == 0:
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        (root / "sshd_config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {root}/host\nAuthorizedKeysFile {root}/user.pub\nStrictModes no\nUsePAM no\n"
            f"PasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\nSetEnv XDG_CACHE_HOME={self.far}\n")
        self.config = root / "ssh_config"
        self.config.write_text(
            f"Host box\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentityFile {root}/user\n  IdentitiesOnly yes\n"
            "  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n")
        server = subprocess.Popen([SSHD, "-D", "-f", root / "sshd_config"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (server.terminate(), server.wait()))
        self.environment["CUDAL1_SSH"] = f"ssh -F {self.config}"
        for _ in range(50):
            tried = subprocess.run(["ssh", "-F", self.config, "-o", "BatchMode=yes", "box", "true"], capture_output=True, text=True)
            if tried.returncode == 0:
                break
            time.sleep(0.1)
        else:
            self.skipTest(f"sshd lets nobody in here: {tried.stderr.strip()}")
        self.write("task.cu", TASK)

    def connections(self):
        """The ssh processes over which a worker is spoken to."""
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0] == b"ssh" and str(self.config).encode() in words and b"worker attach" in words[-2]:
                found.append(int(folder.name))
        return found

    def optimize(self, device, out):
        return self.run_cli("optimize", "task.cu", "--device", device, "--model", "builtin", "--rounds", "3", "--samples", "2", "--seed", "1", "--out", out, "--json",
                            "--allow-no-improvement", "-q").out

    def test_verdicts_are_those_of_this_machine_and_the_program_is_copied_once(self):
        self.write("right.cu", FASTER)
        self.write("wrong.cu", WRONG)
        self.write("crash.cu", FASTER.replace("C[i] =", "C[i + (1 << 28)] ="))

        def verdicts(device):
            judged = self.run_cli("bench", "task.cu", "right.cu", "wrong.cu", "crash.cu", "--device", device, "--json", code=6).json()
            for one in judged["variants"]:
                for name in ("judging_seconds", "step_seconds"):
                    one["judgement"].pop(name)
            return judged

        self.assertEqual(difference(verdicts("sim"), verdicts("ssh:box:sim")), "")
        programs = list((self.far / "cudal1" / "programs").iterdir())
        self.assertEqual(len(programs), 1)
        before = programs[0].stat().st_ino
        self.assertIn("simulating on box", self.run_cli("verify", "task.cu", "right.cu", "--device", "ssh:box:sim").err)
        self.assertEqual(programs[0].stat().st_ino, before)
        # Nobody is left behind: sessions end with their runs.
        for _ in range(50):
            left = list((self.far / "cudal1" / "sessions").iterdir())
            if not left:
                break
            time.sleep(0.1)
        self.assertEqual(left, [])

    def test_a_connection_that_breaks_three_times_changes_nothing(self):
        here = stable(self.optimize("sim", "here"))
        done, killed = threading.Event(), []

        def breaker():
            while not done.wait(0.35) and len(killed) < 3:
                for pid in self.connections():
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

        thread = threading.Thread(target=breaker)
        thread.start()
        try:
            there = stable(self.optimize("ssh:box:sim", "there"))
        finally:
            done.set()
            thread.join()
        self.assertGreaterEqual(len(killed), 3)
        self.assertEqual(difference(here, there), "")

    def test_what_cannot_be_had_is_named(self):
        self.refuses("verify", "task.cu", "task.cu", "--device", "ssh:nowhere.invalid:sim", code=5, says=["ssh nowhere.invalid:"])
        self.refuses("verify", "task.cu", "task.cu", "--device", "ssh:-oProxyCommand=x", code=2, says=["expected ssh:HOST"])
        self.refuses("verify", "task.cu", "task.cu", "--device", "ssh:box:cuda:97", code=5, says=["box"])
        self.refuses("verify", "task.cu", "task.cu", "--device", "ssh:box:sim,sim", code=2, says=["one device"])
        self.write("check.py", "def check(inputs, outputs, sizes):\n    return None\n")
        self.write("checked.cu", TASK.replace("//@ torch   C = A + 1", '//@ checker "check.py"'))
        self.refuses("verify", "checked.cu", "checked.cu", "--device", "ssh:box:sim", code=10, says=["the task's own checker cannot be had over ssh"])


if __name__ == "__main__":
    unittest.main()
