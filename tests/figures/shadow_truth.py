#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shadow truth against torch truth: how far what a kernel gives in double precision (SHADOW_ORACLE) is from its torch line, and
what an execution with shadows costs beside a plain one on one thread, at the check sizes.

  shadow_truth.py CUDAL1 [FILE.cu...] [--tool shadow_truth] [--all]

Without files: ../../examples/*.cu and the sixty lines of lines/seen.cu and lines/set_aside.cu. The tool is built with
ninja shadow_truth. --all prints every row, else those that are off by more than 1e-9 or cost more than four times.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

from lines import split

HERE = pathlib.Path(__file__).parent

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("cudal1")
parser.add_argument("files", nargs="*", type=pathlib.Path)
parser.add_argument("--tool", default=None)
parser.add_argument("--all", action="store_true")
options = parser.parse_args()
cudal1 = pathlib.Path(options.cudal1).resolve()
tool = options.tool or cudal1.parent.parent / "tests/figures/shadow_truth"
files = options.files or [*sorted((HERE / "../../examples").glob("*.cu")), HERE / "lines/seen.cu", HERE / "lines/set_aside.cu"]
with tempfile.TemporaryDirectory() as folder:
    tasks = []
    for file in files:
        for name, text in split(file).items():
            path = pathlib.Path(folder) / f"{name}.cu"
            path.write_text(text)
            tasks.append(path)
    run = subprocess.run([tool, cudal1, *tasks], capture_output=True, text=True)
rows = [json.loads(line) for line in run.stdout.splitlines()]
good = [row for row in rows if "problem" not in row and row["floats"]]
for row in rows:
    if "problem" in row:
        print(f"{row['task']}: {row['problem']}")
    elif row["floats"] and (options.all or row["relative"] > 1e-9 or row["cost"] > 4 or row["cost_disturbed"] > 4 or row["turned"]):
        print(f"{row['task']:28} {row['sizes']:28} off by {row['relative']:.1e}  sigma x{row['sigma_ratio']:.2g}  shadows {100 * row['shadowed']:.3g} %  turned {row['turned']:.0f}"
              f"  cost {row['cost']:.2f} and {row['cost_disturbed']:.2f} of {row['plain_ms']:.3g} ms")
near = [row for row in good if row["relative"] <= 1e-9]
print(f"{len(tasks)} tasks, {len(rows)} sizes, {len(good)} with outputs of floats: {len(near)} within 1e-9 of the torch line, "
      f"{sum(row['turned'] > 0 for row in good)} with comparisons that came out otherwise")
print(f"cost: median {statistics.median(row['cost'] for row in good):.2f}, largest {max(row['cost'] for row in good):.2f}; with random rounding "
      f"{statistics.median(row['cost_disturbed'] for row in good):.2f} and {max(row['cost_disturbed'] for row in good):.2f}")
