# SPDX-License-Identifier: Apache-2.0
import hashlib
import json
import shutil
import signal
import subprocess
import unittest

from fixture import EXAMPLES, FASTER, TASK, WRONG, CliTest, interrupt, reply

SIM = ("--device", "sim")


def has_gpu():
    return shutil.which("nvidia-smi") is not None and subprocess.run(["nvidia-smi"], capture_output=True).returncode == 0


class Optimize(CliTest):
    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)
        self.write("replies/r01-s01.md", reply(WRONG))
        self.write("replies/r01-s02.md", reply(FASTER))
        self.short = ("optimize", "task.cu", "--model", "replay:replies", "--rounds", "1", "--samples", "2", "--no-repair")

    def test_a_run_ends_with_one_object_a_folder_and_a_kernel(self):
        run = self.run_cli(*self.short, *SIM, "--json", "-o", "best.cu").json()
        for key in ("task", "device", "reference_time_ms", "best", "rounds", "judged", "stopped_because", "run"):
            self.assertIn(key, run)
        self.assertEqual((run["task"], run["device"], run["rounds"], run["judged"]), ("add_one", "sim:H200", 1, 2))
        self.assertEqual(run["best"]["verdict"], "PREDICTED_FASTER")
        self.assertEqual(run["best"]["level"], "final")
        self.assertGreater(run["best"]["predicted_speedup"], 1)
        self.assertNotIn("speedup", run["best"])
        verdicts = {variant["id"]: variant["judgement"]["verdict"] for variant in run["variants"]}
        self.assertEqual(verdicts["r01-s01"], "WRONG_RESULT")
        folder = self.work / run["run"]
        for name in ("journal.jsonl", "report.md", "report.html", "report.json", "best.cu", "task.cu"):
            self.assertTrue((folder / name).exists(), name)
        self.assertIn("//@ launch", (self.work / "best.cu").read_text())
        self.assertEqual(json.loads((folder / "report.json").read_text()), run)

    def test_the_report_names_winner_and_loser(self):
        self.says(self.run_cli(*self.short, *SIM), "PREDICTED_FASTER", "WRONG_RESULT", "r01-s02")

    def test_a_finished_run_is_shown_and_not_repeated_unless_asked(self):
        first = self.run_cli(*self.short, *SIM, "--out", "run")
        journal = (self.work / "run/journal.jsonl").read_bytes()
        second = self.run_cli(*self.short, *SIM, "--out", "run")
        self.assertEqual(first.out, second.out)
        self.says(second, "--again")
        self.assertEqual((self.work / "run/journal.jsonl").read_bytes(), journal)
        self.run_cli(*self.short, *SIM, "--out", "run", "--again")
        self.assertTrue((self.work / "run.1/journal.jsonl").exists())

    def test_a_run_of_another_task_or_version_is_refused_by_name(self):
        self.run_cli(*self.short, *SIM, "--out", "run")
        self.refuses(*self.short, *SIM, "--out", "run", "--set", "N=32", code=2, says=["task"])
        self.refuses(*self.short, *SIM, "--out", "run", "--seed", "2", code=2, says=["seed"])
        journal = self.work / "run/journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        lines[0] = lines[0].replace('"version":"', '"version":"0.0.', 1)
        journal.write_text("".join(lines))
        self.refuses(*self.short, *SIM, "--out", "run", code=2, says=["version"])
        self.run_cli(*self.short, *SIM, "--out", "run", "--force")

    def test_nothing_faster_is_an_exit_code_of_its_own(self):
        self.write("replies/r01-s02.md", reply(WRONG.replace("2.0f", "5.0f")))
        result = self.run_cli(*self.short, *SIM, "-o", "best.cu", code=3)
        self.assertFalse((self.work / "best.cu").exists())
        self.says(result, "best.cu is not written")
        self.run_cli(*self.short, *SIM, "--allow-no-improvement")

    def test_a_fallback_to_the_simulator_is_said_and_ends_with_9(self):
        if has_gpu():
            self.skipTest("there is a GPU: auto does not fall back")
        result = self.run_cli(*self.short, "--device", "auto", code=9)
        self.says(result, "no GPU is used", "predictions for H200")

    def test_progress_in_a_pipe_is_a_line_per_round(self):
        result = self.run_cli(*self.short, *SIM)
        self.assertIn("round 1/1: 2 answers, 1 right, 1 faster", result.err)
        self.assertNotIn("\033", result.err)
        self.assertNotIn("\r", result.err)

    def test_progress_as_json_is_an_object_per_line(self):
        result = self.run_cli(*self.short, *SIM, "--progress", "json", "-q")
        events = [json.loads(line)["event"] for line in result.err.splitlines() if line.startswith("{")]
        for event in ("started", "asked", "replied", "judged", "improved", "round_finished", "confirmed", "stopped"):
            self.assertIn(event, events)

    def test_quiet_says_nothing_but_the_result(self):
        self.assertEqual(self.run_cli(*self.short, *SIM, "-q").err, "")

    def test_a_dry_run_shows_the_prompt_and_leaves_nothing(self):
        result = self.run_cli(*self.short, *SIM, "--dry-run")
        self.says(result, "add_one", "2 replies", "Nothing leaves this machine")
        self.assertFalse((self.work / "cudal1-runs").exists())
        self.assertIn("user", self.run_cli(*self.short, *SIM, "--dry-run", "--json").json())

    def test_a_start_and_a_hint_enter_the_run(self):
        self.write("start.cu", FASTER)
        run = self.run_cli(*self.short, *SIM, "--start-from", "start.cu", "--hint", "Think of warps.", "--json", "--out", "run").json()
        self.assertEqual(run["variants"][0]["id"], "start")
        self.assertIn("Think of warps.", (self.work / "run/prompts/r01-s01.md").read_text())

    def test_the_built_in_models_answers_can_be_the_start(self):
        run = self.run_cli(*self.short, *SIM, "--start-from", "builtin", "--json", "--out", "run").json()
        start = [variant for variant in run["variants"] if variant["round"] == 0]
        self.assertEqual({variant["model"] for variant in start}, {"builtin"})
        self.assertIn(start[0]["id"], (self.work / "run/prompts/r01-s01.md").read_text())
        again = self.run_cli(*self.short, *SIM, "--start-from", "builtin", "--json", "--out", "run").json()
        self.assertEqual([variant["id"] for variant in again["variants"]], [variant["id"] for variant in run["variants"]])
        self.says(self.run_cli(*self.short, *SIM, "--out", "run", code=2), "start: «builtin» there")

    def test_scores_can_be_hidden_from_the_model(self):
        self.run_cli(*self.short, *SIM, "--start-from", "builtin", "--hide-scores", "--out", "run")
        prompt = (self.work / "run/prompts/r01-s01.md").read_text()
        self.assertIn("# Earlier variants\n", prompt)
        self.assertNotIn(", score", prompt)

    def test_lessons_of_one_run_are_in_the_prompts_of_the_next_of_its_kind(self):
        self.run_cli(*self.short, *SIM, "--out", "first", "--memory", "lessons")
        self.assertNotIn("What earlier runs", (self.work / "first/prompts/r01-s01.md").read_text())
        file = next((self.work / "lessons").glob("*.json"))
        lesson = json.loads(file.read_text())
        self.assertEqual((lesson["task"], lesson["kind"], lesson["judged"]), ("add_one", "pointwise", 2))
        self.assertEqual([failure["verdict"] for failure in lesson["failures"]], ["WRONG_RESULT"])
        file.write_text(json.dumps(lesson | {"techniques": [{"name": "tiling", "tried": 1, "right": 0}]}))  # as an older version left it: no gain
        second = (*self.short, *SIM, "--seed", "2", "--out", "second", "--memory", "lessons")
        self.run_cli(*second)
        prompt = (self.work / "second/prompts/r01-s01.md").read_text()
        self.assertIn("# What earlier runs on tasks of this kind came to", prompt)
        self.assertIn("WRONG_RESULT in 1 of 2 answers", prompt)
        self.assertIn("in 1 of 2 answers", (self.work / "second/report.md").read_text())
        self.assertEqual(len(list((self.work / "lessons").glob("*.json"))), 2)
        self.run_cli(*second)  # it is the same run, though the lessons are others by now
        self.refuses(*second[:-2], code=2, says=["memory"])
        self.write("sum.cu", TASK.replace("C = A + 1", "C = torch.cumsum(A, 1)").replace("A[row * M + column] + 1.0f", "A[row * M + column] + (column ? C[row * M + column - 1] : 0)"))
        self.run_cli("optimize", "sum.cu", *self.short[2:], *SIM, "--out", "other", "--memory", "lessons", code=3)
        self.assertNotIn("What earlier runs", (self.work / "other/prompts/r01-s01.md").read_text())

    def test_a_damaged_lesson_is_named(self):
        self.write("lessons/x.json", "{}")
        self.refuses(*self.short, *SIM, "--memory", "lessons", code=2, says=["x.json", "remove the file"])

    def test_a_second_model_may_review_a_winner_that_is_far_ahead(self):
        command = (*self.short, *SIM, "--out", "run", "--review", "exchange:desk")
        self.says(self.run_cli(*command, "--review-jump", "1000"), "no review")
        self.says(self.run_cli(*command), "no review", "asks again")
        question = (self.work / "desk/r00-s00.prompt.md").read_text()
        self.assertIn("Known cheats", question)
        self.assertIn("r01-s02", question)
        self.write("desk/r00-s00.md", "Verdict: suspicious\nLine 3 writes half of the result.\n")
        self.says(self.run_cli(*command), "suspicious", "Line 3 writes half")
        self.write("desk/r00-s00.md", "Verdict: clean\n")
        run = self.run_cli(*command, "--json").json()  # asked once
        self.assertTrue(run["review"]["suspicious"])
        self.assertEqual((run["review"]["id"], len(run["review"]["shown"])), ("r01-s02", 5))
        self.assertEqual(run["best"]["verdict"], "PREDICTED_FASTER")
        self.assertIn("Line 3 writes half", (self.work / "run/report.html").read_text())

    def test_an_exchange_waits_for_replies_and_goes_on(self):
        command = ("optimize", "task.cu", *SIM, "--model", "exchange:desk", "--rounds", "1", "--samples", "2", "--no-repair")
        self.says(self.run_cli(*command, code=75), "desk", "go on with")
        for key in ("r01-s01", "r01-s02"):
            self.write(f"desk/{key}.md", (self.work / f"replies/{key}.md").read_text())
        self.says(self.run_cli(*command), "PREDICTED_FASTER")

    def test_a_sweep_keeps_the_prompts_and_replies_of_each_task_apart(self):
        for name in ("one", "two"):
            self.write(f"tasks/{name}.cu", TASK.replace("A + 1", f"A + {name == 'one' and 1 or 2}").replace("+ 1.0f", f"+ {name == 'one' and 1 or 2}.0f"))
        command = ("sweep", "tasks", *SIM, "--model", "exchange:desk", "--rounds", "1", "--samples", "1", "--no-repair", "--json")
        self.says(self.run_cli(*command, code=75), "2 tasks wait for replies", "the same command goes on")
        for name in ("one", "two"):
            self.assertIn(f"A + {name == 'one' and 1 or 2}", (self.work / f"desk/{name}.cu/r01-s01.prompt.md").read_text())
            self.write(f"desk/{name}.cu/r01-s01.md", reply(FASTER.replace("1.0f", f"{name == 'one' and 1 or 2}.0f"), design="In steps.\n\nTechniques: coalesced access"))
        summary = self.run_cli(*command).json()
        self.assertEqual([row["verdict"] for row in summary["tasks"]], ["PREDICTED_FASTER"] * 2)
        self.assertEqual([(each["model"], each["winners"]) for each in summary["by_model"]], [("exchange:desk", 2)], "one model, whatever its folders")
        used = summary["techniques"][0]
        self.assertEqual((used["technique"], used["answers"], used["right"], used["winners"]), ("coalesced access", 2, 2, 2))
        self.assertGreater(used["gain"], 1)

    def test_a_program_can_be_the_model(self):
        self.write("model.sh", "#!/bin/sh\ncat > /dev/null\ncat replies/r01-s02.md\n").chmod(0o755)
        run = self.run_cli("optimize", "task.cu", *SIM, "--model", "cmd:./model.sh", "--rounds", "1", "--samples", "1", "--json").json()
        self.assertEqual(run["best"]["verdict"], "PREDICTED_FASTER")

    def test_runs_lists_what_there_is_and_how_to_go_on(self):
        self.run_cli(*self.short, *SIM)
        out = self.run_cli("runs").out
        self.assertIn("add_one", out)
        self.assertIn("finished", out)
        run = self.run_cli("runs", "--json").json()["runs"][0]
        self.assertIn("--model replay:replies", run["resume"])
        self.assertIn("PREDICTED_FASTER", self.run_cli("report", run["run"]).out)

    def test_reports_come_in_every_format(self):
        self.run_cli(*self.short, *SIM, "--out", "run")
        self.assertIn("# ", self.run_cli("report", "run", "--format", "markdown").out)
        self.assertIn("<html", self.run_cli("report", "run", "--format", "html").out)
        self.assertEqual(self.run_cli("report", "run", "--json").json()["task"], "add_one")
        self.refuses("report", "run", "--format", "markdwon", code=2, says=["markdown"])


