"""Boards. Which records a reader must get, and must not, is judged by the checker and the ledger of each check."""

import threading
import time

from bounds import BOARDS
from context import check
from http_checks import need
from relay_client import Ended, PATIENCE, RETAIN, TEXT
from steps import BEGINNING, board_request, caught_up, shown


def position(client, name):
    """`since` for who has seen all of it up to here."""
    return {"epoch": client.checker.epochs[name], "offset": client.checker.offsets[name]}


@check("[BL1 BL2 BL3] records: newest of each key, with messages in one order; removals to who comes back, not to who comes new")
def records(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    b.request("subscribe", channel=name)
    a.retain(name, "one", "1")
    a.publish(name, "between").wait()
    a.retain(name, "two", b"2", custom_type="stroke")
    b.sync()
    away = b.mark()
    since = position(b, name)
    b.request("unsubscribe", channel=name)
    a.retain(name, "one", "1 again")
    a.retain(name, "two")
    a.retain(name, "never")
    last = a.publish(name, "after").wait()
    need(last == 7, f"{last} and not 7: each message takes one offset")
    need(shown(b) == [("one", "1"), (None, "between"), ("two", b"2")], f"live: {shown(b)}")
    need(b.request("subscribe", channel=name, since=since)["recovered"], "nothing is missing")
    caught_up(b, away)
    need(shown(b, away) == [("one", "1 again"), ("two", b""), ("never", b""), (None, "after")], f"back: {shown(b, away)}")
    fresh = ctx.client()
    need(fresh.request("subscribe", channel=name, since=BEGINNING)["recovered"], "nothing is missing")
    caught_up(fresh)
    need(shown(fresh) == [(None, "between"), ("one", "1 again"), (None, "after")], f"new: {shown(fresh)}")
    a.request("subscribe", channel=name, since=BEGINNING)
    caught_up(a)
    need(shown(a) == [("one", "1 again")], f"the author reads its own records, and no other own messages: {shown(a)}")
    _, items = a.all_history(name)
    kept = [(i["key"], i["payload"], bool(i.flags & RETAIN)) for i in items]
    need((None, "between", False) in kept and all(retained == (key is not None) for key, _, retained in kept), f"{kept}")


@check("[BL3 SE2 SE9] who resumes gets what was written, removed and cleared meanwhile; who breaks off reading its own too")
def board_resume(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    for key in ("k1", "k2", "k3"):
        a.retain(name, key, key)
    b.retain(name, "own", "b")
    b.request("subscribe", channel=name, since=BEGINNING)
    caught_up(b)
    b.drop()
    a.retain(name, "k1", "new")
    a.retain(name, "k2")
    back = ctx.resume(b)
    caught_up(back)
    need(shown(back) == [("k1", "new"), ("k2", b"")], f"{shown(back)}")
    need(len(back.since(0, "userNamed")) >= 1, "nobody was named")
    back.drop()
    board_request(a, "clear", channel=name)
    a.retain(name, "k4", "4")
    again = ctx.resume(back)
    caught_up(again)
    need(shown(again) == [("cleared", a.identity.user), ("k4", "4")], f"{shown(again)}")
    # In the middle of reading its own: with 1 in `seen` they are among what comes.
    b = again
    for n in range(3):
        b.retain(name, f"mine {n}", "m")
    b.sync()
    first = b.checker.identity.accepted[max(b.identity.accepted)] - 3
    b.drop()
    seen = {name: [first, *(b.checker.epochs[name][k] for k in ("start", "incarnation")), 1]}
    reading = ctx.resume(b, seen=seen)
    caught_up(reading)
    need(shown(reading) == [(f"mine {n}", "m") for n in range(3)], f"{shown(reading)}")
    last = ctx.client(identity=reading.identity)
    last.request("subscribe", channel=name, since={"epoch": reading.checker.epochs[name], "offset": first, "own": True})
    caught_up(last)
    need(shown(last) == [(f"mine {n}", "m") for n in range(3)], f"{shown(last)}")


@check("[BL2 MS9] a record's number again: accepted and stored as before, delivered once")
def stored_again(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    b.request("subscribe", channel=name)
    number = a.identity.next_number()
    for _ in range(2):
        mark = a.mark()
        need(a.publish(name, b"x", number=number, key="k", extra=RETAIN).wait() == 1, "another offset")
        a.wait_for("stored", lambda e: e["number"] == number and e["offset"] == 1, since=mark)
    a.drop()
    back = ctx.resume(a)
    need(back.publish(name, b"x", number=number, key="k", extra=RETAIN).wait() == 1, "another offset")
    back.wait_for("stored", lambda e: e["number"] == number)
    b.sync()
    need(shown(b) == [("k", b"x")], f"{shown(b)}")


@check("[BL6] clear removes all and is told to all; undoClear brings back what was not written since, author and time as they were")
def clear_and_undo(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    ctx.refused("boardNotFound", lambda: board_request(a, "clear", channel=name), id=...)
    ctx.refused("boardNotFound", lambda: board_request(a, "removeBoard", channel=name), id=...)
    b.request("subscribe", channel=name)
    for key in ("k1", "k2", "k3"):
        a.retain(name, key, key)
    b.sync()
    before = {e["key"]: (e["publisher"], e["time"], e["payload"]) for e in b.since(0, "deliver")}
    ctx.refused("nothingToUndo", lambda: board_request(b, "undoClear", channel=name), id=...)
    answer = board_request(b, "clear", channel=name)
    need(answer["records"] == 3 and answer["offset"] == 4, f"{answer}")
    event = b.wait_for("cleared")
    need(event["offset"] == 4 and event["user"] == b.identity.user, f"{event}")
    a.retain(name, "k2", "written since")
    a.retain(name, "k3")
    b.sync()
    mark = b.mark()
    answer = board_request(a, "undoClear", channel=name)
    need(answer["records"] == 3 and answer["offset"] == 9, f"{answer}: told are those that the clear took away")
    back = b.wait_for("deliver", since=mark)
    need((back["publisher"], back["time"], back["payload"]) == before["k1"] and back["key"] == "k1" and back["offset"] > 6, f"{back}")
    caught_up(b, mark)
    ctx.refused("nothingToUndo", lambda: board_request(b, "undoClear", channel=name), id=...)
    fresh = ctx.client()
    fresh.request("subscribe", channel=name, since=BEGINNING)
    caught_up(fresh)
    need(shown(fresh) == [("k2", "written since"), ("k1", "k1")], f"{shown(fresh)}")


@check("[BL8 DL1] a record in parts: shown when it is whole, parts in a row under one offset, then caughtUp and live; "
       "any wrong part is partMissing")
def record_in_parts(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    b.request("subscribe", channel=name)
    pieces = [bytes([n]) * 32_768 for n in range(8)]
    a.publish(name, "before").wait()
    need(a.draw(name, "big", pieces) == 2, "the last part takes the next offset")
    caught_up(b)
    mark = b.mark()
    a.publish(name, "after").wait()
    b.wait_for("deliver", lambda e: e["payload"] == "after", since=mark)
    whole = [e for e in b.since(0, "deliver") if e["part"]]
    need([e["payload"] for e in whole] == pieces, f"parts {[e['part'] for e in whole]}")
    fresh = ctx.client()
    fresh.request("subscribe", channel=name, since=BEGINNING)
    caught_up(fresh)
    need([e["payload"] for e in fresh.since(0, "deliver")] == ["before", *pieces, "after"], "not whole for who comes later")
    for part in ((2, 2), (3, 5)):
        ctx.refused("partMissing", a.publish(name, b"x", key="lone", part=part, extra=RETAIN), number=...)
    a.publish(name, b"1", key="cut", part=(1, 3), extra=RETAIN).wait()
    for part, key in (((3, 3), "cut"), ((2, 4), "cut")):
        ctx.refused("partMissing", a.publish(name, b"x", key=key, part=part, extra=RETAIN), number=...)
    a.draw(name, "cut", [b"a", b"b", b"c"])  # part 1 begins anew
    for part in ((0, 2), (3, 2), (1, 1), (1, 0)):
        ctx.refused("badRequest", a.publish(name, b"x", key="odd", part=part, extra=RETAIN), number=...)
    ctx.refused("badRequest", a.publish(name, b"", key="odd", part=(1, 2), extra=RETAIN), number=...)
    most = ctx.limit("drawings under way in parts, per instance")
    for n in range(most):
        a.publish(name, b"1", key=f"d{n}", part=(1, 2), extra=RETAIN).wait()
    ctx.refused("limitReached", a.publish(name, b"1", key="one more", part=(1, 2), extra=RETAIN), number=..., limit=most, actual=most + 1)
    a.publish(name, b"2", key="d0", part=(2, 2), extra=RETAIN).wait()
    a.publish(name, b"1", key="one more", part=(1, 2), extra=RETAIN).wait()


@check("[BL8] parts that are not retained are messages of their own; a text may be cut inside a character; part 0 says that no more come")
def parts_unretained(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("c")
    b.request("subscribe", channel=name)
    text = "aé".encode()
    offsets = [a.publish(name, piece, key="t", part=(n, 2), extra=TEXT).wait() for n, piece in enumerate((text[:2], text[2:]), 1)]
    need(offsets == [1, 2], f"{offsets}")
    b.sync()
    need(b"".join(e["payload"] for e in b.since(0, "deliver")).decode() == "aé", "the pieces differ")
    need([e["part"] for e in b.since(0, "deliver")] == [(1, 2), (2, 2)], "the parts differ")
    a.publish(name, b"1", key="cut", part=(1, 3)).wait()
    for part, key in (((3, 3), "cut"), ((2, 4), "cut"), ((2, 2), "lone")):
        ctx.refused("partMissing", a.publish(name, b"x", key=key, part=part), number=...)
    a.request("logout")
    end = b.wait_for("deliver", lambda e: e["part"] == (0, 3))
    need(end["key"] == "cut" and end["payload"] == b"" and end["offset"] == 4, f"{end}")
    late = ctx.client()
    late.request("subscribe", channel=name, since=BEGINNING)
    caught_up(late)
    need([e["part"] for e in late.since(0, "deliver")] == [(1, 2), (2, 2), (1, 3), (0, 3)], "a latecomer is not told")


@check("[BL9 BL4] boards in pages; removeBoard takes one away, its readers get reset and then what is left")
def board_list(ctx):
    a, b, prefix, began = ctx.client(), ctx.client(), ctx.name("l"), time.monotonic()
    names = [f"{prefix} {n}" for n in range(5)]
    for n, name in enumerate(names):
        for m in range(n + 1):
            a.retain(name, f"k{m}", bytes(100))
    while sum(board["records"] for board in a.request("boards", after=prefix, limit=5)["boards"]) != 15:
        time.sleep(0.02)  # it counts what has been written
        need(time.monotonic() < began + PATIENCE, "the records are not counted")
    found, after = [], prefix
    while len(found) < 5:
        page = a.request("boards", after=after, limit=2)
        found += [board for board in page["boards"] if board["channel"].startswith(prefix)]
        after = page.get("next")
        if after is None:
            break
    need([board["channel"] for board in found] == names, f"{found}")
    need([(board["records"], board["bytes"]) for board in found] == [(n + 1, (n + 1) * 166) for n in range(5)], f"{found}")
    for limit in (0, 101):
        ctx.refused("badRequest", lambda limit=limit: a.request("boards", limit=limit), id=...)
    name = names[2]
    a.publish(name, "no record").wait()
    b.request("subscribe", channel=name, since=BEGINNING)
    caught_up(b)
    since, mark = position(b, name), b.mark()
    board_request(a, "removeBoard", channel=name)
    reset = b.wait_for("reset", since=mark)
    caught_up(b, reset.index)
    need(reset["epoch"] != since["epoch"], f"{reset} in the epoch there was")
    need(not [e for e in b.since(reset.index, "deliver") if e.flags & RETAIN], f"{shown(b, reset.index)}")
    ctx.refused("boardNotFound", lambda: board_request(a, "removeBoard", channel=name), id=...)
    listed = [board["channel"] for board in a.request("boards", after=prefix)["boards"]]
    need(name not in listed and names[3] in listed, f"{listed}")
    answer = b.request("subscribe", channel=name, since=since)
    need(answer.get("reset"), f"{answer} to a position in a board that is gone")
    caught_up(b, b.mark() - 1)


@check("[BL3 HI2] readers from the beginning while records are written, removed and cleared: never a hole, never what is gone", slow=True)
def board_readers(ctx):
    name, writers = ctx.name("c"), [ctx.client() for _ in range(3)]
    def write(writer, which):
        for n in range(60):
            if n == 30 and which == 0:
                board_request(writer, "clear", channel=name)
            writer.retain(name, f"{which} {n % 7}", b"" if n % 5 == 4 else f"{n}")
            if n % 4 == 0:
                writer.publish(name, f"loose {n}").wait()
            time.sleep(0.01)
    writers[0].retain(name, "first", b"1")
    threads = [threading.Thread(target=write, args=(writer, n)) for n, writer in enumerate(writers)]
    for thread in threads:
        thread.start()
    readers = []
    while any(thread.is_alive() for thread in threads):
        readers.append(ctx.client())
        readers[-1].request("subscribe", channel=name, since=BEGINNING)
        time.sleep(0.1)
    for thread in threads:
        thread.join()
    for reader in readers:
        reader.sync()
        caught_up(reader)
    pictures = []
    for reader in [*readers, ctx.client()]:
        if reader not in readers:
            reader.request("subscribe", channel=name, since=BEGINNING)
            caught_up(reader)
        picture = {}
        for key, payload in shown(reader):
            if key == "cleared":
                picture = {}
            elif key and payload:
                picture[key] = payload
            elif key:
                picture.pop(key, None)
        pictures.append(picture)
    need(len(readers) > 2 and pictures[-1] and all(picture == pictures[-1] for picture in pictures), f"{pictures}")


def record_size(key, payload):
    """BL7."""
    return len(key) + len(payload) + 64


def settled(client, wanted):
    """All boards come to count so many bytes: what lost its place counts until its board has been written (BL7)."""
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = client.request("boards")
        if answer["bytes"] == wanted:
            return answer
        need(time.monotonic() < deadline, f"{answer}, wanted {wanted}")
        time.sleep(0.02)


@check("[BL7 BL9 CH8] new boards of a user and boards of a relay are counted; to be removed frees their place", relay="boards")
def board_counts(ctx):
    users, names = [ctx.client() for _ in range(3)], [ctx.name(f"b{n}") for n in range(BOARDS["boards"] + 1)]
    for n in range(BOARDS["new"]):
        users[0].retain(names[n], "k", b"1")
    fields = ctx.refused("rateLimited", users[0].publish(names[8], b"1", key="k", extra=RETAIN), number=..., retryAfterMs=...)
    need(fields["retryAfterMs"] <= 3_600_000, f"{fields}")
    users[0].retain(names[0], "another", b"1")
    for n in range(3, BOARDS["boards"]):
        users[1 if n < 6 else 2].retain(names[n], "k", b"1")
    ctx.refused("relayFull", users[2].publish(names[8], b"1", key="k", extra=RETAIN), number=..., limit=BOARDS["boards"])
    answer = settled(users[0], 8 * 66 + record_size("another", b"1"))
    need([board["channel"] for board in answer["boards"]] == sorted(names[:8]), f"{answer}")
    need(answer["bytesMax"] == BOARDS["total"], f"{answer}")
    for name in names[:8]:
        board_request(users[0], "removeBoard", channel=name)
    settled(users[0], 0)
    users[2].retain(names[8], "k", b"1")
    board_request(users[2], "removeBoard", channel=names[8])


@check("[BL7] to the byte: a board, a user's records, all boards; a removal is always accepted", relay="boards")
def board_bytes(ctx):
    a, b, c, d, e = (ctx.client() for _ in range(5))
    boards = [ctx.name(f"full{n}") for n in range(6)]
    def fits(user, name, key, size):
        user.retain(name, key, bytes(size - 64 - len(key)))
    def refused(code, user, name, key, size, limit):
        ctx.refused(code, user.publish(name, bytes(size - 64 - len(key)), key=key, extra=RETAIN), number=..., limit=limit)
    quota, board, total = BOARDS["total"] // 4, BOARDS["board"], BOARDS["total"]
    fits(a, boards[0], "a", quota)
    fits(b, boards[0], "b", board - quota)
    refused("boardFull", b, boards[0], "c", 66, board)
    fits(b, boards[1], "b", quota - (board - quota))
    refused("quotaReached", a, boards[1], "a", 66, quota)
    refused("quotaReached", b, boards[1], "c", 66, quota)
    fits(c, boards[2], "c", quota)
    fits(d, boards[3], "d", total - total // 16 - 3 * quota)
    refused("storageFull", e, boards[4], "e", 66, ...)
    fits(e, boards[3], "e", total // 16)
    refused("storageFull", e, boards[3], "f", 66, total)
    settled(a, total)
    a.retain(boards[0], "a")
    settled(a, total - quota)
    for _ in range(3):
        fits(a, boards[0], "a2", quota // 2)
        settled(a, total - quota + quota // 2)
    # What takes another's place counts beside it.
    refused("boardFull", a, boards[0], "a2", quota // 2 + 1, board)
    for name in boards[:4]:
        board_request(a, "removeBoard", channel=name)


@check("[BL8] a drawing in parts has at most largeMessageBytesMax, its custom type counted", relay="boards")
def drawing_bytes(ctx):
    most, names = BOARDS["drawing"], [ctx.name("draw") for _ in range(2)]
    for name, size in zip(names, (most, most + 1)):
        a = ctx.client()
        need(a.checker.welcome["limits"]["largeMessageBytesMax"] == most, f"{a.checker.welcome['limits']}")
        pieces = [bytes(2_000)] * 3 + [bytes(size - 6_000 - 1)]
        for key, extra in (("loose", 0), ("kept", RETAIN)):
            if size == most:
                a.draw(name, key, pieces, extra=extra, custom_type="t")
            else:
                ctx.refused("tooLarge", lambda key=key, extra=extra: a.draw(name, key, pieces, extra=extra, custom_type="t"),
                            number=..., limit=most, actual=size)
    board_request(a, "removeBoard", channel=names[0])


@check("[BL3 HI4] of a board whose messages are gone the records come, behind gap; who comes back to a position is told, too",
       relay="boards")
def board_gap(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("gap")
    b.request("subscribe", channel=name)
    a.retain(name, "old", b"1")
    b.sync()
    since = position(b, name)
    b.request("unsubscribe", channel=name)
    for n in range(5):
        a.publish(name, f"gone {n}").wait()
    a.retain(name, "middle", b"2")
    for n in range(BOARDS["history"] + 5):
        a.publish(name, f"{n}").wait()
    for reader, asked in ((ctx.client(), BEGINNING), (b, since)):
        mark = reader.mark()
        answer = reader.request("subscribe", channel=name, since=asked)
        need(not answer["recovered"] and answer.get("missed") is None and answer["after"] == (0 if asked is BEGINNING else since["offset"]),
             f"{answer}")
        caught_up(reader, mark)
        need(reader.since(mark, "gap"), "no gap is told")
        came = shown(reader, mark)
        records = [("middle", b"2")] if reader is b else [("old", b"1"), ("middle", b"2")]
        need([entry for entry in came if entry[0]] == records, f"{came}")
        need([text for key, text in came if key is None][-1] == f"{BOARDS['history'] + 4}", f"{came[-3:]}")
    board_request(a, "removeBoard", channel=name)


@check("[BL5 BL2 SG4 MS9] after a restart: the rest for who comes back, records for who comes new, numbers as they were", relay="boards")
def restart(ctx):
    a, b, name = ctx.client(), ctx.client(), ctx.name("restart")
    where = {"kind": "message", "channel": name}
    a.texts("setMetadata", [("title", "kept")], **where)
    a.request("setLock", lock="pen", **where)
    b.request("subscribe", channel=name)
    number = a.identity.number + 1
    first = a.retain(name, "one", "1")
    b.sync()
    since = position(b, name)
    a.retain(name, "two", "2")
    a.publish(name, "gone with the relay").wait()
    a.retain(name, "one", "1 again")
    a.draw(name, "big", [b"x", b"y"])
    a.retain(name, "three", b"3")
    a.retain(name, "three")
    b.sync()
    top = position(b, name)
    loose = a.publish(name, "never durable").wait()
    b.wait_for("deliver", lambda e: e["payload"] == "never durable")
    beyond = position(b, name)
    ctx.ledger.renumbered.add(name)
    ctx.program.say("READY-FOR-RESTART")
    for client in (a, b):
        ctx.closed(client, "shuttingDown")
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            a2 = ctx.client(identity=a.identity)
            break
        except (OSError, Ended):  # the one that ends may still take a connection
            need(time.monotonic() < deadline, "the relay did not come again")
            time.sleep(0.05)
    fresh, back, lost = ctx.client(), ctx.client(identity=b.identity), ctx.client()
    answer = fresh.request("subscribe", channel=name, since=BEGINNING)
    need(answer["epoch"] != since["epoch"] and answer["head"] >= top["offset"], f"{answer}")
    caught_up(fresh)
    need(shown(fresh) == [("two", "2"), ("one", "1 again"), ("big", b"x"), ("big", b"y")], f"{shown(fresh)}")
    answer = back.request("subscribe", channel=name, since=since)
    need(not answer["recovered"] and not answer.get("reset") and answer["after"] == first, f"{answer}")
    caught_up(back)
    need(shown(back) == [("two", "2"), ("one", "1 again"), ("big", b"x"), ("big", b"y"), ("three", b"")], f"{shown(back)}")
    answer = lost.request("subscribe", channel=name, since=beyond)
    need(answer.get("reset") and not answer["recovered"], f"{answer} to {beyond}, durable up to {top}")
    caught_up(lost)
    need(shown(lost) == shown(fresh), f"{shown(lost)}")
    mark = a2.mark()
    need(a2.publish(name, "1", number=number, key="one", extra=RETAIN).wait() == first, "the number has another offset")
    a2.wait_for("stored", lambda e: e["number"] == number, since=mark)
    need(a2.retain(name, "four", b"4") > top["offset"], "numbering did not go on above what is durable")
    need(a2.all_metadata(**where)[1] == {"title": "kept"}, "metadata is gone")
    need([lock["lock"] for lock in a2.request("getLocks", **where)["locks"]] == ["pen"], "the lock is gone")
    need(loose > top["offset"], "what was not retained took no offset")
