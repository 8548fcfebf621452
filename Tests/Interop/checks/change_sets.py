"""Change sets: many records of one board, all or none."""

from context import check
from http_checks import need
from steps import BEGINNING, board_request, caught_up, shown


@check("[BL11 HI7 FR9] a change set: all changes at consecutive offsets, in one part or in many, for who is there and who comes")
def change_set(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    b.request("subscribe", channel=name)
    a.retain(name, "old", "1")
    last = a.change_all(name, [("one", "1", "stroke"), ("old",), ("two", b"2"), ("one", "again")])
    need(last == 5, f"{last}: four changes take four offsets, and the last is told")
    caught_up(b)
    need(shown(b) == [("old", "1"), ("old", b""), ("two", b"2"), ("one", "again")], f"{shown(b)}")
    many, mark = [(f"k{n}", bytes(300)) for n in range(200)], b.mark()
    need(a.change_all(name, many) == 205, "in parts: the offset of the last change")
    caught_up(b, mark)
    extension = [(7, b"kept")]
    a.change_all(name, [("extended", b"x", None, extension)])
    fresh = ctx.client()
    fresh.request("subscribe", channel=name, since=BEGINNING)
    caught_up(fresh)
    need(len(shown(fresh)) == 203, f"{len(shown(fresh))} records")
    need([e["extensions"] for e in fresh.since(0, "deliver") if e["key"] == "extended"] == [extension], "the extensions are gone")


@check("[BL11 ER1] of a change set that is refused nothing is made; the error names the change")
def change_set_refused(ctx):
    a, name = ctx.client(), ctx.name("c")
    most, all_changes = ctx.limit("changes in a part, and in a change set", 0), ctx.limit("changes in a part, and in a change set", 1)
    fine = ("fine", b"1")
    for wrong, code in ((("a/b", b"1"), "badName"), (("k", bytes(32_769)), "tooLarge"), (("k", b"1", ""), "tooLarge")):
        ctx.refused(code, a.change(name, [fine, wrong]), number=..., change=2)
    ctx.refused("tooLarge", a.change(name, [("k", bytes(20_000)), ("l", bytes(20_000))]), number=..., change=None)
    ctx.refused("badRequest", a.change(name, []), number=...)
    ctx.refused("limitReached", a.change(name, [fine] * (most + 1)), number=..., limit=most, actual=most + 1)
    for part in ((0, 1), (2, 1), (0, 0)):
        ctx.refused("badRequest", a.change(name, [fine], part), number=...)
    for part in ((2, 2), (3, 5)):
        ctx.refused("partMissing", a.change(name, [fine], part), number=...)
    a.change(name, [fine], (1, 3)).wait()
    for part, channel in (((3, 3), name), ((2, 4), name), ((2, 3), ctx.name("other"))):
        ctx.refused("partMissing", a.change(channel, [fine], part), number=...)
    ctx.refused("boardNotFound", lambda: board_request(a, "clear", channel=name))
    parts = all_changes // most + 1
    for n in range(1, parts):
        a.change_in_time(name, [fine] * most, (n, parts))
    ctx.refused("limitReached", lambda: a.change_in_time(name, [fine], (parts, parts)), number=..., limit=all_changes)
    need(a.change_all(name, [fine] * all_changes) == all_changes, "as many as there may be")
