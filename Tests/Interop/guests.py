"""Users of the relay that is not open."""

import base64
import hashlib
import hmac
import json
import time

try:
    import jwt
except ImportError:
    jwt = None

import relay_client
from relay_client import Identity, RelayError


def mint(ctx, user, seconds=3600, **claims):
    """A token as a school's server makes it: with PyJWT where that is there."""
    claims = {"sub": user, "exp": int(time.time()) + seconds, **claims}
    secret = ctx.program.token_secret
    if jwt is not None:
        return {"token": jwt.encode(claims, secret, algorithm="HS256")}

    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")
    text = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(claims).encode())
    return {"token": (text + b"." + part(hmac.new(secret, text, hashlib.sha256).digest())).decode()}


def everything_but(*rights):
    """Grants of all other rights, everywhere."""
    return {"*": [right for right in relay_client.RIGHTS if right not in rights]}


def stranger(ctx, credential, user=None, **identity):
    """A connection that has not logged in, of somebody with this credential."""
    return ctx.connect(Identity(user or ctx.name("user"), credential=credential, **identity))


def guest(ctx, credential=None, user=None, **claims):
    """A client with this credential, or with a token that says this."""
    user = user or ctx.name("user")
    client = stranger(ctx, credential or mint(ctx, user, **claims), user)
    client.login()
    return client


def join_key(ctx):
    """The key of the class."""
    return {"key": ctx.program.keys[0]}


def host_key(ctx):
    """The key of who runs it."""
    return {"key": ctx.program.keys[1]}


def refusal_of(reply):
    """The error without what says which request it answers; None if it was accepted."""
    try:
        reply.wait()
        return None
    except RelayError as problem:
        return {key: value for key, value in problem.fields.items() if key not in ("id", "number", "flow")}
