#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers to PyTorch modules that are sound by construction, and ones that are wrong by little: how many of each does the judge refuse?

  module_answers.py CUDAL1 TASKS FOLDER [--only GLOB] [--each N] [--device cuda:0] [OPTION…]
  module_answers.py CUDAL1 TASKS FOLDER [--only GLOB] --copies N --device cuda:0 [OPTION…]

Writes FOLDER/answers in KernelBench's layout, judges them with `cudal1 verify --answers --quick` (an interrupted run goes on), and
prints a table by kind of answer. An answer is the task's own module with its forward in other hands. Halves of the batch and a
batch in reverse are made only of modules whose float64 output does not change by them; what is known of that is kept in FOLDER/facts.json.
With --untimed, an option of verify, only right and wrong are told. With --copies the answers are equal ones, whose times are judged: so many
of the task's own module, and of the module with a twentieth of the batch computed twice."""

import argparse
import collections
import concurrent.futures
import copy
import json
import pathlib
import re
import subprocess
import sys

import torch

FORWARD = "Model.forward(self, *arguments)"
SOUND = {
    "itself": f"return {FORWARD}",
    "compiled": """if not hasattr(self, "compiled"):
            self.compiled = torch.compile(lambda *arguments: Model.forward(self, *arguments))
        return self.compiled(*arguments)""",
    "channels last": """order = {4: torch.channels_last, 5: torch.channels_last_3d}
        return each(Model.forward(self, *each(arguments, lambda x: x.contiguous(memory_format=order.get(x.dim(), torch.contiguous_format)))), lambda y: y.contiguous())""",
    "halves of the batch": """half = arguments[0].shape[0] // 2
        return torch.cat([Model.forward(self, *each(arguments, lambda x: x[part])) for part in (slice(0, half), slice(half, None))])""",
    "batch in reverse": "return Model.forward(self, *each(arguments, lambda x: x.flip(0))).flip(0)",
    "TF32 off": """with torch.backends.cudnn.flags(allow_tf32=False):
            return Model.forward(self, *arguments)""",
    "float64": """wide = copy.deepcopy(self).double()
        return each(Model.forward(wide, *each(arguments, lambda x: x.double() if x.is_floating_point() else x)), lambda y: y.float() if y.is_floating_point() else y)""",
}
WRONG = {
    "bfloat16": """low = copy.deepcopy(self).bfloat16()
        return each(Model.forward(low, *each(arguments, lambda x: x.bfloat16() if x.is_floating_point() else x)), lambda y: y.float() if y.is_floating_point() else y)""",
    "float16": """low = copy.deepcopy(self).half()
        return each(Model.forward(low, *each(arguments, lambda x: x.half() if x.is_floating_point() else x)), lambda y: y.float() if y.is_floating_point() else y)""",
    "inputs in bfloat16": f"arguments = each(arguments, lambda x: x.bfloat16().float() if x.is_floating_point() else x)\n        return {FORWARD}",
    "a stale row in a thousand": f"return each({FORWARD}, stale)",
    "an ignored per cent": f"arguments = (cut(arguments[0]),) + tuple(arguments[1:])\n        return {FORWARD}",
    "an ignored input": f"arguments = tuple(arguments[:-1]) + (torch.zeros_like(arguments[-1]),)\n        return {FORWARD}",
    "an ignored sample": f"x = arguments[0].clone()\n        x[-1] = x[0]\n        arguments = (x,) + tuple(arguments[1:])\n        return {FORWARD}",
    "ignored biases": f"""copied = copy.deepcopy(self)
        for name, value in copied.named_parameters():
            if "bias" in name:
                value.data.zero_()
        return Model.forward(copied, *arguments)""",
}
TIMED = {   # what their times must be called against eager
    "itself": (SOUND["itself"], {"EQUIVALENT", "INCONCLUSIVE"}),
    "a twentieth more": (f"""count = arguments[0].shape[0]
        Model.forward(self, *each(arguments, lambda x: x[:-(-count // 20)] if x.dim() > 0 and x.shape[0] == count else x))
        return {FORWARD}""", {"SLOWER"}),
}
SEPARABLE = ("halves of the batch", "batch in reverse")
ANSWER = '''{source}

import copy
import torch

def each(values, change):
    if isinstance(values, torch.Tensor):
        return change(values)
    return type(values)(each(value, change) for value in values) if isinstance(values, (list, tuple)) else values

def stale(y):
    if y.dim() == 0 or y.numel() < 2:
        return y
    rows = y.contiguous().clone().view(-1, y.shape[-1] if y.dim() > 1 else 1)
    here = torch.arange(min(997, rows.shape[0] - 1), rows.shape[0], 1000)
    rows[here] = rows[here - 1]
    return rows.view(y.shape)

def cut(x):
    x = x.clone()
    x[..., x.shape[-1] - max(1, x.shape[-1] // 100):] = 0
    return x

class ModelNew(Model):
    def forward(self, *arguments):
        {body}
'''


