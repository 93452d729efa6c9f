# SPDX-License-Identifier: Apache-2.0
"""peak.py COMMAND…: runs it, and says the most memory in use on the card, every 20 ms, and the most that one of its
processes held on the host."""

import resource
import subprocess
import sys
import tempfile
import time


def used():
    words = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True).stdout
    return int(words.split()[0])


deadline = time.monotonic() + 20
while used() > 100 and time.monotonic() < deadline:  # what ran before is still giving its memory back
    time.sleep(0.2)
with tempfile.TemporaryFile("w+") as samples:
    watch = subprocess.Popen(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-lms", "20"], stdout=samples)
    code = subprocess.run(sys.argv[1:]).returncode
    watch.terminate()
    watch.wait()
    samples.seek(0)
    card = max(int(line) for line in samples.read().split("\n") if line.strip().isdigit())
host = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"exit {code}; at most {card} MiB in use on the card, {host:.0f} MiB by one process on the host")
