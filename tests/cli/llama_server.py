# SPDX-License-Identifier: Apache-2.0
"""llama_server.py CUDAL1: whole runs through llama.cpp's own server, with weights that are made here, tiny and random.

Its replies are rubbish; what is shown is that requests, streams, usage, ends and errors of a server that others wrote are
understood, and that runs end in order with the right reasons. Exits with 77 where the server is missing.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from fixture import TASK

MISSING = "needs llama.cpp's server and its file format: pip install xllamacpp gguf"


def write_weights(path):
    import gguf
    import numpy

    random = numpy.random.default_rng(1)
    words = "the a kernel thread block grid memory shared float int if for return code of and is faster".split()
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + ["▁" + word for word in words]
    kind, width, context = gguf.TokenType, 32, 65536
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(width)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // 2)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * 3 + [-1000.0] * 256 + [-float(i) for i in range(len(words))])
    writer.add_token_types([kind.UNKNOWN, kind.CONTROL, kind.CONTROL] + [kind.BYTE] * 256 + [kind.NORMAL] * len(words))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:")
    ones = lambda *shape: numpy.ones(shape, numpy.float32)
    noise = lambda *shape: (random.standard_normal(shape) * 0.5).astype(numpy.float32)
    tensors = {"token_embd": noise(len(tokens), width), "output_norm": ones(width), "output": noise(len(tokens), width),
               "blk.0.attn_norm": ones(width), "blk.0.ffn_norm": ones(width)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        tensors["blk.0." + name] = noise(width, width)
    for name, values in tensors.items():
        writer.add_tensor(name + ".weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(weights, context):
    """In a process of its own: prints its address, and serves until its input ends."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = weights
    parameters.n_ctx, parameters.n_parallel, parameters.port = int(context), 2, 0
    parameters.kv_unified = True
    parameters.cpuparams.n_threads = 1  # several wait for each other where cores are busy
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)


class Server:
    def __init__(self, weights, context):
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", str(weights), str(context)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)


def optimize(binary, folder, model, url, *options):
    command = [binary, "optimize", "task.cu", "--device", "sim", "--model", model, "--base-url", url, "--output-tokens", "48", "--json",
               "--out", model.split("/")[0], *map(str, options)]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=800)
    print(f"$ {' '.join(command)}\n-> {finished.returncode}\n{finished.stderr}")
    return finished


def expect(truth, what):
    if not truth:
        sys.exit(f"FAILED: {what}")


def main(binary):
    try:
        import gguf, numpy, xllamacpp  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}; {MISSING}")
        return 77
    with tempfile.TemporaryDirectory(prefix="cudal1-test-") as name:
        folder = pathlib.Path(name)
        (folder / "task.cu").write_text(TASK)
        write_weights(folder / "tiny.gguf")
        with Server(folder / "tiny.gguf", 65536) as server:
            for model, rounds, samples in (("llamacpp/tiny", 2, 2), ("anthropic/tiny", 1, 1)):
                finished = optimize(binary, folder, model, server.url, "--rounds", rounds, "--samples", samples)
                expect(finished.returncode == 3, f"{model}: nothing faster is exit code 3")
                run = json.loads(finished.stdout)
                expect((run["stopped_because"], run["rounds"]) == ("rounds", rounds), f"{model}: all rounds are done")
                expect(len(run["variants"]) >= rounds * samples, f"{model}: each reply is a row")
                for variant in run["variants"]:
                    right = {"truncated": "--output-tokens", "malformed": "the "}.get(variant["status"])
                    expect(right and right in variant["reason"], f"{model}: {variant['id']} is {variant['status']}: {variant['reason']}")
                usage = run["usage"]
                expect(usage["input_tokens"] > 1000 and usage["output_tokens"] > 4 and usage["priced"], f"{model}: usage {usage}")
                print(f"{model}: {[(v['id'], v['status']) for v in run['variants']]}, {usage}")
        with Server(folder / "tiny.gguf", 1024) as server:
            finished = optimize(binary, folder, "compat/tiny", server.url, "--rounds", 1, "--samples", 1)
            expect(finished.returncode == 2, "a prompt that does not fit is exit code 2")
            run = json.loads(finished.stdout)
            expect(run["stopped_because"] == "request_rejected" and "too long" in run["stop_reason"], run["stop_reason"])
            print(run["stop_reason"])
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(*sys.argv[2:])
    else:
        sys.exit(main(sys.argv[1]))
