# SPDX-License-Identifier: Apache-2.0
"""The process that holds PyTorch for cudal1: answers one request at a time on file descriptor 3. A frame is the length
of a JSON object in eight little-endian bytes, and the object."""

import json
import os
import socket
import struct
import sys

try:
    import torch
except ImportError as error:
    torch, missing = None, str(error)


class Host:
    def __init__(self):
        self.task, self.cases, self.open_memory = None, None, []

    def hello(self, request):
        device = request["device"]
        if device != "cpu" and not torch.cuda.is_available():
            raise Refusal(f"this PyTorch ({torch.__version__}) has no usable CUDA")
        threads = request.get("threads", 0)
        if threads:
            torch.set_num_threads(threads)
        return {"torch": torch.__version__, "python": sys.version.split()[0], "cuda": torch.version.cuda or "",
                "cudnn": str(torch.backends.cudnn.version() or "") if device != "cpu" else ""}

    def open(self, request):
        self.close({})
        task = TaskModule(request["path"], request["source"], request["set"], request["device"], request["limit"])
        cases = Cases(task)
        model, arguments = cases.model({}), task.make_inputs(WEIGHT_SEED)
        line, problem, unused = derive(task, copy.deepcopy(model), arguments)
        unused -= {name for name, _ in task.model.named_parameters()}
        if unused:
            task.notes.append(f"{', '.join(sorted(unused))}: not read in train mode, and no input of a variant")
        task.leave_out_state(unused)
        outputs = cases.reference(model, arguments)
        for name, value in zip(output_names(task, len(outputs)), outputs):
            task._require_dtype(name, value)
        self.task, self.cases = task, cases
        return {
            "inputs": [dict(shape_of(each["tensor"]), name=each["name"]) for each in task.inputs],
            "state": [dict(shape_of(each["tensor"]), name=each["name"], path=each["path"]) for each in task.state],
            "scalars": task.scalars,
            "outputs": [dict(shape_of(each), name=name) for each, name in zip(outputs, output_names(task, len(outputs)))],
            "constants": task.constants, "notes": task.notes, "torch": line, "no_torch": problem,
            "digest": code_digest(request["source"]),
        }

    def case(self, request):
        reply = self.cases.put(request["trial"])
        self.open_memory.append(reply["memory"].pop("descriptor"))
        return reply

    def forget(self, request):
        for descriptor in self.open_memory:
            os.close(descriptor)
        self.open_memory = []
        return {}

    def gate(self, request):
        return {"found": examine(self.cases, request["tolerance"])}

    def export(self, request):
        return {"text": export(self.task, request["format"], request["output"])}

    def close(self, request):
        self.forget({})
        self.task = self.cases = None
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return {}


def receive(channel):
    def exactly(count):
        parts = b""
        while len(parts) < count:
            part = channel.recv(count - len(parts))
            if not part:
                sys.exit(0)
            parts += part
        return parts

    return json.loads(exactly(struct.unpack("<Q", exactly(8))[0]))


def send(channel, message):
    text = json.dumps(message).encode()
    channel.sendall(struct.pack("<Q", len(text)) + text)


def main():
    channel = socket.socket(fileno=3)
    os.set_inheritable(3, False)
    sys.stdout = sys.stderr  # what a task prints is not an answer
    host = Host()
    while True:
        request = receive(channel)
        try:
            if torch is None:
                reply = {"missing": missing}
            else:
                reply = getattr(host, request.pop("do"))(request)
        except Refusal as why:
            reply = {"refused": str(why)}
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        send(channel, reply)


if torch is not None:
    import copy
    import traceback

    from answer_export import export
    from task_cases import Cases, shape_of
    from task_gate import examine
    from task_module import WEIGHT_SEED, Refusal, TaskModule, code_digest
    from torch_line import derive, output_names
else:
    class Refusal(Exception):
        pass

if __name__ == "__main__":
    main()
