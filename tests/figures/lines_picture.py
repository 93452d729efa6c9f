# SPDX-License-Identifier: Apache-2.0
"""lines_picture.py TIMES... > lines/h200.svg: PyTorch's times over the playbook's, a bar for eager and a tick for
torch.compile, from the rows that candidate_times.py writes."""
import html
import json
import math
import sys

ROW, LEFT, WIDTH, LOW, HIGH = 15, 290, 860, 0.5, 32


def place(ratio):
    share = math.log(min(max(ratio, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return LEFT + share * (WIDTH - LEFT - 60)


def ratios(paths):
    for path in paths:
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            right = [member["ms"] for member in row.get("members", []) if member.get("right")]
            if right:
                yield row["task"], row["eager_ms"] / min(right), row["compile_ms"] / min(right) if "compile_ms" in row else None


def main():
    rows = sorted(ratios(sys.argv[1:]), key=lambda row: -row[1])
    height = ROW * (len(rows) + 3)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11" fill="#6e7781">')
    print(f'<text x="8" y="{ROW}">PyTorch\'s time over ours: bar eager, tick torch.compile (H200, float32)</text>')
    for mark in (0.5, 1, 2, 4, 8, 16, 32):
        print(f'<path d="M{place(mark):.1f} {ROW * 2}V{height - ROW}" stroke="#6e7781" stroke-opacity="{0.9 if mark == 1 else 0.25}"/>'
              f'<text x="{place(mark):.1f}" y="{ROW * 1.8:.1f}" text-anchor="middle">{mark:g}x</text>')
    for index, (task, eager, compiled) in enumerate(rows):
        y = ROW * (index + 2) + 3
        begin, end = sorted((place(1), place(eager)))
        print(f'<text x="{LEFT - 8}" y="{y + 9}" text-anchor="end">{html.escape(task)}</text>'
              f'<rect x="{begin:.1f}" y="{y}" width="{max(1, end - begin):.1f}" height="{ROW - 5}" fill="{"#2f81f7" if eager >= 1 else "#d1572a"}"/>'
              f'<text x="{max(end, place(compiled or 1)) + 6:.1f}" y="{y + 9}">{eager:.2f}</text>')
        if compiled:
            print(f'<path d="M{place(compiled):.1f} {y - 2}v{ROW - 1}" stroke="#d29922" stroke-width="2.5"/>')
    print("</svg>")


if __name__ == "__main__":
    main()
