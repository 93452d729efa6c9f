# SPDX-License-Identifier: Apache-2.0
import contextlib
import json
import os
import pathlib
import pty
import shutil
import signal
import ssl
import subprocess
import time
import unittest

from fixture import BINARY, FASTER, TASK, WRONG, CliTest, reply
from service import Say, Service

KEY = "sk-planted-5f2a9c7e41d84b06"
# Each provider with its usual key's variable, and the path of its requests.
PROVIDERS = {"openai/m": ("OPENAI_API_KEY", "/v1/chat/completions"), "anthropic/m": ("ANTHROPIC_API_KEY", "/v1/messages"),
             "ollama/m": ("OLLAMA_API_KEY", "/api/chat")}


def descendants(pid):
    """Every process under `pid`, itself left out."""
    parents = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = {pid}
    while True:
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return found - {pid}
        found |= more


class Providers(CliTest):
    def setUp(self):
        super().setUp()
        for name in list(self.environment):
            if name.endswith(("_API_KEY", "_BASE_URL", "_proxy", "_PROXY", "_CERT_FILE", "_CA_BUNDLE")) or name == "OLLAMA_HOST":
                del self.environment[name]
        self.write("task.cu", TASK)

    def optimize(self, service, *options, model="compat/m", rounds=1, samples=1):
        url = service.url if isinstance(service, Service) else service
        return ("optimize", "task.cu", "--device", "sim", "--model", model, "--base-url", url, "--rounds", rounds, "--samples", samples,
                "--no-repair", "--out", "run", *options)

    def journal(self, event):
        lines = (self.work / "run/journal.jsonl").read_text().splitlines()
        return [entry for entry in map(json.loads, lines) if entry["event"] == event]

    def test_a_run_with_each_provider(self):
        for model, (variable, path) in PROVIDERS.items():
            with self.subTest(model), Service(Say(reply(FASTER))) as service:
                run = self.run_cli(*self.optimize(service, "--json", "--again", "--key-variable", variable, model=model), env={variable: KEY}).json()
                self.assertEqual(run["best"]["verdict"], "PREDICTED_FASTER")
                self.assertEqual(run["usage"]["input_tokens"], 800)
                self.assertEqual(run["usage"]["output_tokens"], 200)
                self.assertTrue(run["usage"]["priced"])
                self.assertEqual([request["path"] for request in service.requests], [path])
                self.assertIn(KEY, json.dumps(service.requests[0]["headers"]))
                said = self.journal("reply")[0]
                self.assertEqual((said["reasoning"], said["served"]), ("Tile.", "m-1"))

    def test_a_reply_that_is_cut_or_declined_is_a_row_of_the_report(self):
        with Service(Say(reply(FASTER), finish="length"), Say("No.", finish="content_filter"), Say(reply(WRONG))) as service:
            run = self.run_cli(*self.optimize(service, "--json", samples=3), code=3).json()
        states = [(variant["status"], variant["reason"]) for variant in run["variants"]]
        # The first question is asked alone; which of the other two the service sees first is open.
        self.assertEqual(states[0][0], "truncated")
        self.assertEqual(sorted(status for status, _ in states[1:]), ["judged", "refused"])
        self.assertIn("--output-tokens", states[0][1])
        self.assertIn("content filter", next(reason for status, reason in states if status == "refused"))
        self.assertTrue((self.work / "run/replies/r01-s01.truncated.md").exists())
        self.assertEqual(len(list((self.work / "run/replies").glob("r01-s0[23].refused.md"))), 1)

    def test_each_failure_has_its_exit_code_and_says_what_to_do(self):
        credit = json.dumps({"error": {"message": "no more", "code": "insufficient_quota"}})
        for retries, say, code, text in (
                (3, Say(status=401), 4, "the key"), (3, Say(status=404), 2, "/v1/chat/completions"), (3, Say(status=402), 7, "credit"),
                (3, Say(status=429, body=credit), 7, "no more"), (0, Say(status=500), 7, "answered 500"),
                (3, Say(status=413), 2, "too long"), (3, Say(status=429, headers={"Retry-After": "600"}), 7, "--longest-wait")):
            with self.subTest(say.status), Service(say) as service:
                result = self.run_cli(*self.optimize(service, "--retries", retries, "--again"), code=code)
                self.says(result, text, service.url, "go on with the same command")
                self.assertEqual(len(service.requests), 1)

    def test_after_a_failure_for_good_no_second_question_is_tried(self):
        with Service(Say(status=500)) as service:
            self.run_cli(*self.optimize(service, "--retries", "1", samples=3), code=7)
            self.assertEqual(len(service.requests), 2)

    def test_a_run_goes_on_and_asks_for_no_received_reply_again(self):
        with Service(Say(reply(WRONG)), Say(status=500)) as service:
            self.run_cli(*self.optimize(service, "--retries", "1", samples=2), code=7)
            self.assertEqual(len(service.requests), 3)
        with Service(Say(reply(FASTER))) as service:
            run = self.run_cli(*self.optimize(service, "--json", samples=2)).json()
            self.assertEqual(len(service.requests), 1)
        self.assertEqual([variant["judgement"]["verdict"] for variant in run["variants"]], ["WRONG_RESULT", "PREDICTED_FASTER"])

    def test_the_first_question_is_asked_alone_and_the_others_together(self):
        with Service(Say(reply(WRONG), after=0.3)) as service:
            self.run_cli(*self.optimize(service, samples=4), code=3)
            self.assertEqual([request["others"] for request in service.requests][:2], [0, 0])
            self.assertEqual(service.most_under_way, 3)

    def test_models_of_a_service_are_listed_as_values_of_model(self):
        with Service(Say()) as service:
            self.assertEqual(self.run_cli("models", "vllm", "--base-url", service.url).out.split(),
                             ["vllm/m-1", "context", "of", "4096", "tokens", "vllm/[31mm-2"])
            listed = self.run_cli("models", "vllm", "--base-url", service.url, "--json").json()["models"]
            self.assertEqual(listed[0], {"model": "vllm/m-1", "context_tokens": 4096})
            self.refuses("models", "ollama", "--base-url", service.url, code=7, says=["/api/tags answered 404"])
        self.refuses("models", "olama", code=2, says=["did you mean ollama?"])
        self.refuses("models", "vllm", code=2, says=["--base-url"])

    def test_a_terminal_shows_what_the_replies_are_at(self):
        main, terminal = pty.openpty()
        self.addCleanup(os.close, main)
        with Service(Say(reply(FASTER), after=2.5)) as service:
            command = [BINARY, *map(str, self.optimize(service, "--no-input"))]
            process = subprocess.Popen(command, cwd=self.work, env=self.environment, stdout=subprocess.DEVNULL, stderr=terminal)
            os.close(terminal)
            shown = b""
            with contextlib.suppress(OSError):  # how a terminal ends
                while part := os.read(main, 4096):
                    shown += part
            self.assertEqual(process.wait(), 0, shown)
        self.assertIn("sample 1/1 · asking compat/m: 1 waits for a first token".encode(), shown)
        self.assertRegex(shown.decode(), r"0:0[2-9]\r")  # it ticks

    def test_an_interrupt_ends_a_question_at_once(self):
        self.write("slow.sh", "#!/bin/sh\ncat > /dev/null\nexec sleep 600\n").chmod(0o755)
        with Service(Say(silent=True)) as service:
            for model in ("compat/m", "cmd:./slow.sh"):
                with self.subTest(model):
                    process = self.start_cli(*self.optimize(service, "--again", model=model))
                    self.wait_for(process, "asked")
                    time.sleep(0.5)
                    process.send_signal(signal.SIGINT)
                    begin = time.monotonic()
                    self.assertEqual(process.wait(60), 130)
                    process.communicate()
                    self.assertLess(time.monotonic() - begin, 10)

    def test_source_leaves_this_machine_with_consent_only(self):
        self.environment["http_proxy"] = "http://127.0.0.1:9"  # where nothing is, and no name has to be looked up
        away = self.optimize("http://model.invalid", "--retries", "0")
        self.refuses(*away, code=2, says=["model.invalid", "--allow-remote", "allow-remote = true"])
        self.assertFalse((self.work / "run").exists(), "a run that was refused is left behind")
        self.says(self.run_cli(*away, "--allow-remote", code=7), "could not be reached")
        config = self.home / ".config/cudal1/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text("allow-remote = true\n")
        self.says(self.run_cli(*away, code=7), "could not be reached")

    def test_a_dry_run_needs_neither_key_nor_consent_and_tells_the_cost(self):
        options = ("optimize", "task.cu", "--device", "sim", "--model", "anthropic/claude-sonnet-4-5", "--rounds", 2, "--dry-run")
        self.says(self.run_cli(*options), "Performance Analysis", "tokens of prompts", "min of waiting", "for $", "api.anthropic.com")
        plan = self.run_cli(*options, "--json").json()
        self.assertEqual(plan["replies"], 8)
        self.assertEqual(plan["estimated_output_tokens"], 8 * 6000)
        self.assertAlmostEqual(plan["estimated_cost_usd"], (plan["estimated_input_tokens"] * 3 + 48000 * 15) / 1e6)
        self.assertEqual(plan["estimated_seconds"], 2 * 2 * 100)
        self.assertFalse((self.work / "cudal1-runs").exists())
        unknown = self.run_cli("optimize", "task.cu", "--device", "sim", "--model", "openai/new", "--dry-run", "--json").json()
        self.assertIsNone(unknown["estimated_cost_usd"])

    def test_a_cost_limit_wants_a_known_price(self):
        self.environment["http_proxy"] = "http://127.0.0.1:9"
        limited = self.optimize("http://model.invalid", "--allow-remote", "--retries", "0", "--cost-limit", "1")
        self.refuses(*limited, code=2, says=["--cost-limit", "--prices"])
        self.write("prices.json", json.dumps({"usd_per_million_tokens": {"compat/m": {"input": 1, "output": 2}}}))
        self.says(self.run_cli(*limited, "--prices", "prices.json", code=7), "could not be reached")
        self.environment |= {"https_proxy": "http://127.0.0.1:9", "OPENROUTER_API_KEY": "k"}   # its replies say what they cost
        telling = ("optimize", "task.cu", "--device", "sim", "--model", "openrouter/new/model", "--allow-remote", "--retries", "0", "--cost-limit", "1")
        self.says(self.run_cli(*telling, code=7), "could not be reached")

    def test_settings_can_name_the_provider_they_are_for(self):
        with Service(Say(reply(FASTER))) as one, Service(Say(reply(WRONG))) as other:
            self.run_cli("optimize", "task.cu", "--device", "sim", "--model", "vllm/a,llamacpp/b", "--base-url", f"vllm={one.url}", "--base-url",
                         other.url, "--rounds", 1, "--samples", 2, "--no-repair")
            self.assertEqual([request["body"]["model"] for request in one.requests], ["a"])
            self.assertEqual([request["body"]["model"] for request in other.requests], ["b"])

    def test_a_key_is_in_nothing_but_its_header(self):
        """Not in files, output, prompts, or what processes show, also when the service quotes it and the run crashes."""
        seen = []

        def watch():
            for pid in descendants(process.pid):
                for name in ("cmdline", "environ"):
                    try:
                        seen.append(pathlib.Path(f"/proc/{pid}/{name}").read_bytes())
                    except OSError:
                        pass

        quoted = json.dumps({"error": {"message": f"slow down, {KEY}"}})
        answers = (Say(status=429, body=quoted, headers={"retry-after-ms": "1"}), Say(reply(FASTER, design=f"I know {KEY}.")), Say(silent=True))
        environment = self.environment | {"MY_SERVICE_KEY": KEY}
        with Service(*answers, watch=watch) as service:
            command = [BINARY, *map(str, self.optimize(service, "--verbose", "--key-variable", "MY_SERVICE_KEY", rounds=2))]
            process = subprocess.Popen(command, cwd=self.work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            deadline = time.monotonic() + 120
            while len(service.requests) < 3 and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.3)
            process.send_signal(signal.SIGABRT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(len(service.requests), 3, err)
        self.assertEqual(process.returncode, -signal.SIGABRT)
        self.assertIn("POST", err)
        self.assertIn("slow down, [key]", err)
        self.assertTrue(any(b"worker" in text for text in seen), "no worker was looked at")
        self.assertEqual([request["headers"]["Authorization"] for request in service.requests], [f"Bearer {KEY}"] * 3)
        told = {"stdout": out.encode(), "stderr": err.encode(), "processes": b"\n".join(seen),
                "prompts": json.dumps([request["body"] for request in service.requests]).encode()}
        files = [path for path in self.work.parent.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 5)
        told |= {str(path): path.read_bytes() for path in files}
        self.assertEqual([name for name, text in told.items() if KEY.encode() in text], [])
        self.assertIn("I know [key].", self.journal("reply")[0]["text"])

    def test_a_key_variable_has_a_name_that_is_withheld_from_workers(self):
        self.refuses(*self.optimize("http://127.0.0.1:9", "--key-variable", "MY_LLM"), code=2, says=["MY_LLM", "KEY, TOKEN or SECRET"])

    @unittest.skipUnless(shutil.which("openssl"), "needs the program openssl")
    def test_an_authority_of_ones_own_is_trusted_when_any_variable_names_it(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"], cwd=self.work,
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.work / "cert.pem", self.work / "key.pem")
        with Service(Say(status=401), context=context) as service:
            run = self.optimize(service, "--again", "--retries", "3")
            self.says(self.run_cli(*run, code=2), "no certificate that can be trusted", "--ca-bundle")
            self.assertEqual(service.requests, [])
            for variable in ("CUDAL1_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
                self.run_cli(*run, env={variable: str(self.work / "cert.pem")}, code=4)
            self.assertEqual(len(service.requests), 4)
            wrong = {"CUDAL1_CA_BUNDLE": str(self.work / "nowhere.pem"), "SSL_CERT_FILE": str(self.work / "cert.pem")}
            self.says(self.run_cli(*run, env=wrong, code=2), "nowhere.pem")


if __name__ == "__main__":
    unittest.main()