def techniques(code, *names):
    return reply(code, design=f"One element per thread.\n\nTechniques: {', '.join(names)}")


class Ablation(CliTest):
    """The winner's techniques are taken out again, and what each brought is measured."""

    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)
        # Each thread takes 64 elements in a row.
        strided = FASTER.replace("N * M, 256)", "N * M, 256 * 64)").replace(
            "int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n)",
            "int first = 64 * (blockIdx.x * 256 + threadIdx.x);\n  for (int i = first; i < first + 64 && i < n; ++i)")
        small = FASTER.replace("256", "32")
        self.write("replies/r01-s01.md", techniques(FASTER, "coalesced access", "larger blocks"))
        self.write("replies/r01-s01-without1.md", techniques(strided, "larger blocks"))
        self.write("replies/r01-s01-without2.md", techniques(small, "coalesced access"))
        self.write("replies/r01-s01-without3.md", techniques(strided.replace("256", "32").replace("+ 1.0f", "+ 3.0f")))
        self.short = ("optimize", "task.cu", *SIM, "--model", "replay:replies", "--rounds", "1", "--samples", "1", "--out", "run")

    def test_each_technique_and_the_pair_are_in_the_report(self):
        run = self.run_cli(*self.short, "--ablate", "--json").json()
        ablation = run["ablation"]
        self.assertEqual(ablation["winner"], "r01-s01")
        self.assertEqual([factor["without"] for factor in ablation["single"]], [["coalesced access"], ["larger blocks"]])
        self.assertGreater(ablation["single"][0]["factor"], 1)
        self.assertIn("WRONG_RESULT", ablation["pairs"][0]["problem"])
        self.assertIn("What r01-s01's techniques brought", (self.work / "run/report.md").read_text())

    def test_a_finished_run_is_only_taken_apart(self):
        self.run_cli(*self.short)
        before = (self.work / "run/journal.jsonl").read_text()
        run = self.run_cli(*self.short, "--ablate", "--json").json()
        self.assertEqual(len(run["ablation"]["single"]), 2)
        added = (self.work / "run/journal.jsonl").read_text()[len(before):]
        self.assertEqual([json.loads(line)["key"]["attempt"] for line in added.splitlines() if '"event":"reply"' in line], [2, 3, 4])
        self.says(self.run_cli(*self.short, "--ablate"), "this run is finished")

    def test_the_playbook_takes_its_own_techniques_out(self):
        run = self.run_cli("optimize", EXAMPLES / "softmax.cu", "--set", "N=64,M=256", *SIM, "--rounds", "1", "--samples", "2",
                           "--ablate", "--json").json()
        ablation = run["ablation"]
        measured = [factor for factor in ablation["single"] + ablation["pairs"] if factor["factor"]]
        self.assertGreaterEqual(len(measured), 1, ablation)


