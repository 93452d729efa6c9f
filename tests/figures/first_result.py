#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From an empty virtual environment to the first simulated result, with no compiler on PATH: seconds of each step.

  first_result.py WHEEL [--nvrtc]     --nvrtc: also pip install the wheels that hold NVRTC, from PyPI
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "diag_matmul.cu"
NVRTC = ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12")


def main(wheel, nvrtc):
    begin = time.time()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        environment = {"HOME": folder, "PATH": f"{root / 'e' / 'bin'}"}

        def step(name, *command):
            start = time.time()
            done = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)
            print(f"{time.time() - start:6.1f} s  {name}" + ("" if done.returncode == 0 else f": exit {done.returncode}\n{done.stderr}{done.stdout}"))
            return done

        step("python3 -m venv", sys.executable, "-m", "venv", root / "e")
        pip = (root / "e" / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check")
        step("pip install cudal1", *pip, "--no-deps", pathlib.Path(wheel).resolve())
        if nvrtc:
            step("pip install " + " ".join(NVRTC), *pip, *NVRTC)
        said = step("cudal1 doctor", root / "e" / "bin" / "cudal1", "doctor").stdout
        print("".join(f"          {line}\n" for line in said.splitlines() if "NVRTC" in line), end="")
        result = step("cudal1 optimize, one round", root / "e" / "bin" / "cudal1", "optimize", EXAMPLE, "--device", "sim", "--rounds", "1", "--samples", "1")
        print("".join(f"          {line}\n" for line in result.stdout.splitlines() if line.startswith("PREDICTED")), end="")
        print(f"{time.time() - begin:6.1f} s  in all")
        return result.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--nvrtc" in sys.argv[2:]))
