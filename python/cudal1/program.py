# SPDX-License-Identifier: Apache-2.0
"""The cudal1 program: where it is, and what it prints with --json."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sysconfig
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

Path = Union[str, "os.PathLike[str]"]
Event = Callable[[Dict[str, Any]], None]


class Error(Exception):
    """What the program says when it has no result, with its exit code (`cudal1 help exit-codes`)."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code


@functools.lru_cache(maxsize=None)
def program() -> str:
    """CUDAL1_PROGRAM, else the one that was installed with this package, else the one on PATH."""
    named = os.environ.get("CUDAL1_PROGRAM")
    if named:
        return named
    beside = pathlib.Path(sysconfig.get_path("scripts")) / "cudal1"
    if beside.is_file():
        return str(beside)
    found = shutil.which("cudal1")
    if found is None:
        raise Error("there is no cudal1 program: neither CUDAL1_PROGRAM, nor beside this Python, nor on PATH", 11)
    return found


def options(*, device: Optional[str] = None, gpu: Union[str, Iterable[str], None] = None, sizes: Optional[Dict[str, int]] = None,
            more: Iterable[str] = ()) -> List[str]:
    """The options that all commands on a task share, as words."""
    words: List[str] = []
    if device is not None:
        words += ["--device", device]
    if gpu is not None:
        words += ["--gpu", gpu if isinstance(gpu, str) else ",".join(gpu)]
    for name, value in (sizes or {}).items():
        words += ["--set", f"{name}={int(value)}"]
    return words + [str(word) for word in more]


def _heard(stream, on_event: Optional[Event], words: List[str]) -> None:
    """Events go to `on_event`, words for people are kept."""
    for line in stream:
        try:
            event = json.loads(line)
        except ValueError:
            words.append(line)
            continue
        if on_event is not None and isinstance(event, dict):
            on_event(event)


def ask(arguments: Iterable[Path], on_event: Optional[Event] = None) -> Dict[str, Any]:
    """Runs a command with --json: its object, with `exit_code`. Raises Error where there is none."""
    command = [program(), *map(os.fspath, arguments), "--json", "--no-input", "--progress", "json"]
    words: List[str] = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        listener = threading.Thread(target=_heard, args=(process.stderr, on_event, words))
        listener.start()
        try:
            out = process.stdout.read() if process.stdout else ""
        except BaseException:
            process.terminate()   # it keeps what it has; the same call goes on
            raise
        finally:
            listener.join()
    try:
        result = json.loads(out)
    except ValueError:
        raise Error("".join(words).strip() or f"cudal1 ended with exit code {process.returncode}", process.returncode) from None
    if isinstance(result.get("error"), dict):
        raise Error(result["error"].get("message", "cudal1 failed"), result["error"].get("exit_code", process.returncode))
    result["exit_code"] = process.returncode
    return result
