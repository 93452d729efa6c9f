# SPDX-License-Identifier: Apache-2.0
"""The wheel: pip takes it, in an environment that holds nothing else, and what it installs works."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["CUDAL1_PROGRAM"])
FIRST = """
import cudal1, pathlib, sys
assert cudal1.program() == str(pathlib.Path(sys.prefix, "bin", "cudal1")), cudal1.program()
result = cudal1.optimize(sys.argv[1], device="sim", rounds=1, samples=1, sizes={"N": 256, "M": 256})
print(result.verdict, result.speedup)
"""


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-wheel-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        prefix = self.folder / "prefix"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib" / "cudal1").mkdir(parents=True)
        subprocess.run(["strip", "-o", prefix / "bin" / "cudal1", PROGRAM], check=True)
        for library in sorted((PROGRAM.parents[1] / "lib" / "cudal1").glob("*.so*")):
            shutil.copy(library, prefix / "lib" / "cudal1")
        made = subprocess.run([sys.executable, SOURCE / "python" / "wheel.py", prefix, "0.1.0", self.folder], check=True, capture_output=True, text=True)
        self.wheel = pathlib.Path(made.stdout.strip())

    def test_it_holds_what_its_record_says(self):
        self.assertRegex(self.wheel.name, r"^cudal1-0\.1\.0-py3-none-(linux|manylinux_2_\d+)_\w+\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            recorded = [line.split(",")[0] for line in wheel.read("cudal1-0.1.0.dist-info/RECORD").decode().splitlines()]
            self.assertEqual(sorted(names), sorted(recorded))
            for name in ("cudal1/__init__.py", "cudal1/py.typed", "cudal1-0.1.0.data/scripts/cudal1", "cudal1-0.1.0.data/data/lib/cudal1/libcudal1_launcher.so",
                         "cudal1-0.1.0.dist-info/LICENSE"):
                self.assertIn(name, names)
            # Only a program that needs glibc alone may promise to run elsewhere.
            binary = self.folder / "binary"
            binary.write_bytes(wheel.read("cudal1-0.1.0.data/scripts/cudal1"))
        needed = subprocess.run(["readelf", "-d", binary], check=True, capture_output=True, text=True).stdout
        self.assertEqual("manylinux" in self.wheel.name, "libcurl" not in needed and "libstdc++" not in needed)

    def test_pip_installs_it(self):
        environment = self.folder / "environment"
        if subprocess.run([sys.executable, "-m", "venv", environment], capture_output=True).returncode != 0:
            self.skipTest("this Python makes no virtual environments: python3-venv")
        python = environment / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check", self.wheel], check=True)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("CUDAL1", "PYTHON"))} | {"HOME": str(self.folder)}
        version = subprocess.run([environment / "bin" / "cudal1", "--version"], check=True, capture_output=True, text=True, env=clean)
        self.assertIn("0.1.0", version.stdout)
        done = subprocess.run([python, "-c", FIRST, SOURCE / "examples" / "diag_matmul.cu"], cwd=self.folder, capture_output=True, text=True, env=clean)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^PREDICTED_FASTER [\d.]+x \[")


if __name__ == "__main__":
    unittest.main()
