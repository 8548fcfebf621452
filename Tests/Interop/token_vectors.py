#!/usr/bin/env python3
"""Tokens made by another implementation of JWT (PyJWT), one JSON object per line: good ones of every shape and bad ones.

    pip install PyJWT==2.15.1
    python3 Tests/Interop/token_vectors.py > Tests/RelayTokensTests/Vectors/pyjwt.ndjson

The same output at every run. A row has `name`, `token`, `now` (the relay's clock in milliseconds since 1970), `secrets` (those of
the relay: id or null, and hex), `audience` (or null) and `expect`: what a good one says, or the code a bad one is refused with and
words of the reason.

What PyJWT will not make (another order of bytes than it would write, no signature, four parts …) is cut from what it made.
"""
import base64
import json
import sys

import jwt
from jwt.api_jws import PyJWS

SECRET, OTHER = bytes(range(32)), bytes(range(100, 164))
KEYS = [(None, SECRET)]
NAMED = [("2025", OTHER), ("2026", SECRET)]
# 2026-06-01 and 2100-01-01.
NOW, LATER = 1780272000, 4102444800
BASE = {"sub": "anna", "exp": LATER, "role": "editor"}
# Stands in every text that a refusal must not repeat.
MARK = "MARKER"


def row(name, token, expect, now=NOW * 1000, secrets=KEYS, audience=None):
    print(json.dumps({
        "name": name, "token": token, "now": now, "secrets": [{"id": key, "hex": value.hex()} for key, value in secrets],
        "audience": audience, "expect": expect,
    }, ensure_ascii=True))


def mint(claims, secret=SECRET, algorithm="HS256", **header):
    return jwt.encode(claims, secret, algorithm=algorithm, headers=header or None)


def sign(payload, header=None, secret=SECRET):
    """PyJWT's JWS over any bytes, and over a header that replaces what it would write."""
    return PyJWS().encode(payload, secret, algorithm="HS256", headers=header)


def good(name, claims, grants=None, token=None, **conditions):
    expect = {"sub": claims["sub"], "exp": claims["exp"], "role": claims.get("role"), "grants": claims.get("grants", {}),
              "jti": claims.get("jti")}
    row(name, token or mint(claims), expect, **conditions)


def bad(name, token, words, code="tokenInvalid", **conditions):
    row(name, token, {"code": code, "words": words}, **conditions)


def but(**claims):
    return {**BASE, **claims}


def without(*names):
    return {key: value for key, value in BASE.items() if key not in names}


def goods():
    for role in ("reader", "editor", "moderator"):
        good(f"role {role}", but(role=role))
    grants = {"*": ["direct", "presence"], "board-*": ["subscribe", "publish", "stream", "metadata", "lock", "clear"], "hall": []}
    good("grants only", {**without("role"), "grants": grants})
    good("role and grants", but(role="reader", grants={"lesson 7": ["publish"]}))
    good("64 grants", but(role="reader", grants={f"b{number}": ["stream"] for number in range(64)}))
    good("every claim", but(nbf=NOW - 10, iat=NOW - 20, jti="4f1c \u00e9", aud="relay", grants={"a": ["lock"]}), audience="relay")
    good("audience of several", but(aud=["other", "relay"]), audience="relay")
    good("unknown claims", but(iss="school", name="Anna \u00c5kesson \U0001F58D", nested={"a": [1, None, True, {"b": "c"}]}))
    good("a name with everything", but(sub="A !\"#$%&'()+,-.:;<=>?@[]^`{|}~"))
    good("kid chooses", BASE, token=mint(BASE, kid="2026"), secrets=NAMED)
    good("kid chooses the other", BASE, token=mint(BASE, OTHER, kid="2025"), secrets=NAMED)
    good("kid where the secret has no id", BASE, token=mint(BASE, kid="2026"))
    good("kid of the only secret", BASE, token=mint(BASE, kid="2026"), secrets=[("2026", SECRET)])
    good("no kid, one secret with id", BASE, token=mint(BASE), secrets=[("2026", SECRET)])
    good("typ in small letters", BASE, token=mint(BASE, typ="jwt"))
    good("no typ", BASE, token=sign(json.dumps(BASE).encode(), {"typ": None}))
    good("other members of the header", BASE, token=mint(BASE, jku="https://example.com/keys", x=[1, {"y": 2}]))
    good("white space in the claims", BASE, token=sign(json.dumps(BASE, indent="\t").encode() + b"\r\n"))
    good("escapes in names and values", BASE, token=sign(
        b'{"\\u0073ub":"\\u0061nna","exp":%d,"rol\\u0065":"edit\\u006fr"}' % LATER))
    good("the last millisecond", but(exp=NOW), now=(NOW + 5) * 1000 - 1)
    good("the first millisecond", but(nbf=NOW, iat=NOW), now=(NOW - 5) * 1000)
    good("exp at the end of integers", but(exp=2 ** 53 - 1), now=2 ** 53 * 1000)
    good("a secret of 1,024 bytes", BASE, token=mint(BASE, bytes(1024)), secrets=[(None, bytes(1024))])


