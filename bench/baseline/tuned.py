"""The tuned baseline: validators are kept by schema hash, and orjson writes the answer."""

import orjson
from fastapi import FastAPI, Request
from fastapi.responses import Response
from jsonschema import Draft202012Validator, FormatChecker

import contract

app = FastAPI()
formats = FormatChecker()
validators = {}


def validator_for(schema, schema_hash):
    validator = validators.get(schema_hash)
    if validator is None:
        Draft202012Validator.check_schema(schema)
        validator = validators[schema_hash] = Draft202012Validator(schema, format_checker=formats)
    return validator


def verify(body):
    return contract.verify(body, contract.canonical, validator_for)


@app.post("/verify/schema")
async def verify_schema(request: Request):
    return Response(orjson.dumps(verify(await request.body())), media_type="application/json")


@app.get("/health")
async def health():
    return {"status": "ok"}
