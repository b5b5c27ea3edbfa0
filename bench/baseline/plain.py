"""The plain baseline: the schema is checked and compiled on each call, as the usual snippets do it."""

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from jsonschema import Draft202012Validator, FormatChecker

import contract

app = FastAPI()


def validator_for(schema, _schema_hash):
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=FormatChecker())


def verify(body):
    return contract.verify(body, contract.canonical, validator_for)


@app.post("/verify/schema")
async def verify_schema(request: Request):
    return JSONResponse(verify(await request.body()))


@app.get("/health")
async def health():
    return {"status": "ok"}
