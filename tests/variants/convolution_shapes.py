# SPDX-License-Identifier: Apache-2.0
"""Convolutions of many shapes: which of them the built-in model gives Hopper's warpgroups, and whether each of its kernels is right.

  convolution_shapes.py lines > FILE.cu               # the table below as torch lines
  convolution_shapes.py BUILD [--only NAME] [--part I/N]

The second executes every kernel with wgmma (it includes hopper.cuh) that the model writes for a row on the simulator, at the row's sizes and at others, and holds it
against the line in double precision (every_variant of BUILD). It writes the rows as Markdown: how many variants are right. It fails where one is
wrong, and where a row that says `yes` has no such kernel, or one that says `no` has. --part takes every Nth row."""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAIVE = HERE.parent / "figures" / "lines" / "naive.cuh"
AXES = "DHW"
COLUMNS = "name kind batch channels results extents taps stride padding dilation groups output_padding warpgroups"
# Few channels of a group, and strides of very many phases, have other kernels: `no`.
SHAPES = """
one_axis              direct      2   24   40  37        3      1      1      1      1  0      yes
one_axis_long         direct      1   16   16  300       5      1      2      1      1  0      yes
one_axis_strided      direct      2   19   21  41        4      2      1      1      1  0      yes
one_axis_stride_3     direct      2   32   17  50        5      3      2      1      1  0      yes
one_axis_stride_4     direct      3   16   16  61        8      4      3      1      1  0      yes
one_axis_dilated      direct      2   33   35  45        3      1      4      4      1  0      yes
one_axis_both         direct      2   32   24  63        3      2      3      3      1  0      yes
one_axis_groups       direct      2   40   48  29        3      2      1      2      2  0      yes
odd_channels          direct      2   19   21  9x11      3x3    1      1      1      1  0      yes
prime_channels        direct      1   37   53  7x13      3x3    1      1      1      1  0      yes
many_channels         direct      1   130  70  6x7       3x3    1      1      1      1  0      yes
many_results          direct      1   16   200 6x7       3x3    1      1      1      1  0      yes
one_tap               direct      2   24   24  8x9       1x1    1      0      1      1  0      yes
one_tap_strided       direct      2   24   24  9x9       1x1    2      0      1      1  0      yes
one_tap_padded        direct      2   24   24  7x6       1x1    1      1      1      1  0      yes
no_padding            direct      2   20   28  8x8       3x3    1      0      1      1  0      yes
wide_padding          direct      2   17   18  5x6       3x3    1      5      1      1  0      yes
even_taps             direct      2   18   22  9x8       2x4    1      1      1      1  0      yes
one_row_of_taps       direct      2   24   20  8x17      1x7    1      0x3    1      1  0      yes
one_column_of_taps    direct      2   24   20  17x8      7x1    1      3x0    1      1  0      yes
as_large_as_input     direct      3   16   24  5x7       5x7    1      0      1      1  0      yes
strided               direct      2   24   32  11x13     3x3    2      1      1      1  0      yes
strided_unevenly      direct      2   22   26  12x11     3x5    2x1    1x2    1      1  0      yes
strided_1_2           direct      2   22   26  10x15     5x3    1x2    2x1    1      1  0      yes
strided_odd_padding   direct      2   19   23  13x12     4x3    2      2x1    1      1  0      yes
strided_padding_0_1   direct      2   32   16  13x14     3x3    2      0x1    1      1  0      yes
strided_padding_3     direct      1   32   32  14x15     7x7    2      3      1      1  0      yes
stride_4_1            direct      1   16   24  21x9      6x3    4x1    1      1      1  0      yes
stride_3_both         direct      1   24   24  16x17     5x5    3      2      1      1  0      yes
stride_4_both         direct      1   24   24  17x19     5x5    4      2      1      1  0      no
stride_10             direct      1   24   24  151       20     10     3      1      1  0      yes
stride_beyond_taps    direct      1   24   24  15x16     2x2    4x1    0      1      1  0      yes
dilated               direct      2   24   32  11x12     3x3    1      2      2      1  0      yes
dilated_unevenly      direct      2   21   19  13x14     3x2    1      3x0    3x2    1  0      yes
dilated_strided       direct      1   24   24  17x16     3x3    2      2      2      1  0      yes
dilated_strided_3_2   direct      1   20   24  19x18     3x3    2      3x1    3x2    1  0      yes
groups                direct      2   48   64  9x8       3x3    1      1      1      2  0      yes
groups_odd            direct      2   57   69  7x9       3x3    1      1      1      3  0      yes
groups_strided        direct      1   64   64  10x11     3x3    2      1      1      4  0      yes
groups_of_eight       direct      2   32   32  8x8       3x3    1      1      1      4  0      no
three_channels        direct      2   3    32  9x9       3x3    1      1      1      1  0      no
depthwise             direct      2   24   24  9x9       3x3    1      1      1      24 0      no
multiplier            direct      2   8    24  9x9       3x3    1      1      1      8  0      no
three_axes            direct      1   18   20  4x5x7     3x3x3  1      1      1      1  0      yes
three_axes_uneven     direct      1   24   16  5x6x7     1x3x2  1      0x1x0  1      1  0      yes
three_axes_strided_1  direct      1   16   24  7x6x9     3x3x3  2x1x2  1      1      1  0      yes
three_axes_strided    direct      1   16   24  7x8x9     3x3x3  2      1      1      1  0      yes
three_axes_dilated    direct      1   16   16  6x7x7     2x2x3  1      1x1x2  2x1x2  1  0      yes
three_axes_groups     direct      1   36   40  4x5x6     3x3x3  1      1      1      2  0      yes
back_one_axis         transposed  2   24   20  21        4      2      1      1      1  0      yes
back_one_axis_dilated transposed  2   19   33  19        3      3      2      2      1  1      yes
back                  transposed  2   24   32  7x8       3x3    1      1      1      1  0      yes
back_strided          transposed  2   19   21  6x7       3x3    2      1      1      1  1      yes
back_strided_unevenly transposed  1   24   24  6x5       3x5    2x3    1x2    1      1  1x2    yes
back_dilated          transposed  1   24   24  6x7       3x3    1      2      2      1  0      yes
back_both             transposed  1   20   24  6x7       3x3    2      1      3      1  1      yes
back_stride_5         transposed  1   32   32  5x4       3x3    5      1      2      1  0      yes
back_beyond_taps      transposed  1   16   24  5x6       2x2    3      0      1      1  0      yes
back_groups           transposed  1   48   34  6x7       3x3    2      1      1      2  0      yes
back_three_axes       transposed  1   16   18  3x4x5     3x3x3  2      1      1      1  1      yes
back_three_axes_mixed transposed  1   17   16  4x3x5     3x2x3  1x2x1  1x0x1  2x1x1  1  0      yes
"""
Shape = collections.namedtuple("Shape", COLUMNS)


