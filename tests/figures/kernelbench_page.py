# SPDX-License-Identifier: Apache-2.0
"""docs/kernelbench.md, made from the rows in kernelbench_results.

  kernelbench_page.py           writes it
  kernelbench_page.py --check   fails when it is another one"""

import collections
import pathlib
import re
import statistics
import sys

from kernelbench_rows import BEST, baselines_of, geomean, in_order, ratio, read

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "kernelbench.md"
SETS = {"main": "today's sizes (KernelBench at 423217d, inputs of up to 16 GiB)", "v0": "the sizes of 2025 that most published numbers are for"}
PUBLISHED = (HERE / "kernelbench_results" / "published.md")
FAMILIES = {1: [("products of matrices", range(1, 19)), ("activations", [*range(19, 33), 88]), ("norms", range(33, 41)), ("pools", range(41, 47)),
                ("reductions", [47, 48, 49, 51, 52, 53]), ("transposed convolutions", ()), ("convolutions", [50, *range(54, 88)]), ("scans", range(89, 94)),
                ("losses", [94, 95, 96, 98, 99, 100]), ("attention", [97])],
            3: [("perceptrons", range(1, 4)), ("convolutional networks", range(4, 28)), ("vision transformers and mixers", range(28, 33)),
                ("recurrent networks", range(33, 43)), ("transformers of language", [43, 44, 50]), ("others", range(45, 50))]}


def family(row):
    name = row["key"].rsplit("/", 1)[-1].lower()
    if row["level"] in (1, 2) and "transpose" in name and "conv" in name:
        return "transposed convolutions"
    if row["level"] == 2:
        return "convolutions" if "conv" in name else "products of matrices"
    return next((title for title, ids in FAMILIES.get(row["level"], ()) if row["id"] in ids), "others")


def latest(sweeps):
    """A task's row: its last one, but for one that failed behind one that did not."""
    rows = {}
    for _, found in sweeps:
        for key, row in found.items():
            if key not in rows or row["status"] != "failed" or rows[key]["status"] == "failed":
                rows[key] = row
    return rows


def times(value):
    return "" if value is None else f"{value:.2f}x"


def piped(header, lines):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + " --- |" * len(header), *("| " + " | ".join(map(str, each)) + " |" for each in lines)]) + "\n"


def share(count, of):
    return f"{count} of {of}" if of else "0"


def figures(rows, baseline):
    values = [value for value in (ratio(row, baseline) for row in rows) if value]
    if not values:
        return None
    tried = len(rows)
    return [len(values), times(geomean(values)), times(statistics.median(values)), times(max(values)), sum(value > 1.01 for value in values), sum(value < 1 for value in values),
            f"{sum(value > 1 for value in values) / tried:.2f}", f"{sum(value > 2 for value in values) / tried:.2f}"]


def by_level(rows):
    lines = []
    for level in sorted({row["level"] for row in rows}):
        here = [row for row in rows if row["level"] == level]
        for baseline in baselines_of(here):
            for name, taken in (("all", here), ("sound", [row for row in here if not row["defects"]])):
                if found := figures(taken, baseline):
                    lines.append([level, baseline, name, len(taken), sum(row["status"] == "verified" for row in taken), *found])
    return piped(["level", "baseline", "tasks", "tried", "verified", "timed", "geomean", "median", "largest", "> 1.01", "< 1.00", "fast_1", "fast_2"], lines)


def by_family(rows):
    lines = []
    for level in sorted({row["level"] for row in rows}):
        groups = collections.defaultdict(list)
        for row in rows:
            if row["level"] == level:
                groups[family(row)].append(row)
        for name, here in sorted(groups.items(), key=lambda group: -len(group[1])):
            columns = [times(geomean([value for value in (ratio(row, baseline) for row in here) if value])) for baseline in ("eager", "compile", BEST)]
            limits = [row["share_of_limit"] for row in here if row["status"] == "verified" and row["share_of_limit"] > 0]
            lines.append([level, name, len(here), sum(row["status"] == "verified" for row in here), *columns,
                          f"{100 * statistics.median(limits):.0f} %" if limits else ""])
    return piped(["level", "family", "tried", "verified", "eager", "compile", BEST, "of the limit, median"], lines)


