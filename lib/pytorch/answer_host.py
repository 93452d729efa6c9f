# SPDX-License-Identifier: Apache-2.0
"""The process that runs somebody's ModelNew for cudal1: confined before that text is read, and believed in nothing that
its parent can look at itself. Speaks as host.py does."""

import os
import sys
import tempfile
import time
import types

import torch

import protocol
from confine import confine
from device_memory import Mappings
from task_cases import bytes_of, fresh
from task_module import Refusal, TaskModule, in_task, last_line, mapped, tensors_in

STREAM_SHARE = 0.05   # of a call's time that may pass between its end on the stream and its end on the device
STREAM_MS = 0.05


def flags():
    return {"cudnn.allow_tf32": torch.backends.cudnn.allow_tf32, "cuda.matmul.allow_tf32": torch.backends.cuda.matmul.allow_tf32,
            "cudnn.benchmark": torch.backends.cudnn.benchmark, "cudnn.deterministic": torch.backends.cudnn.deterministic,
            "cuda.matmul.allow_fp16_reduced_precision_reduction": torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
            "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
            "default_dtype": str(torch.get_default_dtype()), "grad": torch.is_grad_enabled(), "threads": torch.get_num_threads()}


class Answer:
    def hello(self, request):
        self.device = request["device"]
        self.folder = request["folder"]
        for name in ("TMPDIR", "TORCH_EXTENSIONS_DIR", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUDA_CACHE_PATH", "HOME", "XDG_CACHE_HOME"):
            os.environ[name] = self.folder
        tempfile.tempdir = self.folder
        if self.device != "cpu":
            torch.zeros(1, device=self.device)  # the driver starts with files and devices that are closed afterwards
        return {"torch": torch.__version__}

    def task(self, request):
        """The task, from the user's own text: the constructor's arguments, and what forward is given and gives."""
        self.module = TaskModule(request["path"], request["source"], request["set"], self.device)
        self.outputs = request["outputs"]
        self.mappings = Mappings(self.device)
        kinds = [each["tensor"] for each in self.module.inputs]
        self.inputs = [self.mappings.tensor(place, each.dtype, each.shape) for place, each in zip(request["places"], kinds)]
        rest = request["places"][request["inputs"]:]
        self.results = [self.mappings.tensor(place, getattr(torch, each["dtype"]), each["shape"]) for place, each in zip(rest, self.outputs)]
        self.notes, self.built = [], {}
        return {}

    def load(self, request):
        """Confined, and only then the answer's text."""
        try:
            confine([self.folder] + [path for path in ("/dev", "/proc/self/task") if os.path.exists(path)])
        except OSError as why:
            if not request["unconfined"]:
                raise Refusal(f"the answer cannot be confined here ({why}); --no-sandbox runs it all the same") from why
        before, self.path = flags(), request["path"]
        module = types.ModuleType("cudal1_answer")
        module.__file__ = self.path
        sys.modules["cudal1_answer"] = module
        with in_task(self.path, "loading the answer"):
            exec(compile(request["source"], self.path, "exec"), module.__dict__)
        if not isinstance(module.__dict__.get("ModelNew"), type):
            raise Refusal(f"{self.path}: it defines no class ModelNew")
        self.model_class = module.__dict__["ModelNew"]
        self.before = before
        return {}

    def model(self, seed):
        """As KernelBench's harness builds it: the same seed and arguments as Model."""
        if seed not in self.built:
            self.built = {}
            with in_task(self.path, "building ModelNew"):
                torch.manual_seed(seed)
                init = self.module.init_inputs
                made = self.model_class(**init) if isinstance(init, dict) else self.model_class(*init)
                self.built[seed] = made.to(self.device)
        return self.built[seed]

    def arguments(self):
        left = iter(self.inputs)

        def own(kind):
            value = torch.empty_strided(kind.size(), kind.stride(), dtype=kind.dtype, device=self.device)
            return value.copy_(next(left)) if value.numel() else value

        return mapped(self.module.arguments, own)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def run(self, request):
        arguments = self.arguments()
        model = self.model(request["weights"])
        with in_task(self.path, "forward"), torch.no_grad():
            torch.manual_seed(0)
            result = (fresh(model) if self.device == "cpu" else model)(*arguments)
        wrong = self.take(result, arguments)
        if wrong:
            return {"wrong": wrong}
        for given, held in zip(self.module.input_tensors(arguments), self.inputs):
            if not torch.equal(given.contiguous().view(torch.uint8), held.view(torch.uint8)):
                self.note("it writes to its inputs")
        after = flags()
        for name, value in after.items():
            if value != self.before[name]:
                self.note(f"it sets {name} to {value}")
        return {"notes": self.notes}

    def take(self, result, arguments):
        """Copies the outputs out; what is wrong with them as tensors, or nothing."""
        given = list(result) if type(result) in (list, tuple) else [result]
        if len(given) != len(self.results):
            return f"it gives {len(given)} outputs instead of {len(self.results)}"
        for index, (tensor, place) in enumerate(zip(given, self.results)):
            name = self.outputs[index]["name"]
            if type(tensor) is not torch.Tensor:
                return f"{name} is a {type(tensor).__name__}, not a plain tensor"
            if tensor.layout != torch.strided or tensor.device.type != torch.device(self.device).type:
                return f"{name} is {tensor.layout} on {tensor.device}"
            if list(tensor.shape) != list(place.shape) or tensor.dtype != place.dtype:
                return f"{name} is {str(tensor.dtype)[6:]}{list(tensor.shape)}, expected {str(place.dtype)[6:]}{list(place.shape)}"
            storage = tensor.storage()
            if tensor.numel() and tensor.storage_offset() + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride())) >= len(storage):
                return f"{name} reaches beyond its own memory"
            if any(other.numel() and tensor.numel() and other.storage().data_ptr() == storage.data_ptr() for other in tensors_in(arguments)):
                self.note(f"{name} lies in the memory of an input")
        self.synchronize()
        for tensor, place in zip(given, self.results):
            place.copy_(tensor.detach())
        self.synchronize()
        return ""

    def synchronize(self):
        if self.device != "cpu":
            torch.cuda.synchronize(self.device)

    def start(self, request):
        """Ready to be timed: warm, and how long its queueing takes known."""
        from baselines import Stopwatch

        self.given, self.late = self.arguments(), [0, 0]
        model = self.model(42)
        self.call = lambda: model(*self.given)
        self.watch = Stopwatch(self.device, lambda: model, [self.given])
        with in_task(self.path, "forward"):
            made = self.watch.prepare("eager")
        if "failed" in made:
            raise Refusal(f"{self.path}: {made['failed']} (when it is called again)")
        return {}

    def time(self, request):
        """Samples by the clock of the GPU."""
        reply = self.watch.time(["eager"] * request["samples"])
        self.look_for_streams()
        return {"ms": reply["ms"], "notes": self.notes, "elsewhere": 2 * self.late[0] > self.late[1]}

    def look_for_streams(self):
        """Whether work goes on when the stream that is timed has ended."""
        with torch.no_grad():
            begin, end = self.watch.events()
            torch.cuda.synchronize()
            begin.record()
            self.call()
            end.record()
            end.synchronize()
            over = time.monotonic()
            torch.cuda.synchronize()
            late_ms = 1e3 * (time.monotonic() - over)
            if late_ms > STREAM_MS + STREAM_SHARE * begin.elapsed_time(end):
                self.late[0] += 1
            self.late[1] += 1

    def calls(self, request):
        """Without events, so that the parent's own clock can tell how long a call takes. The last outputs stand."""
        with torch.no_grad():
            for _ in range(request["count"]):
                result = self.call()
            torch.cuda.synchronize()
        return {"wrong": self.take(result, self.given)} if request.get("take") else {}


if __name__ == "__main__":
    protocol.serve(Answer(), Refusal)
