# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import sys
import unittest

from fixture import FASTER, TASK, CliTest


class Surroundings(CliTest):
    def test_devices_lists_gpus_and_what_is_simulated(self):
        self.says(self.run_cli("devices"), "--device cuda:N", "--device sim --gpu NAME", "H200")
        names = [gpu["id"] for gpu in self.run_cli("devices", "--json").json()["simulated"]]
        self.assertIn("H200", names)

    def test_devices_verbose_lists_records_and_instructions(self):
        self.says(self.run_cli("devices", "--verbose"), "PTX instructions", "fma", "shared memory")
        self.assertGreater(len(self.run_cli("devices", "--verbose", "--json").json()["sim_instructions"]), 20)

    def test_models_lists_every_provider(self):
        self.says(self.run_cli("models"), "builtin", "replay:", "exchange:", "cmd:")

    def test_doctor_says_of_everything_missing_how_to_get_it(self):
        code = 0
        for attempt in (0, 5):
            try:
                findings = self.run_cli("doctor", "--json", code=attempt).json()["findings"]
                code = attempt
                break
            except AssertionError:
                if attempt == 5:
                    raise
        self.assertEqual({finding["what"] for finding in findings},
                         {"NVRTC", "sandbox", "confinement", "GPU", "compute-sanitizer", "PyTorch", "cache folder", "configuration"})
        for finding in findings:
            if finding["state"] == "ok" and finding["what"] == "confinement":
                self.assertEqual("own processes" in finding["detail"], finding["remedy"] == "", finding)   # there in part
            else:
                self.assertEqual(finding["state"] == "ok", finding["remedy"] == "", finding)
        needed = [finding for finding in findings if finding["needed"] and finding["state"] != "ok"]
        self.assertEqual(code == 5, bool(needed))

    def test_doctor_survives_a_broken_home(self):
        self.write("file", "")
        result = self.run_cli("doctor", env={"XDG_CACHE_HOME": str(self.work / "file")})
        self.says(result, "cache folder       broken", "XDG_CACHE_HOME")

    def test_what_helps_to_mend_settings_works_with_broken_ones(self):
        self.write(".cudal1.toml", "ruonds = 3\n")
        self.says(self.run_cli("doctor", code=2), "configuration      broken", "ruonds")
        self.write(".cudal1.toml", "rounds =\n")
        self.says(self.run_cli("config", "path"), ".cudal1.toml")
        self.run_cli("help")
        self.run_cli("completion", "bash")
        self.refuses("models", code=2, says=[".cudal1.toml:1"])

    def test_an_old_driver_is_named_with_the_one_that_is_needed(self):
        old = {"LD_LIBRARY_PATH": os.environ["CUDAL1_OLD_DRIVER"]}
        self.says(self.run_cli("devices", env=old), "too old: cuLaunchKernelEx is missing", "520 or newer")
        self.write("task.cu", TASK)
        self.write("faster.cu", FASTER)
        self.refuses("verify", "task.cu", "faster.cu", "--device", "cuda:0", code=5, env=old, says=["too old"])

    def test_a_container_without_landlock_compiles_behind_seccomp_alone_and_says_so(self):
        without = {"prefix": [sys.executable, str(pathlib.Path(__file__).with_name("without_syscalls.py")), "landlock"]}
        self.says(self.run_cli("doctor", **without), "seccomp alone", "no Landlock")
        self.write("task.cu", TASK)
        self.run_cli("compile", "task.cu", **without)

    def test_a_container_without_any_sandbox_compiles_only_when_told(self):
        without = {"prefix": [sys.executable, str(pathlib.Path(__file__).with_name("without_syscalls.py")), "seccomp"]}
        self.write("task.cu", TASK)
        self.refuses("compile", "task.cu", code=2, says=["--no-sandbox"], **without)
        self.run_cli("compile", "task.cu", "--no-sandbox", **without)

    def test_no_runs_is_no_error(self):
        self.assertEqual(self.run_cli("runs", "--json").json()["runs"], [])
        self.says(self.run_cli("runs"), "no runs under .")

    def test_runs_of_a_folder_that_is_not_there_are_an_error(self):
        for more in ((), ("--json",)):
            self.refuses("runs", "nosuch", *more, code=11, says=["no run or folder nosuch", "cudal1 runs"])

    def test_a_folder_for_runs_that_cannot_be_written_is_a_result_that_is_not_written(self):
        self.write("task.cu", TASK)
        for command in (("optimize", "task.cu", "--model", "builtin"), ("sweep", "task.cu", "--model", "builtin")):
            self.refuses(*command, "--device", "sim", "--out", "/proc/none/run", code=12, says=["/proc/none/run", "--out"])


if __name__ == "__main__":
    unittest.main()
