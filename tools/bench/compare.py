"""Whether graphc became slower than an earlier run says: `--against FILE`."""

from __future__ import annotations


def bound(noise: float, *entries: dict) -> float:
    """A change up to this counts as noise: the stated one, or four times how far the rounds of the two runs spread
    (median absolute deviation), whichever is larger."""
    return max(noise, 4 * sum(e.get("spread", 0.0) for e in entries))


def ratio(new: dict, old: dict) -> float | None:
    """How much longer graphc takes. Where both runs measured the machine's limit for the row, the machine's own change
    is taken out; of median and minimum the milder counts, so that one disturbed round is no regression."""
    mine, then = new.get("graphc", {}), old.get("graphc", {})
    if "median_ms" not in mine or "median_ms" not in then:
        return None
    change = min(mine["median_ms"] / then["median_ms"], mine["min_ms"] / then["min_ms"])
    limits = new.get("limit", {}).get("min_ms"), old.get("limit", {}).get("min_ms")
    machine = limits[0] / limits[1] if all(limits) else 1.0
    return change / max(1.0, machine)


def compare(new: dict, old: dict, noise: float) -> tuple[list[str], list[str]]:
    """(regressions, improvements), as lines of text. Rows of one run alone are no regression; a row that had a result
    and has none now is."""
    worse, better = [], []
    for name, row in new["rows"].items():
        for threads, entries in row["threads"].items():
            before = old["rows"].get(name, {}).get("threads", {}).get(threads)
            if before is None:
                continue
            label = f"{name}, {threads} thread{'s' if threads != '1' else ''}"
            mine = entries.get("graphc", {})
            if mine.get("wrong") or ("median_ms" in before.get("graphc", {}) and "median_ms" not in mine):
                why = mine.get("wrong") or mine.get("error") or mine.get("missing")
                worse.append(f"{label}: no result any more ({why})")
                continue
            change = ratio(entries, before)
            if change is None:
                continue
            allowed = bound(noise, mine, before["graphc"])
            line = (f"{label}: {before['graphc']['median_ms']:.4g} -> {mine['median_ms']:.4g} ms, {change:.2f}x"
                    f" (noise bound {1 + allowed:.2f}x)")
            if change > 1 + allowed:
                worse.append(line)
            elif change < 1 / (1 + allowed):
                better.append(line)
    for name, cost in new.get("costs", {}).items():
        before = old.get("costs", {}).get(name, {})
        if "median" in cost and "median" in before:
            change = min(cost["median"] / before["median"], cost["min"] / before["min"])
            line = f"{name}: {before['median']:.3g} -> {cost['median']:.3g} {cost['unit']}, {change:.2f}x"
            if change > 1 + max(noise, 0.25):  # processes start with more spread than loops run
                worse.append(line)
    return worse, better
