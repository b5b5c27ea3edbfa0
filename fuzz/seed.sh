#!/bin/sh
# Fills fuzz/corpus/ with seeds: the vectors, and the official JSON Schema suite where .ci/fetch-suite has put it.
# Run it before `cargo +nightly fuzz run TARGET`. Seeds are named by their content, so a second run adds nothing.
set -eu
cd "$(dirname "$0")"
exec python3 - <<'EOF'
import hashlib, json, pathlib

corpus = pathlib.Path("corpus")


def seed(target, text):
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    bytes_ = text if isinstance(text, bytes) else text.encode()
    (folder / hashlib.sha256(bytes_).hexdigest()[:16]).write_bytes(bytes_)


def short(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def schema_seeds(schema, instances):
    seed("schema_compile", short(schema))
    for instance in instances:
        seed("schema_evaluate", short(schema) + "\0" + short(instance))


def request_seeds(request):
    seed("request", short(request))
    schema_seeds(request["expected_schema"], [request["submitted_output"]])
    for rule in request.get("rules") or []:
        for name, value in rule.items():
            if name.endswith("field"):
                seed("path", value)
    for path in request.get("bounds") or {}:
        seed("path", path)


def joined(text):
    """The text of a vector: a string, or parts of which some repeat (vectors/README.md)."""
    if isinstance(text, str):
        return text
    part = lambda p: p if isinstance(p, str) else p.get("between", "").join(
        p["repeat"].replace("<i>", str(i)) for i in range(p["times"])
    )
    return "".join(map(part, text))


def text_seeds(folder, text):
    if folder in ("json", "canonical"):
        seed("json", text)
    elif len(text) <= 8192:
        seed("request", text)
        try:
            request_seeds(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass  # A request that is to be refused: as it stands it is seed enough.


def receipt_seeds(text):
    seed("statement", text)
    try:
        seed("statement", short({"receipt": json.loads(text)}))
    except (ValueError, RecursionError):
        pass


for file in sorted(pathlib.Path("../vectors").glob("*.json")):
    bytes_ = file.read_bytes()
    seed("json", bytes_)
    document = json.loads(bytes_)
    if "keys" in document:
        seed("statement", bytes_)
    elif "attestation" in document:
        receipt_seeds(bytes_.decode())
    elif "expected_schema" in document:
        request_seeds(document)
    else:
        for case in document:
            request_seeds(case["request"])

for file in sorted(pathlib.Path("../vectors").glob("*/*.json")):
    cases = json.loads(file.read_bytes())
    if isinstance(cases, dict):
        seed("statement", file.read_bytes())
        continue
    for case in cases:
        given = case["input"]
        if "hex" in given:
            seed("json", bytes.fromhex(given["hex"]))
        elif "receipt" in given:
            receipt_seeds(joined(given["receipt"]))
        elif "text" in given:
            text_seeds(file.parent.name, joined(given["text"]))
        elif "request" in given:
            text_seeds(file.parent.name, short(given["request"]))

for path in ["$", "$[0].x", "total", "a.b[].c", "[].x", r"a\.b[0][]", "$.$", "1%", "x[" + "9" * 30 + "]"]:
    seed("path", path)
for text in ["1e400", "-0", "1E-7", "9007199254740993", r'"\ud83d\ude00"', r'{"a":1,"\u0061":2}', "[" * 70]:
    seed("json", text)

for draft, uri in {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}.items():
    for file in sorted(pathlib.Path("../target/json-schema-suite", draft).rglob("*.json")):
        for group in json.loads(file.read_bytes()):
            schema = group["schema"]
            if isinstance(schema, dict) and draft != "draft2020-12":
                schema = {"$schema": uri, **schema}
            schema_seeds(schema, [test["data"] for test in group["tests"][:4]])

for folder in sorted(corpus.iterdir()):
    print(f"{folder.name}: {sum(1 for _ in folder.iterdir())} seeds")
EOF
