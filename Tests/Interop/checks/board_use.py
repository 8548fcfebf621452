"""Who began a board, and when it was last used; and what a host brings to one."""

import time

from context import check
from guests import guest, host_key
from http_checks import need
from steps import board_request


@check("[BL12] a board tells its owner and its uses; one that is used, or was on this day, does not go as unused; one that is not does")
def unused_boards(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    visited, left_alone = name + " a", name + " b"
    for board in (visited, left_alone):
        a.retain(board, "k", "x")
    def listed(**fields):
        return {board["channel"]: board for board in a.request("boards", after=name, limit=2, **fields)["boards"]}
    while any(board["records"] == 0 for board in listed().values()):
        time.sleep(0.01)
    boards = listed()
    for board in boards.values():
        need(board["owner"] == a.identity.user and board["created"] <= board["changed"] == board["used"], f"{board}")
        need(board["fileBytes"] > board["bytes"], f"{board}")
    b.request("subscribe", channel=visited)
    b.request("subscribe", channel=left_alone, quiet=True)
    need(listed()[visited]["used"] > boards[visited]["used"] and listed()[left_alone]["used"] == boards[left_alone]["used"], f"{listed()}")
    need(visited not in listed(unusedMs=0) and left_alone not in listed(unusedMs=3_600_000), "a board that is used is listed as unused")
    for _ in range(2):
        ctx.refused("boardInUse", lambda: board_request(a, "removeBoard", channel=visited, unusedMs=0), id=...)
        b.request("unsubscribe", channel=visited)
        b.request("subscribe", channel=visited, quiet=True)
    need(left_alone in listed(unusedMs=0), "nobody uses it")
    board_request(a, "removeBoard", channel=left_alone, unusedMs=0)
    need(left_alone not in listed(), "it is still there")


@check("[RT10 RT8] a host's change set has more parts at one instant than a second's rate, and costs none of it", relay="access")
def imported(ctx):
    name, host = ctx.name("c"), guest(ctx, host_key(ctx))
    rate = host.checker.welcome["limits"]["messagesPerSecond"]
    parts = 2 * rate
    need(parts <= host.checker.welcome["limits"]["unansweredMax"], f"{parts} parts cannot be under way")
    sent = [host.change(name, [(f"k{n}", b"1")], (n, parts)) for n in range(1, parts + 1)]
    need([pending.wait() for pending in sent] == [0] * (parts - 1) + [parts], "a part was refused")
    need(host.checker.credits[name] == rate, f"{host.checker.credits}")