def wide_parts(path):
    """A module, its inputs, in float64 on the CPU, and with a batch of four where its source has one: what is asked here depends on no size."""
    namespace = {}
    exec(compile(re.sub(r"(?m)^batch_size = .*", "batch_size = 4", path.read_text()), str(path), "exec"), namespace)
    torch.manual_seed(0)
    model = namespace["Model"](*namespace["get_init_inputs"]()).double()
    return model, [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in namespace["get_inputs"]()]


def separable(model, inputs, whole):
    """Whether halves of the batch, and a batch in reverse, give the same."""
    if not all(isinstance(x, torch.Tensor) and x.dim() > 0 and x.shape[0] == inputs[0].shape[0] for x in inputs) or inputs[0].shape[0] < 2:
        return False
    half = inputs[0].shape[0] // 2
    apart = torch.cat([copy.deepcopy(model)(*(x[part] for x in inputs)) for part in (slice(0, half), slice(half, None))])
    reverse = copy.deepcopy(model)(*(x.flip(0) for x in inputs)).flip(0)
    return whole.shape == apart.shape and torch.allclose(whole, apart, rtol=1e-9, atol=1e-12) and torch.allclose(whole, reverse, rtol=1e-9, atol=1e-12)


def biases_matter(model, inputs):
    """Whether the output depends on the module's biases: statistics of a batch take out one that lies before them."""
    biases = [value for name, value in model.named_parameters() if "bias" in name]
    outputs = []
    for change in (torch.Tensor.normal_, torch.Tensor.zero_) if biases else ():
        for value in biases:
            change(value)
        outputs.append(copy.deepcopy(model)(*inputs))
    return bool(biases) and isinstance(outputs[0], torch.Tensor) and not torch.allclose(*outputs, rtol=1e-3, atol=1e-6)


def facts_of(path):
    """What decides which answers suit a task. What a task cannot do in float64 or on the CPU is no fact about it."""
    torch.set_num_threads(1)
    found = {"separable": False, "rows": True, "biases": False}
    try:
        with torch.no_grad():
            model, inputs = wide_parts(path)
            whole = copy.deepcopy(model)(*inputs)
            found["rows"] = whole.dim() > 0 and whole.numel() > 1   # one of them can be stale: a single number has none
            found["biases"] = biases_matter(copy.deepcopy(model), inputs)
            found["separable"] = separable(model, inputs, whole)
    except Exception as error:  # whatever a task does with halves
        print(f"{path.name}: {error}", file=sys.stderr)
    return found


def suits(kind, source, facts):
    if kind in SEPARABLE:
        return facts["separable"]
    if kind == "compiled":
        return hasattr(torch, "compile")
    if kind == "a stale row in a thousand":
        return facts["rows"]
    if kind == "ignored biases":
        return facts["biases"]
    if kind == "an ignored input":
        inputs = source[source.index("def get_inputs"):source.index("def get_init_inputs")]
        return "," in inputs.rpartition("return")[2]
    if kind == "channels last":
        return "Conv" in source or "2d" in source or "3d" in source
    return True


def known_facts(paths, file):
    """By path; kept in a file, because float64 takes its time."""
    facts = json.loads(file.read_text()) if file.exists() else {}
    missing = {name: path for name, path in paths.items() if name not in facts}
    with concurrent.futures.ProcessPoolExecutor() as pool:
        facts.update(zip(missing, pool.map(facts_of, missing.values())))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(facts, indent=0) + "\n")
    return facts


def chosen(group, source, facts, each, turn):
    """The kinds of a group that suit a task: all, or so many, those that come next by turns."""
    fitting = [kind for kind in group if suits(kind, source, facts)]
    return [fitting[(each * turn + i) % len(fitting)] for i in range(min(each, len(fitting)))] if each else fitting


def tasks_of(tasks, only):
    every = {path.relative_to(tasks).as_posix(): path for path in sorted(tasks.glob("level*/*.py"))}
    return {name: path for name, path in every.items() if any(pathlib.PurePath(name).match(each) for each in only)}


