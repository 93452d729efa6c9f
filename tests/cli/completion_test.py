# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess
import unittest

from fixture import CliTest


class Completion(CliTest):
    def complete(self, line):
        """What bash offers at the end of `line`."""
        words = line.split(" ")
        script = self.run_cli("completion", "bash").out + f"""
COMP_WORDS=({' '.join(repr(word) if word else "''" for word in words)})
COMP_CWORD={len(words) - 1}
_cudal1
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        finished = subprocess.run(["bash", "-eu", "-c", script], cwd=self.work, capture_output=True, text=True)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        return finished.stdout.split()

    def test_commands_are_completed(self):
        self.assertEqual(self.complete("cudal1 opt"), ["optimize"])
        self.assertIn("bench", self.complete("cudal1 "))
        self.assertEqual(sorted(self.complete("cudal1 config ")), ["path", "show"])

    def test_options_are_those_of_the_command(self):
        self.assertEqual(self.complete("cudal1 optimize --rou"), ["--rounds"])
        self.assertEqual(self.complete("cudal1 runs --rou"), [])
        self.assertEqual(self.complete("cudal1 config show --ori"), ["--origin"])
        self.assertEqual(self.complete("cudal1 runs --no-inp"), ["--no-input"])

    def test_values_are_completed(self):
        self.assertEqual(self.complete("cudal1 optimize --device s"), ["sim", "ssh:"])
        self.assertEqual(self.complete("cudal1 optimize --sampling b"), ["buckets"])
        self.assertEqual(self.complete("cudal1 report --format m"), ["markdown"])

    def test_names_that_the_program_knows_are_completed(self):
        self.assertEqual(sorted(self.complete("cudal1 optimize --gpu RTX")), ["RTX3090", "RTX4090", "RTX5090"])
        self.assertEqual(self.complete("cudal1 optimize --model anth"), ["anthropic/"])
        self.assertEqual(self.complete("cudal1 bench --baseline red"), ["reduce-overhead"])
        self.assertEqual(self.complete("cudal1 help tor"), ["torch"])
        self.assertEqual(self.complete("cudal1 completion z"), ["zsh"])

    def test_what_can_be_no_task_and_no_run_is_not_offered(self):
        self.write("notes.txt", "")
        self.write("runs/notes.txt", "")
        self.assertEqual(self.complete("cudal1 optimize no"), [])
        self.assertEqual(self.complete("cudal1 report r"), ["runs"])

    def test_files_are_completed_where_a_task_stands(self):
        self.write("kernel.cu", "")
        self.assertEqual(self.complete("cudal1 optimize ker"), ["kernel.cu"])
        self.assertEqual(self.complete("cudal1 optimize --output ker"), ["kernel.cu"])

    def test_scripts_are_well_formed(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.write(f"script.{shell}", self.run_cli("completion", shell).out)
            if shutil.which(shell) is None:
                print(f"{shell} is not installed: its script is not parsed")
                continue
            subprocess.run([shell, "-n", script], check=True)

    def test_an_unknown_shell_is_refused(self):
        self.refuses("completion", "csh", code=2, says=["csh"])


if __name__ == "__main__":
    unittest.main()
