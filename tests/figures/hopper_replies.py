# SPDX-License-Identifier: Apache-2.0
"""What a language model makes of a Hopper product with and without hopper.cuh in its prompt.

  hopper_replies.py prompts CUDAL1 FOLDER [--replies 8]   # FOLDER/with.prompt.md and FOLDER/without.prompt.md, and where replies belong
  hopper_replies.py judge CUDAL1 FOLDER [--device sim] [--size 512] [--run-limit 40]
                                                          # replies lie in FOLDER/with/*.md and FOLDER/without/*.md

The first writes the prompt that a first round sends for FOLDER/task.cu, once as it is and once with its part about this GPU taken out.
Give each prompt to a model eight times, each time anew, and save each reply as it came. The second judges each as `optimize` would and
prints one JSON object per reply and a table: how many are a kernel file that compiles, how many are right, and the time of the task's own
kernel to that of the best. --size gives all three extents of the product another value, as one execution at 4096³ is long on the simulator.
On a GPU it also says the best one's share of cuBLAS (--cublas MILLISECONDS, of hopper_figures.py). `playbook_candidates --replies TASK REPLY…`
makes of the same replies what candidate_times.py times beside cuBLAS in one process."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("with", "without")
HEADING = "### What this GPU has of its own"


def write_prompts(cudal1, folder, replies):
    sys.path.insert(0, str(HERE))
    import lines

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "task.cu").write_text(lines.split(HERE / "lines" / "warpgroups.cu")["product_bf16_nt_4096"])
    made = json.loads(subprocess.run([cudal1, "prompt", str(folder / "task.cu"), "--device", "sim", "--gpu", "H200", "--json"], capture_output=True, text=True, check=True).stdout)
    whole = (made.get("system") or "") + "\n\n" + (made.get("user") or made["prompt"])
    before, mark, rest = whole.partition(HEADING)
    if not mark:
        sys.exit("hopper_replies.py: the prompt has no part about this GPU")
    after = rest.find("\n## ") if rest.find("\n### ") < 0 else min(at for at in (rest.find("\n## "), rest.find("\n### ")) if at >= 0)
    for kind, text in zip(KINDS, (whole, before + (rest[after:] if after >= 0 else ""))):
        (folder / f"{kind}.prompt.md").write_text(text)
        (folder / kind).mkdir(exist_ok=True)
        print(f"{folder / kind}.prompt.md: {len(text)} characters, {text.count('hopper')} times \"hopper\"; {replies} replies belong in {folder / kind}/01.md and on")


def judged(cudal1, task, reply, options):
    """One reply a run: a folder with this reply alone."""
    with tempfile.TemporaryDirectory() as alone:
        (pathlib.Path(alone) / "r01-s01.md").write_text(reply.read_text())
        sizes = [word for name in ("N", "M", "K") for word in ("--set", f"{name}={options.size}")] if options.size else []
        done = subprocess.run([cudal1, "optimize", str(task), "--model", f"replay:{alone}", "--device", options.device, "--json", "--rounds", "1", "--samples", "1", "--out", f"{alone}/run",
                               "--allow-no-improvement", "--run-limit", str(options.run_limit), *sizes], capture_output=True, text=True)
    try:
        first = (json.loads(done.stdout)["variants"] or [{}])[0]
    except (ValueError, KeyError):
        return {"verdict": "", "problem": (done.stdout + done.stderr)[-300:]}
    judgement = first.get("confirmation") or first.get("judgement") or {}
    workload = (judgement.get("workloads") or [{}])[0]
    return {"verdict": judgement.get("verdict", "no kernel file"), "ms": workload.get("time_ms"), "speedup": judgement.get("speedup"), "problem": first.get("reason", "")}


def judge(cudal1, folder, options):
    rows = []
    for kind in KINDS:
        for reply in sorted((folder / kind).glob("*.md")):
            rows.append({"kind": kind, "reply": reply.name, **judged(cudal1, folder / "task.cu", reply, options)})
            print(json.dumps(rows[-1]), flush=True)
    cublas = options.cublas
    print("| header | replies | compile | right | best, ms | share of cuBLAS |\n| --- | ---: | ---: | ---: | ---: | ---: |", file=sys.stderr)
    broken = ("", "no kernel file", "COMPILE_FAILED", "FORBIDDEN_CODE", "INVALID_PLAN")
    for kind in KINDS:
        mine = [row for row in rows if row["kind"] == kind]
        right = [row for row in mine if row["verdict"].removeprefix("PREDICTED_") in ("DROP", "SLOWER", "EQUIVALENT", "INCONCLUSIVE", "FASTER")]
        best = min((row["ms"] for row in right if row.get("ms")), default=None)
        share = f"{cublas / best:.2f}" if cublas and best else "-"
        print(f"| {kind} | {len(mine)} | {sum(row['verdict'] not in broken for row in mine)} | {len(right)} | {best if best else '-'} | {share} |", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("prompts", "judge"))
    parser.add_argument("cudal1")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--replies", type=int, default=8)
    parser.add_argument("--device", default="sim")
    parser.add_argument("--size", type=int, metavar="N")
    parser.add_argument("--run-limit", type=int, default=10, metavar="SECONDS")
    parser.add_argument("--cublas", type=float, metavar="MILLISECONDS")
    options = parser.parse_args()
    if options.what == "prompts":
        return write_prompts(options.cudal1, options.folder, options.replies)
    return judge(options.cudal1, options.folder, options)


if __name__ == "__main__":
    main()
