"""A key that is drawn anew: the last check of its relay, whose keys change."""

from context import check
from guests import guest, host_key, join_key, stranger
from http_checks import need


@check("[AC1] a key that is drawn anew ends who came in by it, and opens nothing any more", relay="access")
def rotation(ctx):
    a, b = guest(ctx, join_key(ctx)), guest(ctx, host_key(ctx))
    away = guest(ctx, join_key(ctx))
    away.drop()
    ctx.program.say("READY-FOR-ROTATION")
    ctx.closed(a, "keyChanged")
    ctx.lives(b)
    ctx.refused("keyWrong", stranger(ctx, join_key(ctx), a.identity.user).login, id=1)
    # The old session is over, whatever lets in.
    away.identity.credential = host_key(ctx)
    back = ctx.connect(away.identity)
    need(back.login(token=away.checker.welcome["resumeToken"])["resumed"] is False, "resumed by a key that is none")
