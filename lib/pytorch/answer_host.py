# SPDX-License-Identifier: Apache-2.0
"""The process that runs somebody's ModelNew for cudal1: confined before that text is read, and believed in nothing that
its parent can look at itself. Speaks as host.py does."""

import inspect
import os
import sys
import tempfile
import time
import types

import torch

import protocol
from answer_gate import gate
from device_memory import Mappings, seen_alone
from shut import shut
from task_cases import bytes_of, fresh
from task_module import Refusal, TaskModule, in_task, mapped, tensors_in, with_numbers

STREAM_SHARE = 0.05   # of the calls' time that may pass between their end on the stream and their end on the device
STREAM_MS = 0.1
STREAM_CALLS = 50
FILTER, GATE = 4, 5   # the descriptors after the channel
WARM_UPS = 3
KEPT_LIMIT = 1 << 30  # bytes of outputs that are held to see whether the next ones lie in the same memory


def flags(device):
    return {"cudnn.allow_tf32": torch.backends.cudnn.allow_tf32, "cuda.matmul.allow_tf32": torch.backends.cuda.matmul.allow_tf32,
            "cudnn.benchmark": torch.backends.cudnn.benchmark, "cudnn.deterministic": torch.backends.cudnn.deterministic,
            "cuda.matmul.allow_fp16_reduced_precision_reduction": torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
            "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
            "default_dtype": str(torch.get_default_dtype()), "grad": torch.is_grad_enabled(), "threads": torch.get_num_threads(),
            "the current stream": 0 if device == "cpu" else torch.cuda.current_stream(device).cuda_stream}


def measured_with():
    """What its time is measured with and its outputs are taken with, as it is now: an answer has no reason to change it."""
    places = [(torch.cuda, "torch.cuda", "synchronize current_stream Event Stream _sleep"), (time, "time", "monotonic perf_counter"),
              (torch.cuda.Event, "torch.cuda.Event", "record elapsed_time synchronize query wait"),
              (torch.Tensor, "torch.Tensor", "copy_ clone detach contiguous data_ptr untyped_storage __torch_function__"),
              (torch, "torch", "equal empty_strided no_grad"),
              (Answer, "the program", "run sample take unlike copy_out renew call streams note said replaced"), (protocol, "the program", "send receive")]
    return {f"{owner}.{name}": inspect.getattr_static(place, name, None) for place, owner, names in places for name in names.split()}


def listed(result):
    return list(result) if type(result) in (list, tuple) else [result]


