# SPDX-License-Identifier: Apache-2.0
"""GPUs that times are predicted for: built-in records, records of the user's, and several at once."""
import unittest

from fixture import FASTER, TASK, WRONG, CliTest

SIM = ("--device", "sim", "--quick")
# Has no instruction before 8.0.
NEWER = FASTER.replace("if (i < n)", "int lanes = __reduce_add_sync(~0u, 1);\n  if (i < n && lanes == 32)")
OWN = """\
[Small4060]
like = "L4"
name = "GeForce RTX 4060"
source = "the shop's page"
sms = 24
"""


def interval(judged):
    speedup = judged["judgement"]["predicted_speedup"]
    return speedup["high"] / speedup["low"]


class Gpus(CliTest):
    def setUp(self):
        super().setUp()
        self.write("task.cu", TASK)
        self.write("fast.cu", FASTER)

    def test_every_record_is_whole(self):
        gpus = {gpu["id"]: gpu for gpu in self.run_cli("devices", "--json").json()["simulated"]}
        self.assertLessEqual({"T4", "A10", "L4", "L40S", "RTX4090", "RTX5090", "B200", "A100", "H100", "H200"}, set(gpus))
        self.assertEqual([name for name, gpu in gpus.items() if gpu["fitted"]], ["H200"])
        self.assertEqual([name for name, gpu in gpus.items() if gpu["compared"]], ["H100", "H200"])
        for name, gpu in gpus.items():
            for key, value in gpu.items():
                if key not in ("uuid", "driver", "fitted", "compared", "own") and not (name == "T4" and key.startswith("tf32")):
                    self.assertTrue(value, f"{name}: {key}")
            # Lanes of one SM: 64 or 128, where the clock and the rate are of one document.
            lanes = gpu["fp32_flops_per_second"] / (2 * gpu["clock_hz"] * gpu["sm_count"])
            self.assertTrue(any(abs(lanes / n - 1) < 0.02 for n in (64, 128)) or name == "H20", f"{name}: {lanes}")
            self.assertLessEqual(gpu["shared_bytes_per_block"], gpu["shared_bytes_per_sm"])

    def test_several_gpus_make_a_matrix(self):
        result = self.run_cli("bench", "task.cu", "fast.cu", "--gpu", "t4,H200,b200,h100,t4", *SIM, "--json").json()
        rows = {row["gpu"]: row for row in result["gpus"]}
        self.assertEqual(list(rows), ["T4", "H200", "B200", "H100"])
        self.assertEqual([(row["measured"], row["fitted"], row["compared"], row["compute_capability"]) for row in rows.values()],
                         [(False, False, False, "7.5"), (False, True, True, "9.0"), (False, False, False, "10.0"), (False, False, True, "9.0")])
        for row in rows.values():
            self.assertEqual((row["problem"], row["predicted"], row["variants"][0]["judgement"]["verdict"]), (None, True, "PREDICTED_FASTER"))
        self.assertAlmostEqual(interval(rows["T4"]["variants"][0]), interval(rows["B200"]["variants"][0]), places=6)
        self.assertGreater(interval(rows["T4"]["variants"][0]), 1.4 * interval(rows["H200"]["variants"][0]))
        self.assertAlmostEqual(interval(rows["H100"]["variants"][0]), interval(rows["H200"]["variants"][0]), places=6)
        times = [row["reference"][0]["time_ms"] for row in rows.values()]
        self.assertEqual(len(set(times)), 4)

        several = self.run_cli("bench", "task.cu", "fast.cu", "task.cu", "--gpu", "a10,h200", *SIM)
        self.assertRegex(several.err, r"GPU 1 of 2, A10: fast\.cu PREDICTED_FASTER [0-9.]+x \[.*\], task\.cu PREDICTED_EQUIVALENT .* \(\d+ s\)")
        table = several.out
        self.assertIn("predicted, not measured", table)
        self.assertRegex(table, r"A10 +8\.6 ")
        self.assertRegex(table, r"GPU +fast\.cu +task\.cu")
        self.run_cli("bench", "task.cu", "task.cu", "--gpu", "a10,h200", *SIM, code=3)
        self.run_cli("bench", "task.cu", "fast.cu", "--gpu", "a10,h200", "--at-least", "1000", *SIM, code=3)

    def test_what_one_gpu_cannot_do_is_a_cell(self):
        self.write("newer.cu", NEWER)
        result = self.run_cli("bench", "task.cu", "newer.cu", "--gpu", "t4,a100", *SIM, "--json", code=6).json()
        verdicts = [row["variants"][0]["judgement"]["verdict"] for row in result["gpus"]]
        self.assertEqual(verdicts, ["COMPILE_FAILED", "PREDICTED_FASTER"])
        self.write("newer_task.cu", TASK.replace("if (row < N)", "int lanes = __reduce_add_sync(~0u, 1); if (row < N && lanes == 32)"))
        result = self.run_cli("bench", "newer_task.cu", "fast.cu", "--gpu", "t4,a100", *SIM, "--json").json()
        self.assertIn("__reduce_add_sync", result["gpus"][0]["problem"])
        self.assertIsNone(result["gpus"][1]["problem"])
        self.write("wrong.cu", WRONG)
        self.run_cli("bench", "task.cu", "wrong.cu", "--gpu", "l4,a100", *SIM, code=6)
        self.refuses("bench", "task.cu", "fast.cu", "--gpu", "l4,a1000", *SIM, code=2, says=["A100", "gpus.toml"])
        self.refuses("optimize", "task.cu", "--gpu", "l4,a100", "--device", "sim", code=2, says=["l4,a100"])

    def test_a_record_of_the_users_own(self):
        self.write("mine.toml", OWN)
        named = self.run_cli("bench", "task.cu", "fast.cu", "--gpu", "mine.toml", *SIM, "--json").json()
        self.assertRegex(named["device"], r"^sim:mine.toml:Small4060@[0-9a-f]{8}$")
        (self.home / ".config" / "cudal1").mkdir(parents=True)
        own = self.home / ".config" / "cudal1" / "gpus.toml"
        own.write_text(OWN)
        both = self.run_cli("bench", "task.cu", "fast.cu", "--gpu", "small4060,L4", *SIM, "--json").json()["gpus"]
        self.assertEqual([row["name"] for row in both], ["GeForce RTX 4060", "L4"])
        self.assertEqual(both[0]["variants"][0]["judgement"]["predicted_speedup"], named["variants"][0]["judgement"]["predicted_speedup"])
        listed = [gpu for gpu in self.run_cli("devices", "--json").json()["simulated"] if gpu["own"]]
        self.assertEqual([(gpu["id"], gpu["sm_count"], gpu["l2_bytes"], gpu["source"]) for gpu in listed], [("Small4060", 24, 48 << 20, "the shop's page")])
        self.assertTrue(self.run_cli("compile", "fast.cu", "--gpu", "small4060", "--json").json()["compiled"])

        # A run goes on only with the record that it began with.
        self.run_cli("optimize", "task.cu", "--device", "sim", "--gpu", "Small4060", "--rounds", "1", "--samples", "1", "--out", "run")
        own.write_text(OWN.replace("24", "23"))
        self.refuses("optimize", "task.cu", "--device", "sim", "--gpu", "Small4060", "--rounds", "1", "--samples", "1", "--out", "run", code=2, says=["another run"])

        for text, says in ((OWN.replace("sms", "smss"), ["gpus.toml:5", "did you mean", "sms"]), (OWN.replace("24", "-1"), ["sms is a number above 0"]),
                           (OWN.replace('like = "L4"', ""), ["missing", "like"]), (OWN.replace("Small4060", "H200"), ["already"]), ("sms = 3", ["outside a table"]),
                           (OWN.replace("GeForce RTX 4060", "H200"), ["built-in"])):
            own.write_text(text)
            self.refuses("devices", code=2, says=says)


if __name__ == "__main__":
    unittest.main()
