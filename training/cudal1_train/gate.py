# SPDX-License-Identifier: Apache-2.0
"""Turns on a GPU that a trainer shares with a judge."""
import contextlib
import fcntl
import os
import pathlib
import subprocess
from typing import Iterator, Optional


def gpu_uuid(index: int = 0) -> str:
    listed = subprocess.run(["nvidia-smi", f"--id={index}", "--query-gpu=uuid", "--format=csv,noheader"], check=True, capture_output=True, text=True)
    return listed.stdout.strip()


@contextlib.contextmanager
def gpu_gate(uuid: Optional[str] = None, index: int = 0) -> Iterator[None]:
    """Held around a trainer's own work on the GPU: the judge measures when nobody holds it. It is the lock that every cudal1 takes."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cudal1"
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f"gpu-{uuid or gpu_uuid(index)}.lock", "a+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)
