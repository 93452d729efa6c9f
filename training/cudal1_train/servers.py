# SPDX-License-Identifier: Apache-2.0
"""Judges on many machines: each puts its address into a folder that all of them see, and takes it out when it ends."""
from __future__ import annotations

import argparse
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
from typing import Optional, Sequence


def own_name() -> str:
    """The name of this machine where it can be looked up, else the address that it reaches others from."""
    name = socket.getfqdn()
    try:
        socket.getaddrinfo(name, None)
        return name
    except OSError:
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))      # sends nothing
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.1"


class Server:
    """One `cudal1 serve` on any free port of this machine. It needs CUDAL1_SERVE_TOKEN where others shall reach it; with `local` only this machine does."""

    def __init__(self, arguments: Sequence[str] = (), cudal1: str = "cudal1", folder: Optional[pathlib.Path] = None, local: bool = False):
        host = "127.0.0.1" if local else "0.0.0.0"
        self.process = subprocess.Popen([cudal1, "serve", "--listen", f"{host}:0", *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = ""
        while not (found := re.search(r"listening on http://\S+:(\d+)", said)):
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError(f"cudal1 serve ended with {self.process.wait()}: {said}")
            said += line
        name = "127.0.0.1" if local else own_name()
        self.url = f"http://{name}:{found[1]}"
        self.announced = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.announced = folder / f"{name}-{found[1]}.url"
            part = self.announced.with_suffix(".part")
            part.write_text(self.url + "\n")
            part.rename(self.announced)

    def wait(self) -> int:
        for line in self.process.stderr:      # what it says goes on to this one's log
            sys.stderr.write(line)
        return self.process.wait()

    def stop(self) -> None:
        """It finishes what it works on; what waits goes to the next server."""
        if self.announced is not None:
            self.announced.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGTERM)


def urls(folder: pathlib.Path, least: int = 1, patience: float = 600) -> list[str]:
    """The servers that are there, once there are so many."""
    begin = time.monotonic()
    while len(found := sorted(path.read_text().strip() for path in folder.glob("*.url"))) < least:
        if time.monotonic() - begin > patience:
            raise TimeoutError(f"{len(found)} of {least} servers in {folder} after {patience:.0f} s")
        time.sleep(0.2)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Starts `cudal1 serve` and announces it in a folder, or prints the servers there for CUDAL1_URL.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print the addresses, separated by commas")
    parser.add_argument("--least", type=int, default=1, help="wait for so many")
    parser.add_argument("--cudal1", default=os.environ.get("CUDAL1", "cudal1"))
    parser.add_argument("--local", action="store_true", help="serve this machine only, without a token")
    parser.add_argument("arguments", nargs="*", help="of cudal1 serve, behind --")
    asked = parser.parse_args()
    if asked.list:
        print(",".join(urls(asked.folder, asked.least)))
        return 0
    server = Server(asked.arguments, asked.cudal1, asked.folder, asked.local)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.stop())
    return server.wait()


if __name__ == "__main__":
    sys.exit(main())
