# SPDX-License-Identifier: Apache-2.0
import re
import time
import unittest

from fixture import CliTest


class Parsing(CliTest):
    def test_version_is_printed(self):
        self.assertRegex(self.run_cli("--version").out, r"^cudal1 \d+\.\d+\.\d+\n$")

    def test_help_lists_the_commands_by_group(self):
        out = self.run_cli("--help").out
        for text in ("Usage: cudal1 COMMAND", "Commands:", "  optimize ", "Without a model:", "  doctor ", "--color"):
            self.assertIn(text, out)

    def test_every_command_has_help_that_fits_a_page(self):
        for command in re.findall(r"^  ([a-z]+) ", self.run_cli("--help").out, re.M):
            out = self.run_cli(command, "--help").out
            self.assertIn(f"Usage: cudal1 {command}", out)
            self.assertEqual(out, self.run_cli("help", command).out)
            self.assertLessEqual(max(map(len, out.splitlines())), 100, out)

    def test_no_command_is_a_usage_error_that_shows_help(self):
        self.says(self.run_cli(code=2), "Usage: cudal1 COMMAND")

    def test_an_unknown_command_names_the_nearest(self):
        self.refuses("optimise", "x.cu", code=2, says=['unknown command "optimise"', 'did you mean "optimize"?'])

    def test_an_unknown_option_names_the_nearest(self):
        self.refuses("optimize", "x.cu", "--round", "3", code=2, says=["unknown option --round", '"--rounds"'])

    def test_an_option_of_another_command_is_unknown(self):
        self.refuses("runs", "--rounds", "3", code=2, says=["unknown option --rounds", "cudal1 runs --help"])

    def test_kernel_files_are_never_left_untimed(self):
        self.refuses("verify", "task.cu", "variant.cu", "--untimed", code=2, says=["--untimed", "published answers"])

    def test_a_missing_task_is_named(self):
        self.refuses("optimize", code=2, says=["TASK is required", "cudal1 optimize --help"])

    def test_a_value_of_the_wrong_kind_is_named(self):
        self.refuses("optimize", "x.cu", "--rounds", "many", code=2, says=["--rounds", "many"])
        self.refuses("optimize", "x.cu", "--rounds", "0", code=2, says=["--rounds"])
        self.refuses("devices", "--color", "red", code=2, says=["--color", "red"])

    def test_a_malformed_size_is_named(self):
        for text in ("N", "N=", "=4", "N=four", "N=4x"):
            self.refuses("optimize", "x.cu", "--device", "sim", "--set", text, code=2, says=[f"--set {text}", "N=64"])

    def test_options_may_stand_before_and_after_the_command(self):
        self.assertEqual(self.run_cli("-q", "models").out, self.run_cli("models", "-q").out)

    def test_help_topics_exist_and_a_misspelt_one_is_named(self):
        self.says(self.run_cli("help", "kernel-file"), "//@ torch", "//@ tune")
        self.says(self.run_cli("help", "exit-codes"), "130")
        self.says(self.run_cli("help", "environment"), "CUDAL1_ROUNDS", "CUDA_PATH")
        self.refuses("help", "exit-code", code=2, says=['"exit-codes"'])

    def test_an_unknown_worker_is_no_command(self):
        self.refuses("worker", "coffee", code=2)

    def test_a_full_disk_under_standard_output_is_an_error(self):
        self.refuses(code=12, says=["standard output"], prefix=["sh", "-c", '"$0" models > /dev/full'])

    def test_version_is_quick(self):
        times = []
        for _ in range(10):
            begin = time.perf_counter()
            self.run_cli("--version")
            times.append(time.perf_counter() - begin)
        self.assertLess(min(times), 0.1)


if __name__ == "__main__":
    unittest.main()
