# SPDX-License-Identifier: Apache-2.0
"""lengths.py [TREE]: sources of more than 400 lines and functions of more than 60, of the program and of its tests.

A function is what clang-format leaves at an indent of none or two: from the first line of its head to the closing brace."""
import pathlib
import re
import sys

FILE, FUNCTION = 400, 60
NO_HEAD = r"namespace\b|struct\b|class\b|enum\b|union\b|extern \"C\"|if\b|for\b|while\b|switch\b|else\b|do\b|return\b|//|#|\}"


def functions(lines):
    """(first line, lines, head) of each function; lambdas and members of local types count with what they stand in."""
    at = 0
    while at < len(lines):
        head = re.match(rf"^( {{0,2}})(?! )(?!{NO_HEAD}).*\)[^;]*\{{$", lines[at])
        if head:
            end = at + 1
            while end < len(lines) and not lines[end].startswith(head.group(1) + "}"):
                end += 1
            begin = at
            while begin > 0 and not re.match(r"^\s*$|^.*[;}{]$|^\s*//|^\s*(public|private|protected):", lines[begin - 1]):
                begin -= 1
            yield begin + 1, end - begin + 1, lines[at].strip()
            at = end
        at += 1


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for what, folders in (("the program", ("lib", "cli", "runtime")), ("its tests", ("tests",))):
        paths = [path for folder in folders for path in sorted((tree / folder).rglob("*")) if path.suffix in (".cpp", ".hpp", ".ipp")]
        long_files, long_functions, count = [], [], 0
        for path in paths:
            lines = path.read_text(errors="replace").splitlines()
            name = path.relative_to(tree).as_posix()
            if len(lines) > FILE:
                long_files.append((len(lines), name))
            for line, length, head in functions(lines):
                count += 1
                if length > FUNCTION:
                    long_functions.append((length, f"{name}:{line}  {head[:90]}"))
        for length, name in sorted(long_files + long_functions, reverse=True):
            print(f"{length:5} {name}")
        print(f"{what}: {len(long_files)} of {len(paths)} files over {FILE} lines, {len(long_functions)} of {count} functions over {FUNCTION}\n")


if __name__ == "__main__":
    main()