def write_answer(folder, name, source, index, body):
    level, number = re.match(r"level(\d+)/(\d+)_", name).groups()
    place = folder / "answers" / f"level{level}"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"level_{level}_problem_{number}_sample_{index}_kernel.py").write_text(ANSWER.format(source=source, body=body))


def make(tasks, folder, only, each):
    kinds = list(SOUND) + list(WRONG)
    paths = tasks_of(tasks, only)
    facts = known_facts(paths, folder / "facts.json")
    for turn, (name, path) in enumerate(paths.items()):
        source = path.read_text()
        wanted = chosen(SOUND, source, facts[name], each, turn) + chosen(WRONG, source, facts[name], each, turn)
        for index, kind in enumerate(kinds):
            if kind in wanted:
                write_answer(folder, name, source, index, SOUND.get(kind) or WRONG[kind])
    return kinds


def make_copies(tasks, folder, only, copies):
    kinds = [kind for _ in range(copies) for kind in TIMED]
    for name, path in tasks_of(tasks, only).items():
        for index, kind in enumerate(kinds):
            write_answer(folder, name, path.read_text(), index, TIMED[kind][0])
    return kinds


def rows_of(journal):
    found = {}
    for line in journal.read_text().splitlines():
        value = json.loads(line)
        if "schema" not in value:
            found[value["key"]] = value
    return found


def table(rows, kinds):
    accepted, judged, odd, itself = collections.Counter(), collections.Counter(), [], collections.Counter()
    for key, row in sorted(rows.items()):
        kind = kinds[int(re.search(r"_sample_(\d+)_kernel", row["answer"]).group(1))]
        line = f"{key}, {kind}: {row['status']} {row['verdict']}: {row['message'][:200]}"
        if not row["right"] and row["verdict"] != "WRONG_RESULT":
            odd.append(line)  # not judged
            continue
        judged[kind] += 1
        accepted[kind] += row["right"]
        if kind == "itself":
            itself[row["verdict"]] += 1
        if bool(row["right"]) != (kind in SOUND):
            odd.append(line)
    print("| answer | judged | accepted | refused |\n| --- | ---: | ---: | ---: |")
    for kind in kinds:
        print(f"| {kind}{'' if kind in SOUND else ' (wrong)'} | {judged[kind]} | {accepted[kind]} | {judged[kind] - accepted[kind]} |")
    for name, group in (("sound", SOUND), ("wrong", WRONG)):
        print(f"{name}: {sum(accepted[k] for k in group)} of {sum(judged[k] for k in group)} accepted")
    print(f"a task's own module against eager: {dict(itself)}")   # on a GPU FASTER and SLOWER are false claims
    print("\n".join(odd))


def table_of_times(rows, kinds):
    verdicts, odd = collections.defaultdict(collections.Counter), []
    for key, row in sorted(rows.items()):
        kind = kinds[int(re.search(r"_sample_(\d+)_kernel", row["answer"]).group(1))]
        verdicts[kind][row["verdict"] or row["status"]] += 1
        if row["verdict"] not in TIMED[kind][1]:
            odd.append(f"{key}, {kind}: {row['status']} {row['verdict']}: {row['message'][:200]}")
    for kind, found in verdicts.items():
        print(f"{kind}: {dict(found)}, {sum(found[each] for each in TIMED[kind][1])} of {sum(found.values())} as expected")
    print("\n".join(odd))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cudal1")
    parser.add_argument("tasks", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--each", type=int, default=0, help="so many sound and so many wrong answers for a task, by turns; else all")
    parser.add_argument("--copies", type=int, default=0, help="so many equal answers of each kind whose time is known")
    parser.add_argument("--device", default="sim")
    options, others = parser.parse_known_args()
    only = options.only or ["*"]
    kinds = make_copies(options.tasks, options.folder, only, options.copies) if options.copies else make(options.tasks, options.folder, only, options.each)
    command = [options.cudal1, "verify", "--answers", str(options.folder / "answers"), "--tasks", str(options.tasks), "--out", str(options.folder / "rows"),
               "--device", options.device, "--python", sys.executable, *others]
    try:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    except KeyboardInterrupt:
        pass   # the table is of what was judged
    (table_of_times if options.copies else table)(rows_of(options.folder / "rows" / "journal.jsonl"), kinds)


if __name__ == "__main__":
    main()
