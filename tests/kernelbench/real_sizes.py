# SPDX-License-Identifier: Apache-2.0
"""real_sizes.py FOLDER: writes the modules of this folder there, with sizes as KernelBench has them: for sweeps on a GPU."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Constants by name, and other text as a pair.
SIZES = {
    "level1/1_": {"M": 2048, "K": 2048, "N": 2048},
    "level1/2_": {"M": 8192, "N": 8192},
    "level1/3_": {"N": 2048},
    "level1/4_": {"batch_size": 4096, "dim": 16384},
    "level1/5_": {"batch_size": 4096, "dim": 16384},
    "level1/6_": {"batch_size": 4096, "dim": 8192},
    "level1/7_": {"batch_size": 256, "features": 64, "dim": 4096},
    "level1/8_": {"batch_size": 64, "channels": 64, "8, 8)": "128, 128)"},
    "level1/9_": {"batch_size": 16, "4, 17, 19)": "64, 257, 259)"},
    "level1/10_": {"batch_size": 64, "dim": 1024, "33)": "1023)"},
    "level1/11_": {"batch_size": 64, "dim": 1024, "dim, 9)": "dim, 255)"},
    "level1/12_": {"batch_size": 16, "channels": 16, "14, 12)": "254, 252)", "[channels, 8, 3]": "[channels, 64, 3]"},
    "level1/13_": {"batch_size": 16, "channels": 32, "7, 6)": "127, 126)", "[channels, 5]": "[channels, 32]"},
    "level1/14_": {"batch_size": 4096, "dim": 8192},
    "level1/15_": {"batch_size": 4096, "dim": 8192},
    "level1/16_": {"batch_size": 32768, "classes": 4096},
    "level1/17_": {"heads": 64, "length": 1024, "dim": 64},
    "level1/18_": {"batch_size": 8192, "dim": 8192},
    "level1/19_": {"batch_size": 8192, "dim": 8192},
    "level1/20_": {"batch_size": 8192, "dim": 8192},
    "level2/1_": {"batch_size": 1024, "features": 2048, "out": 2048},
    "level2/2_": {"batch_size": 32, "channels": 32, "out": 64, "10, 10)": "128, 128)"},
    "level2/3_": {"batch_size": 1024, "features": 8192, "out": 8192},
    "level2/4_": {"batch_size": 1024, "features": 4096, "out": 4096},
    "level2/5_": {"batch_size": 1024, "features": 4096, "out": 4096},
    "level2/6_": {"batch_size": 1024, "features": 4096, "out": 4096},
    "level2/7_": {"batch_size": 16, "channels": 8, "out": 16, "5, 6, 6)": "18, 34, 34)"},
    "level3/1_": {"batch_size": 128, "batch_size, 32)": "batch_size, 4096)", "[32, 48, 40, 10]": "[4096, 8192, 8192, 1000]"},
    "level3/2_": {"batch_size": 16, "channels": 64, "8, 8)": "56, 56)"},
    "level3/3_": {"length": 64, "batch_size": 10, "batch_size, 6)": "batch_size, 128)", "batch_size, 5)": "batch_size, 256)", "[6, 5]": "[128, 256]"},
    "level3/4_": {"batch_size": 256, "batch_size, 12)": "batch_size, 1024)", "[12, 8]": "[1024, 1024]"},
    "level3/5_": {"batch_size": 8, "8, 4, 4)": "128, 32, 32)", "[8, 2]": "[128, 4]"},
}


def main():
    for path in sorted(HERE.glob("level*/*.py")):
        name = path.relative_to(HERE).as_posix()
        text = path.read_text()
        for old, new in next(sizes for prefix, sizes in SIZES.items() if name.startswith(prefix)).items():
            found = len(re.findall(rf"^{old} = \d+$", text, re.M)) if old.isidentifier() else text.count(old)
            if found == 0:
                sys.exit(f"{name} has no {old}")
            text = re.sub(rf"^{old} = \d+$", f"{old} = {new}", text, flags=re.M) if old.isidentifier() else text.replace(old, new)
        target = pathlib.Path(sys.argv[1]) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


if __name__ == "__main__":
    main()
