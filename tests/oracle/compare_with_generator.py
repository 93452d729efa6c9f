# SPDX-License-Identifier: Apache-2.0
"""Seeded inputs of the C++ generator and of its numpy twin must have the same bits."""

import pathlib
import subprocess
import sys

try:
    import numpy
except ImportError:
    print("skipped: numpy is missing (apt install python3-numpy)", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib" / "tensor" / "python"))
import generator  # noqa: E402

DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]
KINDS = [("normal", 0, 1), ("uniform", 0, 1), ("uniform", -3.25, 1e-3), ("uniform", 1, 1.0625), ("randint", -8, 8),
         ("randint", 0, 2**40), ("zeros", 0, 1), ("ones", 0, 1), ("arange", 0, 1)]
COUNT = 5001

failures = 0
for dtype in DTYPES:
    for kind, low, high in KINDS:
        for seed, stream in [(0, 0), (0x123456789ABCDEF0, 7), (2**64 - 1, 2**63)]:
            text = f"{kind}({low}, {high})" if kind in ("uniform", "randint") else kind
            ours = subprocess.run([sys.argv[1], "fill", dtype, text, str(seed), str(stream), str(COUNT)], capture_output=True, check=True).stdout
            with numpy.errstate(over="ignore"):
                twin = generator.fill(dtype, kind, seed, stream, COUNT, low, high)
            if ours != twin.tobytes():
                failures += 1
                print(f"{dtype} ~ {text}, seed {seed}, stream {stream}: the bits differ")
print(f"{len(DTYPES) * len(KINDS) * 3} fills of {COUNT} elements, {failures} differ")
sys.exit(1 if failures else 0)