class SeveralDevices(CliTest):
    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)
        for sample in range(1, 7):
            code = WRONG if sample == 3 else FASTER.replace("256", str(32 * sample))
            self.write(f"replies/r01-s{sample:02}.md", reply(code))
        self.short = ("optimize", "task.cu", "--model", "replay:replies", "--rounds", "1", "--samples", "6", "--no-repair", "--json")

    def test_two_judges_find_what_one_finds(self):
        def judged(*device):
            run = self.run_cli(*self.short, *device, "--out", "-".join(device)).json()
            return [(v["id"], v["judgement"] and (v["judgement"]["verdict"], v["judgement"].get("predicted_speedup"))) for v in run["variants"]]
        self.assertEqual(judged("--device", "sim"), judged("--device", "sim,sim"))

    def test_devices_that_are_not_there_or_unlike_are_refused(self):
        if has_gpu():
            self.refuses(*self.short, "--device", "cuda:0,sim", code=2, says=["alike"])
        else:
            self.refuses(*self.short, "--device", "cuda:0,cuda:1", code=5, says=[])
        self.refuses(*self.short, "--device", "sim,simm", code=2, says=["expected auto"])

    def test_an_old_run_is_measured_again_on_another_gpu(self):
        first = self.run_cli(*self.short, "--device", "sim", "--out", "old").json()
        again = self.run_cli("optimize", "task.cu", "--model", "replay:old", "--rounds", "1", "--samples", "6", "--no-repair",
                             "--device", "sim", "--gpu", "A100", "--json", "--out", "new").json()
        self.assertEqual(again["device"], "sim:A100")
        self.assertEqual([v["id"] for v in first["variants"]], [v["id"] for v in again["variants"]])
        self.assertNotEqual(first["reference_time_ms"], again["reference_time_ms"])
        for key in ("r01-s01", "r01-s06"):
            self.assertEqual((self.work / f"old/variants/{key}.cu").read_text(), (self.work / f"new/variants/{key}.cu").read_text())


