# SPDX-License-Identifier: Apache-2.0
"""One request at a time on file descriptor 3. A frame is the length of a JSON object in eight little-endian bytes, and the
object."""

import json
import os
import socket
import struct
import sys
import traceback


def receive(channel):
    def exactly(count):
        parts = b""
        while len(parts) < count:
            part = channel.recv(count - len(parts))
            if not part:
                sys.exit(0)
            parts += part
        return parts

    return json.loads(exactly(struct.unpack("<Q", exactly(8))[0]))


def send(channel, message):
    text = json.dumps(message).encode()
    channel.sendall(struct.pack("<Q", len(text)) + text)


def full(host, error):
    return getattr(host, "full", lambda _: False)(error)


def serve(host, refusal):
    """Calls the method of `host` that each request names. What `refusal` says is for the user. "full": memory that ended is the cause.
    A host that is spent() is of no more use: the reply says so, and the process ends."""
    channel = socket.socket(fileno=3)
    os.set_inheritable(3, False)
    sys.stdout = sys.stderr  # what a task prints is not an answer
    while True:
        request = receive(channel)
        try:
            reply = getattr(host, request.pop("do"))(request)
        except refusal as why:
            reply = {"refused": str(why), "full": full(host, why)}
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc(), "full": full(host, error)}
        ends = getattr(host, "spent", bool)()
        send(channel, dict(reply, ends=True) if ends else reply)
        if ends:
            os._exit(0)
