# SPDX-License-Identifier: Apache-2.0
"""call_checker.py FILE FOLDER: calls `check(inputs, outputs, sizes)` of FILE with the arrays of FOLDER.

Arrays are numpy's where numpy is there, and memoryviews with their shape otherwise. Right is None or True; anything else is the
reason why not, and so is an assertion that fails.
"""
import ast
import importlib.util
import json
import pathlib
import struct
import sys

try:
    import numpy
except ImportError:
    numpy = None

CODES = {"<f8": "d", "<f4": "f", "<f2": "e", "<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b", "|u1": "B", "|b1": "?"}


def read(path):
    if numpy is not None:
        return numpy.load(path)
    data = bytearray(path.read_bytes())
    length = struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:10 + length].decode().strip())
    code, shape, view = CODES[header["descr"]], header["shape"], memoryview(data)[10 + length:]
    if code == "e":  # memoryviews do not know it in every Python
        view = memoryview(bytearray(struct.pack(f"<{len(view) // 2}f", *struct.unpack(f"<{len(view) // 2}e", view)))).cast("B")
        code = "f"
    return view.cast(code, shape) if shape and 0 not in shape else view.cast(code)


def main():
    file, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    known = json.loads((folder / "sizes.json").read_text())
    before = {name: read(path if (path := folder / f"{name}.before.npy").exists() else folder / f"{name}.npy") for name in known["inputs"]}
    after = {name: read(folder / f"{name}.npy") for name in known["outputs"]}
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "check"):
        sys.exit(f"{file.name} has no function check(inputs, outputs, sizes)")
    try:
        said = module.check(before, after, known["sizes"])
    except AssertionError as error:
        sys.exit(str(error) or "an assertion failed")
    if said is None or said is True:
        return
    if numpy is not None and isinstance(said, numpy.bool_) and said:
        return
    sys.exit("check() says that it is wrong" if said is False else str(said))


if __name__ == "__main__":
    main()
