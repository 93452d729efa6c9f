#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the wheel: the program, for the folder of scripts, and the Python package beside it.

  wheel.py PREFIX VERSION FOLDER     PREFIX as `cmake --install` fills it; prints the wheel's path

The wheel is tagged manylinux_2_N where the program needs nothing but glibc 2.N, else linux, which pip takes on this machine alone.
"""
import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

PACKAGE = pathlib.Path(__file__).resolve().parent / "cudal1"
OF_GLIBC = re.compile(r"lib(c|m|dl|pthread|rt|resolv|util)\.so\.\d+$|ld-linux-.*")
SUMMARY = "Faster CUDA kernels, with proof"


def readelf(option, file):
    return subprocess.run(["readelf", option, "-W", file], check=True, capture_output=True, text=True).stdout


def platform_tag(files):
    """manylinux, where nothing but glibc is needed."""
    machine, minor = platform.machine(), 5
    for file in files:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file))
        if not all(OF_GLIBC.match(name) for name in needed):
            return f"linux_{machine}"
        minor = max([minor, *(int(number) for number in re.findall(r"GLIBC_2\.(\d+)", readelf("-V", file)))])
    return f"manylinux_2_{minor}_{machine}"


def entry(name, mode):
    info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))   # equal inputs make equal wheels
    info.external_attr, info.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
    return info


def write(prefix, version, folder):
    binary = prefix / "bin" / "cudal1"
    runtime = sorted(path for path in (prefix / "lib").rglob("*.so*") if path.is_file()) if (prefix / "lib").is_dir() else []
    tag = f"py3-none-{platform_tag([binary, *runtime])}"
    info = f"cudal1-{version}.dist-info"
    contents = [(f"cudal1-{version}.data/scripts/cudal1", binary.read_bytes(), 0o755)]
    contents += [(f"cudal1-{version}.data/data/{path.relative_to(prefix)}", path.read_bytes(), 0o755) for path in runtime]
    contents += [(f"cudal1/{path.name}", path.read_bytes(), 0o644) for path in sorted(PACKAGE.iterdir()) if path.suffix == ".py" or path.name == "py.typed"]
    licence = PACKAGE.parents[1] / "LICENSE"
    contents.append((f"{info}/LICENSE", licence.read_bytes(), 0o644))
    metadata = (f"Metadata-Version: 2.1\nName: cudal1\nVersion: {version}\nSummary: {SUMMARY}\nLicense: Apache-2.0\nRequires-Python: >=3.8\n"
                "Provides-Extra: nvrtc\nRequires-Dist: nvidia-cuda-nvrtc-cu12; extra == 'nvrtc'\nRequires-Dist: nvidia-cuda-runtime-cu12; extra == 'nvrtc'\n")
    contents.append((f"{info}/METADATA", metadata.encode(), 0o644))
    contents.append((f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: cudal1\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644))
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n" for name, data, _ in contents)
    contents.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"cudal1-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data, mode in contents:
            wheel.writestr(entry(name, mode), data)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(write(pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])))
