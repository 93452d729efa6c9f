# SPDX-License-Identifier: Apache-2.0
"""cudal1 tune: the tunables of a user's own kernel."""
import json
import unittest

from fixture import TASK, CliTest

SIM = ("--device", "sim")
TUNED = """\
//@ task    scale
//@ torch   C = A * 3
//@ size    N = 100000
//@ check   N = 1003
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ tune    STRIDE = 33 | 1 | 8
//@ tune    BLOCK = 64 | 256 if BLOCK * STRIDE != 2112
//@ launch  scale<<<ceil_div(N, BLOCK * STRIDE), BLOCK>>>(A, C, N)

__global__ void scale(const float* A, float* C, int N) {
  int first = (blockIdx.x * BLOCK + threadIdx.x) * STRIDE;
  for (int i = first; i < first + STRIDE && i < N; ++i) C[i] = 3 * A[i];
}
"""


class Tune(CliTest):
    def setUp(self):
        super().setUp()
        self.write("scale.cu", TUNED)

    def test_the_best_of_all_is_found_written_and_remembered(self):
        result = self.run_cli("tune", "scale.cu", *SIM, "-o", "best.cu", "--t4", "t4.json", "--json").json()
        # 33 × 64 is left out by the condition.
        self.assertEqual((result["combinations"], result["exhaustive"], result["stopped_because"], result["first"]), (5, True, "all", {"BLOCK": 256, "STRIDE": 33}))
        self.assertEqual(result["best"]["configuration"]["STRIDE"], 1)
        self.assertEqual((result["best"]["judgement"]["verdict"], result["best"]["judgement"]["level"]), ("PREDICTED_FASTER", "final"))
        times = {(one["configuration"]["STRIDE"], one["configuration"]["BLOCK"]): one["time_ms"] for one in result["configurations"]}
        self.assertEqual(len(times), 5)
        self.assertEqual(min(times, key=times.get)[0], 1)
        best = (self.work / "best.cu").read_text()
        self.assertIn("constexpr int STRIDE = 1;", best)
        self.assertNotIn("//@ tune", best)
        self.assertIn("// cudal1 verified this kernel at N=100000; N=1003", best)
        self.assertEqual(self.run_cli("verify", "best.cu", "best.cu", *SIM, "--json").json()["variants"][0]["judgement"]["verdict"], "PREDICTED_EQUIVALENT")
        t4 = json.loads((self.work / "t4.json").read_text())
        self.assertEqual((t4["schema_version"], len(t4["results"]), {one["invalidity"] for one in t4["results"]}), ("1.0.0", 5, {"correct"}))
        for one in t4["results"]:
            self.assertLessEqual({"configuration", "times", "invalidity", "correctness"}, set(one))

        again = self.run_cli("tune", "scale.cu", *SIM, "--where", "BLOCK == 64", "--json").json()
        self.assertEqual((again["combinations"], {one["remembered"] for one in again["configurations"]}), (2, {True}))
        self.assertEqual({one["remembered"] for one in self.run_cli("tune", "scale.cu", *SIM, "--gpu", "A100", "--budget", "1", "--json").json()["configurations"]}, {False})
        table = self.run_cli("tune", "scale.cu", *SIM).out
        self.assertRegex(table, r"5 of 5 combinations judged \(all\), 0 of them not right\. 1\.00x is BLOCK=256 STRIDE=33")

    def test_wrong_combinations_are_told_and_never_the_best(self):
        self.write("scale.cu", TUNED.replace("3 * A[i]", "(STRIDE == 1 ? 4 : 3) * A[i]"))
        result = self.run_cli("tune", "scale.cu", *SIM, "--budget", "4", "--t4", "t4.json", "--json").json()
        self.assertEqual((result["exhaustive"], result["stopped_because"], len(result["configurations"])), (False, "budget", 4))
        verdicts = {one["judgement"]["verdict"] for one in result["configurations"] if one["configuration"]["STRIDE"] == 1}
        self.assertEqual(verdicts, {"WRONG_RESULT"})
        self.assertEqual(result["best"]["configuration"]["STRIDE"], 8)
        self.assertIn("correctness", [one["invalidity"] for one in json.loads((self.work / "t4.json").read_text())["results"]])

    def test_what_cannot_be_tuned_is_said(self):
        self.write("plain.cu", TASK)
        self.refuses("tune", "plain.cu", *SIM, code=10, says=["has no tunables", "//@ tune"])
        self.refuses("tune", "scale.cu", *SIM, "--where", "BLOCKS > 1", code=2, says=["did you mean `BLOCK`"])
        self.refuses("tune", "scale.cu", *SIM, "--where", "BLOCK > 4096", code=2, says=["no combination is left"])
        self.refuses("tune", "scale.cu", *SIM, "-o", "scale.cu", code=2, says=["scale.cu"])


if __name__ == "__main__":
    unittest.main()
