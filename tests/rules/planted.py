# SPDX-License-Identifier: Apache-2.0
"""planted.py TREE BINARY: plants violations in a copy of the tree and sees that the rule complains about each."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

RULE = pathlib.Path(__file__).with_name("rule.py")


def append(text):
    return lambda path: path.write_text(path.read_text() + text)


def replace(old, new):
    def plant(path):
        text = path.read_text()
        assert old in text, f"{path} has no {old!r} to replace"
        path.write_text(text.replace(old, new, 1))
    return plant


# rule, file, what is planted, what the complaint must name
PLANTED = [
    ("includes", "lib/task/task.cpp", append('\n#include "../kernel/file.hpp"\n'), "task.cpp"),
    ("includes", "lib/judge/judge.hpp", append("\n#include <cuda.h>\n"), "<cuda.h>"),
    ("includes", "lib/judge/judge.hpp", append("\n#include <nvrtc.h>\n"), "<nvrtc.h>"),
    ("includes", "lib/base/file.cpp", append("\n#include <curl/curl.h>\n"), "<curl/curl.h>"),
    ("includes", "lib/search/search.cpp", append("\n#include <CLI/CLI.hpp>\n"), "<CLI/CLI.hpp>"),
    ("includes", "lib/outcome/judgement.hpp", append("\n#include <nlohmann/json.hpp>\n"), "JSON"),
    ("includes", "lib/base/text.cpp", replace('#include "base/text.hpp"\n', ""), "text.hpp"),
    ("generated_code", "lib/families/scan.cpp", append("\nstd::string cut(const std::string& code) { return code.substr(3); }\n"), "scan.cpp"),
    ("generated_code", "lib/algebra/lower.cpp", append("\nvoid edit(std::string& text) { text.erase(0, 6); }\n"), "lower.cpp"),
    ("generated_code", "lib/families/windows.cpp", append("\nvoid edit(std::string& code) { code.replace(0, 1, \"\"); }\n"), "windows.cpp"),
    ("defences", "lib/base/defence.cpp", replace("return true", "return getenv(\"OFF\") == nullptr"), "defence.cpp"),
    ("defences", "cli/main.cpp", append("\nbool defended(Defence) { return false; }\n"), "cli/main.cpp"),
    ("spdx", "lib/base/text.cpp", replace("// SPDX-License-Identifier: Apache-2.0\n", ""), "lib/base/text.cpp"),
    ("manual", "man/cudal1.1.scd", replace("*--samples* _K_\n", ""), "--samples"),
    ("manual", "man/cudal1.1.scd", replace("*--samples* _K_", "*--simples* _K_"), "--simples"),
    ("verdicts", "man/cudal1-json.5.scd", replace("_DROP_", "_DROPPED_"), "DROPPED"),
    ("verdicts", "man/cudal1-json.5.scd", replace(", _THROTTLED_", ""), "THROTTLED"),
    ("exit_codes", "man/cudal1.1.scd", replace("finished, nothing faster was found", "nothing"), "exit code 3"),
    ("exit_codes", "cli/exit_codes.hpp", replace("  success = 0,\n", "  success = 0,\n  other = 99,\n"), "other = 99"),
    ("places", "ARCHITECTURE.md", replace("`lib/algebra/pointwise.cpp`", "`lib/algebra/pointwise_table.cpp`"), "pointwise_table.cpp"),
    ("places", "ARCHITECTURE.md", replace("one line in `providers.cpp`", "one line in `provider_list.cpp`"), "provider_list.cpp"),
    ("exit_codes", "cli/main.cpp", append("\nvoid f() { std::exit(4); }\n"), "cli/main.cpp"),
]


def main():
    tree, binary = pathlib.Path(sys.argv[1]), sys.argv[2]
    deaf = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "tree"
        copy.mkdir()
        for part in ("lib", "cli", "cmake", "man", "tests", "examples", "prompts"):
            shutil.copytree(tree / part, copy / part)
        for name in ("ARCHITECTURE.md", "CHANGELOG.md"):
            shutil.copy(tree / name, copy / name)
        for rule, name, plant, named in PLANTED:
            path = copy / name
            original = path.read_text()
            plant(path)
            run = subprocess.run([sys.executable, RULE, rule, copy, binary], capture_output=True, text=True)
            path.write_text(original)
            heard = run.returncode == 1 and named in run.stdout
            print(f"{'ok' if heard else 'DEAF'}  {rule}: {name} ({named})")
            if not heard:
                print(run.stdout, run.stderr)
                deaf += 1
    return 1 if deaf else 0


if __name__ == "__main__":
    sys.exit(main())
