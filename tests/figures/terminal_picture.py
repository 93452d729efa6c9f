#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a terminal and draws what is then on it: terminal_picture.py OUT.svg COMMAND…

A line that was written over is drawn as it was last. OUT.ansi beside it holds what the command wrote, and is drawn again
without running anything when no command is given. Needs python3-rich.
"""
import fcntl
import os
import pathlib
import pty
import re
import struct
import sys
import termios

COLUMNS = 120


def record(command):
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        os.execvp(command[0], command)
    written = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the terminal closes with the command
            break
        if not piece:
            break
        written += piece
    os.waitpid(child, 0)
    return written


def draw(written, command, picture):
    from rich.console import Console
    from rich.text import Text

    lines = [re.split(r"\r|\x1b\[K", line.rstrip("\r"))[-1] for line in written.decode().split("\n")]
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi("\n".join(lines).rstrip()), no_wrap=True, overflow="ellipsis")
    svg = console.export_svg(title=command)
    # Viewers show the picture without fetching anything.
    picture.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    picture = pathlib.Path(sys.argv[1])
    kept = picture.with_suffix(".ansi")
    if sys.argv[2:]:
        kept.write_bytes(" ".join(sys.argv[2:]).encode() + b"\n" + record(sys.argv[2:]))
    command, _, written = kept.read_bytes().partition(b"\n")
    draw(written, command.decode(), picture)
