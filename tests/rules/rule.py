# SPDX-License-Identifier: Apache-2.0
"""rule.py RULE TREE BINARY: prints every violation of a rule of this tree and exits with 1 if there is one."""
import pathlib
import re
import subprocess
import sys

# Which folder alone may include a header.
RESERVED = [
    (r"<cuda\.h>", ["lib/device/cuda/"]),
    (r"<nvrtc\.h>", ["lib/compile/"]),
    (r"<curl/", ["lib/model/"]),
    (r"<httplib", ["lib/serve/"]),
    (r"<CLI/", ["cli/"]),
    (r"<toml\+\+/", ["cli/"]),
    (r"<openssl/", ["lib/base/"]),
]
SOURCES = ("*.hpp", "*.cpp", "*.ipp")
COMMENTED = SOURCES + ("CMakeLists.txt", "*.cmake", "*.sh", "*.py", "*.in")


def files(tree, patterns, folders):
    for folder in folders:
        for pattern in patterns:
            yield from sorted((tree / folder).rglob(pattern))


def includes(tree, _binary):
    for path in files(tree, SOURCES, ["lib", "cli", "tests"]):
        name = path.relative_to(tree).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*([<"].*[>"])', line)
            if not found:
                continue
            header = found.group(1)
            where = f"{name}:{number}"
            if '"../' in header or "/../" in header:
                yield f"{where}: include {header} by its part's name, not by a relative path"
            for pattern, homes in RESERVED:
                if re.match(pattern, header) and not any(name.startswith(home) for home in homes):
                    if not name.startswith("tests/"):
                        yield f"{where}: only {' and '.join(homes)} may include {header}"
    yield from shared_json(tree)
    yield from own_header_first(tree)


def own_header_first(tree):
    """So a build of single sources finds a header that does not stand alone."""
    for path in files(tree, ("*.cpp",), ["lib", "cli"]):
        first = re.search(r'^#include [<"](.*)[>"]', path.read_text(), re.M)
        if path.with_suffix(".hpp").exists() and not (first and first.group(1).endswith(path.stem + ".hpp")):
            yield f"{path.relative_to(tree).as_posix()}: include its own header, {path.stem}.hpp, first"


def part_of(name):
    """lib/judge/values.hpp → judge; lib/device/sim/machine.hpp → sim; cli/optimize.cpp → cli."""
    return pathlib.PurePath(name).parent.name


def shared_json(tree):
    """A header with <nlohmann/…> in it, itself or through others of its part, is for that part alone."""
    included = {}
    for path in files(tree, SOURCES, ["lib", "cli"]):
        found = re.findall(r'^\s*#\s*include\s*([<"].*[>"])', path.read_text(), re.M)
        included[path.relative_to(tree).as_posix()] = found
    key = {name: f'"{part_of(name)}/{pathlib.PurePath(name).name}"' for name in included}
    tainted = {key[name] for name, found in included.items()
               if name.endswith(".hpp") and any(header.startswith("<nlohmann/") for header in found)}
    while True:
        more = {key[name] for name, found in included.items() if name.endswith(".hpp") and tainted & set(found)} - tainted
        if not more:
            break
        tainted |= more
    for name, found in included.items():
        for header in sorted(tainted & set(found)):
            if header.split("/")[0].strip('"') != part_of(name):
                yield f"{name}: {header} brings JSON into another part"


def spdx(tree, _binary):
    line = "SPDX-License-Identifier: Apache-2.0"
    ours = [*files(tree, COMMENTED, ["lib", "cli", "cmake", "tests", "training"]), *sorted((tree / "examples").glob("*.cu"))]
    for path in ours:
        if (path.parent / "LICENSE").exists():  # other people's
            continue
        if line not in "\n".join(path.read_text(errors="replace").splitlines()[:3]):
            yield f"{path.relative_to(tree)}: the line {line} is missing"


def manual_options(tree):
    """(command, option) as cudal1(1) has them: a subsection of OPTIONS names the commands that its options belong to."""
    section, commands, pairs = "", [], set()
    for line in (tree / "man/cudal1.1.scd").read_text().splitlines():
        if line.startswith("# "):
            section = line[2:]
        elif line.startswith("## "):
            commands = ["" if name == "every command" else name for name in line[3:].split(", ")]
        elif section == "OPTIONS" and line.startswith("*-"):
            options = re.findall(r"\*(--?[a-z0-9-]+)\*", line)
            pairs |= {(command, option) for command in commands for option in options}
    return pairs


def parser_options(binary):
    pairs = set()
    for line in subprocess.run([binary, "help", "options"], check=True, capture_output=True, text=True).stdout.splitlines():
        command, options = line.split("\t")
        pairs |= {(command.removeprefix("cudal1").strip(), option) for option in options.split(", ")}
    return pairs | {("", "-h"), ("", "--help")}


def manual(tree, binary):
    written, real = manual_options(tree), parser_options(binary)
    for command, option in sorted(real - written):
        yield f"man/cudal1.1.scd: {command or 'every command'} has {option}, which is not written there"
    for command, option in sorted(written - real):
        yield f"man/cudal1.1.scd: {option} of {command or 'every command'} is written there, but does not exist"


