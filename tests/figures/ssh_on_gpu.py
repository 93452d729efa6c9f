#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--device ssh:` against a GPU of this machine: the verdicts of `--device cuda:0`, and a run whose connection is killed three times.

  ssh_on_gpu.py CUDAL1 [--sshd SSHD] [--stand-in] [--device cuda:0] [--set N=1024 --set M=1024]

It reaches this machine through an sshd of its own on the loopback. Where there is none (or with --stand-in), a program stands in for ssh that
gives the command to a shell here: the transport and the keeper are tried, ssh itself is not. Times differ from run to run on a GPU, so verdicts and
variants must be equal, and speed-ups are printed. Exits with 1 where something differs. Runs without a GPU with `--device sim`.
"""
import argparse
import getpass
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "softmax.cu"
STAND_IN = "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\nexec sh -c \"$1\"\n"


def through_sshd(sshd, folder):
    """The words for CUDAL1_SSH, and the server; None where nobody is let in."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if os.geteuid() == 0:
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
        f"PasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\nSetEnv XDG_CACHE_HOME={folder}/far LD_LIBRARY_PATH={os.environ.get('LD_LIBRARY_PATH', '')}\n")
    (folder / "ssh_config").write_text(
        f"Host box\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n"
        "  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n")
    server = subprocess.Popen([sshd, "-D", "-e", "-f", folder / "sshd_config"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = ""
    for _ in range(30):
        if server.poll() is not None:
            said = server.stderr.read()
            break
        tried = subprocess.run(["ssh", "-F", folder / "ssh_config", "-o", "BatchMode=yes", "box", "true"], capture_output=True, text=True)
        if tried.returncode == 0:
            return f"ssh -F {folder}/ssh_config", server
        said = tried.stderr
        time.sleep(0.1)
    server.terminate()
    print(f"sshd lets nobody in: {said.strip()[-300:]}")
    return None, None


def through_a_stand_in(folder):
    program = folder / "ssh"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    os.environ["CUDAL1_SSH_PATIENCE"] = "60"
    return str(program)


def descendants():
    """Processes that this one has started, and those that they have: {pid: the words of its command}."""
    parents, words = {}, {}
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words[int(folder.name)] = (folder / "cmdline").read_bytes().split(b"\0")
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue

    def ours(pid):
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return {pid: words[pid] for pid in parents if pid != os.getpid() and ours(pid)}


def leads_a_session(pid):
    """As the keeper does, which has the words of the link that started it and outlives it."""
    try:
        return os.getsid(pid) == pid
    except OSError:
        return True   # it has ended


def links():
    """Processes that carry a worker's bytes: ssh with its command, or what stands in for it. Only this run's: others may use the machine, too."""
    found = []
    for pid, words in descendants().items():
        if pathlib.Path(os.fsdecode(words[0])).name == "ssh" and b"worker attach" in words[-2]:
            found.append(pid)
        elif words[1:3] == [b"worker", b"attach"] and b"/programs/" in words[0] and not SSHD_USED and not leads_a_session(pid):
            found.append(pid)
    return found


SSHD_USED = False
LIMIT = 240.0   # seconds for one run


def variants(report):
    found = {}
    for variant in report["variants"]:
        judgement = variant["confirmation"] or variant["judgement"]
        speed_ups = [workload.get("speedup") for workload in (judgement or {}).get("workloads", [])]
        found[variant["id"]] = ((judgement or {}).get("verdict"), speed_ups)
    return found


def told(judged):
    if judged is None:
        return "not there"
    return " ".join([str(judged[0]), *(f"{one['value']:.3g}x [{one['low']:.3g}, {one['high']:.3g}]" for one in judged[1] if one)])


def optimize(program, device, out, more):
    begin = time.monotonic()
    # In a session of its own, which is ended whole: a run that goes on would keep the GPU from the next one. PyTorch and compute-sanitizer are left out, as they are over ssh.
    words = [program, "optimize", EXAMPLE, "--device", device, "--model", "builtin", "--rounds", "2", "--samples", "2", "--seed", "1", "--confirmations", "1", "--no-pytorch",
             "--no-sanitizer", "--out", out, "--json", "-q", "--allow-no-improvement", *more]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        said, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        journal = pathlib.Path(out) / "journal.jsonl"
        print(f"optimize --device {device} has not ended after {LIMIT} s; its journal: {journal.read_text()[-1500:] if journal.exists() else 'none'}", flush=True)
        raise
    print(f"optimize --device {device}: exit {process.returncode}, {time.monotonic() - begin:.1f} s {errors.strip()[-300:]}", flush=True)
    return json.loads(said)


def main():
    global LIMIT
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--sshd", default=shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"))
    parser.add_argument("--stand-in", action="store_true")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one run")
    parser.add_argument("--every", type=float, default=1.5, help="seconds from one kill to the next")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE, a size of the task")
    given = parser.parse_args()
    LIMIT, program = given.limit, str(pathlib.Path(given.program).resolve())
    more = [word for size in given.set for word in ("--set", size)]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cudal1-ssh-"))
    try:
        return compare(given, program, more, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compare(given, program, more, folder):
    global SSHD_USED
    words, server = (None, None) if given.stand_in or not given.sshd or not shutil.which("ssh") else through_sshd(given.sshd, folder)
    SSHD_USED = words is not None
    os.environ["CUDAL1_SSH"] = words or through_a_stand_in(folder)
    print("through sshd on the loopback" if SSHD_USED else "through a stand-in for ssh: a shell on this machine", flush=True)
    killed, done = [], threading.Event()

    def breaker():
        while not done.wait(given.every) and len(killed) < 3:
            for pid in links():
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                except OSError:
                    pass

    try:
        here = optimize(program, given.device, folder / "here", more)
        thread = threading.Thread(target=breaker)
        thread.start()
        try:
            there = optimize(program, f"ssh:box:{given.device}", folder / "there", more)
        finally:
            done.set()
            thread.join()
    finally:
        if server is not None:
            server.terminate()
            server.wait()
    one, other = variants(here), variants(there)
    print(f"connections killed: {len(killed)}")
    for name in sorted(one.keys() | other.keys()):
        print(f"{name:10} {told(one.get(name))}; over ssh {told(other.get(name))}")
    same = {name: word for name, (word, _) in one.items()} == {name: word for name, (word, _) in other.items()}
    print(f"verdicts: {'equal' if same else 'DIFFERENT'}; best: {(here['best'] or {}).get('id')} and {(there['best'] or {}).get('id')}")
    return 0 if same and len(killed) >= 3 else 1


if __name__ == "__main__":
    sys.exit(main())
