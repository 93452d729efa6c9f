# SPDX-License-Identifier: Apache-2.0
"""Tasks taken from running programs, on the simulator. nvcc builds the programs."""
import os
import pathlib
import shutil
import unittest

from fixture import SOURCE, CliTest

NVCC = shutil.which("nvcc") or next((path for root in ("CUDA_PATH", "CUDA_HOME") if (path := os.environ.get(root, "") + "/bin/nvcc") and os.access(path, os.X_OK)),
                                    "/usr/local/cuda/bin/nvcc")


@unittest.skipUnless(os.access(NVCC, os.X_OK), "nvcc is not installed")
class Record(CliTest):
    def setUp(self):
        super().setUp()
        for file in (SOURCE / "tests" / "record").iterdir():
            shutil.copy(file, self.work)

    def record(self, *arguments, code=0):
        result = self.run_cli("record", "--device", "sim", *arguments, code=None)
        if "addresses of the simulated device's memory are taken" in result.err:
            self.skipTest("a build with sanitizers has no room for the device's memory")
        self.assertEqual(result.code, code, f"\n{result}")
        return result

    def run_cli(self, *arguments, code=0, **more):
        if code is not None:
            return super().run_cli(*arguments, code=code, **more)
        import subprocess
        from fixture import BINARY, Result
        command = [BINARY, *map(str, arguments)]
        return Result(command, subprocess.run(command, cwd=self.work, env=self.environment, capture_output=True, text=True, timeout=300))

    def test_a_program_gives_a_task_that_its_own_kernel_answers(self):
        result = self.record("blend.cu", "-o", "task.cu", "--", "300")
        self.says(result, "out[5] = -2", "blend<float, 128>", "fill")
        text = (self.work / "task.cu").read_text()
        self.assertIn("//@ launch  blend<float, 128><<<3, 128>>>(in, out, total, count, 0)", text)
        for line in ("//@ input   in: float32[300] ~ file(\"task.in.npy\")", "//@ output  out: float32[300]", "//@ inout   total: float32[5]",
                     "//@ scalar  count: int64 = 300", "__constant__ float weights[3] = {0.25f, 0.5f, 0.25f}", "#define CLAMP", "__device__ T at("):
            self.assertIn(line, text)
        for host in ("cudaMalloc", "int main", "fill(", "#include \"blend.h\""):
            self.assertNotIn(host, text)
        self.run_cli("verify", "task.cu", "task.cu", "--device", "sim")

        # What was recorded is what is right: an array that says otherwise is not what the kernel gives.
        expected = self.work / "task.out.expected.npy"
        content = bytearray(expected.read_bytes())
        content[-2] ^= 0x40
        expected.write_bytes(content)
        self.refuses("verify", "task.cu", "task.cu", "--device", "sim", code=10, says=["what was recorded does not come out: out[299]"])

    def test_a_variant_is_compared_with_what_was_recorded(self):
        self.record("blend.cu", "--kernel", "fill", "-o", "fill.cu")
        answer = (self.work / "fill.cu").read_text().replace("x[i] = value", "x[i] = value + 1")
        self.write("wrong.cu", "\n".join(line for line in answer.splitlines() if not line.startswith("//@") or "launch" in line))
        self.refuses("verify", "--accept-degenerate", "fill.cu", "wrong.cu", "--device", "sim", code=6, says=["WRONG_RESULT"])

    def test_a_built_program_is_recorded_by_launch_number(self):
        import subprocess
        subprocess.run([NVCC, "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90", "blend.cu", "-o", "blend"], cwd=self.work, check=True)
        table = self.record("--", "./blend", "200")
        self.says(table, "launches", "blend<float, 128>", "--kernel NAME")
        self.record("--source", "blend.cu", "--launch", "3-4", "-o", "two.cu", "--stop", "--", "./blend", "200")
        self.assertEqual((self.work / "two.cu").read_text().count("//@ launch"), 2)
        self.refuses("record", "--device", "sim", "--source", "blend.cu", "--launch", "9", "--", "./blend", code=6, says=["no launch was chosen"])

    def test_a_runtime_that_is_part_of_the_program_is_named(self):
        import subprocess
        subprocess.run([NVCC, "-arch=sm_90", "blend.cu", "-o", "blend"], cwd=self.work, check=True)
        self.refuses("record", "--device", "sim", "--", "./blend", code=6, says=["-cudart shared"])

    def test_a_runtime_of_another_version_is_named(self):
        # Where NVIDIA's library of that version is installed, the program would run past cudal1 without a word.
        import subprocess
        subprocess.run([NVCC, "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90", "blend.cu", "-o", "blend"], cwd=self.work, check=True)
        program = self.work / "blend"
        content = program.read_bytes()
        own = content[content.index(b"libcudart.so."):].split(b"\0", 1)[0]
        program.write_bytes(content.replace(own, own[:-1] + (b"1" if own[-1:] != b"1" else b"2")))
        self.refuses("record", "--device", "sim", "--", "./blend", code=6, says=["takes libcudart.so.", f"stands in for {own.decode()} only"])

    def test_a_build_without_the_runtime_says_so(self):
        from fixture import BINARY
        alone = self.work / "alone"
        (alone / "bin").mkdir(parents=True)
        (alone / "lib" / "cudal1").mkdir(parents=True)
        shutil.copy(BINARY, alone / "bin" / "cudal1")
        import subprocess
        result = subprocess.run([alone / "bin" / "cudal1", "record", "--device", "sim", "blend.cu"], cwd=self.work, env=self.environment,
                                capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("cudal1's CUDA runtime is missing", result.stderr)

    def test_a_program_without_a_launch_is_told_what_to_try(self):
        self.write("none.cu", "int main() { return 0; }\n")
        result = self.record("none.cu", code=6)
        self.says(result, "launched no kernel", "arguments of the program stand behind --")

    def test_faults_of_the_program_are_reported_with_their_line(self):
        result = self.record("faulty.cu", code=8)
        self.says(result, "no error", "shared_race", "in race at line 13")
        result = self.record("faulty.cu", "--", "beyond", code=8)
        self.says(result, "an illegal memory access was encountered", "in shift at line 7", "past the end of allocation 1")

    def test_pointers_in_a_structure_become_buffers(self):
        self.says(self.record("view.cu", "-o", "task.cu"), "238", "replayed: its kernel gives the recorded bytes")
        text = (self.work / "task.cu").read_text()
        for line in ("//@ inout   view: float32[120]", "//@ input   view_2: int32[4]", "//@ launch  double_rows<<<4, 32>>>(by, view, view_2)",
                     "double_rows( float by, void* view_at_8, void* view_at_16)"):
            self.assertIn(line, text)
        self.run_cli("verify", "task.cu", "task.cu", "--device", "sim")

    def test_members_of_structures_are_arrays_of_their_own(self):
        self.says(self.record("bodies.cu", "-o", "task.cu"), "body 5: 5.38095 106", "replayed: its kernel gives the recorded bytes")
        text = (self.work / "task.cu").read_text()
        for line in ("//@ struct  Body = position: float32[3] at 0, id: int32 at 12, mass: float64 at 16, marked: uint8 at 24 bytes 32",
                     '//@ inout   bodies: Body[40] ~ position: file("task.bodies.position.npy"), id: file("task.bodies.id.npy")',
                     '//@ expect  bodies.id = file("task.bodies.id.expected.npy")', "//@ launch  advance<<<1, 64>>>(bodies + 4, by, n)"):
            self.assertIn(line, text)
        self.run_cli("verify", "task.cu", "task.cu", "--device", "sim")
        answer = "\n".join(line for line in text.splitlines() if not line.startswith("//@") or "launch" in line)
        self.write("wrong.cu", answer.replace("b.id += b.marked", "b.id += 1"))
        self.refuses("verify", "task.cu", "wrong.cu", "--device", "sim", code=6, says=["WRONG_RESULT", "bodies.id["])

    def test_init_runs_a_file_that_has_a_main(self):
        table = self.run_cli("init", "--device", "sim", "blend.cu", "--run", "200", code=None)
        if "addresses of the simulated device's memory are taken" in table.err:
            self.skipTest("a build with sanitizers has no room for the device's memory")
        self.says(table, "launches", "share", "blend<float, 128>", "--kernel NAME")
        self.says(self.run_cli("init", "--device", "sim", "blend.cu", "--kernel", "fill", "-o", "task.cu", "--run", "--", "200"), "out[5] = -2")
        self.assertIn("//@ launch  fill<<<1, 32>>>(x, n, value)", (self.work / "task.cu").read_text())
        self.refuses("init", "blend.cu", "200", code=2, says=["--run"])

    def test_a_task_is_never_written_over_a_source_and_the_place_is_tried_first(self):
        for arguments in (("record", "--device", "sim", "blend.cu", "--overwrite", "-o", "./blend.cu"), ("init", "--device", "sim", "blend.cu", "--run", "--overwrite", "-o", "blend.cu")):
            self.refuses(*arguments, code=2, says=["blend.cu is a source of the program"])
        self.refuses("init", "blend.cu", "--overwrite", "-o", "blend.cu", code=2, says=["blend.cu itself"])
        self.assertIn("int main", (self.work / "blend.cu").read_text())
        self.write("task.cu", "mine")
        result = self.refuses("record", "--device", "sim", "blend.cu", "-o", "task.cu", code=2, says=["task.cu exists"])
        self.assertNotIn("building", result.err)

    def test_what_is_missing_is_said_in_one_line(self):
        result = self.record("pointers.cu", "-o", "task.cu", code=6)
        self.says(result, "holds addresses of device memory", "calls cudaGraphCreate")
        self.assertFalse((self.work / "task.cu").exists())


if __name__ == "__main__":
    unittest.main()