# What a sweep is asked for unless somebody asks for something else.
USUAL = {"seed 1", "exemplars 2", "sampling buckets", "tau 0.1", "bucket width 0.15", "repair true", "ablate false", "time limit 0", "cost limit 0"}


def asked(options):
    """A sweep's options without those that are as usual or empty."""
    entries = [each.strip() for each in options.split(";")]
    return ", ".join(each.replace(",", " ") for each in entries if each not in USUAL and " " in each and each not in ("start from", "time limit", "bucket width", "cost limit"))


def in_short(sets):
    """A line for each set and level: what sound tasks gain."""
    lines = []
    for name, sweeps in sets:
        rows = list(latest(sweeps).values())
        for level in sorted({row["level"] for row in rows}):
            here = [row for row in rows if row["level"] == level]
            tasks = {key for identity, _ in sweeps for key in identity["tasks"] if key.startswith(f"level{level}/")}
            sound = [row for row in here if not row["defects"]]
            columns = [times(geomean([value for value in (ratio(row, baseline) for row in sound) if value])) for baseline in ("eager", "compile", BEST)]
            lines.append([name, sweeps[0][0]["device"], level, share(len(here), len(tasks | {row["key"] for row in here})), share(sum(row["status"] == "verified" for row in here), len(here)), *columns])
    return piped(["sizes", "GPU", "level", "tasks tried", "answered, verified", "eager", "torch.compile", BEST], lines)


def why_not(rows, tasks):
    """The tasks without an answer by what was said of them, in the row's own words."""
    groups = collections.defaultdict(list)
    for row in in_order(rows):
        if row["status"] != "verified":
            groups[row["status"], re.sub(r"\d+ ([GM]iB)", r"N \1", row["message"])].append(row["key"])
    lines = [[status, len(keys), message.replace("|", "\\|"), " ".join(short(key) for key in keys)]
             for (status, message), keys in sorted(groups.items(), key=lambda group: -len(group[1]))]
    left = [key for key in tasks if key not in {row["key"] for row in rows}]
    if left:
        lines.append(["not measured", len(left), "", " ".join(short(key) for key in left)])
    return piped(["status", "tasks", "what was said", "which"], lines) if lines else "Every task has an answer.\n"


def short(key):
    """level1/19_ReLU.py → 1/19"""
    level, _, name = key.partition("/")
    return f"{level.removeprefix('level')}/{name.split('_')[0]}"


def seconds(rows):
    lines = []
    for level in sorted({row["level"] for row in rows}):
        here = [row for row in rows if row["level"] == level and row["status"] == "verified"]
        if not here:
            continue
        steps = [statistics.median(row["breakdown_seconds"].get(step, 0) for row in here) for step in ("load", "baselines", "search and judging")]
        spent = sorted(row["seconds"] for row in here)
        lines.append([level, f"{statistics.median(spent):.1f}", f"{spent[-1]:.0f}", *(f"{step:.1f}" for step in steps)])
    return piped(["level", "median", "largest", "load", "baselines", "search and judging"], lines)


def sets_section(path, name, sweeps):
    rows = list(latest(sweeps).values())
    tasks = list(dict.fromkeys(key for identity, _ in sweeps for key in identity["tasks"]))
    commits = sorted({row.get("commit", "unknown") for row in rows})
    text = f"## {name}: {SETS.get(name, name)}, {sweeps[0][0]['device']}\n\n"
    text += (f"{len(rows)} of {len(tasks)} tasks have a row, and {sum(row['status'] == 'verified' for row in rows)} of these have a verified answer. The model was {sweeps[0][0]['models']}. "
             f"{len({row['key'] for row in rows if row['defects']})} tasks are not sound. Measured at commit {', '.join(commits)}{'; what an older one refused may be mended since' if len(commits) > 1 else ''}. Rows: `tests/figures/kernelbench_results/{path.name}`.\n\n")
    for identity, found in sweeps:
        text += f"- {len(found)} rows: {asked(identity['options'])}\n"
        text += f"  ({identity['note']})\n" if identity.get("note") else ""
    text += "\n" + by_level(rows) + "\nGeometric means by family of operations, over all tasks:\n\n" + by_family(rows)
    text += "\nTasks without an answer, and what the sweep said:\n\n" + why_not(rows, tasks)
    return text + "\nMedian seconds for a task with an answer, and the parts of that time:\n\n" + seconds(rows) + "\n"


