# SPDX-License-Identifier: Apache-2.0
"""Runs the binary in an empty folder, with an empty home and no settings, and prints everything when a test fails."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

BINARY = os.environ.get("CUDAL1_TEST_BINARY", "cudal1")
SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "examples"

# A small task whose reference reads a column per thread: quick to simulate, and easy to make faster.
TASK = """\
//@ task    add_one
//@ torch   C = A + 1
//@ size    N = 64, M = 256
//@ check   N = 5, M = 7
//@ input   A: float32[N, M]
//@ output  C: float32[N, M]
//@ launch  add_one<<<ceil_div(N, 64), 64>>>(A, C, N, M)

__global__ void add_one(const float* A, float* C, int N, int M) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row < N) for (int column = 0; column < M; ++column) C[row * M + column] = A[row * M + column] + 1.0f;
}
"""
FASTER = """\
//@ launch  add_one<<<ceil_div(N * M, 256), 256>>>(A, C, N * M)

__global__ void add_one(const float* A, float* C, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) C[i] = A[i] + 1.0f;
}
"""
WRONG = FASTER.replace("A[i] + 1.0f", "A[i] + 2.0f")


def shared_compilations():
    """The compiler's cache that all tests share, in the build folder; most of them compile the task above. It is a new one for a new BINARY."""
    binary = pathlib.Path(shutil.which(BINARY) or BINARY).resolve()
    if not (binary.parents[1] / "CMakeCache.txt").exists():
        return None
    folder = binary.parents[1] / "tests" / "compiled" / str(binary.stat().st_mtime_ns)
    for earlier in folder.parent.glob("*"):
        if earlier != folder:
            shutil.rmtree(earlier, ignore_errors=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # a build folder that this user may not write: each test compiles for itself
        return None
    return folder


def reply(code, analysis="Reads are not coalesced.", design="One element per thread."):
    """A model's reply in the form that the prompts ask for."""
    return f"## Performance Analysis\n{analysis}\n\n## Algorithm Design\n{design}\n\n## Code Implementation\n```cuda\n{code}```\n"


class Result:
    def __init__(self, command, finished):
        self.command, self.code = command, finished.returncode
        self.out, self.err = finished.stdout, finished.stderr

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"$ {' '.join(self.command)}\n-> {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}\n---"


class CliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-test-")
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        self.home, self.work = root / "home", root / "work"
        self.home.mkdir()
        self.work.mkdir()
        dropped = ("CUDAL1_", "XDG_", "NO_COLOR", "FORCE_COLOR", "CLICOLOR")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
        self.environment |= {"HOME": str(self.home), "XDG_CONFIG_DIRS": str(root / "system"), "TERM": "xterm"}
        self.environment["XDG_CACHE_HOME"] = str(root / "cache")
        if (folder := shared_compilations()) is not None:
            (root / "cache" / "cudal1").mkdir(parents=True)
            (root / "cache" / "cudal1" / "compiled").symlink_to(folder)

    def write(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return path

    def run_cli(self, *arguments, code=0, env=None, text_input="", prefix=(), timeout=300):
        """Runs the command and sees that it ends with `code`."""
        command = [*prefix, BINARY, *map(str, arguments)]
        finished = subprocess.run(command, cwd=self.work, env=self.environment | (env or {}), input=text_input,
                                  capture_output=True, text=True, timeout=timeout)
        result = Result(command, finished)
        self.assertEqual(result.code, code, f"\n{result}")
        self.assertNotIn("internal error", result.err, f"\n{result}")
        return result

    def start_cli(self, *arguments):
        """Starts the command with JSON progress on stderr."""
        return subprocess.Popen([BINARY, *map(str, arguments), "--progress", "json"], cwd=self.work, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(self, process, event):
        """Reads progress until `event` arrives; returns all that was read."""
        seen = ""
        for line in process.stderr:
            seen += line
            if f'"event":"{event}"' in line:
                return seen
        self.fail(f"no {event} event before the end ({process.wait()}):\n{seen}")
        return seen

    def says(self, result, *texts):
        for text in texts:
            self.assertIn(text, result.out + result.err, f"\n{result}")

    def refuses(self, *arguments, code, says=(), env=None, prefix=()):
        result = self.run_cli(*arguments, code=code, env=env, prefix=prefix)
        self.says(result, *says)
        return result


def interrupt(process, number=signal.SIGINT):
    process.send_signal(number)
