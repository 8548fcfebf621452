"""directs: messages to one user who confirms none, as many as senders may have.

Each took the relay a look at all the others, and none was counted as memory. When the receiver goes, all senders are told.
"""

from raw import frame, relay_client, reset

SENDERS = 40
BURST = 60  # at one instant [RT1]
COUNTED, NUMBER = 256, 64  # bytes of one, and of its number, which is remembered, as the account has it


def attack(stage):
    receiver, senders = stage.link(), stage.links(4 * SENDERS if stage.is_long else SENDERS)
    before = stage.watch.look()["census"]["sessionMemoryBytes"]
    with stage.window():
        for link in senders:
            link.write(*(frame("direct", *relay_client.encode_direct(1 + number, receiver.user, b"x")[::-1]) for number in range(BURST)))
        stage.settle()
        held = stage.watch.look()["census"]["sessionMemoryBytes"] - before
        pending = BURST * len(senders) - sum(link.codes.total() for link in senders)
        reset(receiver)
        failed = sum(link.until("error") is not None for link in senders for _ in range(BURST))
    stage.figures["messages that waited for their confirmation"] = pending
    stage.at_least("bytes of memory that are counted for them", held, pending * COUNTED)
    stage.exactly("senders' messages of which they are told", failed, pending)
    left = stage.watch.look()["census"]["sessionMemoryBytes"] - before
    stage.at_most("bytes of memory that are counted behind it", left, pending * NUMBER)
    for link in senders:
        link.close()