def times():
    bad("expired", mint(but(exp=NOW)), "exp is 1780272000", "tokenExpired", now=(NOW + 5) * 1000)
    bad("expired long ago", mint(but(exp=-1)), "exp is -1", "tokenExpired")
    bad("before nbf", mint(but(nbf=NOW)), "nbf is 1780272000", now=(NOW - 5) * 1000 - 1)
    bad("before iat", mint(but(iat=NOW)), "iat is 1780272000", now=(NOW - 5) * 1000 - 1)
    bad("expired, and for another relay", mint(but(exp=1, aud="relay")), "aud", audience="school")


def signatures():
    token = mint(BASE)
    head, body, code = token.split(".")
    bad("another secret", mint(BASE, OTHER), "signature")
    bad("another secret, over claims that are none", sign(b"[]", secret=OTHER), "signature")
    bad("another secret, expired", mint(but(exp=1), OTHER), "signature")
    bad("kid of another secret than signed", mint(BASE, kid="2025"), "signature", secrets=NAMED)
    bad("kid unknown", mint(BASE, kid=MARK), "kid names no secret", secrets=NAMED)
    bad("kid unknown to the only secret", mint(BASE, kid=MARK), "kid names no secret", secrets=[("2026", SECRET)])
    bad("no kid, several secrets", mint(BASE), "no kid", secrets=NAMED)
    bad("kid a number", forged(b'{"alg":"HS256","kid":7}'), "kid is not a string")
    bad("alg none", jwt.encode(BASE, None, algorithm="none"), "three parts")
    bad("alg none, signature kept", forged(b'{"alg":"none"}'), "alg is not HS256")
    for algorithm in ("None", "NONE", "RS256", "hs256", "HS384", "HS512", "ES256", "", " HS256"):
        bad(f"alg {algorithm!r}", forged(json.dumps({"alg": algorithm}).encode()), "alg is not HS256")
    bad("HS512, truly", mint(BASE, OTHER, "HS512"), "alg is not HS256", secrets=[(None, OTHER)])
    bad("no alg", forged(b'{"typ":"JWT"}'), "alg is not HS256")
    bad("alg null", forged(b'{"alg":null}'), "alg is not a string")
    bad("alg a list", forged(b'{"alg":["HS256"]}'), "alg is not a string")
    bad("alg twice", forged(b'{"alg":"none","alg":"HS256"}'), "the header is not one JSON object")
    bad("typ other", forged(b'{"alg":"HS256","typ":"' + MARK.encode() + b'"}'), "typ is not JWT")
    bad("crit", forged(b'{"alg":"HS256","b64":false,"crit":["b64"]}'), "crit")
    bad("crit empty", forged(b'{"alg":"HS256","crit":[]}'), "crit")
    bad("crit null", forged(b'{"alg":"HS256","crit":null}'), "crit")
    bad("header no object", forged(b'"HS256"'), "the header is not one JSON object")
    bad("header not JSON", forged(b"HS256"), "the header is not one JSON object")
    bad("no signature", f"{head}.{body}.", "three parts")
    bad("no signature and no dot", f"{head}.{body}", "three parts")
    bad("no claims", f"{head}..{code}", "three parts")
    bad("no header", f".{body}.{code}", "three parts")
    bad("four parts", f"{token}.{code}", "three parts")
    bad("five parts, as JWE", f"{head}.{body}.{code}.{head}.{body}", "three parts")
    bad("a dot behind", f"{token}.", "three parts")
    bad("nothing", "", "three parts")
    bad("dots only", "..", "three parts")
    for name, more in (("=", "="), ("==", "=="), ("white space", " "), ("a line", "\n"), ("two digits more", "AA")):
        bad(f"signature with {name}", f"{token}{more}", "base64url")
    bad("signature with a digit more, a byte of 0", f"{token}A", "signature")
    bad("signature cut short", f"{head}.{body}.{code[:-3]}", "signature")
    bad("signature one digit short", f"{head}.{body}.{code[:-1]}", "base64url")
    bad("signature in base64", f"{head}.{body}." + base64.b64encode(b"\xfb\xff" * 16).decode(), "base64url")
    bad("claims with =", f"{head}.{body}=.{code}", "base64url")
    bad("white space before", f" {token}", "base64url")
    bad("JSON serialization", json.dumps({"protected": head, "payload": body, "signature": code}), "three parts")
    bad("3,073 bytes", sized(3073), "at most 3072 bytes, this one has 3073")
    good("3,072 bytes", BASE, token=sized(3072))
    bad("10 KB", mint(but(pad=MARK * 1700)), "at most 3072 bytes")


def forged(header):
    """A token with this header, signed as HS256 all the same: PyJWT's HMAC, our bytes."""
    signed = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in (header, json.dumps(BASE).encode()))
    code = jwt.get_algorithm_by_name("HS256").sign(signed, SECRET)
    return (signed + b"." + base64.urlsafe_b64encode(code).rstrip(b"=")).decode()


