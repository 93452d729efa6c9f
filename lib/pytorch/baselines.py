# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own times for a task on a GPU, by every way of running a module that its users have."""

import contextlib
import gc
import hashlib
import importlib
import importlib.util
import random
import time
import traceback

import torch

from precision import flags
from task_module import of_memory, tensors_in

MODES = ("eager", "cudnn.benchmark", "compile", "max-autotune", "reduce-overhead", "graph")
RIVAL = "python:"            # of the user's own, "python:FILE:FUNCTION"
RIVAL_TOLERANCE = 1e-2       # that a rival must agree with the model to, as KernelBench asks
WARM_UPS = 3
INPUT_SETS = 3
OWN_LIMIT = 2 << 30          # bytes of inputs of a task of which a baseline may hold memory of its own all the time
EMPTY_PAIRS = 32
SLEEP_LIMIT = 200_000_000    # cycles, a tenth of a second
ATTEMPTS = 4


def release():
    """What given up baselines held, for whoever needs it: compiled code and the memory of graphs with it."""
    gc.collect()
    if torch.cuda.is_initialized():
        with contextlib.suppress(RuntimeError):  # an error that CUDA remembers: the process is replaced
            torch.cuda.synchronize()
            torch.cuda.empty_cache()


def rival(name):
    """The function of "python:FILE:FUNCTION"."""
    path, _, function = name[len(RIVAL):].rpartition(":")
    specification = importlib.util.spec_from_file_location("cudal1_rival_" + hashlib.sha256(path.encode()).hexdigest()[:8], path)
    if specification is None or specification.loader is None:
        raise RuntimeError(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    if not callable(getattr(module, function, None)):
        raise RuntimeError(f"{path} has no function {function}")
    return getattr(module, function)


class Baseline:
    """One way to run the model: `call(i)` runs it on the inputs of set i. Made, warmed up and compiled on first use."""

    def __init__(self, name, build, sets, ahead=None):
        self.mode, _, self.flags = (name, "", "") if name.startswith(RIVAL) else name.partition("/")
        if self.mode not in MODES and not name.startswith(RIVAL) or self.flags not in ("", "fp32", "tf32"):
            raise ValueError(f"{name} is no baseline; give one of {', '.join(MODES)}, alone or with /fp32 or /tf32, or python:FILE:FUNCTION")
        self.sets, self.graphs, self.sleep = sets, [], 0
        if self.mode in ("reduce-overhead", "max-autotune", "graph"):
            count = sum(each.numel() * each.element_size() for each in tensors_in(sets[0]))
            if count > OWN_LIMIT:
                raise RuntimeError(f"a graph would keep memory of its own beside {count / 2**30:.0f} GiB of inputs")
        began = time.monotonic()
        with self.running():
            self.model = ahead.model if ahead else build()
            if name.startswith(RIVAL):
                self.model = self.agreeing(rival(name))
            if self.mode == "graph":
                self.capture()
            else:
                self.function = self.model
                if ahead:
                    self.function, ahead.runs = ahead.function, True
                elif self.mode == "compile":
                    self.function = torch.compile(self.model)
                elif self.mode in ("reduce-overhead", "max-autotune"):
                    self.function = torch.compile(self.model, mode=self.mode)
                for index in range(WARM_UPS * len(sets)):
                    self.call(index % len(sets))
                    torch.cuda.synchronize()  # so that little is under way when this process is stopped
            torch.cuda.synchronize()
        self.seconds = time.monotonic() - began + (ahead.seconds if ahead else 0)

    def agreeing(self, function):
        """A rival computes what the model does, on the first set of inputs; else there is nothing to compare."""
        wanted, got = list(tensors_in(self.model(*self.sets[0]))), list(tensors_in(function(*self.sets[0])))
        if len(wanted) != len(got) or any(a.shape != b.shape for a, b in zip(wanted, got)):
            raise RuntimeError("its results have other shapes than the task's")
        for a, b in zip(wanted, got):
            if not torch.allclose(b.double(), a.double(), rtol=RIVAL_TOLERANCE, atol=RIVAL_TOLERANCE, equal_nan=True):
                raise RuntimeError(f"its results are not the task's: off by {(b.double() - a.double()).abs().max().item():.3g}")
        return function

    @contextlib.contextmanager
    def running(self):
        tried, torch.backends.cudnn.benchmark = torch.backends.cudnn.benchmark, self.mode == "cudnn.benchmark"
        try:
            with flags(self.flags or "reference"), torch.no_grad():
                yield
        finally:
            torch.backends.cudnn.benchmark = tried

    def capture(self):
        """A graph reads the memory it was captured with, so there is one for each set of inputs."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for arguments in self.sets:
                for _ in range(WARM_UPS):
                    self.model(*arguments)
        torch.cuda.synchronize()
        pool = None
        for arguments in self.sets:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                self.model(*arguments)
            pool = graph.pool()
            self.graphs.append(graph)
        for graph in self.graphs:
            graph.replay()

    def call(self, index):
        if self.mode == "graph":
            self.graphs[index].replay()
        else:
            if self.mode in ("reduce-overhead", "max-autotune"):   # both replay graphs
                torch.compiler.cudagraph_mark_step_begin()
            self.function(*self.sets[index])


@contextlib.contextmanager
def taking_no_times():
    """A compiler that would choose by times ends: others may have the GPU now."""
    module = importlib.import_module("torch._inductor.runtime.benchmarking")
    kept = [(kind, name, value) for kind in vars(module).values() if isinstance(kind, type)
            for name, value in vars(kind).items() if name.startswith("benchmark") and callable(value)]

    def refuse(*arguments, **named):
        raise RuntimeError("no times are taken now")

    for kind, name, _ in kept:
        setattr(kind, name, refuse)
    try:
        yield
    finally:
        for kind, name, value in kept:
            setattr(kind, name, value)


class Ahead:
    """A model that torch.compile has compiled and that has not run, which takes no turn on the GPU. What the compiler chooses by
    times is chosen when it first runs."""

    MODES = ("compile", "reduce-overhead")

    def __init__(self, name, model):
        mode, _, self.flags = name.partition("/")
        self.model, self.runs, self.seconds = model, False, 0
        self.function = torch.compile(model) if mode == "compile" else torch.compile(model, mode=mode)

    def compile(self, arguments):
        """False where it is compiled when it runs: whatever fails here fails there again, and is said there."""
        began = time.monotonic()
        try:
            inductor = importlib.import_module("torch._inductor.compile_fx")
            with flags(self.flags or "reference"), torch.no_grad(), taking_no_times(), self.held(inductor):
                self.function(*arguments)
        except NotNow:
            self.seconds = time.monotonic() - began
            return True
        except Exception:   # of a compiler that is missing, or that takes times
            pass
        return False

    @contextlib.contextmanager
    def held(self, inductor):
        """What is compiled meanwhile runs once `runs` is true."""
        usual = inductor.compile_fx

        def compile_fx(*given, **named):
            compiled = usual(*given, **named)

            def run(*arguments):   # without what `compiled` is marked with, by which Dynamo would find it
                if not self.runs:
                    raise NotNow
                return compiled(*arguments)
            return run

        inductor.compile_fx = compile_fx
        try:
            yield
        finally:
            inductor.compile_fx = usual


class NotNow(Exception):
    """Ends a call whose graph is compiled."""


class Stopwatch:
    """Times baselines as docs/measuring.md times kernels: queued behind a kernel that waits, so that no launch waits for
    Python while the clock runs, with the L2 cache overwritten before each call; what an empty measurement takes is
    subtracted, and told: a time of somebody else's may have it. `renew(i)` is called before each call on the inputs of set i."""

    crowded = False   # others may have the memory that is missing, which says nothing of a baseline and is raised

    def __init__(self, device, build, sets, renew=None):
        self.device, self.build, self.sets, self.renew = device, build, sets, renew
        l2 = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0) or (64 << 20)
        self.flush = torch.empty(2 * l2 // 4, dtype=torch.int32, device=device)
        self.held, self.failed, self.random = {}, {}, random.SystemRandom()
        self.ahead = {}   # by name: what is compiled and has not run
        self.cycles_per_ms = self.measured_rate()
        self.empty_ms = self.measured_empty()

    def measured_rate(self):
        for _ in range(2):
            begin, end = self.events()
            begin.record()
            torch.cuda._sleep(10_000_000)
            end.record()
            end.synchronize()
        return 10_000_000 / begin.elapsed_time(end)

    def events(self):
        return torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def measured_empty(self):
        torch.cuda._sleep(int(2 * self.cycles_per_ms))
        pairs = [self.events() for _ in range(EMPTY_PAIRS)]
        for begin, end in pairs:
            begin.record()
            end.record()
        torch.cuda.synchronize()
        return sorted(begin.elapsed_time(end) for begin, end in pairs)[EMPTY_PAIRS // 2]

    def prepare(self, name):
        """The seconds that it takes, or why it cannot be had."""
        if name not in self.held and name not in self.failed:
            try:
                self.held[name] = Baseline(name, self.build, self.sets, self.ahead.pop(name, None))
            except ValueError:
                raise
            except Exception as error:  # a baseline that cannot be had is a value
                self.give_up(name, error)
        return {"unavailable": self.failed[name]} if name in self.failed else {"seconds": self.held[name].seconds}

    def make_ahead(self, names):
        """The models that compile_ahead() compiles, which takes no turn on the GPU any more."""
        with contextlib.suppress(Exception):   # what fails here fails again when it is prepared
            for name in names:
                if name.partition("/")[0] in Ahead.MODES and name not in self.held and name not in self.failed:
                    self.ahead[name] = Ahead(name, self.build())
        torch.cuda.synchronize()

    def compile_ahead(self):
        self.ahead = {name: each for name, each in self.ahead.items() if each.compile(self.sets[0])}

    def give_up(self, name, error):
        if self.crowded and of_memory(error):
            raise error
        self.held.pop(name, None)
        traceback.clear_frames(error.__traceback__)  # which hold what was made on the way
        self.failed[name] = f"{type(error).__name__}: {(str(error).strip().splitlines() or ['no message'])[0][:200]}"
        release()

    def hold_only(self, name, error):
        """Gives up all others, whose memory this one needs."""
        for other in [each for each in self.held if each != name]:
            self.give_up(other, MemoryError(f"{name} needs its memory ({type(error).__name__})"))
        release()

    def sample(self, name, cold=True):
        """With `cold` the L2 cache is overwritten before; else it holds what a call on the same inputs left there."""
        baseline = self.held[name]
        index = self.random.randrange(len(self.sets))
        with baseline.running():
            for _ in range(ATTEMPTS):
                begin, end = self.events()
                if self.renew:
                    self.renew(index)
                torch.cuda.synchronize()
                host = time.monotonic()
                torch.cuda._sleep(max(int(0.2 * self.cycles_per_ms), baseline.sleep))
                self.flush.fill_(index) if cold else baseline.call(index)
                begin.record()
                baseline.call(index)
                end.record()
                late = begin.query()  # the clock ran while calls were still being queued
                queued_ms = 1e3 * (time.monotonic() - host)
                torch.cuda.synchronize()
                if not late or baseline.sleep >= SLEEP_LIMIT:
                    break
                baseline.sleep = min(SLEEP_LIMIT, int(1.5 * queued_ms * self.cycles_per_ms))
        return max(begin.elapsed_time(end) - self.empty_ms, 1e-6), late

    def time(self, order, keep="", cold=True):
        """`order`: names, one sample each. What fails only now is given up and has no more samples, as a graph whose outputs
        the next call reads: "unavailable" tells why. Where memory ends, the others make room for `keep`."""
        samples, late = [], 0
        for name in order:
            ms = None
            if "unavailable" not in self.prepare(name):
                try:
                    ms, exposed = self.sample_of(name, keep, cold)
                    late += exposed
                except Exception as error:  # such as memory that a call wants and that is gone
                    self.give_up(name, error)
            samples.append(ms)
        return {"ms": samples, "empty_ms": self.empty_ms, "exposed": late,
                "unavailable": {name: self.failed[name] for name in order if name in self.failed}}

    def sample_of(self, name, keep, cold):
        try:
            return self.sample(name, cold)
        except torch.cuda.OutOfMemoryError as error:
            if self.crowded or name != keep or len(self.held) < 2:
                raise
            self.hold_only(name, error)
        return self.sample(name, cold)