class Stops(CliTest):
    def test_each_reason_to_stop_is_printed(self):
        self.write("task.cu", TASK)
        for round in (1, 2, 3):
            self.write(f"replies/r{round:02}-s01.md", reply(FASTER.replace("256", str(32 * round))))
        command = ("optimize", "task.cu", *SIM, "--model", "replay:replies", "--samples", "1")
        for options, stop, words in ((("--rounds", "2"), "rounds", "all 2 rounds are done"),
                                     (("--rounds", "3", "--target", "1.01"), "target_speedup", "reaches the target"),
                                     (("--rounds", "3", "--share-of-limit", "0.001"), "share_of_limit", "of the speed of light"),
                                     (("--rounds", "9"), "replies_exhausted", "ends with r03-s01")):
            result = self.run_cli(*command, *options, "--out", stop, "--json")
            self.assertEqual(result.json()["stopped_because"], stop)
            self.assertIn(words, result.err)
            self.assertIn(words, result.json()["stop_reason"])


PRODUCT = """//@ task    product
//@ torch   C = A @ B
//@ size    N = 33, K = 64, M = 40
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  product<<<dim3(ceil_div(M, 32), N), 32>>>(A, B, C, N, K, M)
__global__ void product(const float* A, const float* B, float* C, int N, int K, int M) {
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y;
  if (j >= M) return;
  float s = 0;
  for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * M + j];
  C[i * M + j] = s;
}
"""


