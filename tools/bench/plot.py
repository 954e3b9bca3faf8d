"""The ratios as a picture: an SVG without libraries. A bar a row, to the right where graphc is faster than the best
peer; a mark where the machine's limit is."""

from __future__ import annotations

import math
from xml.sax.saxutils import escape

import report

LEFT, RIGHT, STEP, TOP = 250, 600, 17, 60
SCALE = (0.1, 100.0)
AHEAD, BEHIND, LIMIT, INK, GRID = "#2a7f62", "#c0504d", "#333333", "#222222", "#dddddd"


def x_of(ratio: float) -> float:
    low, high = (math.log10(v) for v in SCALE)
    return LEFT + RIGHT * (min(max(math.log10(ratio), low), high) - low) / (high - low)


def bar(y: float, name: str, line: dict) -> list[str]:
    found = [f'<text x="{LEFT - 8}" y="{y + 10}" text-anchor="end">{escape(name)}</text>']
    if line["median"] is None:
        return found + [f'<text x="{x_of(1) + 6:.1f}" y="{y + 10}" fill="#888888">{escape(line["why"] or "not run")}</text>']
    if line["over_best"]:
        begin, end = sorted((x_of(1), x_of(line["over_best"])))
        colour = AHEAD if line["over_best"] >= 1 else BEHIND
        found.append(f'<rect x="{begin:.1f}" y="{y}" width="{max(end - begin, 1):.1f}" height="{STEP - 5}" fill="{colour}"/>')
        found.append(f'<text x="{max(end, x_of(1)) + 5:.1f}" y="{y + 10}">{report.times(line["over_best"])}'
                     f' {escape(line["best_name"])}</text>')
    if line["limit"] and line["best"]:
        at = x_of(line["best"] / line["limit"])
        found.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y - 1}" y2="{y + STEP - 4}" stroke="{LIMIT}" stroke-width="2.5"/>')
    return found


def svg(result: dict) -> str:
    """Of the largest thread count that was measured."""
    threads = max((t for row in result["rows"].values() for t in row["threads"]), key=int, default="1")
    chosen = [(name, report.figures(row, threads)) for name, row in result["rows"].items()]
    height = TOP + STEP * len(chosen) + 30
    width = LEFT + RIGHT + 160
    found = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
             f' font-family="sans-serif" font-size="11" fill="{INK}">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             f'<text x="{LEFT}" y="18" font-size="14">Time of the best peer / time of graphc, {threads} threads,'
             f' logarithmic</text>',
             f'<text x="{LEFT}" y="34">{escape(result["conditions"]["cpu"])}, {escape(result["conditions"]["date"])};'
             ' the mark is the limit of the machine</text>']
    tick = SCALE[0]
    while tick <= SCALE[1] * 1.01:
        for factor in (1, 2, 5):
            if tick * factor <= SCALE[1] * 1.01:
                at = x_of(tick * factor)
                colour = INK if abs(tick * factor - 1) < 1e-9 else GRID
                found.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 8}" y2="{height - 24}" stroke="{colour}"/>')
                found.append(f'<text x="{at:.1f}" y="{TOP - 12}" text-anchor="middle">{tick * factor:g}</text>')
        tick *= 10
    for i, (name, line) in enumerate(chosen):
        found += bar(TOP + STEP * i, name, line)
    return "\n".join([*found, "</svg>"]) + "\n"
