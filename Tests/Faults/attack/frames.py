"""H3c: links that hold a frame back at its last byte."""

from raw import message

BODY_BYTES = 81_920
STAGE = {"bounds_memory": True}


def attack(stage):
    links = stage.links(3_000 if stage.is_long else 1_500)
    unfinished = message((BODY_BYTES + 2).to_bytes(4, "big") + b"\x10\x00" + bytes(BODY_BYTES))[:-1]
    with stage.window():
        held = 0
        for link in links:
            try:
                link.socket.settimeout(2)
                link.socket.sendall(unfinished)
                held += 1
            except OSError:  # it reads no more of it, or has closed the link
                pass
        stage.settle()
    stage.figures["links that could send all but one byte"] = held
    stage.figures["bytes held a link"] = stage.grown() // len(links)
    for link in links:
        link.close()
    stage.grown_in_account()
