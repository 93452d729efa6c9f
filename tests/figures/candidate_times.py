# SPDX-License-Identifier: Apache-2.0
"""Times the kernel files that the playbook offers for some tasks beside PyTorch, all in one process and as torch_times.py
does: a cold L2, medians of device times.

  candidate_times.py --split FOLDER lines/memory.cu                # one file per task
  playbook_candidates FOLDER/*.cu > FOLDER/candidates.json         # ninja playbook_candidates; needs no GPU
  candidate_times.py FOLDER > times.json                           # PyTorch, NVRTC and a GPU
  candidate_times.py --table times.json

The first line is a copy of 128 MiB; then one JSON object per task with eager, torch.compile, eager with TF32 allowed, and
every candidate. Results are judged against the line in float64: the root mean square error may be twice that of eager
float32 and one rounding more, or every element is within 1.3e-6 of itself and 1e-5 of the root mean square, or of 1 where
that is larger. --tf32 allows TF32 in all of PyTorch; one rounding is then one to TF32, as PyTorch does not always take what
it may. "expected_ms" is what the playbook expected of the kernel file, at rates of 3 TB/s and 50 TFLOP/s. A kernel file that
ends the process, or stands still in it, costs itself alone: it has a "problem", and the task begins again without it."""
import argparse
import ctypes
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
from time import monotonic

import cubins

ROUNDING = {"fp32": 2.0 ** -24, "tf32": 2.0 ** -11}


def warm(path):
    import torch_times
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    try:
        torch_times.warm(pathlib.Path(path))
    except Exception as problem:
        return f"{path}: {problem}"
    return None


def tensor_map(driver, argument, address):
    """What the driver makes of a map: 128 bytes, aligned to 64."""
    room = (ctypes.c_char * 192)()
    at = (ctypes.addressof(room) + 63) // 64 * 64
    rank = len(argument["extents"])
    longs, ints = ctypes.c_uint64 * 5, ctypes.c_uint32 * 5
    element = argument["element"] if argument["element"] < 10 else 11  # CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
    check(driver.cuTensorMapEncodeTiled(ctypes.c_void_p(at), element, rank, ctypes.c_void_p(address), longs(*argument["extents"]), longs(*argument["strides"]),
                                        ints(*argument["box"]), ints(1, 1, 1, 1, 1), 0, {0: 0, 32: 1, 64: 2, 128: 3}[argument["swizzle"]], 3, 0))
    return (ctypes.c_char * 128).from_buffer_copy((ctypes.c_char * 128).from_address(at))


class Call:
    """A member's launches on a stream, with everything made ready before."""

    def __init__(self, driver, module, names, row, buffers):
        self.driver, self.steps = driver, []
        for step in row["steps"]:
            if "memset" in step:
                base, size = buffers[step["memset"]]
                self.steps.append((None, base, step["value"], size))
                continue
            function = ctypes.c_void_p()
            check(driver.cuModuleGetFunction(ctypes.byref(function), module, names[step["kernel"]].encode()))
            if step["shared"] > 0:
                check(driver.cuFuncSetAttribute(function, 8, step["shared"]))
            values = []
            for argument in step["arguments"]:
                if "buffer" in argument:
                    values.append(ctypes.c_uint64(buffers[argument["buffer"]][0] + argument["offset"]))
                elif "map" in argument:
                    values.append(tensor_map(driver, argument, buffers[argument["map"]][0] + argument["offset"]))
                else:
                    data = bytes.fromhex(argument["bytes"])
                    values.append((ctypes.c_char * len(data)).from_buffer_copy(data))
            pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
            self.steps.append((function, [*step["grid"], *step["block"], step["shared"]], pointers, values))

    def __call__(self, stream, steps=slice(None)):
        for function, what, third, fourth in self.steps[steps]:
            if function is None:
                check(self.driver.cuMemsetD8Async(ctypes.c_uint64(what), third, ctypes.c_size_t(fourth), stream))
            else:
                check(self.driver.cuLaunchKernel(function, *what, stream, third, None))


