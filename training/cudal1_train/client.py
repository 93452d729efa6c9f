# SPDX-License-Identifier: Apache-2.0
"""Servers, the requests to them, and what to do while one is away."""
from __future__ import annotations

import dataclasses
import hashlib
import http.client
import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

Task = Union[str, Mapping[str, Any]]   # an object as the server wants it, that object as JSON text, or the name of a file that the server knows


class Fault(Exception):
    """There is no verdict, and it is nobody's fault but the machinery's or the task's. Never a reward."""


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One line of the judge; cudal1-judge(7). Without a fault `verdict`, `executable` and `right` are set."""
    verdict: Optional[str]
    executable: Optional[bool]
    right: Optional[bool]
    score: Optional[float]
    reward: Optional[float]
    cheat: bool
    duplicate: bool
    cached: bool
    message: str
    fault: Optional[str]
    fault_kind: Optional[str]
    fingerprint: Optional[str]
    code: Optional[str] = None                 # digest of the machine code and its launches
    line: Mapping[str, Any] = dataclasses.field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Verdict:
        names = [field.name for field in dataclasses.fields(cls) if field.name != "line"]
        return cls(**{name: line[name] for name in names}, line=line)

    @property
    def kind(self) -> Optional[str]:
        """The same for answers that run the same machine code, whatever their text, as far as it has a digest (cudal1-judge(7))."""
        return self.code or self.fingerprint


@dataclasses.dataclass(frozen=True)
class Prompt:
    messages: Sequence[Mapping[str, str]]
    shown: Sequence[str]                      # goes back with the answer, so that a copy is known as one
    exemplars: Sequence[Mapping[str, Any]]
    task_sha256: str


def task_object(task: Task) -> Any:
    if not isinstance(task, str):
        return dict(task)
    return json.loads(task) if task.lstrip().startswith("{") else {"source": task} if "\n" in task else task


# What passes: a server that ends, starts or has enough to do, a process of its that died.
PASSING_STATUS = (429, 502, 503, 504)
PASSING_FAULTS = ("worker", "busy", "closed", "deadline")


class Judge:
    """Asks servers. A task always goes to the same one, where its reference is warm, unless that one is away."""

    def __init__(self, urls: Union[str, Sequence[str], None] = None, token: Optional[str] = None, reward: Optional[str] = None, patience: float = 1800,
                 parallel: int = 64):
        urls = urls or os.environ.get("CUDAL1_URL", "http://127.0.0.1:8780")
        self.urls = [url.rstrip("/") for url in (urls.split(",") if isinstance(urls, str) else urls)]
        self.token = token if token is not None else os.environ.get("CUDAL1_TOKEN")
        self.reward, self.patience = reward, patience     # patience: seconds to go on asking while nothing but passing trouble comes back
        self._threads = ThreadPoolExecutor(parallel, thread_name_prefix="cudal1")
        self._away: dict[str, float] = {}                  # until when a server is not asked first
        self._lock = threading.Lock()

    def judge(self, task: Task, answer: str, **fields: Any) -> Verdict:
        """A verdict, or one whose `fault` says why there is none. `fields`: mode, shown, group, deadline_s, reward."""
        request = {"task": task_object(task), "answer": answer, **({"reward": self.reward} if self.reward else {}), **fields}
        begin, pause = time.monotonic(), 0.5
        while True:
            line = self._post("/v1/judge?brief=1", request, request["task"], begin)
            if line["fault_kind"] not in PASSING_FAULTS or time.monotonic() - begin + pause > self.patience:
                return Verdict.of(line)
            time.sleep(pause)
            pause = min(2 * pause, 30)

    def judge_all(self, items: Iterable[Mapping[str, Any]]) -> list[Verdict]:
        """Verdicts of many {"task", "answer", …} at once, in their order. They are one group: what one of them earns does not hang on which came first."""
        group = uuid.uuid4().hex
        return list(self._threads.map(lambda item: self.judge(**{"group": group, **item}), list(items)))

    def prompt(self, task: Task, **fields: Any) -> Prompt:
        """A contrastive prompt from what is right so far. `fields`: exemplars, sampling, style, tau, seed."""
        got = self._post("/v1/prompt", {"task": task_object(task), **fields}, task_object(task), time.monotonic())
        return Prompt(got["messages"], got["shown"], got["exemplars"], got["task_sha256"])

    def warm(self, task: Task) -> Mapping[str, Any]:
        return self._post("/v1/warm", {"task": task_object(task)}, task_object(task), time.monotonic())

    def metrics(self) -> str:
        return "".join(self._open(url, "/metrics", None).read().decode() for url in self.urls)

    def _order(self, task: Any) -> list[str]:
        """The servers for a task, its own first; by rendezvous hashing, so that one more server moves few tasks."""
        key = json.dumps(task, sort_keys=True)
        ranked = sorted(self.urls, key=lambda url: hashlib.sha256(f"{url}\n{key}".encode()).digest())
        with self._lock:
            now = time.monotonic()
            return sorted(ranked, key=lambda url: self._away.get(url, 0) > now)

    def _open(self, url: str, path: str, body: Optional[Mapping[str, Any]]):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=self.patience)

    def _post(self, path: str, body: Mapping[str, Any], task: Any, begin: float) -> Any:
        pause, trouble = 0.5, "no server"
        while True:
            for url in self._order(task):
                try:
                    with self._open(url, path, body) as reply:
                        return json.loads(reply.read())
                except urllib.error.HTTPError as error:
                    reason = error.read().decode(errors="replace")
                    error.close()
                    if error.code not in PASSING_STATUS:
                        raise Fault(f"{url}{path}: {error.code}: {reason}") from None
                    trouble, wait = f"{url}: {error.code}: {reason}", float(error.headers.get("Retry-After", 1))
                except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError, ValueError) as error:
                    trouble, wait = f"{url}: {error}", 1.0
                with self._lock:
                    self._away[url] = time.monotonic() + wait
            if time.monotonic() - begin + pause > self.patience:
                raise Fault(trouble)
            time.sleep(pause)
            pause = min(2 * pause, 15)