def exit_codes(tree, binary):
    """The table of cli/exit_codes.cpp, what help prints, and the manual say the same."""
    printed = subprocess.run([binary, "help", "exit-codes"], check=True, capture_output=True, text=True).stdout
    real = dict(re.findall(r"^ +(\d+)  (.*)$", printed, re.M))
    page = (tree / "man/cudal1.1.scd").read_text()
    status = page[page.index("# EXIT STATUS"):page.index("# ENVIRONMENT")]
    written = dict(re.findall(r"^\|\[? +\*(\d+)\*\n:<? +(.*)$", status, re.M))
    for code in sorted(real.keys() | written.keys(), key=int):
        if real.get(code) != written.get(code):
            yield f"exit code {code}: help says {real.get(code)!r}, man/cudal1.1.scd says {written.get(code)!r}"
    declared = re.findall(r"^  (\w+) = (\d+),$", (tree / "cli/exit_codes.hpp").read_text(), re.M)
    for name, code in declared:
        if code not in real:
            yield f"cli/exit_codes.hpp: {name} = {code} is missing in the table"
    for path in files(tree, ("*.cpp",), ["cli"]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\b(std::exit|[^_]exit)\(\d", line):
                yield f"{path.relative_to(tree)}:{number}: end with an ExitCode, not with a number"


def verdicts(tree, _binary):
    """The names of verdicts and labels that JSON can hold are on its manual page, and no others."""
    source = (tree / "lib/outcome/verdict.cpp").read_text()
    names = re.findall(r'\{(Verdict|Label)::\w+, "([A-Z_]+)"\}', source)
    page = (tree / "man/cudal1-json.5.scd").read_text().replace("\\_", "-")
    judgement = page[page.index("# JUDGEMENT"):]
    for kind, begin, end in (("Verdict", "*verdict*", "*predicted*"), ("Label", "*labels* are", "The message")):
        text = judgement[judgement.index(begin):]
        written = {name.replace("-", "_") for name in re.findall(r"_([A-Z-]+)_", text[:text.index(end)])} - {"PREDICTED_"}
        real = {name for what, name in names if what == kind}
        for name in sorted(real - written):
            yield f"man/cudal1-json.5.scd: {name} of lib/outcome/verdict.cpp is not written there"
        for name in sorted(written - real):
            yield f"man/cudal1-json.5.scd: {name} is written there, but lib/outcome/verdict.cpp has no such {kind.lower()}"


def defences(tree, binary):
    """The program has no switch for what keeps a variant honest: only tests/cheats may define one, for itself."""
    home = "lib/base/defence.cpp"
    for path in files(tree, SOURCES, ["lib", "cli"]):
        name = path.relative_to(tree).as_posix()
        for line in re.findall(r"^.*bool defended\(.*\{.*$", path.read_text(), re.M):
            if name != home or line != "bool defended(Defence) { return true; }":
                yield f"{name}: {line.strip()}: a defence can be switched off"
    for word in (b"declared_checks", b"timed_poison"):
        if word in pathlib.Path(binary).read_bytes():
            yield f"{binary}: holds {word.decode()}, the name of a switch"


# Sources that read text which is no generated code.
READERS = {
    "lib/algebra/lower_products.cpp": "reads einsum's equation",
    "lib/cuda_code/device_code.cpp": "reads files of device code",
    "lib/cuda_code/parameter_names.cpp": "spells the marked names of a finished kernel",
    "lib/families/shared_kernels.cpp": "compares finished kernels that differ in names",
    "lib/families/arguments.cpp": "reads the task's expressions",
}


def generated_code(tree, _binary):
    """What writes kernels never takes generated code apart again: it is made of values, and becomes text once."""
    for path in files(tree, ("*.cpp", "*.hpp"), ["lib/cuda_code", "lib/algebra", "lib/schedule", "lib/families"]):
        name = path.relative_to(tree).as_posix()
        if name in READERS:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\.(substr|replace|remove_prefix|remove_suffix)\(|\b(text|code|body|result)_?\.erase\(|regex", line):
                yield f"{name}:{number}: generated code is edited as text; make it of values (lib/cuda_code/terms.hpp)"


def places(tree, _binary):
    """What ARCHITECTURE.md says that a new thing touches exists; `x.cpp` stands for the new file."""
    page = (tree / "ARCHITECTURE.md").read_text()
    table = page[page.index("# Where a new thing goes"):]
    for row in re.findall(r"^\| (?!a new|---)(.*) \|$", table, re.M):
        thing, touched = row.split(" | ", 1)
        folder = tree
        for name in re.findall(r"`([^`]+)`", touched):
            command = name.split()
            name = command[-1] if command[0] == "python3" else command[0]
            if re.search(r"\bx\.\w+$", name):
                name = name.rpartition("/")[0] or "."
            if name.startswith("."):  # `technique.hpp` and `.cpp`
                continue
            found = [*tree.glob(name), *(folder.glob(name) if "/" not in name else [])]
            if not found:
                yield f"ARCHITECTURE.md: a new {thing} touches {name}, which does not exist"
            elif "/" in name:
                folder = found[0] if found[0].is_dir() else found[0].parent


RULES = {"places": places, "includes": includes, "generated_code": generated_code, "spdx": spdx, "manual": manual, "exit_codes": exit_codes,
         "verdicts": verdicts, "defences": defences}


def main():
    rule, tree, binary = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    violations = list(RULES[rule](tree, binary))
    print("\n".join(violations) if violations else f"{rule}: nothing to complain about")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