def sized(count):
    """A good token of so many bytes: an unused member of the header and an unused claim take up what is missing."""
    for pad in range(count):
        for other in range(3):
            token = mint(but(pad="p" * (3 * (count // 4) - 300 + pad)), x="x" * other)
            if len(token) == count:
                return token
    raise AssertionError(count)


def claims():
    bad("no exp", mint(without("exp")), "exp is missing")
    bad("no sub", mint(without("sub")), "sub is missing")
    bad("neither role nor grants", mint(without("role")), "neither")
    bad("no role and empty grants", mint({**without("role"), "grants": {}}), "neither")
    bad("no role and grants of nothing", mint({**without("role"), "grants": {"a": []}}), "neither")
    for claim in ("sub", "exp", "nbf", "iat", "aud", "jti", "role", "grants"):
        for value in ("null", "true", '{"a":1}', "[7]", '"MARKER*"', "7"):
            fits = (claim, value) in (
                ("exp", "7"), ("nbf", "7"), ("iat", "7"), ("jti", '"MARKER*"'), ("aud", '"MARKER*"'))
            if not fits:
                whole = {**{key: json.dumps(entry) for key, entry in BASE.items()}, claim: value}
                token = sign(("{" + ",".join(f'"{key}":{entry}' for key, entry in whole.items()) + "}").encode())
                bad(f"{claim} {value}", token, f"claim {claim} is", audience="relay" if claim == "aud" else None)
    for value in (f"{LATER}.0", f"{LATER}e0", f'"{LATER}"', f"0{LATER}", "9007199254740992", "-9007199254740992", "1e400", "NaN"):
        token = sign(f'{{"sub":"anna","role":"editor","exp":{value}}}'.encode())
        bad(f"exp {value}", token, "claim exp is not an integer" if '"' in value else "the claims are not one JSON object")
    for sub in ("", "a*", "a/b", "a\\b", "_a", " a", "\u00e9", "a\n", "a" * 65):
        bad(f"sub {sub!r}", mint(but(sub=sub)), "sub is not a user's name")
    for role in ("", "owner", "Editor", "editor ", MARK):
        bad(f"role {role!r}", mint(but(role=role)), "role is none of")
    for right in ("", "all", "*", "Subscribe", "subscribe ", MARK):
        bad(f"right {right!r}", mint(but(grants={"a": ["publish", right]})), "right that there is not")
    for pattern in ("", "**", "a**", "*a", "a*b", "a/b", "a/*", "a\\", "_a", "_*", " *", "a" * 65, "a" * 65 + "*", MARK + "/"):
        bad(f"pattern {pattern!r}", mint(but(grants={pattern: ["publish"]})), "a pattern of grants")
    for pattern in ("a", "a*"):
        bad(f"direct under {pattern}", mint(but(grants={pattern: ["direct"]})), "direct")
    bad("65 grants", mint(but(grants={f"b{number}": ["lock"] for number in range(65)})), "at most 64 patterns, these name 65")
    bad("a pattern that is not ASCII", sign(json.dumps(but(grants={"\u00e9": ["lock"]}), ensure_ascii=False).encode()), "the claims are not one JSON")
    bad("aud of another", mint(but(aud=MARK)), "aud does not name", audience="relay")
    bad("aud of others", mint(but(aud=["a", MARK])), "aud does not name", audience="relay")
    bad("aud of nobody", mint(but(aud=[])), "aud does not name", audience="relay")
    bad("aud in other letters", mint(but(aud="Relay")), "aud does not name", audience="relay")
    bad("no aud", mint(BASE), "aud is missing", audience="relay")
    bad("aud where there is none", mint(but(aud=MARK)), "aud names an audience")
    bad("empty aud where there is none", mint(but(aud=[])), "aud names an audience")
    bad("aud a list with a number", sign(json.dumps(but(aud=["relay", 7])).encode()), "aud is not", audience="relay")
    for name, payload in (
        ("role twice", b'{"sub":"anna","exp":4102444800,"role":"reader","role":"moderator"}'),
        ("role twice, once escaped", b'{"sub":"anna","exp":4102444800,"role":"reader","\\u0072ole":"moderator"}'),
        ("a pattern twice", b'{"sub":"anna","exp":4102444800,"grants":{"a":["lock"],"a":["publish"]}}'),
        ("an unknown claim twice", b'{"sub":"anna","exp":4102444800,"role":"reader","MARKER":1,"MARKER":1}'),
        ("a fraction in an unknown claim", b'{"sub":"anna","exp":4102444800,"role":"reader","MARKER":1.5}'),
        ("no object", b'["MARKER"]'), ("two objects", b"{}{}"), ("empty text", b" "), ("not UTF-8", b'{"MARKER":"\xff"}'),
        ("byte-order mark", b"\xef\xbb\xbf{}"), ("UTF-16", '{"sub":"anna"}'.encode("utf-16")), ("cut off", b'{"sub":"anna"'),
        ("too deep", b'{"a":' + b"[" * 8 + b"]" * 8 + b"}"),
    ):
        bad(f"claims: {name}", sign(payload), "the claims are not one JSON object")


def main():
    assert jwt.__version__ == "2.15.1", f"made with PyJWT 2.15.1, this is {jwt.__version__}"
    goods()
    times()
    signatures()
    claims()


if __name__ == "__main__":
    sys.exit(main())