class Answer:
    def hello(self, request):
        self.device = seen_alone(request["device"])
        self.folder = request["folder"]
        tempfile.tempdir = self.folder
        if self.device != "cpu":
            torch.zeros(1, device=self.device)  # the driver starts with sockets that are shut afterwards
        return {"torch": torch.__version__}

    def task(self, request):
        """The task, from the user's own text: the constructor's arguments, and what forward is given and gives."""
        self.module = TaskModule(request["path"], request["source"], request["set"], self.device)
        self.outputs, self.afresh = request["outputs"], request["afresh"]
        self.mappings = Mappings(self.device)
        kinds = [each["tensor"] for each in self.module.inputs]
        self.inputs = [self.mappings.tensor(place, each.dtype, each.shape) for place, each in zip(request["places"], kinds)]
        rest = request["places"][request["inputs"]:]
        self.results = [self.mappings.tensor(place, getattr(torch, each["dtype"]), each["shape"]) for place, each in zip(rest, self.outputs)]
        self.state = [(each["path"], self.mappings.tensor(each["place"], getattr(torch, each["dtype"]), each["shape"])) for each in request.get("state", [])]
        self.given, self.copied = self.arguments()
        self.notes, self.built, self.kept = [], {}, []
        return {}

    def load(self, request):
        """The last door is shut, and only then the answer's text is read."""
        try:
            shut(FILTER)
        except OSError as why:
            if not request["unconfined"]:
                raise Refusal(f"the answer cannot be confined here ({why}); --no-sandbox runs it all the same") from why
        before, self.path, self.original = flags(self.device), request["path"], measured_with()
        module = types.ModuleType("cudal1_answer")
        module.__file__ = self.path
        sys.modules["cudal1_answer"] = module
        with in_task(self.path, "loading the answer"):
            exec(compile(request["source"], self.path, "exec"), module.__dict__)
        if not isinstance(module.__dict__.get("ModelNew"), type):
            raise Refusal(f"{self.path}: it defines no class ModelNew")
        self.model_class = module.__dict__["ModelNew"]
        self.before = before
        return self.said()

    def said(self, **values):
        """A reply, with what was seen of the answer so far."""
        for name, value in flags(self.device).items():
            if value != self.before[name]:
                self.note(f"it sets {name} to {value}" if name != "the current stream" else "it sets another current stream")
        return dict(values, notes=self.notes, tampered=self.replaced())

    def replaced(self):
        changed = [name for name, now in measured_with().items() if now is not self.original[name]]
        return f"it replaces {', '.join(changed)} in the process that judges it" if changed else ""

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

    def takes_weights(self, request):
        """Whether the model holds what the task's holds, by name and shape, and nothing that might be made of it."""
        theirs = {(each["path"], each["tensor"].shape, each["tensor"].dtype) for each in self.module.state}
        own = {(path, each.shape, each.dtype) for path, each in self.module.state_tensors(self.model(request["weights"])) if each.numel()}
        return self.said(takes_weights=own == theirs)

    def with_given_weights(self, seed):
        """A model that was never called, because it may keep what it makes of its weights."""
        self.built = {}
        model, self.built = self.model(seed), {}
        own = dict(self.module.state_tensors(model))
        with in_task(self.path, "giving ModelNew weights"), torch.no_grad():
            for path, held in self.state:
                own[path].copy_(held)
        return model

    def arguments(self):
        """What forward is given lies in the shared memory itself; what it wants in another order in memory is copied."""
        left, copied = iter(self.inputs), []

        def own(kind):
            if not kind.numel():
                return torch.empty_strided(kind.size(), kind.stride(), dtype=kind.dtype, device=self.device)
            held = next(left)
            if kind.is_contiguous():
                return held
            value = torch.empty_strided(kind.size(), kind.stride(), dtype=kind.dtype, device=self.device)
            copied.append((value, held))
            return value.copy_(held)

        return mapped(self.module.arguments, own), copied

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def run(self, request):
        self.renew()
        model = self.with_given_weights(request["weights"]) if request.get("given") else self.model(request["weights"])
        before = [each.clone() for each in self.inputs]
        with in_task(self.path, "forward"), torch.no_grad():
            torch.manual_seed(0)
            result = (fresh(model) if self.afresh else model)(*with_numbers(self.given, request.get("numbers", 1.0)))
        wrong = self.take(result)
        if wrong:
            return self.said(wrong=wrong)
        self.look_for_kept_memory(result)
        for given, shown in zip(self.module.input_tensors(self.given), before):
            if not torch.equal(given.contiguous().view(torch.uint8), shown.contiguous().view(torch.uint8)):
                self.note("it writes to its inputs")
        return self.said()

    def look_for_kept_memory(self, result):
        """The earlier outputs are still held here, so that memory of theirs is the answer's own."""
        now = list(tensors_in(result))
        inputs = [each.data_ptr() for each in tensors_in(self.given)]
        if any(each.numel() and each.data_ptr() == other.data_ptr() not in inputs for each, other in zip(now, self.kept)):
            self.note("its outputs lie in the memory of its earlier outputs")
        self.kept = now if sum(bytes_of(each) for each in now) <= KEPT_LIMIT else []

    def take(self, result):
        """Copies the outputs out; what is wrong with them as tensors, or nothing."""
        wrong = self.unlike(result)
        if not wrong:
            self.synchronize()
            self.copy_out(result)
            self.synchronize()
        return wrong

    def copy_out(self, result):
        for tensor, place in zip(listed(result), self.results):
            place.copy_(tensor.detach())

    def unlike(self, result):
        """What is wrong with the outputs as tensors; looks at no value."""
        given = listed(result)
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
            if any(other.numel() and tensor.numel() and other.storage().data_ptr() == storage.data_ptr() for other in tensors_in(self.given)):
                self.note(f"{name} lies in the memory of an input")
        return ""

    def synchronize(self):
        if self.device != "cpu":
            torch.cuda.synchronize(self.device)

    def prepare(self, request):
        """Before the answer's text is read: the gate, and outputs for calls that do nothing."""
        self.gate = gate(GATE, self.device)
        self.blank = [torch.zeros_like(each) for each in self.results]
        return {"waits": self.gate.waits}

    def start(self, request):
        """Ready to be timed: warm, with weights that nobody could know before."""
        self.weights, self.kept, self.result, self.late = request["weights"], [], None, [0, 0]
        with in_task(self.path, "forward"):
            for _ in range(WARM_UPS):
                self.call()
                self.synchronize()
            began = time.monotonic()
            self.call()
            self.synchronize()
            taken_ms = 1e3 * (time.monotonic() - began)
        self.stream_calls = max(1, min(STREAM_CALLS, int(2 / max(taken_ms, 1e-3))))
        return self.said()

    def call(self):
        self.result = None   # its memory may be used again, as its user's would be
        with torch.no_grad():
            self.result = self.model(self.weights)(*self.given)

    def renew(self):
        """Other inputs have appeared in the memory of the earlier ones; PyTorch has not seen it."""
        for given, held in self.copied:
            given.copy_(held)
        for held in self.inputs:
            held.view(-1)[:0].zero_()   # another version
        torch.manual_seed(0)            # as the truth's

    def sample(self, request):
        """One call behind the gate, on inputs that are there when it opens. Its outputs are left, and perhaps judged."""
        wrong, empty, number = "", request["empty"], request["number"]

        def work():
            if empty:
                self.result = self.blank
            else:
                self.call()

        def finish():
            nonlocal wrong
            wrong = self.unlike(self.result)
            if not wrong:
                self.copy_out(self.result)

        try:
            with in_task("" if empty else self.path, "forward, called again and again"):
                ms = self.gate.call(number, self.renew, work, finish)
        except Exception:
            self.gate.give_up(number)
            raise
        reply = {"ms": ms, "wrong": wrong}
        return reply if empty else self.said(**reply)

    def streams(self, request):
        with in_task(self.path, "forward, called again and again"):
            self.look_for_streams()
        return self.said(elsewhere=2 * self.late[0] > self.late[1])

    def look_for_streams(self):
        """Whether work goes on when the stream that is timed has ended."""
        if self.device == "cpu":
            return
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        for _ in range(self.stream_calls):
            self.call()
        end.record()
        end.synchronize()
        over = time.monotonic()
        torch.cuda.synchronize()
        late_ms = 1e3 * (time.monotonic() - over)
        if late_ms > STREAM_MS + STREAM_SHARE * begin.elapsed_time(end):
            self.late[0] += 1
        self.late[1] += 1


if __name__ == "__main__":
    protocol.serve(Answer(), Refusal)