class WithoutAModel(CliTest):
    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)
        self.write("faster.cu", FASTER)
        self.write("wrong.cu", WRONG)

    def test_verify_branches_on_right_and_wrong(self):
        self.says(self.run_cli("verify", "task.cu", "faster.cu", *SIM), "PREDICTED_FASTER")
        self.refuses("verify", "task.cu", "wrong.cu", *SIM, code=6, says=["WRONG_RESULT"])

    def test_an_answer_to_another_text_of_the_task_is_said(self):
        digest = hashlib.sha256(TASK.encode()).hexdigest()
        self.write("own.cu", f"\ufeff//@ of task.cu sha256:{digest[:12]}\n" + FASTER)
        self.write("foreign.cu", "//@ of task.cu sha256:0123456789ab\n" + FASTER)
        result = self.run_cli("bench", "task.cu", "own.cu", "foreign.cu", *SIM, "--quick")
        self.assertIn("foreign.cu says that it answers task.cu", result.err)
        self.assertNotIn("own.cu says", result.err)
        self.assertEqual(result.out.count("PREDICTED_FASTER"), 2)

    def test_precision_is_declared_for_a_run(self):
        # Operands of products may be rounded, and nothing else.
        self.write("task.cu", PRODUCT)
        rounded = "__uint_as_float((__float_as_uint({}) + 0x1000u) & 0xffffe000u)"
        self.write("rounded.cu", PRODUCT.replace("A[i * K + k]", rounded.format("A[i * K + k]")).replace("B[k * M + j]", rounded.format("B[k * M + j]")))
        self.refuses("verify", "task.cu", "rounded.cu", *SIM, code=6, says=["WRONG_RESULT"])
        object = self.run_cli("verify", "task.cu", "rounded.cu", *SIM, "--precision", "tf32", "--json").json()
        self.assertEqual(object["precision"], "tf32")
        self.refuses("verify", "task.cu", "rounded.cu", *SIM, "--precision", "bf8", code=2, says=["--precision"])

    def test_a_task_that_needs_no_work_is_refused_before_a_model_is_asked(self):
        self.write("zero.cu", TASK.replace("C = A + 1", "C = 0 * A").replace("A[row * M + column] + 1.0f", "0"))
        self.refuses("optimize", "zero.cu", *SIM, "--model", "cmd:touch asked", code=10, says=["TASK_DEGENERATE", "--accept-degenerate"])
        self.assertFalse((self.work / "asked").exists())
        self.assertEqual(list(self.work.glob("cudal1-runs/*")), [])

    def test_bench_branches_on_faster_and_not(self):
        self.run_cli("bench", "task.cu", "faster.cu", *SIM, "--quick")
        self.run_cli("bench", "task.cu", "task.cu", *SIM, "--quick", code=3)
        self.run_cli("bench", "task.cu", "faster.cu", "wrong.cu", *SIM, "--quick", code=6)

    def test_bench_prints_json_and_counters(self):
        object = self.run_cli("bench", "task.cu", "faster.cu", *SIM, "--quick", "--json").json()
        self.assertEqual(object["variants"][0]["judgement"]["verdict"], "PREDICTED_FASTER")
        self.assertIn("warp_instructions", self.run_cli("bench", "task.cu", "faster.cu", *SIM, "--quick", "--counters").out)

    def test_bench_compares_with_another_variant_when_told(self):
        self.write("task.cu", TASK)
        self.write("faster.cu", FASTER)
        self.write("wrong.cu", WRONG)
        same = self.run_cli("bench", "task.cu", "faster.cu", "--against", "faster.cu", *SIM, "--quick", "--json", code=3).json()
        judgement = same["variants"][0]["judgement"]
        self.assertEqual(judgement["verdict"], "PREDICTED_EQUIVALENT")
        self.assertIn("over faster.cu", judgement["message"])
        slower = self.run_cli("bench", "task.cu", "task.cu", "--against", "faster.cu", *SIM, "--quick", "--json", code=3).json()
        self.assertEqual(slower["variants"][0]["judgement"]["verdict"], "PREDICTED_SLOWER")
        self.refuses("bench", "task.cu", "faster.cu", "--against", "wrong.cu", *SIM, "--quick", code=6, says=["wrong.cu: WRONG_RESULT"])

    def test_compile_shows_resources_and_writes_ptx(self):
        self.says(self.run_cli("compile", "task.cu", "--ptx", "out.ptx"), "add_one", "registers")
        self.assertIn(".entry", (self.work / "out.ptx").read_text())
        self.assertIn(".target sm_80", self.run_cli("compile", "task.cu", "--arch", "sm_80", "--ptx", "-").out)
        self.write("plain.cu", "__global__ void f(float* a) { a[0] = 1; }\n")
        self.assertEqual(self.run_cli("compile", "plain.cu", "--json").json()["kernels"][0]["kernel"], "f")
        self.write("broken.cu", "__global__ void f(float* a) { a[0] = x; }\n")
        self.refuses("compile", "broken.cu", code=6, says=["broken.cu:1", '"x"'])

    def test_prompt_shows_task_and_times(self):
        self.says(self.run_cli("prompt", "task.cu", *SIM), "add_one", "## ")

    def test_init_drafts_a_kernel_file(self):
        self.write("kernel.cu", """\
#include <cstdio>
__global__ void scale(const float* a, float* b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i] = 2 * a[i]; }
int main() { float *a, *b; int n = 1000; scale<<<(n + 255) / 256, 256>>>(a, b, n); }
""")
        result = self.run_cli("init", "kernel.cu", "-o", "drafted.cu")
        self.says(result, "main", "cudal1 optimize drafted.cu")
        text = (self.work / "drafted.cu").read_text()
        for directive in ("//@ input", "//@ output", "//@ launch"):
            self.assertIn(directive, text)


class Interrupted(CliTest):
    """Ctrl-C once finishes the variant at hand; twice stops now. Either way the same command goes on."""

    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)
        for sample in range(1, 7):
            self.write(f"replies/r01-s{sample:02}.md", reply(FASTER.replace("n) {", f"n) {{  // {sample}").replace("256", str(32 * sample))))
        self.command = ("optimize", "task.cu", *SIM, "--model", "replay:replies", "--rounds", "1", "--samples", "6", "--out", "run")

    def test_once_writes_the_report_and_says_how_to_go_on(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start_cli(*self.command)
            seen = self.wait_for(process, "judging")
            interrupt(process, number)
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, code, seen + err)
            self.assertIn("once more to stop at once", seen + err)
            self.assertIn("go on with", err)
            self.assertIn("add_one", out)
            self.assertTrue((self.work / "run/report.md").exists())
        self.says(self.run_cli(*self.command), "PREDICTED_FASTER")

    def test_twice_stops_now_and_nothing_is_corrupt(self):
        process = self.start_cli(*self.command)
        self.wait_for(process, "judging")
        interrupt(process)
        interrupt(process)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.says(self.run_cli(*self.command), "PREDICTED_FASTER")


if __name__ == "__main__":
    unittest.main()
