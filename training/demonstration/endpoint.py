#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of the demonstration behind OpenAI's Chat Completions, so that `cudal1 optimize` asks it for variants:

  endpoint.py demonstration --stage contrastive --port 8000
  cudal1 optimize task.cu --model vllm/demonstration --base-url http://127.0.0.1:8000

FOLDER is --out of demonstrate.py. The model knows short prompts only, so the task's directives and the scored variants are taken out of the prompt of `optimize`."""
from __future__ import annotations

import argparse
import http.server
import json
import pathlib
import re
import sys
import threading
import time
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import torch   # noqa: E402

from network import Shape, Transformer, sample   # noqa: E402
from tokens import END, Tokenizer, plain         # noqa: E402

REFERENCE = re.compile(r"^## The reference.*?^```cuda\n(.*?)^```", re.DOTALL | re.MULTILINE)
VARIANT = re.compile(r"^\d+: [^\n]*score ([\d.]+).*?^```cuda\n(.*?)^```", re.DOTALL | re.MULTILINE)


def short(prompt: str) -> str:
    """The compact prompt of what `optimize` asks: the task's directives, and each variant behind its score."""
    found = REFERENCE.search(prompt)
    source = found[1] if found else prompt
    lines = [line for line in source.splitlines() if line.startswith("//@") and not line.startswith("//@ launch")]
    variants = prompt.split("\n# Now")[0].split("\n## Variant ")[1:]      # the reference among them is not shown again
    shown = [f"// {float(read[1]):.3g}x\n{read[2]}" for variant in variants if (read := VARIANT.match(variant))]
    return plain("\n".join(lines) + "\n" + "".join(shown) + "// faster\n")


class Model:
    def __init__(self, folder: pathlib.Path, stage: str, device: str, temperature: float, longest: int):
        self.tokenizer = Tokenizer.load(folder / "pieces.json")
        kept = torch.load(folder / f"{stage}.pt", map_location=device)
        self.network = Transformer(Shape(**kept["shape"])).to(device)
        self.network.load_state_dict(kept["weights"])
        self.temperature, self.longest, self.asked, self.lock = temperature, longest, 0, threading.Lock()

    def answer(self, prompt: str) -> tuple[str, int, int, bool]:
        """The reply, tokens of prompt and answer, and whether it ended."""
        room = self.network.shape.context - self.longest - 1
        tokens = self.tokenizer.encode(short(prompt))
        if len(tokens) > room:      # without the variants
            tokens = self.tokenizer.encode(short(prompt.split("# Earlier variants")[0]))[-room:]
        with self.lock:
            self.asked += 1
            got = sample(self.network, [tokens], self.longest, self.asked, self.temperature)[0]
        return f"## Code Implementation\n```cuda\n{self.tokenizer.decode(got)}\n```\n", len(tokens), len(got), END in got


def handler(model: Model) -> type:
    class Handler(http.server.BaseHTTPRequestHandler):
        def say(self, status: int, body: Any) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self) -> None:
            self.say(200, {"object": "list", "data": [{"id": "demonstration", "object": "model"}]})

        def do_POST(self) -> None:
            if not self.path.endswith("/chat/completions"):
                return self.say(404, {"error": {"message": f"{self.path} is not here; ask /v1/chat/completions"}})
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text, read, written, ended = model.answer(asked["messages"][-1]["content"])
            self.say(200, {"id": f"demonstration-{model.asked}", "object": "chat.completion", "created": int(time.time()), "model": "demonstration",
                           "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop" if ended else "length"}],
                           "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}})

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--stage", default="contrastive", choices=("supervised", "self-supervised", "contrastive", "plain"))
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--torch-device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--longest", type=int, default=384, help="tokens of an answer")
    asked = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", asked.port), handler(Model(asked.folder, asked.stage, asked.torch_device, asked.temperature, asked.longest)))
    print(f"cudal1 optimize task.cu --model vllm/demonstration --base-url http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
