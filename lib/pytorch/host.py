# SPDX-License-Identifier: Apache-2.0
"""The process that holds PyTorch for cudal1, and one task. Speaks as protocol.py has it."""

import contextlib
import os
import sys

import protocol


@contextlib.contextmanager
def keeping_bytecode():
    """Python's -B leaves nothing beside a task, but PyTorch's own modules are compiled once only."""
    sys.dont_write_bytecode = False
    try:
        yield
    finally:
        sys.dont_write_bytecode = True


try:
    with keeping_bytecode():
        import torch
except ImportError as error:
    torch, missing = None, str(error)


RECORDED_LIMIT = 256 << 20   # bytes of a task whose forward is recorded with its values
SPARE = 512 << 20           # bytes that are left to others by who takes more than its share
PATIENCE = 10                # seconds that others on a GPU are waited for where its memory is full


class Host:
    def __init__(self):
        self.task = self.cases = self.lent = self.stopwatch = None
        self.device, self.open_memory, self.globals = "cpu", [], None

    def hello(self, request):
        device = self.device = seen_alone(request["device"])
        if device != "cpu" and not torch.cuda.is_available():
            raise Refusal(f"this PyTorch ({torch.__version__}) has no usable CUDA")
        threads = request.get("threads", 0)
        if threads:
            torch.set_num_threads(threads)
        self.globals = GlobalState()
        comparison.rule.update(request["rule"])
        Cases.sharers = request.get("sharers", 1)
        if Cases.sharers > 1:   # or torch.compile starts as many compilers for each of them as there are cores
            os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(max(1, (os.cpu_count() or 1) // (2 * Cases.sharers))))
        return {"torch": torch.__version__, "python": sys.version.split()[0], "cuda": torch.version.cuda or "",
                "cudnn": str(torch.backends.cudnn.version() or "") if device != "cpu" else ""}

    def open(self, request):
        self.close({})
        self.take_share(request.get("share", 0))
        with keeping_bytecode():   # of what PyTorch imports for outlines
            weight = self.require_room(request)
        return self.beyond_share(lambda: self.opened(request, weight))

    def opened(self, request, weight):
        task = TaskModule(request["path"], request["source"], request["set"], self.device, request["limit"])
        flags = self.globals.restore_flags()
        if flags:
            task.notes.append(f"{', '.join(flags)}: set by the module, and not heeded: it runs at PyTorch's default flags")
        cases = Cases(task)
        cases.beside, cases.operations = weight.beside, weight.operations
        line, problem, unused = self.without_values(task, cases) or self.with_values(task, cases)
        unused -= task.parameters
        if unused:
            task.notes.append(f"{', '.join(sorted(unused))}: not read in train mode, and no input of a variant")
        task.leave_out_state(unused)
        self.task, self.cases, self.lent = task, cases, AnswerCases(cases)
        self.lent.release()
        return {
            "inputs": [dict(shape_of(each["tensor"]), name=each["name"]) for each in task.inputs],
            "state": [dict(shape_of(each["tensor"]), name=each["name"], path=each["path"]) for each in task.state],
            "scalars": task.scalars,
            "outputs": [dict(shape_of(each["tensor"]), name=each["name"]) for each in task.outputs],
            "constants": task.constants, "notes": task.notes, "torch": line, "no_torch": problem,
            "digest": code_digest(request["source"]), "bytes": task.bytes(), "made": weight.made, "constant_inputs": task.constant_inputs, "whole_inputs": task.whole_inputs,
        }

    def spent(self):
        """After an error that CUDA remembers, nothing in this process can use the GPU."""
        if self.device == "cpu" or not torch.cuda.is_initialized():
            return False
        try:
            torch.cuda.synchronize()
            return False
        except RuntimeError:
            return True

    def take_share(self, count):
        """Of the GPU's memory; 0: all of it."""
        Cases.share = count
        self.limit_to(count)

    def limit_to(self, count):
        if self.device != "cpu":
            total = torch.cuda.mem_get_info(self.device)[1]
            torch.cuda.set_per_process_memory_fraction(min(1.0, count / total) if count else 1.0)

    def widen(self):
        """To what nobody else has now. Others wait for their memory meanwhile, as they do where a GPU is full."""
        if Cases.share:
            free = torch.cuda.mem_get_info(self.device)[0]
            self.limit_to(max(Cases.share, torch.cuda.memory_reserved(self.device) + free - SPARE))

    @staticmethod
    def let_go(error):
        """Of the tensors that the frames of an error hold."""
        traceback.clear_frames((error.__cause__ or error).__traceback__)
        traceback.clear_frames(error.__traceback__)

    def beyond_share(self, work):
        """Once more with what nobody else has, where the share of the GPU's memory does not do."""
        try:
            return work()
        except (Refusal, RuntimeError) as error:
            if not Cases.share or not of_memory(error):
                raise
            self.let_go(error)
        gc.collect()
        torch.cuda.empty_cache()
        self.widen()
        try:
            return work()
        finally:
            self.limit_to(Cases.share)

    @staticmethod
    def full(error):
        return torch is not None and of_memory(error)

    def require_room(self, request):
        """Before any of it is taken. Gives the task's weight, of zeros where nobody knows."""
        if self.device == "cpu":
            return Weight()
        known = request.get("weight")
        plan = Weight(**known) if known else plan_of(request["path"], request["source"], request["set"])
        reason = too_large(request["path"], request["source"], request["set"], torch.cuda.mem_get_info(self.device)[1], plan)
        if reason:
            raise Refusal(reason)
        return plan or Weight()

    def precision(self, request):
        if self.lent is not None and self.task.precision != request["class"]:
            self.lent.expected = {}
        self.task.precision = request["class"]
        return {}

    def import_compiler(self, request):
        for name in ("torch._dynamo", "torch._inductor.compile_fx"):
            with contextlib.suppress(Exception), keeping_bytecode():  # a compiler that is missing says so when it is asked to compile
                importlib.import_module(name)
        return {}

    def hold(self, request):
        self.close({})
        self.task = TaskModule(request["path"], request["source"], {}, self.device)
        self.task.first = None   # nothing runs it
        return {}

    @staticmethod
    def name_outputs(task, outputs):
        task.outputs = []
        for name, value in zip(output_names(task, len(outputs)), outputs):
            task._require_dtype(name, value)
            task.outputs.append({"name": name, "tensor": outline(value)})

    def without_values(self, task, cases):
        """Outputs and torch line of what runs on outlines, which takes no arithmetic: without a GPU a network's takes minutes. None where
        it does not, or where no line comes of it."""
        if self.device != "cpu":
            return None
        try:
            model = outlined(fresh(cases.model({})))
            with Recorder({}):
                outputs = task.forward(copy.deepcopy(model), task.arguments)
            derived = derive(task, model, task.arguments, every_expansion=True)
        except Exception:   # whatever the user's code does with a tensor that has no values
            return None
        self.name_outputs(task, outputs)
        return None if derived[1] else derived

    def with_values(self, task, cases):
        self.name_outputs(task, cases.reference(cases.model({}), task.make_inputs(WEIGHT_SEED)))
        return self.derived(task, cases)

    @staticmethod
    def derived(task, cases):
        """The torch line, on outlines alone where the values and all that is made of them would fill a GPU."""
        model = copy.deepcopy(cases.model({})) if task.bytes() <= RECORDED_LIMIT else fresh(cases.model({}))
        if task.bytes() <= RECORDED_LIMIT:
            return derive(task, model, task.make_inputs(WEIGHT_SEED))
        try:
            return derive(task, outlined(model), task.arguments)
        except (Refusal, NotImplementedError) as why:
            return "", f"it is too large to be recorded, and does not run without values ({why})", set()

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
        found = self.beyond_share(lambda: examine(self.cases, request["tolerance"]))
        self.lent.release()
        return {"found": found}

    def attach(self, request):
        self.make_room()
        self.cases.unsettled = True
        self.lent.attach(request["sets"])
        return {}

    def detach(self, request):
        if self.lent is not None:
            self.make_room()
            # What is expected of a large task may lie in the memory that was lent, and takes what deciding needs.
            self.lent.forget() if request["forget"] or not self.lent.small else self.lent.detach()
        return {}

    def make_room(self):
        """Baselines of a large task use the memory that is lent."""
        if self.task.bytes() > OWN_LIMIT:
            self.rest({})

    def offer(self, request):
        self.cases.unsettled = False
        return self.lent.offer()

    def fill(self, request):
        return self.with_room(lambda: self.lent.fill(request["set"], request["trial"]))

    def compare(self, request):
        self.heed_weights(request)
        return self.with_room(lambda: self.lent.compare(request["set"], request["trial"]))

    def look_closer(self, request):
        self.heed_weights(request)
        return self.with_room(lambda: self.lent.look_closer(request["set"], request["trial"], request["output"]))

    def look_again(self, request):
        self.heed_weights(request)
        return self.with_room(lambda: self.lent.look_again(request["set"], request["trial"], request["output"], request["rows"]))

    def heed_weights(self, request):
        """An answer constructs its own weights, from the same seed, unless it is asked to take those that are moved."""
        if self.lent.shared:
            self.cases.unsettled = request["trial"].get("unsettled", False)

    def expect(self, request):
        self.heed_weights(request)
        return self.with_room(lambda: self.lent.expect(request["trial"]))

    def make_ready(self, request):
        self.heed_weights(request)
        return self.with_room(lambda: self.lent.make_ready(request["trial"]))

    def show(self, request):
        return self.lent.show()

    def take(self, request):
        return self.lent.take()

    def nothing(self, request):
        return {}

    def resembles(self, request):
        return self.with_room(self.lent.resembles)

    def with_room(self, work):
        """Verifying comes before timing: where memory ends, baselines and what was kept for later make room. Then others on the GPU are
        waited for: what they take now they do not take all the time."""
        waited_for = time.monotonic() + (PATIENCE if Cases.sharers > 1 else 0)
        for attempt in itertools.count():
            try:
                self.cases.may_free = attempt == 0
                return work()
            except (Refusal, RuntimeError) as error:
                if not of_memory(error) or attempt > 0 and time.monotonic() >= waited_for:
                    raise
                self.let_go(error)
            finally:
                self.cases.may_free = False
                if attempt > 0:
                    self.limit_to(Cases.share)
            self.lent.expected = {}
            self.rest({})
            self.widen()
            if attempt > 0:
                time.sleep(1)

    def prepare(self, request):
        with keeping_bytecode():   # what a compiler imports only now
            return self.beyond_share(lambda: self.watch().prepare(request["baseline"]))

    def make_ahead(self, request):
        self.beyond_share(lambda: self.watch().make_ahead(request["baselines"]))
        return {}

    def compile_ahead(self, request):
        if self.stopwatch is not None:
            with keeping_bytecode():
                self.stopwatch.compile_ahead()
        return {}

    def time(self, request):
        return self.beyond_share(lambda: self.watch().time(request["order"], request.get("keep", ""), request.get("cold", True)))

    def watch(self):
        if self.lent is not None:
            self.lent.made = None
        if self.stopwatch is None:
            given = self.lent.lent_arguments(0) if self.lent and self.task.bytes() > OWN_LIMIT and self.lent.tight() else None
            count = 1 if self.task.bytes() > WHOLE_LIMIT else INPUT_SETS
            sets = [given] if given is not None else [self.task.make_inputs(WEIGHT_SEED + i) for i in range(count)]
            self.stopwatch = Stopwatch(self.task.device, self.model_maker(), sets)
            self.stopwatch.crowded = Cases.sharers > 1
        return self.stopwatch

    def model_maker(self):
        """A model for each baseline, but large weights once for all."""
        built = []

        def build():
            if not built:
                built.append(self.cases.model({}) if self.cases else self.task.build(WEIGHT_SEED))
            return fresh(built[0])
        return build

    def rest(self, request):
        """Baselines give their memory back; timing again makes them anew."""
        self.stopwatch = None
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()  # compiled code holds models and the memory of graphs
        gc.collect()
        if self.task is not None and self.task.device != "cpu":
            torch.cuda.empty_cache()
        return {}

    def export(self, request):
        return {"text": export(self.task, request["format"], request["output"])}

    def close(self, request):
        self.forget({})
        if self.lent is not None:
            self.lent.forget()
        self.cases = self.lent = None
        self.rest({})
        self.task = None
        if self.globals is not None:
            self.globals.restore()
        gc.freeze()   # modules that were imported, a million objects: else each collection looks at them all
        return {}


if torch is not None:
    import copy
    import gc
    import importlib
    import itertools
    import time
    import traceback

    import comparison
    from answer_cases import AnswerCases
    from answer_export import export
    from baselines import INPUT_SETS, OWN_LIMIT, Stopwatch
    from device_memory import seen_alone
    from global_state import GlobalState
    from lent_cases import WHOLE_LIMIT, LentCases
    from memory_plan import Weight, plan_of, too_large
    from task_cases import Cases, fresh, outlined, shape_of
    from task_gate import examine
    from task_module import WEIGHT_SEED, Refusal, TaskModule, code_digest, of_memory, outline
    from torch_line import Recorder, derive, output_names
else:
    class Refusal(Exception):
        pass

    class Host:
        def __getattr__(self, name):
            return lambda request: {"missing": missing}

        def spent(self):
            return False

if __name__ == "__main__":
    protocol.serve(Host(), Refusal)