def claims_section(path, sweeps):
    rows = list(latest(sweeps).values())
    lines = []
    for level in ("all", *sorted({row["level"] for row in rows})):
        here = [row for row in rows if level in ("all", row["level"])]
        said = [row["kernelbench"] or {} for row in here]
        both = [(row["claimed"]["eager"], ratio(row, "eager")) for row in here if row.get("claimed", {}).get("eager") and ratio(row, "eager")]
        lines.append([level, len(here), sum(row["status"] == "no answer" for row in here), sum(row["status"] in ("failed", "refused") for row in here),
                      sum(row["status"] == "nothing right" and row["verdict"] != "WRONG_RESULT" for row in here), sum(row["verdict"] == "WRONG_RESULT" for row in here),
                      sum(row["status"] == "verified" for row in here), sum(bool(each.get("accepts_at_1e-2")) for each in said),
                      sum(bool(each.get("accepts_at_1e-4")) for each in said), len(both), times(geomean([claim for claim, _ in both])), times(geomean([mine for _, mine in both]))])
    text = f"## {sweeps[0][0]['models'][0].upper()}{sweeps[0][0]['models'][1:]}, {sweeps[0][0]['device']}\n\nRows: `tests/figures/kernelbench_results/{path.name}`.\n\n"
    text += piped(["level", "entries", "no code", "not judged", "failed", "wrong", "right", "at 1e-2", "at 1e-4", "timed", "claimed", "measured"], lines)
    text += "\n`right` is by cudal1's rule, `at 1e-2` and `at 1e-4` by KernelBench's comparison. `claimed` and `measured` are geometric means of speed-ups over eager PyTorch.\n\n"
    tasks = [[short(row["key"]), row["verdict"] or row["status"], times(row.get("claimed", {}).get("eager")), times(ratio(row, "eager")), times(ratio(row, "compile")),
              ", ".join([*row["defects"], *row.get("remarks", [])]).replace("|", "\\|") or (row["message"] if row["status"] != "verified" else "")[:120].replace("|", "\\|")] for row in in_order(rows)]
    return text + piped(["task", "verdict", "claimed", "eager", "compile", "defects and remarks"], tasks) + "\n"


def page():
    text = "# KernelBench\n\n"
    text += ("This page has the results of `cudal1` on the tasks of [KernelBench](https://github.com/ScalingIntelligence/KernelBench). It is made from the rows in\n"
             "`tests/figures/kernelbench_results` by `python3 tests/figures/kernelbench_page.py`.\n\n"
             "- A ratio is a baseline's time divided by the answer's time, measured in pairs on one GPU.\n"
             "- `tried` is the number of tasks with a row. `timed` is the number of tasks with a right answer and a time of this baseline.\n"
             "- `fast_p` is the share of the tried tasks whose answer is right and more than p times as fast as the baseline.\n"
             "- *Best of these* is the fastest of a task's baselines.\n"
             "- Sound tasks are those in which `cudal1`'s task gate finds no defect (`man cudal1-kernelbench`).\n"
             "- Only odd-numbered tasks are here. The even-numbered ones are kept for verification, because `cudal1` was built with the odd ones in view.\n\n")
    found = [(path, path.stem.split("-")[0], read(path)) for path in sorted((HERE / "kernelbench_results").glob("*.jsonl"))]
    text += ("Geometric means over the sound tasks with an answer, by the built-in model, which needs no neural network. *main* are KernelBench's sizes of today, *v0* those of 2025:\n\n"
             + in_short([(name, sweeps) for _, name, sweeps in found if name != "answers"]) + "\n")
    for path, name, sweeps in found:
        text += claims_section(path, sweeps) if name == "answers" else sets_section(path, name, sweeps)
    return text + PUBLISHED.read_text(encoding="utf-8")


if __name__ == "__main__":
    made = page()
    if "--check" in sys.argv:
        if PAGE.read_text(encoding="utf-8") != made:
            sys.exit(f"{PAGE} is not what its rows give; make it with: python3 tests/figures/kernelbench_page.py")
        print("the page is what its rows give")
    else:
        PAGE.write_text(made, encoding="utf-8")
        print(PAGE)
