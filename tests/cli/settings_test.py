# SPDX-License-Identifier: Apache-2.0
import unittest

from fixture import CliTest


class Settings(CliTest):
    def setUp(self):
        super().setUp()
        self.user = self.home / ".config" / "cudal1" / "config.toml"
        self.user.parent.mkdir(parents=True)
        self.system = self.home.parent / "system" / "cudal1" / "config.toml"
        self.system.parent.mkdir(parents=True)

    def setting(self, key, env=None):
        for setting in self.run_cli("config", "show", "--json", env=env).json()["settings"]:
            if setting["key"] == key:
                return setting["values"], setting["origin"]
        return None

    def test_each_source_wins_over_the_next(self):
        self.assertEqual(self.setting("rounds"), (["4"], "default"))
        self.system.write_text("rounds = 5\n")
        self.assertEqual(self.setting("rounds"), (["5"], "system"))
        self.user.write_text("rounds = 6\n")
        self.assertEqual(self.setting("rounds"), (["6"], "user"))
        self.write(".cudal1.toml", "rounds = 7\n")
        self.assertEqual(self.setting("rounds"), (["7"], "project"))
        self.assertEqual(self.setting("rounds", {"CUDAL1_ROUNDS": "8"}), (["8"], "environment"))

    def test_a_flag_wins_over_the_environment(self):
        environment = {"CUDAL1_FORMAT": "nonsense"}
        self.refuses("report", "nowhere", "--format", "json", code=11, says=["nowhere"], env=environment)

    def test_the_environment_reaches_a_command(self):
        text = self.run_cli("models").out
        self.assertEqual(self.run_cli("models", env={"CUDAL1_JSON": "1"}).json()["schema"], 1)
        self.assertEqual(self.run_cli("models", env={"CUDAL1_JSON": "0"}).out, text)
        self.assertEqual(self.run_cli("models", env={"CUDAL1_JSON": ""}).out, text)

    def test_a_bad_value_names_where_it_stands(self):
        self.refuses("optimize", "x.cu", code=2, says=["CUDAL1_TAU", "warm"], env={"CUDAL1_TAU": "warm"})
        self.user.write_text("\nrounds = 'many'\n")
        self.refuses("optimize", "x.cu", code=2, says=["config.toml:2", "many"])

    def test_show_refuses_what_a_command_would_refuse(self):
        self.user.write_text("rounds = -1\n")
        self.refuses("config", "show", code=2, says=["config.toml:1", "--rounds"])
        self.user.write_text("[optimize]\nrounds = 'many'\n")
        self.refuses("config", "show", code=2, says=["config.toml:2", "many"])
        self.user.write_text("")
        self.refuses("config", "show", code=2, says=["CUDAL1_SAMPLES"], env={"CUDAL1_SAMPLES": "0.5"})
        self.user.write_text("[optimize]\nrounds = 3\n[models]\njson = true\n")
        self.says(self.run_cli("config", "show"), "optimize.rounds = 3")

    def test_a_table_holds_for_one_command(self):
        self.user.write_text("[models]\njson = true\n")
        self.assertEqual(self.run_cli("models").json()["schema"], 1)
        self.assertIn("GPUs", self.run_cli("devices").out)

    def test_origin_names_file_and_line(self):
        self.user.write_text("\n\nsamples = 3\n")
        self.assertRegex(self.run_cli("config", "show", "--origin").out, r"samples = 3 +# user .*config\.toml:3")

    def test_an_unknown_key_names_the_nearest(self):
        self.user.write_text("ruonds = 3\n")
        self.refuses("models", code=2, says=["config.toml:1", '"ruonds"', '"rounds"'])
        self.user.write_text("[optimise]\nrounds = 3\n")
        self.refuses("models", code=2, says=["[optimise]", '"optimize"'])

    def test_a_file_that_is_no_toml_names_its_line(self):
        self.user.write_text("rounds = 3\nsamples =\n")
        self.refuses("models", code=2, says=["config.toml:2"])

    def test_underscores_may_stand_for_dashes(self):
        self.user.write_text("no_repair = true\n")
        self.assertEqual(self.setting("no-repair"), (["true"], "user"))

    def test_a_project_may_not_choose_models_commands_or_places(self):
        for line in ('model = "cmd:./steal"', 'key-command = "cat secret"', 'base-url = "http://x"', "no-sandbox = true",
                     "allow-remote = true", 'out = "/tmp/x"', 'output = "/tmp/x"', 'prompts = "/tmp"',
                     "[optimize]\nmodel = 'cmd:x'", 'trusted-projects = ["/"]'):
            self.write(".cudal1.toml", line + "\n")
            self.refuses("models", code=2, says=[".cudal1.toml", "may not set", "trusted-projects"])

    def test_a_project_that_the_user_trusts_may_set_everything(self):
        project = self.write(".cudal1.toml", 'prompts = "mine"\n')
        project.chmod(0o644)
        self.user.write_text(f'trusted-projects = ["{self.work}"]\n')
        self.assertEqual(self.setting("prompts"), (["mine"], "project"))
        project.chmod(0o666)
        self.refuses("models", code=2, says=["may not set"])

    def test_the_project_file_is_found_upwards(self):
        self.write(".cudal1.toml", "rounds = 9\n")
        self.work = self.work / "deep" / "er"
        self.work.mkdir(parents=True)
        self.assertEqual(self.setting("rounds"), (["9"], "project"))

    def test_path_lists_the_files(self):
        out = self.run_cli("config", "path").out
        self.assertIn(str(self.user), out)
        self.assertIn("not there", out)


class Colour(CliTest):
    def coloured(self, *arguments, env=None):
        return "\033[" in self.run_cli("doctor", *arguments, env=env, code=self.code).out

    def test_the_first_of_flag_no_color_and_force_color_decides(self):
        import subprocess
        from fixture import BINARY
        self.code = subprocess.run([BINARY, "doctor"], env=self.environment, capture_output=True).returncode
        self.assertFalse(self.coloured())
        self.assertTrue(self.coloured("--color", "always"))
        self.assertFalse(self.coloured("--color", "always", "--no-color"))
        self.assertTrue(self.coloured(env={"FORCE_COLOR": "1"}))
        self.assertFalse(self.coloured(env={"FORCE_COLOR": "1", "NO_COLOR": "1"}))
        self.assertTrue(self.coloured("--color", "always", env={"NO_COLOR": "1"}))
        self.assertTrue(self.coloured(env={"FORCE_COLOR": "1", "NO_COLOR": ""}))


if __name__ == "__main__":
    unittest.main()
