#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicted against measured time as an SVG, one mark per kernel, a colour per family.

  scatter.py POINTS OUT.svg     # POINTS as `time_model fit` writes them
"""
import math
import sys

rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
points = [(family, member, float(measured) * 1e6, float(predicted) * 1e6) for family, member, measured, predicted in rows]
families = list(dict.fromkeys(point[0] for point in points))
low = 10 ** math.floor(math.log10(min(min(p[2], p[3]) for p in points)))
high = 10 ** math.ceil(math.log10(max(max(p[2], p[3]) for p in points)))
size, left, top = 560, 60, 20


def place(value):
    return (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low)) * size


out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + size + 190}" height="{top + size + 50}" font-family="sans-serif" font-size="11">',
       '<rect width="100%" height="100%" fill="white"/>']
value = low
while value <= high * 1.001:
    at = place(value)
    out.append(f'<path d="M{left} {top + size - at:.1f}h{size}M{left + at:.1f} {top}v{size}" stroke="#ddd" fill="none"/>')
    out.append(f'<text x="{left - 6}" y="{top + size - at + 4:.1f}" text-anchor="end">{value:g}</text>')
    out.append(f'<text x="{left + at:.1f}" y="{top + size + 16}" text-anchor="middle">{value:g}</text>')
    value *= 10
for factor, dash in ((1, ""), (1.5, "4 3"), (1 / 1.5, "4 3")):
    shift = place(low * factor)
    start, end = max(0, -shift), min(size, size - shift)
    out.append(f'<path d="M{left + start:.1f} {top + size - start - shift:.1f}L{left + end:.1f} {top + size - end - shift:.1f}" '
               f'stroke="#999" fill="none" stroke-dasharray="{dash}"/>')
for index, family in enumerate(families):
    colour = f"hsl({index * 360 // len(families)},{70 if index % 2 else 50}%,{40 if index % 3 else 55}%)"
    for _, member, measured, predicted in (p for p in points if p[0] == family):
        out.append(f'<circle cx="{left + place(measured):.1f}" cy="{top + size - place(predicted):.1f}" r="3" fill="{colour}" fill-opacity="0.8">'
                   f"<title>{family} {member}: {measured:.1f} measured, {predicted:.1f} predicted</title></circle>")
    out.append(f'<circle cx="{left + size + 20}" cy="{top + 10 + index * 18}" r="4" fill="{colour}"/>'
               f'<text x="{left + size + 30}" y="{top + 14 + index * 18}">{family}</text>')
out.append(f'<text x="{left + size / 2}" y="{top + size + 36}" text-anchor="middle">measured on an H200 [µs]; dashed: 1.5 times off</text>')
out.append(f'<text transform="translate(14 {top + size / 2}) rotate(-90)" text-anchor="middle">predicted, its family left out [µs]</text>')
out.append("</svg>")
open(sys.argv[2], "w").write("\n".join(out) + "\n")
