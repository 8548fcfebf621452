"""HTTP, and WebSockets that break rules."""

import http_checks
from context import check
from http_checks import need
from relay_client import RETAIN


@check("[HT9] a relay that cannot store anything is there and not ready", relay="broken")
def not_ready(ctx):
    client, site = ctx.client(), ctx.site()
    ctx.refused("storageFailed", lambda: client.texts("setMetadata", [("a", "x")], user=ctx.name("u")))
    need((site.get("/healthz").status, site.get("/readyz").status) == (200, 503), f"{site.get('/healthz')} {site.get('/readyz')}")
    need(b"boardrelay_storage_failed 1" in site.get("/metrics").body, "the numbers say nothing of it")


@check("[HT9] the numbers have no names of users, channels and addresses")
def numbers_name_nobody(ctx):
    client, site, names = ctx.client(), ctx.site(), [ctx.name("nameless") for _ in range(4)]
    client.request("subscribe", channel=names[0])
    client.publish(names[0], names[1], key=names[2], extra=RETAIN).wait()
    client.request("join", channel=names[3])
    client.request("joinTopic", channel=names[3], topic=names[1])
    text = site.get("/metrics").body.decode()
    need("boardrelay_connections " in text and "# TYPE boardrelay_delivery_seconds histogram" in text, text[:200])
    told = [name for name in [*names, client.identity.user, "nameless", ctx.host] if name in text]
    need(not told, f"{told} stand in the numbers")


def with_site(function):
    """A check of http_checks.py as one of these."""
    def run(ctx):
        site = ctx.site()
        function(site)
        ctx.notes += site.notes
    return run


for entry in http_checks.CHECKS:
    check(entry[0], slow=entry[2], relay=entry[3])(with_site(entry[1]))
