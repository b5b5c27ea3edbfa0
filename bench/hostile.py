#!/usr/bin/env python3
"""Sends hostile requests, one at a time, and tells what each one costs the server.

    hostile.py [--binary FILE] [--only WORD]

Each goes to a server just started. It fails where an answer is not 200 or 4xx, where a request takes more than
250 ms of CPU (all threads, user and system), where the peak of memory is more than 64 MiB above the server at
rest, or where the server no longer answers the golden invoice afterwards. At the end one server gets all of them,
three times over, and fails if its memory still grows in the third round. Every body fits the 1 MiB limit.
Standard library only; Linux only.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import server

CPU_MS_MAX = 250
MEMORY_MIB_MAX = 64
GROWTH_MIB_MAX = 16
ROUNDS = 3
BODY_BYTES_MAX = 1 << 20
DRAFT = server.VECTORS / "invoice-draft.request.json"

CASES = {}


def case(name):
    """Registers a request: what the function gives is the demand's parts, or the raw body."""

    def register(make):
        CASES[name] = make
        return make

    return register


def ask(schema=None, output=None, rules=None, bounds=None, **more):
    request = {"task_id": "hostile", "expected_schema": {} if schema is None else schema, "submitted_output": output}
    request |= {name: value for name, value in [("rules", rules), ("bounds", bounds)] if value is not None}
    return compact(request | more)


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def raw(output, schema="{}", rest=""):
    """A request whose output is given as text, for what json.dumps would not write."""
    return f'{{"task_id":"hostile","expected_schema":{schema},"submitted_output":{output}{rest}}}'


def nest(levels, inner, name=None):
    for _ in range(levels):
        inner = [inner] if name is None else {name: inner}
    return inner


def defs(count, link, last):
    """A chain of `count` definitions, each made of references to the next; the root is the first."""
    chain = {f"d{number}": link({"$ref": f"#/$defs/d{number + 1}"}) for number in range(count)}
    return {"$ref": "#/$defs/d0", "$defs": chain | {f"d{count}": last}}


# References that multiply.

for levels in [18, 20, 24, 40, 250]:
    case(f"$ref doubling by allOf, {levels} levels")(
        lambda levels=levels: ask(defs(levels, lambda r: {"allOf": [r, r]}, {"type": "integer"}), 1)
    )
for keyword in ["anyOf", "oneOf"]:
    case(f"$ref doubling by {keyword}, 40 levels, no match")(
        lambda keyword=keyword: ask(defs(40, lambda r: {keyword: [r, r]}, {"type": "string"}), 1)
    )
case("$ref doubling by not, if and contains")(
    lambda: ask(defs(40, lambda r: {"if": r, "then": r, "else": r}, {"not": {"type": "string"}}), 1)
)
for levels in [18, 24, 200]:
    case(f"nested allOf and unevaluatedProperties, {levels} levels")(
        lambda levels=levels: ask(
            defs(levels, lambda r: {"allOf": [r], "unevaluatedProperties": False}, {"properties": {"a": {}}}), {"a": 1}
        )
    )
case("doubled allOf and unevaluatedProperties, 40 levels")(
    lambda: ask(
        defs(40, lambda r: {"allOf": [r, r], "unevaluatedProperties": False}, {"properties": {"a": {}}}), {"a": 1}
    )
)
case("nested allOf and unevaluatedProperties inline, 30 levels")(
    lambda: ask(unevaluated_inline(30), {"a": 1})
)
case("unevaluatedProperties as a schema, 20 levels over 2,000 members")(
    lambda: ask(
        defs(20, lambda r: {"anyOf": [r, {}], "unevaluatedProperties": {"type": "integer"}}, {"minProperties": 1}),
        {f"m{number}": number for number in range(2_000)},
    )
)
case("unevaluatedItems over contains, 100 levels, 5,000 elements")(
    lambda: ask(
        defs(100, lambda r: {"allOf": [r], "contains": {"const": 1}, "unevaluatedItems": False}, {}), list(range(5_000))
    )
)


