# SPDX-License-Identifier: Apache-2.0
"""playbook_sources.py PROGRAM FOLDER [GPU,GPU...]: what playbook_sources prints for every task in lines/*.cu and every example:
FOLDER/GPU/PRECISION/TASK.txt. Made before and after a change that shall change no kernel, plan or cost, `diff -r` finds nothing."""
import pathlib
import subprocess
import sys
import tempfile

import lines

HERE = pathlib.Path(__file__).resolve().parent


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    gpus = sys.argv[3] if len(sys.argv) > 3 else "H200,A100,RTX3090,T4,B200"
    refused = 0
    with tempfile.TemporaryDirectory() as scratch:
        tasks = sorted((HERE.parent.parent / "examples").glob("*.cu"))
        for path in sorted((HERE / "lines").glob("*.cu")):
            below = pathlib.Path(scratch, path.stem)
            below.mkdir()
            for name, text in lines.split(path).items():
                tasks.append(below / f"{name}.cu")
                tasks[-1].write_text(text)
        for task in tasks:
            refused += subprocess.run([program, gpus, folder, task]).returncode != 0
    print(f"{len(tasks)} tasks, {refused} refused, {sum(1 for _ in folder.rglob('*.txt'))} files")


if __name__ == "__main__":
    main()