def truth_of(line, inputs):
    """In float64, a list of results."""
    doubles = [value.double() if value.is_floating_point() else value for value in inputs]
    result = line(*doubles)
    return list(result) if isinstance(result, tuple) else [result]


def errors(values, truth):
    """For each output the relative root mean square error, and whether every element is close; of integers whether they
    are equal."""
    taken = []
    for value, exact in zip(values, truth):
        if not exact.is_floating_point():
            equal = bool((value == exact).all())
            taken.append((0.0 if equal else 1.0, equal))
            continue
        away = (value.double() - exact).nan_to_num(nan=float("inf"))
        norm = float(exact.norm())
        scale = min(1.0, norm / exact.numel() ** 0.5)
        close = bool((away.abs() <= 1.3e-6 * exact.abs() + 1e-5 * scale).all())
        taken.append((float(away.norm()) / norm if norm else float(away.norm()), close))
    return taken


def check(status):
    if status:
        raise RuntimeError(f"CUDA says {status}")


def table(rows):
    """As Markdown; a candidate that was wrong is no candidate."""
    ratios = {"eager": [], "compile": [], "tf32": []}
    wrong, answered = [], 0
    print("| line | ms | share of a copy's rate | eager | torch.compile | eager, TF32 | error, of eager's |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        if "task" not in row:
            continue
        wrong += [f"{row['task']} {member['id']}" for member in row["members"] if not member.get("right")]
        right = [member for member in row["members"] if member.get("right")]
        if not right:
            print(f"| {row['task']} | - | - | - | - | - | - |")
            continue
        answered += 1
        best = min(right, key=lambda member: member["ms"])
        cells = [row["task"], f"{best['ms']:.4f}", f"{row['copy_share_of_best']:.0%}"]
        for name in ratios:
            ratio = row[f"{name}_ms"] / best["ms"] if f"{name}_ms" in row else None
            ratios[name] += [ratio] if ratio else []
            cells.append(f"{ratio:.2f}x" if ratio else "-")
        cells.append(f"{best['error'][0] / row['eager_error'][0]:.2f}" if row["eager_error"][0] else "-")
        print(f"| {' | '.join(cells)} |")
    print(f"\n{answered} lines answered. Wrong: {', '.join(sorted(set(wrong))) or 'none'}.")
    for name, taken in ratios.items():
        if taken:
            print(f"Against {name}: geometric mean {statistics.geometric_mean(taken):.2f}x over {len(taken)}, "
                  f"faster on {sum(ratio > 1 for ratio in taken)}.")


def first_picks(rows, count, label):
    picked = {}
    for row in rows:
        ids = picked.setdefault(row["task"], [])
        if row["id"] not in ids:
            ids.append(row["id"])
    return [row for row in rows if row["id"] in picked[row["task"]][:count] or (label and row["id"].endswith(label))]


def in_channels_last(inputs):
    """The same call on tensors whose neighbours are channels; its result stays so, and nothing is converted in the call."""
    import torch

    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return [value.contiguous(memory_format=formats[value.dim()]) if value.dim() in formats else value for value in inputs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=pathlib.Path, help="a folder of tasks, or the file to split or tabulate")
    parser.add_argument("--split", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--picks", type=int, metavar="N", help="only the first N kernel files of each task, as N picks of a run")
    parser.add_argument("--tf32", action="store_true", help="PyTorch may use TF32 everywhere")
    parser.add_argument("--label", metavar="TEXT", help="all kernel files whose id ends with it, beside --picks")
    parser.add_argument("--channels-last", action="store_true", help="PyTorch also with its tensors of four and five axes in channels last, as torch.channels_last has them")
    parser.add_argument("--steps", action="store_true", help="also each launch of the fastest right one alone")
    parser.add_argument("--single-truth", action="store_true", help="judge against eager float32 without TF32, not against float64: quick, for results in TF32")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--cubins", metavar="FOLDER", help="where cubins.py keeps what it compiled")
    parser.add_argument("--still", type=float, default=15, metavar="SECONDS", help="how long a kernel file may take before it is ended; PyTorch has four times that")
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    if options.split:
        import lines

        options.split.mkdir(parents=True, exist_ok=True)
        for name, text in lines.split(options.path).items():
            (options.split / f"{name}.cu").write_text(text)
        return
    if options.table:
        return table([json.loads(line) for line in options.path.read_text().splitlines()])
    files = sorted(options.path.glob("*.cu"))
    rows = [json.loads(line) for line in (options.path / "candidates.json").read_text().splitlines()]
    if options.cubins:
        cubins.keep_in(options.cubins)
    if options.picks:
        rows = first_picks(rows, options.picks, options.label)
    with multiprocessing.get_context("fork").Pool(options.jobs) as compilers:
        compiling = compilers.map_async(cubins.compile_one, rows, chunksize=4)
        if not options.no_compile:
            with multiprocessing.get_context("spawn").Pool(min(options.jobs, 12)) as pool:
                for problem in pool.imap_unordered(warm, map(str, files), chunksize=1):
                    if problem:
                        print(problem, file=sys.stderr)
        compiled = compiling.get()
    watch(files, rows, compiled, options)


class Progress:
    """What the process that measures is at, for the one that watches it."""

    def __init__(self):
        self.task, self.member = multiprocessing.Value("i", 0), multiprocessing.Value("i", -1)
        self.since, self.said = multiprocessing.Value("d", 0), multiprocessing.Array("c", 200)

    def begin(self, member):
        self.member.value, self.since.value = member, monotonic()


def watch(files, rows, compiled, options):
    """A process of its own uses the GPU: a kernel that ends it, or stands still in it, costs that kernel file alone."""
    import torch  # noqa: F401  here, so that each process after a lost one has it

    progress, lost = Progress(), {}
    while progress.task.value < len(files):
        progress.begin(-1)
        process = multiprocessing.get_context("fork").Process(target=measure_and_say, args=(files, rows, compiled, options, progress, lost))
        process.start()
        while process.is_alive() and monotonic() - progress.since.value < options.still * (4 if progress.member.value < 0 else 1):
            process.join(0.2)
        still = process.is_alive()
        if still:
            process.kill()
        process.join()
        task, member = progress.task.value, progress.member.value
        if task >= len(files):
            break
        lost[task, member] = "stood still" if still else progress.said.value.decode() or f"the process ended with {process.exitcode}"
        print(f"{files[task].stem}, {'PyTorch' if member < 0 else f'kernel file {member}'}: {lost[task, member]}", file=sys.stderr)
        if member < 0:
            progress.task.value += 1
        progress.said.value = b""


def measure_and_say(files, rows, compiled, options, progress, lost):
    try:
        measure(files, rows, compiled, options, progress, lost)
    except Exception as problem:  # whatever it is: the process has to end, since a launch that failed leaves nothing usable
        progress.said.value = f"{type(problem).__name__}: {problem}".splitlines()[0].encode()[:199]
        os._exit(1)


def measure(files, rows, compiled, options, progress, lost):
    import torch
    import torch_times

    def allow_tf32(allowed):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed

    allow_tf32(options.tf32)
    torch.cuda.init()
    driver = ctypes.CDLL("libcuda.so.1")
    flush = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def time(call, calls=options.calls):
        torch_times.CALLS = calls
        return torch_times.times(call, flush)["ms"]

    source = torch.randn(1 << 25, device="cuda")
    target = torch.empty_like(source)
    copy_ms = time(lambda: target.copy_(source))
    rate = 2 * source.nbytes / copy_ms * 1000
    del source, target
    print(json.dumps({"copy_of_mib": 128, "ms": copy_ms, "bytes_per_second": rate, "torch": torch.__version__,
                      "gpu": torch.cuda.get_device_name()}), flush=True)
    for index in range(progress.task.value, len(files)):
        progress.task.value, path = index, files[index]
        progress.begin(-1)
        mine = [(row, made) for row, made in zip(rows, compiled) if row["task"] == path.stem]
        sizes, inputs = torch_times.read(path)
        line = torch_times.function(path, sizes, list(inputs))
        result = {"task": path.stem, "sizes": sizes}
        with torch.no_grad():
            expected = line(*inputs.values())
            if options.single_truth:
                allow_tf32(False)
                truth = line(*inputs.values())
                truth = [part.double() for part in (truth if isinstance(truth, tuple) else [truth])]
                allow_tf32(options.tf32)
            else:
                truth = truth_of(line, inputs.values())
            result["eager_ms"] = time(lambda: line(*inputs.values()))
            allow_tf32(True)
            result["tf32_ms"] = time(lambda: line(*inputs.values()))
            tf32 = line(*inputs.values())
            result["tf32_error"] = [error for error, _ in errors(list(tf32) if isinstance(tf32, tuple) else [tf32], truth)]
            del tf32
            allow_tf32(options.tf32)
            if not options.no_compile:
                try:
                    faster = torch.compile(line)
                    result["compile_ms"] = time(lambda: faster(*inputs.values()))
                except Exception as problem:
                    result["compile_problem"] = str(problem).splitlines()[0]
                torch._dynamo.reset()
            if options.channels_last:
                turned = in_channels_last(inputs.values())
                if any(value.dim() in (4, 5) for value in turned):
                    bare = torch_times.function(path, sizes, list(inputs), contiguous=False)
                    for name, allowed in (("channels_last_ms", False), ("channels_last_tf32_ms", True)):
                        allow_tf32(allowed)
                        result[name] = time(lambda: bare(*turned))
                    allow_tf32(options.tf32)
                del turned
            expected = list(expected) if isinstance(expected, tuple) else [expected]
            result["eager_error"] = [error for error, _ in errors(expected, truth)]
            outputs = [text.split(":")[0].strip() for text in torch_times.directives(path.read_text(), "output")]
            result["members"] = []
            best = float("inf")
            for number, (row, (cubin, names)) in enumerate(mine):
                member = {"id": row["id"], "tunables": row.get("tunables") or {}, "expected_ms": row["expected_ms"]}
                result["members"].append(member)
                alike = [task for task, other in lost if task == index and other >= 0 and mine[other][0]["id"] == row["id"]]
                if cubin is None or (index, number) in lost or len(alike) > (1 if len(lost) < 6 else 0):
                    member["problem"] = names if cubin is None else lost.get((index, number), "not run: others like it were lost")
                    continue
                progress.begin(number)
                module = ctypes.c_void_p()
                check(driver.cuModuleLoadData(ctypes.byref(module), cubin))
                held, buffers = {}, []
                for buffer in row["buffers"]:
                    name = buffer["name"]
                    if name in inputs:
                        held[name] = inputs[name].contiguous()
                    elif name in outputs:
                        held[name] = torch.full_like(expected[outputs.index(name)], 77)
                    else:
                        held[name] = torch.full([buffer["bytes"]], 127, dtype=torch.uint8, device="cuda")
                    buffers.append((held[name].data_ptr(), held[name].nbytes))
                call = Call(driver, module, names, row, buffers)
                call(stream)
                torch.cuda.synchronize()
                found = errors([held[name] for name in outputs], truth)
                member["error"] = [error for error, _ in found]
                member["right"] = all(close or error <= 2 * of_eager + ROUNDING["tf32" if options.tf32 else "fp32"]
                                      for (error, close), of_eager in zip(found, result["eager_error"]))
                # What is far from the best so far needs no more than a glance.
                member["ms"] = time(lambda: call(stream), 5)
                if member["ms"] < 1.3 * best:
                    member["ms"] = time(lambda: call(stream))
                if member["right"] and member["ms"] < best:
                    best = member["ms"]
                    if options.steps:
                        member["steps"] = [(step.get("kernel", "memset"), time(lambda: call(stream, slice(i, i + 1)), 5)) for i, step in enumerate(row["steps"])]
                del held
                check(driver.cuModuleUnload(module))
        bytes_needed = mine[0][0]["bytes"] if mine else 0
        result["copy_share_of_best"] = max((bytes_needed / rate * 1000 / m["ms"] for m in result["members"] if m.get("right")), default=0)
        print(json.dumps(result), flush=True)
    progress.task.value = len(files)


if __name__ == "__main__":
    main()