def unevaluated_inline(levels):
    schema = {"properties": {"a": {}}}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


for depth in [8, 14, 30, 60]:
    case(f"properties and allOf both to the next definition, output {depth} deep")(
        lambda depth=depth: ask(
            defs(60, lambda r: {"properties": {"a": r}, "allOf": [r]}, {"type": "object"}), nest(depth, {}, "a")
        )
    )
case("a chain of 4,000 references")(lambda: ask(defs(4_000, lambda r: r, {"type": "integer"}), 1))
case("a chain of 2,000 references in allOf")(lambda: ask(defs(2_000, lambda r: {"allOf": [r]}, {}), 1))
case("a chain of 20,000 references that nobody visits")(
    lambda: ask(defs(20_000, lambda r: r, {}) | {"$ref": "#/$defs/d20000"}, 1)
)
case("a reference to itself")(lambda: ask({"$ref": "#"}, 1))
case("an empty reference")(lambda: ask({"$ref": ""}, 1))
case("two references in a circle")(
    lambda: ask({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, 1)
)
case("$dynamicRef to itself")(lambda: ask({"$dynamicAnchor": "a", "$dynamicRef": "#a"}, 1))
case("$recursiveRef to itself")(
    lambda: ask({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": True, "$recursiveRef": "#"}, 1)
)
case("a circle through allOf, doubled")(lambda: ask({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}, 1))
case("a tree that recurs twice per level, output 62 deep")(
    lambda: ask({"allOf": [{"additionalProperties": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]}, nest(62, {}, "a"))
)
case("$dynamicRef through 1,000 resources")(
    lambda: ask(
        {
            "$id": "urn:r",
            "$ref": "urn:r0",
            "$defs": {
                f"d{n}": {"$id": f"urn:r{n}", "$dynamicAnchor": "x", "allOf": [{"$ref": f"urn:r{n + 1}"}, {"$dynamicRef": "#x"}]}
                for n in range(1_000)
            }
            | {"end": {"$id": "urn:r1000"}},
        },
        1,
    )
)
case("10,000 anchors and as many references")(
    lambda: ask(
        {
            "$defs": {f"d{n}": {"$anchor": f"a{n}"} for n in range(10_000)},
            "allOf": [{"$ref": f"#a{n}"} for n in range(10_000)],
        },
        1,
    )
)
case("5,000 nested $id resources")(
    lambda: ask({"$defs": {f"d{n}": {"$id": f"http://example.com/{'a/' * 30}{n}", "$ref": "../../x"} for n in range(5_000)}}, 1)
)
case("a reference to somewhere else")(lambda: ask({"$ref": "http://127.0.0.1:9/x"}, 1))
case("references by long pointers, 3,000 of them")(
    lambda: ask(
        {"$defs": nest(50, {"type": "integer"}, "$defs"), "allOf": [{"$ref": "#/$defs" + "/$defs" * 50}] * 3_000}, 1
    )
)

# Nesting.

case("a schema nested 1,000 deep")(lambda: raw("1", '{"not":' * 1_000 + "{}" + "}" * 1_000))
case("an output nested 100,000 deep")(lambda: raw("[" * 100_000 + "]" * 100_000))
case("an output nested 500,000 deep, never closed")(lambda: raw("[" * 500_000))
case("objects nested 150,000 deep")(lambda: raw('{"a":' * 150_000 + "1" + "}" * 150_000))
case("64 levels in schema and output")(lambda: ask(nest(31, {"type": "array"}, "items") | {}, nest(63, 1)))
case("40,000 outputs nested 10 deep")(lambda: ask({}, [nest(10, 1)] * 40_000))

# Large sets.

case("enum of 20,000 objects, 2,000 items")(
    lambda: ask(
        {"items": {"enum": [{"a": number} for number in range(20_000)]}}, [{"a": -number} for number in range(2_000)]
    )
)
case("enum of 20,000 numbers, 300,000 items")(
    lambda: ask({"items": {"enum": list(range(20_000))}}, [5] * 300_000)
)
case("enum of 50 texts of 10,000 characters, 10,000 items")(
    lambda: ask({"items": {"enum": ["x" * 10_000 + str(n) for n in range(50)]}}, ["y"] * 10_000)
)
case("const of 1,000 members, 40 equal items")(lambda: const_items(1_000, 40))
case("uniqueItems over 60,000 objects")(lambda: ask({"uniqueItems": True}, [{"a": n} for n in range(60_000)]))
case("uniqueItems over 100,000 numbers, 50 times")(
    lambda: ask({"allOf": [{"uniqueItems": True}] * 50}, list(range(100_000)))
)
case("uniqueItems over nested arrays that share all but the end")(
    lambda: ask({"uniqueItems": True}, [[0] * 300 + [n] for n in range(1_600)])
)


def const_items(members, items):
    value = {f"m{number}": number for number in range(members)}
    return ask({"items": {"const": value}}, [value] * items)


case("required of 5,000 names, 200,000 empty items")(
    lambda: ask({"items": {"required": [f"n{number}" for number in range(5_000)]}}, [{}] * 200_000)
)
case("required of 50,000 names, 10 empty items")(
    lambda: ask({"items": {"required": [f"n{number}" for number in range(50_000)]}}, [{}] * 10)
)
case("dependentRequired of 5,000 names, 50,000 items")(
    lambda: ask(
        {"items": {"dependentRequired": {"a": [f"n{number}" for number in range(5_000)]}}}, [{"a": 1}] * 50_000
    )
)
case("400,000 findings of type")(lambda: ask({"items": {"type": "string"}}, [1] * 400_000))
case("60,000 members not allowed")(
    lambda: ask({"additionalProperties": False}, {f"m{number}": 1 for number in range(60_000)})
)
case("60,000 members each a false schema")(
    lambda: ask({"additionalProperties": {"not": {}}}, {f"m{number}": 1 for number in range(60_000)})
)
case("21 keywords on each of 400,000 elements")(
    lambda: ask({"items": {"allOf": [{"type": "integer", "minimum": 0, "maximum": 9}] * 7}}, [5] * 400_000)
)
case("500 branches of oneOf, 400,000 items")(
    lambda: ask({"items": {"oneOf": [{"const": n} for n in range(500)]}}, [7] * 400_000)
)
case("nested contains, 6 deep in 10 wide")(
    lambda: ask(nest(6, {"const": 2}, "contains"), wide(6, 7))
)
case("propertyNames with a pattern over 60,000 names")(
    lambda: ask({"propertyNames": {"pattern": "^[a-z]+[0-9]*$"}}, {f"m{n}": 1 for n in range(60_000)})
)
case("60,000 schema members that do nothing")(lambda: ask({f"x-{n}": n for n in range(60_000)}, 1))
case("30,000 nodes of schema")(lambda: ask({"properties": {f"p{n}": {"type": "integer"} for n in range(30_000)}}, {"p1": 1}))


def wide(depth, width):
    return 1 if depth == 0 else [wide(depth - 1, width)] * width


# Patterns.

case("2,000 patternProperties, 20,000 keys")(
    lambda: ask(
        {"patternProperties": {f"^k{number}x": {} for number in range(2_000)}},
        {f"key{number:06}": 1 for number in range(20_000)},
    )
)
case("200 patternProperties, 40,000 keys")(
    lambda: ask(
        {"patternProperties": {f"[a-z]k{number}x": {} for number in range(200)}},
        {f"key{number:06}": 1 for number in range(40_000)},
    )
)
case("2,000 distinct patterns")(lambda: ask({"allOf": [{"pattern": f"a{n}b+"} for n in range(2_000)]}, "a"))
case("200 patterns that compile to much")(
    lambda: ask({"allOf": [{"pattern": f"[a-z\\d]{{{500 + n}}}x"} for n in range(200)]}, "abc")
)
case("200 Unicode classes repeated")(
    lambda: ask({"allOf": [{"pattern": f"\\p{{L}}{{{20 + n // 10}}}"} for n in range(200)]}, "abc")
)
case("a pattern of repeated repeats")(lambda: ask({"pattern": "((a{100}){100}){100}"}, "a"))
case("200 patterns of repeated repeats")(lambda: ask({"allOf": [{"pattern": "((a{90}){90}){90}"}] * 200}, "a"))
case("(a+)+$ on 900 KB")(lambda: ask({"pattern": "(a+)+$"}, "a" * 900_000 + "!"))
case("(.*.*.*.*=.*){20} on 900 KB")(lambda: ask({"pattern": "(.*.*.*.*=.*){20}"}, "x" * 900_000))
case("200 times (a|b|ab)*c on 900 KB")(lambda: ask({"allOf": [{"pattern": "(a|b|ab)*c"}] * 200}, "ab" * 450_000))
case("200 bounded repeats on 500 KB")(
    lambda: ask({"allOf": [{"pattern": f"[ab]{{1,{50 + n}}}[bc]{{50}}d"} for n in range(200)]}, "ab" * 250_000)
)
case("x*y unanchored on 900 KB, quadratic in many engines")(lambda: ask({"pattern": "x*y"}, "x" * 900_000))
case("a look-ahead with nested repeats")(lambda: ask({"pattern": "^(?=(a+)+$)a"}, "a" * 40 + "!"))
case("a look-ahead with nested repeats, 1,000 texts")(
    lambda: ask({"items": {"pattern": "(?=(a+)+$)"}}, ["a" * 40 + "!"] * 1_000)
)
case("a look-ahead over 900 KB")(lambda: ask({"pattern": "(?=.*b)(?=.*c)(?!.*d)x"}, "a" * 900_000))
case("a look-behind over 900 KB")(lambda: ask({"pattern": "(?<=a+)b"}, "a" * 900_000))
case("a back-reference that grows")(lambda: ask({"pattern": "^(a*)*\\1b"}, "a" * 60))
case("back-references over 900 KB")(lambda: ask({"pattern": "(a+)\\1\\1b"}, "a" * 900_000))
case("200 look-aheads on 4 KB each")(
    lambda: ask({"allOf": [{"pattern": f"(?=(a|aa)+b{n})"} for n in range(200)]}, "a" * 4_000)
)
case("a pattern of 500 KB")(lambda: ask({"pattern": "a?" * 250_000}, "a"))
case("a pattern of 400,000 brackets")(lambda: ask({"pattern": "(" * 200_000 + ")" * 200_000}, "a"))
case("an alternation of 60,000")(lambda: ask({"pattern": "|".join(f"w{n}" for n in range(60_000))}, "a"))
case("format regex over a text of brackets")(lambda: ask({"format": "regex"}, "(" * 450_000 + ")" * 450_000))
case("format regex over repeated repeats, 30,000 texts")(
    lambda: ask({"items": {"format": "regex"}}, ["((a{100}){100}){100}"] * 30_000)
)

# Texts and formats.

for name in ["email", "idn-email", "hostname", "idn-hostname", "uri", "iri", "uri-template", "date-time", "ipv6", "json-pointer", "duration"]:
    case(f"format {name} over 900 KB, 20 times")(
        lambda name=name: ask({"allOf": [{"format": name}] * 20}, "a@" + "xn--a-." * 128_000)
    )
case("idn-hostname, 24,000 texts")(lambda: ask({"items": {"format": "idn-hostname"}}, ["ü.例え.xn--a"] * 24_000))
case("maxLength over 300 KB, 8,000 times")(lambda: ask({"allOf": [{"maxLength": 5}] * 8_000}, "ä" * 150_000))
case("content: 900 KB of <")(lambda: ask({}, "<" * 900_000, strict_content_check=True))
case("content: 900 KB of {")(lambda: ask({}, "{" * 900_000, strict_content_check=True))
case("content: {{ again and again")(lambda: ask({}, "{{ } " * 180_000, strict_content_check=True))
case("content: almost lorem ipsum")(lambda: ask({}, "lorem ipsulorem " * 56_000, strict_content_check=True))
case("content: 300,000 blank texts")(lambda: ask({}, [""] * 300_000, strict_content_check=True))
case("content: 60,000 paths, all empty")(lambda: ask({}, {f"m{n}": {} for n in range(60_000)}, strict_content_check=True))
case("content: 150,000 invisible characters")(lambda: ask({}, "\u200b" * 150_000, strict_content_check=True))
case("member names of 100 KB")(lambda: ask({}, {"n" * 100_000 + str(n): "" for n in range(9)}, strict_content_check=True))
case("long names above many members")(
    lambda: ask({}, {"n" * 50_000: {f"m{n}": {"a": ""} for n in range(40_000)}}, strict_content_check=True)
)
case("long names at each of 60 levels above many members")(
    lambda: ask({}, deep_names(60, 8_000, {f"m{n}": "" for n in range(40_000)}), strict_content_check=True)
)


def deep_names(levels, length, inner):
    for _ in range(levels):
        inner = {"n" * length: inner}
    return inner


# Rules and bounds.

NUMBERS = [number / 4 for number in range(50_000)]
RULES = {
    "sum_equals": {"type": "sum_equals", "field": "a[]", "equals": 1},
    "unique": {"type": "unique", "field": "a[]"},
    "exists_in itself": {"type": "exists_in", "field": "a[]", "in_field": "a[]"},
    "gte a value": {"type": "gte", "field": "a[]", "value": 0},
    "lte another field": {"type": "lte", "field": "a[]", "other_field": "a[]"},
}
for name, rule in RULES.items():
    case(f"100 rules, {name}, over 50,000 elements")(lambda rule=rule: ask({}, {"a": NUMBERS}, [rule] * 100))
case("100 bounds over 50,000 elements")(lambda: ask({}, {"a": NUMBERS}, bounds=hundred_bounds()))
case("100 rules over 40,000 objects, pairs")(
    lambda: ask(
        {}, {"a": [{"x": n, "y": n} for n in range(40_000)]}, [{"type": "lte", "field": "a[].x", "other_field": "a[].y"}] * 100
    )
)
case("100 rules over 24,000 dates")(
    lambda: ask({}, {"a": ["2026-10-01T00:00:00.123456789+02:00"] * 24_000}, [{"type": "gte", "field": "a[]", "value": "2026-01-01"}] * 100)
)
case("100 rules, exists_in 1,000 values, over 80,000 elements")(
    lambda: ask({}, {"a": list(range(80_000))}, [{"type": "exists_in", "field": "a[]", "values": list(range(1_000))}] * 100)
)
case("100 rules unique over 30 objects of 30 KB")(
    lambda: ask({}, {"a": [{"b": [n] + list(range(5_000))} for n in range(30)]}, [{"type": "unique", "field": "a[]"}] * 100)
)
case("100 rules unique on nested arrays, all equal to the end")(
    lambda: ask({}, {"a": [[0] * 3_000 + [n] for n in range(150)]}, [{"type": "unique", "field": "a[]"}] * 100)
)
case("100 rules whose fields are missing 200,000 times")(
    lambda: ask({}, {"a": [{}] * 200_000}, [{"type": "gte", "field": "a[].b", "value": 1}] * 100, enforce_rules=True)
)
case("100 rules along 32 segments")(
    lambda: ask({}, nest(32, [1] * 50_000, "a"), [{"type": "unique", "field": ".".join(["a"] * 31 + ["a[]"])}] * 100)
)
case("100 paths of brackets through nested arrays")(
    lambda: ask({}, wide(6, 7), [{"type": "unique", "field": "$" + "[]" * 6}] * 100)
)
case("rules of values nested 60 deep")(
    lambda: ask({}, {"a": 1}, [{"type": "exists_in", "field": "a", "values": [nest(60, 1)] * 100}] * 60)
)


def hundred_bounds():
    """The same values by a hundred spellings of places that differ."""
    return {"a[]": {"min": 0}} | {f"a[{number}]": {"max": 0} for number in range(99)}


# Numbers.

case("a number of 900,000 digits")(lambda: raw("9" * 900_000))
case("a fraction of 900,000 digits")(lambda: raw("0." + "3" * 900_000))
case("900 fractions of 1,000 digits, summed 100 times")(
    lambda: raw('{"a":[' + ",".join(["0." + "7" * 1_000] * 900) + "]}", rest=',"rules":' + compact([RULES["sum_equals"]] * 100))
)
case("sums over the whole range of doubles, 100 times")(
    lambda: raw(
        '{"a":[' + ",".join(["1.7976931348623157e308", "4.9e-324"] * 16_000) + "]}",
        rest=',"rules":' + compact([RULES["sum_equals"]] * 100),
    )
)
case("a huge exponent")(lambda: raw("1e99999999999999999999"))
case("a huge negative exponent")(lambda: raw("1e-99999999999999999999"))
case("multipleOf at both ends of the range, 40,000 items")(
    lambda: raw("[" + ",".join(["1.7976931348623157e308"] * 40_000) + "]", '{"items":{"multipleOf":4.9e-324}}')
)
case("multipleOf 0.01, 100,000 items")(
    lambda: ask({"items": {"multipleOf": 0.01}}, [n / 100 for n in range(100_000)])
)
case("maximum against numbers of many digits, 40,000 items")(
    lambda: raw("[" + ",".join(["1.2345678901234567e-300"] * 40_000) + "]", '{"items":{"maximum":1e300,"minimum":-1e-300}}')
)
case("a tolerance of 1e-300")(
    lambda: ask({}, {"a": [1e300, 1e-300] * 20_000}, [RULES["sum_equals"] | {"tolerance": 1e-300}] * 100)
)
case("250,000 numbers of 3 digits")(lambda: ask({"items": {"type": "number"}}, [123] * 250_000))

# Broken texts.

case("a megabyte of spaces")(lambda: " " * BODY_BYTES_MAX)
case("a text that never ends")(lambda: raw('"' + "a" * 1_000_000))
case("a megabyte of escapes")(lambda: raw('"' + "\\u00e4" * 170_000 + '"'))
case("half a pair at the end of a megabyte")(lambda: raw('"' + "a" * 1_000_000 + '\\ud800"'))
case("a duplicate after 60,000 names")(
    lambda: raw("{" + ",".join(f'"m{number}":1' for number in range(60_000)) + ',"m0":1}')
)
case("60,000 duplicates")(lambda: raw("{" + ",".join(['"m":1'] * 60_000) + "}"))
case("60,000 names in falling order")(
    lambda: raw("{" + ",".join(f'"m{number:06}":1' for number in range(60_000, 0, -1)) + "}")
)
case("bytes that are not UTF-8 at the end")(lambda: raw('"' + "a" * 900_000).encode() + b'\xff"}')
case("60,000 unknown members of the request")(lambda: ask(**{f"m{number}": 1 for number in range(60_000)}))
case("100 rules with 700 unknown members each")(
    lambda: ask(rules=[{"type": "unique", "field": "a"} | {f"m{n}": 1 for n in range(700)}] * 100)
)
case("20,000 rules")(lambda: ask(rules=[{"type": "unique", "field": "a"}] * 20_000))
case("40,000 faulty bounds")(lambda: ask(bounds={f"a..b{number}": {} for number in range(40_000)}))
case("25,000 faulty schema keywords")(
    lambda: ask({"properties": {f"p{number}": {"type": "nonsense"} for number in range(25_000)}}, 1)
)
case("an invalid schema of 25,000 branches")(lambda: ask({"allOf": [{"minLength": -1, "type": []}] * 25_000}, 1))
case("more than a megabyte")(lambda: "x" * (BODY_BYTES_MAX + 1))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = server.HERE.parent / "target/release/countersign"
    options.add_argument("--binary", type=Path, default=default, help="default: %(default)s")
    options.add_argument("--config", type=Path, help="settings other than the defaults")
    options.add_argument("--only", metavar="WORD", default="", help="cases whose name contains it")
    options = options.parse_args()
    names = [name for name in CASES if options.only in name]
    print(f"limits: {CPU_MS_MAX} ms of CPU, {MEMORY_MIB_MAX} MiB above the server at rest\n")
    print(f"{'status':>6} {'KB sent':>8} {'CPU ms':>7} {'ms':>7} {'MiB more':>9}  request")
    failed = [name for name in names if not try_case(options, name)]
    if not lasts(options, names):
        failed.append("all of them in turns: memory grows")
    for name in failed:
        print(f"FAILED {name}")
    print(f"{len(names) + 1 - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def body_of(name):
    body = CASES[name]()
    body = body if isinstance(body, bytes) else body.encode()
    if len(body) > BODY_BYTES_MAX and name != "more than a megabyte":
        raise SystemExit(f"{name}: {len(body)} bytes, the server would only say that this is too large")
    return body


def try_case(options, name):
    body = body_of(name)
    with tempfile.TemporaryDirectory() as data, start(options, data) as running:
        for _ in range(3):
            running.request("POST", "/verify/schema", DRAFT.read_bytes())
        idle = running.memory_mib()
        running.forget_peak()
        before, began = running.cpu_seconds(), time.monotonic()
        status, answer = send(running, name, body)
        took = (time.monotonic() - began) * 1000
        cpu = (running.cpu_seconds() - before) * 1000
        more = running.memory_mib("VmHWM") - idle
        alive = running.request("POST", "/verify/schema", DRAFT.read_bytes())[0] == 200
    decided = status == 200 or 400 <= status < 500
    fine = alive and decided and cpu <= CPU_MS_MAX and more <= MEMORY_MIB_MAX
    note = "" if fine else f"  <-- {story(answer)}"
    print(f"{status:>6} {len(body) / 1000:>8.1f} {cpu:>7.0f} {took:>7.1f} {more:>9.1f}  {name}{note}", flush=True)
    return fine


def lasts(options, names):
    """Whether the memory of one server settles while it gets every request again and again."""
    with tempfile.TemporaryDirectory() as data, start(options, data) as running:
        resident = [running.memory_mib()]
        for _ in range(ROUNDS):
            for name in names:
                send(running, name, body_of(name))
            resident.append(running.memory_mib())
    print(f"\none server, all in turns: MiB at rest and after each round: {', '.join(f'{mib:.0f}' for mib in resident)}")
    return resident[-1] - resident[-2] <= GROWTH_MIB_MAX


def start(options, data):
    return server.countersign(options.binary, Path(data) / "data", options.config)


def send(running, name, body):
    try:
        return running.request("POST", "/verify/schema", body)
    except OSError as error:
        if running.process.poll() is not None:
            raise SystemExit(f"the server died of: {name}\n{running.told()}") from None
        return 0, str(error).encode()


def story(answer):
    """The first field of a problem, to tell what the server thought of it."""
    try:
        problem = json.loads(answer)
        return str(problem.get("fields", [problem.get("message", "")])[0])[:120]
    except (ValueError, IndexError, AttributeError):
        return answer[:80].decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
