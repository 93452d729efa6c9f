#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries to link against in place of this system's glibc, in which no symbol is newer than a given version.

  stub_libraries.py 2.28 FOLDER [CC]

glibc keeps every version of a symbol that it ever had. What a program asks for is decided when it is linked: the newest version that
the library offers. A stub offers the newest one that is no newer than asked; symbols that came later are not in it, so that the link
fails where one is needed, and names it. Stubs hold no code, and the program runs with the glibc of its machine.
"""
import pathlib
import re
import subprocess
import sys

LIBRARIES = ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2")
SYMBOL = re.compile(r"^\s*\d+: ([0-9a-f]+)\s+(\S+)\s+(\w+)\s+(\w+)\s+\w+\s+(\w+)\s+([\w.$]+)@(@?)(GLIBC_[\d.]+)$")


def number(version):
    return tuple(int(part) for part in version.removeprefix("GLIBC_").split("."))


def offered(library, newest):
    """Of each symbol its newest version within `newest`: name → (version, kind, bytes, address, weak)."""
    lines = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for line in lines:
        match = SYMBOL.match(line)
        if not match or match[5] == "UND" or match[3] == "NOTYPE":
            continue
        address, size, kind, name, version = match[1], int(match[2], 0), match[3], match[6], number(match[8])
        if version <= newest and (name not in found or found[name][0] < version):
            found[name] = (version, kind, size, address, match[4] == "WEAK")
    return found


def text(version):
    return "GLIBC_" + ".".join(str(part) for part in version)


def write(library, symbols, folder, compiler):
    lines, places = [], {}
    for name, (_, kind, _, address, _) in sorted(symbols.items()):   # names of one variable stay names of one: environ, __environ
        places.setdefault((kind, address) if kind in ("OBJECT", "TLS") else name, []).append(name)
    for index, names in enumerate(places.values()):
        kind, size = symbols[names[0]][1], max(symbols[name][2] for name in names)
        sort = {"TLS": "tls_object", "OBJECT": "object"}.get(kind, "function")
        lines.append({"TLS": '.section .tdata,"awT"', "OBJECT": ".data"}.get(kind, ".text"))
        for alias, name in enumerate(names):
            own = f"stub_{index}_{alias}"
            lines += [f".{'weak' if symbols[name][4] else 'globl'} {own}", f".type {own}, @{sort}", f".size {own}, {max(size, 1)}", f"{own}:", f".symver {own}, {name}@@{text(symbols[name][0])}, remove"]
        lines.append("ret" if sort == "function" else f".balign 8\n.zero {max(size, 8)}")
    versions = sorted({version for version, *_ in symbols.values()})
    script = "".join(f"{text(version)} {{ {'local: stub_*;' if index == 0 else ''} }};\n" for index, version in enumerate(versions))
    (folder / f"{library}.s").write_text("\n".join(lines) + "\n.section .note.GNU-stack\n")
    (folder / f"{library}.map").write_text(script or "EMPTY { local: stub_*; };\n")
    subprocess.run([*compiler, "-shared", "-nostdlib", f"-Wl,-soname,{library}", f"-Wl,--version-script={folder / library}.map", "-o", folder / library, folder / f"{library}.s"], check=True)


def main(newest, folder, compiler):
    folder.mkdir(parents=True, exist_ok=True)
    for library in LIBRARIES:
        path = subprocess.run([*compiler, f"-print-file-name={library}"], check=True, capture_output=True, text=True).stdout.strip()
        write(library, offered(path, newest), folder, compiler)
        if not library.startswith("ld-"):
            (folder / f"{library.split('.so')[0]}.so").write_text(f"INPUT({folder / library})\n")
    # What glibc links statically into every program, beside libc itself.
    rest = subprocess.run([*compiler, "-print-file-name=libc_nonshared.a"], check=True, capture_output=True, text=True).stdout.strip()
    (folder / "libc.so").write_text(f"GROUP({folder / 'libc.so.6'} {rest} AS_NEEDED({folder / 'ld-linux-x86-64.so.2'}))\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(number(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:] or ["cc"])
