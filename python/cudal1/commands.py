# SPDX-License-Identifier: Apache-2.0
"""verify, bench and optimize, as the commands of these names."""
import dataclasses
import inspect
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from .program import Event, Path, ask, options


@dataclasses.dataclass(frozen=True)
class Speedup:
    """Reference time over variant time, with its interval (95 %)."""

    value: float
    low: float
    high: float
    predicted: bool = False

    def __str__(self) -> str:
        return f"{self.value:.3g}x [{self.low:.3g}, {self.high:.3g}]{' predicted' if self.predicted else ''}"


@dataclasses.dataclass(frozen=True)
class Judged:
    """One variant: `judgement` is the object that cudal1-json(5) describes."""

    file: str
    verdict: str
    message: str
    speedup: Optional[Speedup]
    judgement: Mapping[str, Any] = dataclasses.field(repr=False)

    @property
    def right(self) -> bool:
        return self.speedup is not None

    @property
    def faster(self) -> bool:
        return self.verdict in ("FASTER", "PREDICTED_FASTER")


@dataclasses.dataclass(frozen=True)
class BenchResult:
    task: str
    device: str
    variants: List[Judged]
    raw: Mapping[str, Any] = dataclasses.field(repr=False)

    @property
    def best(self) -> Optional[Judged]:
        right = [variant for variant in self.variants if variant.speedup]
        return max(right, key=lambda variant: variant.speedup.value) if right else None


@dataclasses.dataclass(frozen=True)
class OptimizeResult:
    task: str
    device: str
    run: str
    stopped_because: Optional[str]
    verdict: Optional[str]
    speedup: Optional[Speedup]
    best: Optional[str]
    """The text of the fastest right kernel file, where one was found."""
    raw: Mapping[str, Any] = dataclasses.field(repr=False)


def _speedup(judgement: Mapping[str, Any]) -> Optional[Speedup]:
    for key, predicted in (("speedup", False), ("predicted_speedup", True)):
        value = judgement.get(key)
        if value:
            return Speedup(value["value"], value["low"], value["high"], predicted)
    return None


def _judged(variant: Mapping[str, Any]) -> Judged:
    judgement = variant["judgement"]
    return Judged(variant["file"], judgement["verdict"], judgement.get("message", ""), _speedup(judgement), judgement)


def _task_path(task: Any) -> Path:
    """A path, or what was defined in the file of a task: a Python module, or a PyTorch module's class."""
    if isinstance(task, (str, os.PathLike)):
        return task
    file = getattr(task, "__file__", None) or inspect.getsourcefile(task if isinstance(task, type) else type(task))
    if file is None:
        raise TypeError(f"{task!r} stands in no file; a task is a path, a Python module or a class of one")
    return file


def verify(task: Any, variant: Path, *, device: Optional[str] = None, gpu: Optional[str] = None, sizes: Optional[Dict[str, int]] = None,
           options_: Iterable[str] = (), on_event: Optional[Event] = None) -> Judged:
    """Whether a variant is right. `options_` are further words of the command line."""
    result = ask(["verify", _task_path(task), variant, *options(device=device, gpu=gpu, sizes=sizes, more=options_)], on_event)
    return _judged(result["variants"][0])


def bench(task: Any, *variants: Path, device: Optional[str] = None, gpu: Union[str, Iterable[str], None] = None, sizes: Optional[Dict[str, int]] = None,
          quick: bool = False, options_: Iterable[str] = (), on_event: Optional[Event] = None) -> Union[BenchResult, Dict[str, BenchResult]]:
    """How fast variants are. With several GPUs a result for each, by its name; a GPU that cannot run the task is left out."""
    words = options(device=device, gpu=gpu, sizes=sizes, more=[*(["--quick"] if quick else []), *options_])
    result = ask(["bench", _task_path(task), *variants, *words], on_event)
    if "gpus" not in result:
        return BenchResult(result["task"], result["device"], [_judged(each) for each in result["variants"]], result)
    return {row["gpu"]: BenchResult(result["task"], row["device"], [_judged(each) for each in row["variants"]], row)
            for row in result["gpus"] if row["problem"] is None}


def optimize(task: Any, *, output: Optional[Path] = None, model: Union[str, Iterable[str], None] = None, device: Optional[str] = None, gpu: Optional[str] = None,
             sizes: Optional[Dict[str, int]] = None, rounds: Optional[int] = None, samples: Optional[int] = None, run: Optional[Path] = None,
             options_: Iterable[str] = (), on_event: Optional[Event] = None) -> OptimizeResult:
    """Looks for a faster kernel. The same call goes on where an earlier one was ended. That nothing is faster is a result."""
    words = options(device=device, gpu=gpu, sizes=sizes, more=options_)
    if output is not None:
        words += ["--output", os.fspath(output)]
    if model is not None:
        words += ["--model", model if isinstance(model, str) else ",".join(model)]
    if run is not None:
        words += ["--out", os.fspath(run)]
    for name, value in (("--rounds", rounds), ("--samples", samples)):
        if value is not None:
            words += [name, str(int(value))]
    result = ask(["optimize", _task_path(task), *words], on_event)
    best = result.get("best")
    if not best:
        return OptimizeResult(result["task"], result["device"], result["run"], result["stopped_because"], None, None, None, result)
    low, high = best["interval"]
    predicted = "predicted_speedup" in best
    speedup = Speedup(best["predicted_speedup" if predicted else "speedup"], low, high, predicted)
    return OptimizeResult(result["task"], result["device"], result["run"], result["stopped_because"], best["verdict"], speedup,
                          _text(os.path.join(result["run"], "best.cu")), result)


def _text(path: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None
