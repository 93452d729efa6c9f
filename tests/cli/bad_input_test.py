# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import unittest

from fixture import EXAMPLES, FASTER, TASK, CliTest, reply

SIM = ("--device", "sim")


def isolated(script):
    """A prefix that runs the command after `script` in mounts of its own; None where the system does not allow that."""
    works = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True).returncode == 0
    return ["unshare", "-m", "sh", "-c", script + ' && exec "$0" "$@"'] if works else None


class Tasks(CliTest):
    def test_a_missing_file_is_named(self):
        self.refuses("optimize", "nothing.cu", *SIM, code=11, says=["nothing.cu"])
        self.refuses("init", "nothing.cu", code=11, says=["nothing.cu"])
        self.refuses("compile", "nothing.cu", code=11, says=["nothing.cu"])

    def test_a_folder_is_no_task(self):
        (self.work / "folder").mkdir()
        self.refuses("optimize", "folder", *SIM, code=11, says=["folder"])

    def test_a_binary_file_is_no_task(self):
        self.write("binary.cu", bytes(range(256)) * 40)
        self.refuses("optimize", "binary.cu", *SIM, code=10, says=["binary.cu"])

    def test_a_file_without_directives_is_sent_to_init(self):
        self.write("plain.cu", "__global__ void f(void** a) { a[0] = 0; }\n")
        self.refuses("optimize", "plain.cu", *SIM, code=10, says=["cudal1 init plain.cu", "array of pointers"])

    def test_a_malformed_directive_is_shown_with_a_caret(self):
        self.write("bad.cu", TASK.replace("//@ launch ", "//@ lunch  "))
        self.refuses("optimize", "bad.cu", *SIM, code=10, says=["bad.cu:7:", "lunch", "launch`?", "^"])

    def test_a_module_without_pytorch_says_what_to_install(self):
        self.write("task.py", "class Model: pass\n")
        for command in (["optimize", "task.py", *SIM], ["init", "task.py"]):
            self.refuses(*command, "--python", "/bin/false", code=2, says=["python3-torch", "--python"])

    def test_sizes_that_overflow_are_refused(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", *SIM, "--set", "N=4611686018427387904", code=10, says=["task.cu"])

    def test_sizes_that_exceed_memory_are_refused(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", *SIM, "--set", "N=2000000", "--set", "M=2000000", code=10, says=["--set", "GiB"])

    def test_a_size_that_does_not_exist_names_the_nearest(self):
        self.write("task.cu", TASK.replace("N = 64", "ROWS = 64").replace("N", "ROWS"))
        self.refuses("optimize", "task.cu", *SIM, "--set", "ROW=3", code=2, says=['"ROWS"'])

    def test_a_reference_that_does_not_compile_is_shown(self):
        self.write("task.cu", TASK.replace("+ 1.0f;", "+ one;"))
        self.refuses("optimize", "task.cu", *SIM, code=10, says=["task.cu:11", "one"])

    def test_a_reference_that_is_wrong_is_refused(self):
        self.write("task.cu", TASK.replace("+ 1.0f;", "+ 3.0f;"))
        self.refuses("optimize", "task.cu", *SIM, code=10, says=["C["])


class Machines(CliTest):
    def test_an_unknown_gpu_names_the_nearest(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", *SIM, "--gpu", "H20O", code=2, says=["H20O", "H200"])

    def test_an_unknown_device_says_what_there_is(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", "--device", "gpu", code=2, says=["--device gpu", "auto, cuda:N, sim or ssh:HOST"])
        self.refuses("optimize", "task.cu", "--device", "cuda:x", code=2, says=["--device cuda:x"])

    def test_a_gpu_that_is_not_there_is_an_error_not_a_fallback(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", "--device", "cuda:63", code=5)

    def test_an_unknown_model_names_the_nearest(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", *SIM, "--model", "bultin", code=2, says=["bultin", "builtin"])
        self.refuses("optimize", "task.cu", *SIM, "--model", "replay:nowhere", code=2, says=["nowhere"])

    def test_without_nvrtc_it_says_where_it_looked_and_how_to_get_it(self):
        prefix = isolated("mount -t tmpfs none /usr/local")
        if prefix is None:
            self.skipTest("mount namespaces are not allowed here, so NVRTC cannot be hidden")
        environment = {name: "" for name in ("CUDA_PATH", "CUDA_HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")}
        environment["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin"
        self.write("task.cu", TASK)
        result = self.run_cli("doctor", prefix=prefix, env=environment, code=5)
        if "NVRTC              ok" in result.out:
            self.skipTest("NVRTC lies outside /usr/local")
        self.says(result, "NVRTC              missing", "looked at", "CUDA_PATH")
        self.refuses("optimize", "task.cu", *SIM, code=5, says=["NVRTC"], prefix=prefix, env=environment)
        self.run_cli("--help", prefix=prefix, env=environment)


class Places(CliTest):
    def test_a_run_folder_that_cannot_be_made_is_named(self):
        self.write("task.cu", TASK)
        self.write("file", "")
        self.refuses("optimize", "task.cu", *SIM, "--out", "file/run", code=12, says=["file/run", "--out"])

    def test_a_folder_of_other_things_is_left_alone(self):
        self.write("task.cu", TASK)
        self.write("thesis/chapter1.txt", "precious")
        self.refuses("optimize", "task.cu", *SIM, "--out", "thesis", code=2, says=["thesis", "--out"])
        self.assertEqual((self.work / "thesis/chapter1.txt").read_text(), "precious")

    def test_a_full_disk_is_named_and_loses_nothing(self):
        prefix = isolated(f"mount -t tmpfs -o size=48k none {self.work}/small")
        if prefix is None:
            self.skipTest("mount namespaces are not allowed here, so no disk can be filled")
        self.write("task.cu", TASK)
        (self.work / "small").mkdir()
        self.refuses("optimize", "task.cu", *SIM, "--out", "small/run", code=12, says=["small/run", "No space left"], prefix=prefix)

    def test_an_output_that_cannot_be_written_is_named(self):
        self.write("task.cu", TASK)
        self.write("file", "")
        self.refuses("init", "task.cu", "-o", "file/task.cu", code=12, says=["file is no folder"])

    def test_a_place_where_not_even_root_can_write_is_tried_first(self):
        self.write("task.cu", TASK)
        result = self.refuses("optimize", "task.cu", "--model", "builtin", "--device", "sim", "-o", "/proc/best.cu", code=12, says=["-o /proc/best.cu: cannot write into /proc"])
        self.assertNotIn("round", result.err)
        result = self.refuses("optimize", "task.cu", "--model", "builtin", "--device", "sim", "--memory", "/proc/lessons", code=12, says=["--memory /proc/lessons: cannot write into /proc"])
        self.assertNotIn("round", result.err)
        self.assertFalse((self.work / "cudal1-runs").exists())

    def test_a_reviewer_that_cannot_be_asked_is_named_before_any_work(self):
        self.write("task.cu", TASK)
        self.refuses("optimize", "task.cu", "--model", "builtin", "--device", "sim", "--review", "nosuch", code=2, says=["no model is called nosuch"])
        self.refuses("optimize", "task.cu", "--model", "builtin", "--device", "sim", "--review", "openai/gpt-4o", code=4, says=["OPENAI_API_KEY"])
        self.assertFalse((self.work / "cudal1-runs").exists())

    def test_a_source_to_record_that_is_missing_is_named(self):
        result = self.refuses("record", "--device", "sim", "missing.cu", "-o", "task.cu", code=11, says=["cannot read missing.cu"])
        self.assertNotIn("nvcc", result.err)

    def test_help_is_named_where_it_is(self):
        self.refuses("config", "show", "--orgin", code=2, says=["Try `cudal1 config show --help`"])
        self.run_cli("config", "show", "--help")

    def test_init_does_not_replace_a_file_unasked(self):
        self.write("kernel.cu", "__global__ void f(float* a) { a[0] = 1; }\n")
        self.write("task.cu", "mine")
        self.refuses("init", "kernel.cu", "-o", "task.cu", code=2, says=["task.cu", "--overwrite"])
        self.assertEqual((self.work / "task.cu").read_text(), "mine")

    def test_a_report_of_no_run_is_refused(self):
        self.refuses("report", ".", code=11)
        self.refuses("report", "nowhere", code=11, says=["nowhere"])


class Answers(CliTest):
    """What a model, or a user, hands in as a variant."""

    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)

    def test_a_variant_that_changes_the_task_is_refused(self):
        self.write("variant.cu", "//@ tolerance C = 0.5\n" + FASTER)
        self.refuses("verify", "task.cu", "variant.cu", *SIM, code=6, says=["INVALID_PLAN", "tolerance"])

    def test_a_variant_that_does_not_compile_is_shown(self):
        self.write("variant.cu", FASTER.replace("A[i]", "B[i]"))
        self.refuses("verify", "task.cu", "variant.cu", *SIM, code=6, says=["COMPILE_FAILED", "variant.cu:5", '"B"'])

    def test_a_missing_variant_is_named(self):
        self.refuses("verify", "task.cu", "nothing.cu", *SIM, code=11, says=["nothing.cu"])

    def test_hostile_and_broken_replies_become_verdicts_and_leak_nothing(self):
        twice = FASTER + FASTER[FASTER.index("__global__"):]
        host = FASTER + "\nint main() { add_one<<<1, 1>>>(0, 0, 0); return 0; }\n"
        replies = {
            "r01-s01": "I would rather not write code today.",
            "r01-s02": reply(twice),
            "r01-s03": reply(host),
            "r01-s04": reply('#include "/etc/passwd"\n' + FASTER),
            "r01-s05": reply(FASTER),
        }
        for key, text in replies.items():
            self.write(f"replies/{key}.md", text)
        run = self.run_cli("optimize", "task.cu", *SIM, "--model", "replay:replies", "--rounds", "1", "--samples", "5",
                           "--no-repair", "--out", "run", "--json").json()
        variants = {variant["id"]: variant for variant in run["variants"]}
        self.assertEqual(variants["r01-s01"]["status"], "malformed")
        for key in ("r01-s02", "r01-s03", "r01-s04"):
            self.assertIn(variants[key]["judgement"]["verdict"], ("COMPILE_FAILED", "FORBIDDEN_CODE", "INVALID_PLAN"), variants[key])
        self.assertEqual(run["best"]["id"], "r01-s05")
        secret = pathlib.Path("/etc/passwd").read_text().splitlines()[0]
        for folder, _, names in os.walk(self.work):
            for name in names:
                text = (pathlib.Path(folder) / name).read_bytes().decode(errors="replace")
                self.assertNotIn(secret, text, f"{folder}/{name}")

    def test_the_example_named_in_the_manual_exists(self):
        self.assertTrue((EXAMPLES / "diag_matmul.cu").exists())


if __name__ == "__main__":
    unittest.main()
