#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges as Ray actors, one for each GPU of the cluster, then a program with their addresses in CUDAL1_URL. An actor whose machine is lost is started on another one.

  CUDAL1_SERVE_TOKEN=… ray_judges.py --judges 8 --folder /shared/servers -- python3 training/recipes/trl_grpo.py --model stage2 --prompts prompts.jsonl --out stage3

Every machine needs cudal1 (or --cudal1) and this folder. verl on the same cluster: the addresses are printed with --print, and go into CUDAL1_URL of its runtime_env."""
import argparse
import os
import pathlib
import subprocess
import sys

import ray

TRAINING = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TRAINING))


@ray.remote(max_restarts=-1)
class JudgeActor:
    def __init__(self, training: str, cudal1: str, folder: str, local: bool, arguments: list):
        sys.path.insert(0, training)
        from cudal1_train.servers import Server
        self.server = Server(arguments, cudal1, pathlib.Path(folder) if folder else None, local)

    def url(self) -> str:
        return self.server.url

    def stop(self) -> None:
        self.server.stop()
        self.server.process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=1)
    parser.add_argument("--gpus", type=float, default=1, help="of a judge; 0 with --device sim")
    parser.add_argument("--cudal1", default="cudal1")
    parser.add_argument("--device", default="cuda:0", help="Ray gives each judge one GPU, which it sees as the first")
    parser.add_argument("--folder", default="", help="where judges announce themselves")
    parser.add_argument("--local", action="store_true", help="one machine, without a token")
    parser.add_argument("--print", action="store_true", dest="show")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    ray.init(runtime_env={"env_vars": {name: os.environ[name] for name in ("CUDAL1_SERVE_TOKEN",) if name in os.environ}}, include_dashboard=False, log_to_driver=False)
    judges = [JudgeActor.options(num_gpus=asked.gpus).remote(str(TRAINING), asked.cudal1, asked.folder, asked.local, ["--device", asked.device]) for _ in range(asked.judges)]
    urls = ray.get([judge.url.remote() for judge in judges])
    if asked.show:
        print(",".join(urls), flush=True)
    command = asked.program[1:] if asked.program[:1] == ["--"] else asked.program
    try:
        return subprocess.run(command, env=os.environ | {"CUDAL1_URL": ",".join(urls), "CUDAL1_TOKEN": os.environ.get("CUDAL1_SERVE_TOKEN", "")}).returncode if command else 0
    finally:
        ray.get([judge.stop.remote() for judge in judges])
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
