# SPDX-License-Identifier: Apache-2.0
"""The portable program needs glibc 2.28 and nothing else, and works."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["CUDAL1_BUILD"])
PROGRAM = BUILD / "portable" / "cudal1"


LAUNCHER = BUILD / "lib" / "cudal1" / "libcudal1_launcher.so"   # goes into the wheel beside it, as it is


def readelf(option, file=PROGRAM):
    return subprocess.run(["readelf", "-W", option, file], check=True, capture_output=True, text=True).stdout


class Portable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not PROGRAM.parent.is_dir():
            raise unittest.SkipTest("this compiler or system makes no portable program")
        made = subprocess.run([os.environ["CUDAL1_CMAKE"], "--build", BUILD, "--target", "portable"], capture_output=True, text=True)
        assert made.returncode == 0, made.stdout + made.stderr

    def test_no_symbol_is_newer_than_glibc_2_28(self):
        versions = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([\d.]+)", readelf("-V"))}
        self.assertLessEqual(max(versions), (2, 28))
        self.assertGreaterEqual(max(versions), (2, 14))   # there are any
        self.assertNotIn("GLIBCXX", readelf("-V"))
        self.assertLessEqual(set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d"))), {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"})

    def test_the_launcher_of_operators_needs_libc_alone(self):
        versions = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([\d.]+)", readelf("-V", LAUNCHER))}
        self.assertLessEqual(max(versions), (2, 28))
        self.assertLessEqual(set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", LAUNCHER))), {"libc.so.6", "ld-linux-x86-64.so.2"})

    def test_it_judges_throws_and_asks(self):
        with tempfile.TemporaryDirectory() as folder:
            def run(*words):
                return subprocess.run([PROGRAM, *map(str, words)], cwd=folder, env=os.environ | {"HOME": folder}, capture_output=True, text=True)

            task = SOURCE / "examples" / "softmax.cu"
            judged = run("verify", task, task, "--device", "sim", "--set", "N=8", "--set", "M=64", "--quick")
            self.assertEqual(judged.returncode, 0, judged.stderr)
            self.assertIn("right in", judged.stdout)
            self.assertEqual(run("verify", "none.cu", task).returncode, 11)   # an exception from its own libstdc++
            # libcurl, opened late: nobody listens there.
            asked = run("optimize", task, "--device", "sim", "--model", "llamacpp/x", "--base-url", "http://127.0.0.1:9", "--rounds", "1", "--retries", "0", "--set", "N=8", "--set", "M=64")
            self.assertEqual(asked.returncode, 7, asked.stderr)


if __name__ == "__main__":
    unittest.main()
