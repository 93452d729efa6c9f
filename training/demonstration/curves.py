# SPDX-License-Identifier: Apache-2.0
"""Lines in an SVG, so that the figures need no library."""
from __future__ import annotations

from typing import Sequence

COLOURS = ("#1f6feb", "#d1570b", "#2da44e", "#8250df")
WIDTH, HEIGHT, LEFT, TOP = 300, 180, 50, 40


def panel(at: int, title: str, below: str, lines: dict[str, Sequence[tuple[float, float]]]) -> str:
    points = [point for line in lines.values() for point in line]
    if not points:
        return ""
    x0, x1 = min(x for x, _ in points), max(x for x, _ in points)
    y0, y1 = min(min(y for _, y in points), 0), max(y for _, y in points)
    left = at * (WIDTH + LEFT + 20) + LEFT

    def place(x: float, y: float) -> str:
        return f"{left + WIDTH * (x - x0) / ((x1 - x0) or 1):.1f},{TOP + HEIGHT * (1 - (y - y0) / ((y1 - y0) or 1)):.1f}"

    parts = [f'<text x="{left}" y="{TOP - 22}" font-weight="bold">{title}</text>', f'<path d="M{left} {TOP}v{HEIGHT}h{WIDTH}" fill="none" stroke="#888"/>',
             f'<text x="{left - 6}" y="{TOP + 4}" text-anchor="end">{y1:.3g}</text>', f'<text x="{left - 6}" y="{TOP + HEIGHT + 4}" text-anchor="end">{y0:.3g}</text>',
             f'<text x="{left + WIDTH}" y="{TOP + HEIGHT + 16}" text-anchor="end">{below} {x1:g}</text>']
    for i, (name, line) in enumerate(lines.items()):
        parts.append(f'<polyline fill="none" stroke="{COLOURS[i]}" stroke-width="1.5" points="{" ".join(place(*point) for point in line)}"/>')
        parts.append(f'<text x="{left + 8 + 130 * i}" y="{TOP - 6}" fill="{COLOURS[i]}">{name}</text>')
    return "".join(parts)


def picture(panels: Sequence[tuple[str, str, dict[str, Sequence[tuple[float, float]]]]]) -> str:
    width = len(panels) * (WIDTH + LEFT + 20) + 20
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 30}" font-family="sans-serif" font-size="11" fill="#555">'
            + "".join(panel(i, *each) for i, each in enumerate(panels)) + "</svg>\n")
