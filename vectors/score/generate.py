"""Writes the score vectors of this folder. Same input, same bytes: run it again and nothing changes.

    python3 vectors/score/generate.py

The arithmetic is that of section 21 in decimals of 60 digits, so what stands here is what any precision agrees on. A
history whose exact values lie too near a tie of the fourth decimal is not written: there two implementations may differ.
"""

import datetime
import json
import random
from decimal import ROUND_HALF_EVEN, Decimal, getcontext
from pathlib import Path

HERE = Path(__file__).resolve().parent
getcontext().prec = 60
DAY = 86_400_000_000
# 2026-10-01T01:01:09.606993+00:00
NOW = 1_790_816_469_606_993
Z = Decimal("1.959964")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def stamp(micros):
    return (EPOCH + datetime.timedelta(microseconds=micros)).isoformat(timespec="microseconds")


def line(sequence, micros, passed):
    members = {"sequence": sequence, "verified_at": stamp(micros), "result": "pass" if passed else "fail"}
    return json.dumps(members, separators=(",", ":"))


def exact(checks, half_life):
    newest = max(time for time, _ in checks)
    weights = [Decimal("0.5") ** (Decimal(newest - time) / DAY / half_life) for time, _ in checks]
    total = sum(weights)
    p = sum(weight for weight, (_, passed) in zip(weights, checks) if passed) / total
    n = total**2 / sum(weight**2 for weight in weights)
    scale = 1 + Z**2 / n
    centre = (p + Z**2 / (2 * n)) / scale
    half = Z / scale * (p * (1 - p) / n + Z**2 / (4 * n**2)).sqrt()
    return [p, max(Decimal(0), centre - half), min(Decimal(1), centre + half)]


def rounded(value):
    result = value.quantize(Decimal("0.0001"), ROUND_HALF_EVEN)
    assert abs(abs(value - result) - Decimal("0.00005")) > Decimal("1e-9"), f"{value} lies at a tie"
    return float(result)


def expected(checks, half_life):
    if not checks:
        nothing = ["trust_score", "confidence_interval_95", "first_seen", "last_seen"]
        return {name: None for name in nothing} | {"sample_size": 0, "passed": 0, "failed": 0}
    score, low, high = [rounded(value) for value in exact(checks, half_life)]
    passed = sum(passed for _, passed in checks)
    return {
        "trust_score": score,
        "confidence_interval_95": [low, high],
        "sample_size": len(checks),
        "passed": passed,
        "failed": len(checks) - passed,
        "first_seen": stamp(min(time for time, _ in checks)),
        "last_seen": stamp(max(time for time, _ in checks)),
    }


def good(why, checks, half_life=30, numbers=None):
    numbers = numbers or range(1, len(checks) + 1)
    lines = [line(number, time, passed) for number, (time, passed) in zip(numbers, checks)]
    return {
        "why": f"21: {why}",
        "input": {"half_life_days": half_life, "lines": lines},
        "expect": expected(checks, half_life),
    }


def aged(*ages):
    """Checks of these ages in days, in the order of their times."""
    checks = [(NOW - int(age * DAY), passed) for age, passed in ages]
    return sorted(checks)


def computed():
    yield good("no check, no data", [])
    yield good("worked: one pass at age 0", aged((0, True)))
    yield good("worked: ten at age 0, nine pass", aged(*[(0, index != 4) for index in range(10)]))
    yield good("worked: ages 0, 30, 60 with pass, fail, pass", aged((0, True), (30, False), (60, True)))
    four = aged((0, True), (30, True), (60, False), (90, False))
    yield good("worked: ages 0, 30, 60, 90 with pass, pass, fail, fail", four)
    yield good("the same a year ago: all weights scale alike", [(time - 365 * DAY, passed) for time, passed in four])
    yield good("the same by a half-life of 15 days", four, 15)
    yield good("the same by a half-life of 3650 days: nearly two of four", four, 3650)
    yield good("the same by a half-life of one day: the newest alone", four, 1)
    yield good("one fail", aged((0, False)))
    yield good("ten fails: the lower end is 0", aged(*[(day, False) for day in range(10)]))
    yield good("forty passes", aged(*[(day / 2, True) for day in range(40)]))
    yield good("a fail of half a day ago between passes", aged((0, True), (0.5, False), (1, True)))
    yield good("numbers with gaps: other receipts lie between", four, numbers=[3, 4, 1_000, 9_007_199_254_740_991])
    clocks = [(NOW, True), (NOW - 600_000_000, False), (NOW - 1, True)]
    yield good("times out of order: clocks of two nodes differ; the newest is the latest time, not the last line", clocks)
    yield good("one microsecond between two checks", [(NOW - 1, False), (NOW, True)])
    yield good("a check so old that its weight is nothing still counts", aged((2_000, False), (0, True)), 1)
    yield good("before 1970", [(-DAY, True), (-1, False)])
    draw = random.Random(21)
    written = 0
    while written < 40:
        count = draw.choice([2, 3, 5, 8, 13, 21, 34])
        times = sorted(NOW - draw.randrange(draw.choice([1, 40, 400, 1_800]) * DAY) for _ in range(count))
        jitter = draw.choice([0, 600_000_000])
        share = draw.random()
        checks = [(time - (draw.randrange(jitter) if jitter else 0), draw.random() < share) for time in times]
        half_life = draw.choice([1, 7, 30, 30, 90, 3_650])
        try:
            case = good(f"history {written + 1} of {count} checks", checks, half_life)
        except AssertionError:
            continue
        written += 1
        yield case


def refused():
    first, second = line(1, NOW - DAY, True), line(2, NOW, False)

    def bad(why, lines, number):
        return {"why": f"21: {why}", "input": {"half_life_days": 30, "lines": lines}, "expect": {"refused": {"line": number}}}

    yield bad("two checks of one number", [first, first], 2)
    yield bad("numbers that descend", [second, first], 2)
    yield bad("an empty line", [first, "", second], 2)
    yield bad("two checks on one line", [first + second], 1)
    yield bad("an array of checks", [f"[{first},{second}]"], 1)
    for why, old, new in (
        ("a sequence of 0", '"sequence":1', '"sequence":0'),
        ("a negative sequence", '"sequence":1', '"sequence":-1'),
        ("a sequence with a point", '"sequence":1', '"sequence":1.0'),
        ("a sequence with an exponent", '"sequence":1', '"sequence":1e0'),
        ("a sequence in a string", '"sequence":1', '"sequence":"1"'),
        ("a sequence of 2^53", '"sequence":1', '"sequence":9007199254740992'),
        ("a time with Z", "+00:00", "Z"),
        ("a time in another zone", "+00:00", "+01:00"),
        ("a time of milliseconds", "606993", "606"),
        ("a day that does not exist", "09-30T", "09-31T"),
        ("a result in capitals", '"pass"', '"PASS"'),
        ("a result that is true", '"pass"', "true"),
        ("no result", ',"result":"pass"', ""),
        ("a member more", "}", ',"agent_id":"a"}'),
        ("two results", "}", ',"result":"fail"}'),
    ):
        assert old in first, why
        yield bad(why, [first.replace(old, new, 1)], 1)


def write(name, cases):
    text = json.dumps(list(cases), indent=2, ensure_ascii=True)
    (HERE / f"{name}.json").write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    write("computed", computed())
    write("refused", refused())
