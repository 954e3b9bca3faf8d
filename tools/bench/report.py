"""What a measured row says: graphc beside the best peer and the machine's limit, as text, as Markdown and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

# Contenders that write into an array their caller keeps: counted among the best, but not what targets are set against,
# which are peers that give a new result as graphc does, and NumPy.
GIVEN_OUTPUT = ("numba out=", "torch.compile out=")
OWN = ("graphc", "limit")


def milliseconds(value: float | None) -> str:
    if value is None:
        return "-"
    if value < 0.1:
        return f"{1e3 * value:.2f} us"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


def best_peer(entries: dict, given_output: bool = True) -> tuple[str, float] | tuple[None, None]:
    """The fastest peer whose result is right: (name, median in ms)."""
    found = [(e["median_ms"], name) for name, e in entries.items() if name not in OWN and "median_ms" in e
             and not e.get("wrong") and (given_output or name not in GIVEN_OUTPUT)]
    return (min(found)[1], min(found)[0]) if found else (None, None)


def figures(row: dict, threads: str) -> dict:
    """The line of a row and thread count."""
    entries = row["threads"].get(threads, {})
    own, limit = entries.get("graphc", {}), entries.get("limit", {})
    limit = None if limit.get("wrong") else limit.get("median_ms")
    name, best = best_peer(entries)
    _, fresh = best_peer(entries, given_output=False)
    median = None if own.get("wrong") else own.get("median_ms")
    return {"median": median, "min": own.get("min_ms"), "gb_s": own.get("gb_s"), "gflop_s": own.get("gflop_s"),
            "best_name": name, "best": best, "limit": limit, "over_best": median and best and best / median,
            "over_fresh": median and fresh and fresh / median, "of_limit": median and limit and median / limit,
            "why": own.get("wrong") or own.get("missing") or own.get("error")}


def verdict(row: dict, threads: str) -> str:
    """`ahead` or `BEHIND` the best peer, and which targets are missed."""
    line, entries = figures(row, threads), row["threads"].get(threads, {})
    if line["median"] is None:
        return line["why"] or "not run"
    words = [] if line["over_best"] is None else ["ahead" if line["over_best"] >= 1 else "BEHIND"]
    for what, value in row["target"].items():
        if what == "limit":
            missed = line["of_limit"] and line["of_limit"] > value and f"limit {times(line['of_limit'])} > {value}x"
        elif what == "best":
            missed = line["over_fresh"] and line["over_fresh"] < value and f"best {times(line['over_fresh'])} < {value}x"
        elif what == "us":
            missed = 1e3 * line["median"] > value and f"{1e3 * line['median']:.2f} > {value} us"
        else:
            other = entries.get(what, {}).get("median_ms")
            missed = other and other / line["median"] < value and f"{what} {times(other / line['median'])} < {value}x"
        words += [f"target missed: {missed}"] if missed else []
    return ", ".join(words)


HEAD = ("row", "threads", "graphc ms", "min", "rate", "best peer", "ms", "best/graphc", "limit ms", "graphc/limit", "")


def cells(name: str, row: dict, threads: str) -> tuple:
    line = figures(row, threads)
    rate = f"{line['gflop_s']:.0f} GFLOP/s" if line["gflop_s"] else f"{line['gb_s']:.1f} GB/s" if line["gb_s"] else ""
    return (name, threads, milliseconds(line["median"]), milliseconds(line["min"]), rate, line["best_name"] or "-",
            milliseconds(line["best"]), times(line["over_best"]), milliseconds(line["limit"]), times(line["of_limit"]),
            verdict(row, threads))


def lines(result: dict) -> list[tuple]:
    found = [HEAD]
    for name, row in result["rows"].items():
        found += [cells(name, row, threads) for threads in sorted(row["threads"], key=int, reverse=True)]
    return found


def text(result: dict) -> str:
    table = lines(result)
    widths = [max(len(line[i]) for line in table) for i in range(len(HEAD) - 1)]
    return "\n".join("  ".join([c.ljust(w) if i in (0, 5) else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))]
                               + [line[-1]]).rstrip() for line in table)


def detail(result: dict) -> str:
    """Every contender of every row."""
    found = []
    for name, row in result["rows"].items():
        for threads, entries in row["threads"].items():
            found.append(f"{name}, {threads} thread{'s' if threads != '1' else ''}")
            for contender, e in sorted(entries.items(), key=lambda item: item[1].get("median_ms", float("inf"))):
                why = e.get("wrong") and f"WRONG: {e['wrong']}" or e.get("missing") or e.get("error") or ""
                spread = f"+-{100 * e['spread']:.0f} %" if "spread" in e else ""
                found.append(f"    {contender:<20}{milliseconds(e.get('median_ms')):>10}{milliseconds(e.get('min_ms')):>10}"
                             f"{spread:>8}{e.get('rounds', 0):>4} rounds   {why}".rstrip())
    return "\n".join(found)


def cost_lines(result: dict) -> list[tuple]:
    found = [("cost of graphc itself", "median", "min", "target", "")]
    for name, c in result.get("costs", {}).items():
        if "median" not in c:
            found.append((name, "-", "-", "", c["why"]))
            continue
        unit, target = c["unit"], c.get("target")
        mark = "" if target is None else "held" if c["median"] <= target else "missed"
        found.append((name, f"{c['median']:.2f} {unit}", f"{c['min']:.2f} {unit}",
                      f"<= {target} {unit}" if target is not None else "", mark))
    return found


def costs(result: dict) -> str:
    return "\n".join(f"{a:<44}{b:>12}{c:>12}{d:>14}  {e}".rstrip() for a, b, c, d, e in cost_lines(result))


def markdown(result: dict) -> str:
    """The tables for a page."""
    def table(rows):
        head, *body = [["" if c is None else str(c).replace("|", "\\|") for c in line] for line in rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *body))

    parts = [table(lines(result))] if result["rows"] else []
    return "\n\n".join(parts + ([table(cost_lines(result))] if result.get("costs") else [])) + "\n"


def load(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def save(path: Path, result: dict) -> None:
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def merge(old: dict, new: dict) -> dict:
    """Rows measured anew replace their namesakes for the thread counts of the new run, whose conditions hold."""
    rows = {name: {**row, "threads": {**old["rows"].get(name, row)["threads"], **row["threads"]}} for name, row in new["rows"].items()}
    return {"conditions": {**new["conditions"], "versions": {**old["conditions"]["versions"], **new["conditions"]["versions"]}},
            "rows": {**old["rows"], **rows}, "costs": {**old.get("costs", {}), **new.get("costs", {})}}