def shapes():
    for row in SHAPES.strip().splitlines():
        one = Shape(*row.split())
        each = lambda text: tuple(int(part) for part in text.split("x"))
        axes = len(each(one.extents))
        along = {name: each(getattr(one, name)) * (axes if "x" not in getattr(one, name) else 1) for name in ("taps", "stride", "padding", "dilation", "output_padding")}
        yield one._replace(batch=int(one.batch), channels=int(one.channels), results=int(one.results), extents=each(one.extents), groups=int(one.groups), **along)


def results_of(one, axis, extent):
    """As an expression of the size that `extent` names."""
    taps, stride, padding, dilation, more = (getattr(one, name)[axis] for name in ("taps", "stride", "padding", "dilation", "output_padding"))
    reach = dilation * (taps - 1)
    if one.kind == "transposed":
        return f"({extent} - 1) * {stride} + {reach + 1 + more - 2 * padding}"
    return f"({extent} + {2 * padding - reach - 1}) / {stride} + 1"


def line(one):
    """The shape as a task; its sizes are checked, and others."""
    axes = len(one.extents)
    names = AXES[3 - axes:]
    torch = f"F.conv{'_transpose' if one.kind == 'transposed' else ''}{axes}d(X, weight"
    for name in ("stride", "padding", "dilation", "output_padding"):
        if any(getattr(one, name)) and (name != "output_padding" or one.kind == "transposed"):
            torch += f", {name}=({', '.join(map(str, getattr(one, name)))},)" if axes == 1 else f", {name}={getattr(one, name)}"
    torch += f", groups={one.groups})"
    derived = ", ".join(f"O{name} = {results_of(one, axis, name)}" for axis, name in enumerate(names))

    def sizes(batch, channels, results, extents):
        return f"B = {batch}, C = {channels}, O = {results}, {', '.join(f'{name} = {extent}' for name, extent in zip(names, extents))}"

    # Some channels more where a group has several, other extents, one sample more.
    more = one.groups if one.channels > one.groups else 0
    other = sizes(one.batch + 1, one.channels + 3 * more, one.results + 5 * one.groups, [extent + 1 + axis for axis, extent in enumerate(one.extents)])
    weight = f"C, O / {one.groups}" if one.kind == "transposed" else f"O, C / {one.groups}"
    all_axes = lambda name, without: ", ".join(map(str, (without,) * (3 - axes) + getattr(one, name)))
    template = ", ".join([all_axes("stride", 1), all_axes("padding", 0), all_axes("dilation", 1), all_axes("taps", 1), str(one.groups)])
    inputs, outputs = (", ".join(["1"] * (3 - axes) + [prefix + name for name in names]) for prefix in ("", "O"))
    return f"""//@ task    {one.name}
//@ torch   Y = {torch}
//@ size    {sizes(one.batch, one.channels, one.results, one.extents)}, {derived}
//@ check   {sizes(one.batch, one.channels, one.results, one.extents)}
//@ check   {other}
//@ input   X: float32[B, C, {', '.join(names)}]
//@ input   weight: float32[{weight}, {', '.join(map(str, one.taps))}] ~ uniform(-0.1, 0.1)
//@ output  Y: float32[B, O, {', '.join('O' + name for name in names)}]
//@ launch  {'transposed' if one.kind == 'transposed' else 'convolved'}<{template}><<<ceil_div(B * O * {' * '.join('O' + name for name in names)}, 256), 256>>>(X, weight, Y, B, C, O, {inputs}, {outputs})
"""


