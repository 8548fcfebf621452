"""Strict JSON (JS1 to JS4)."""

import json

from links import Violation
from peer.constants import INTEGER_MAX, JSON_DEPTH_MAX


def _integer(text):
    value = int(text)
    if abs(value) > INTEGER_MAX:
        raise Violation("JS3", f"number out of range: {text}")
    return value


def _no_number(text):
    raise Violation("JS3", f"not an integer: {text}")


def _object(pairs):
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Violation("JS2", f"a key stands twice: {[k for k, _ in pairs]}")
    return fields


def _check_value(value, depth):
    if isinstance(value, str):
        if any(0xD800 <= ord(c) <= 0xDFFF for c in value):
            raise Violation("JS4", f"half a surrogate pair in {value!r}")
    elif isinstance(value, (dict, list)):
        if depth > JSON_DEPTH_MAX:
            raise Violation("JS4", "nested too deep")
        for item in value.items() if isinstance(value, dict) else value:
            for part in item if isinstance(value, dict) else (item,):
                _check_value(part, depth + 1)


def parse_json(body):
    """The object of a JSON body, by JS1 to JS4."""
    try:
        fields = json.loads(body.decode("utf-8"), parse_int=_integer, parse_float=_no_number,
                            parse_constant=_no_number, object_pairs_hook=_object)
    except (UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise Violation("JS1", f"{problem}: {body[:120]!r}") from problem
    if not isinstance(fields, dict):
        raise Violation("JS1", f"the body is no object: {body[:120]!r}")
    _check_value(fields, 1)
    return fields