def program(build, name):
    return str(next(path for path in pathlib.Path(build).rglob(name) if path.is_file()))


def examine(build, chosen):
    program = next(path for path in pathlib.Path(build).rglob("every_variant") if path.is_file())
    with tempfile.TemporaryDirectory() as place:
        lines = pathlib.Path(place) / "shapes.cu"
        lines.write_text("\n".join(map(line, chosen)))
        done = subprocess.run([str(program), "--label", "warpgroups", "--holds", "hopper.cuh", "--at-least", "0", "--verbose", str(NAIVE), str(lines)], stdout=subprocess.PIPE, text=True)
    said = done.stdout.splitlines()
    print("| shape | right in float32 | in TF32 | wrong |\n| --- | ---: | ---: | ---: |")
    unexpected = []
    for one in chosen:
        right = {precision: sum(text.startswith(f"RIGHT: {one.name} {precision}: ") for text in said) for precision in ("fp32", "tf32")}
        wrong = sum(text.startswith(f"WRONG: {one.name} ") for text in said)
        print(f"| {one.name} | {right['fp32']} | {right['tf32']} | {wrong} |")
        if not wrong and (one.warpgroups == "yes") != all(right.values()):
            unexpected.append(f"{one.name}: wgmma in both precisions was expected: {one.warpgroups}")
    print(*(text for text in said if text.startswith("WRONG")), *unexpected, said[-1] if said else "", sep="\n", file=sys.stderr)
    return 77 if done.returncode == 77 else 1 if done.returncode or unexpected else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", metavar="BUILD|lines")
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--part", default="1/1", metavar="I/N")
    options = parser.parse_args()
    turn, of = map(int, options.part.split("/"))
    chosen = [one for number, one in enumerate(shapes()) if number % of == turn - 1 and options.only in (None, one.name)]
    if options.what == "lines":
        return print("\n".join(map(line, chosen)))
    sys.exit(examine(options.what, chosen))


if __name__ == "__main__":
    main()
