"""The client of websockets from its request to its close, with an echo on the other side."""
import random

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 81_926, 300_000]
clients = []


def write(folder, seed, _mutants):
    dice = random.Random(seed)
    clients.clear()
    with open(folder / "dialogs.txt", "w") as file:
        for host in ["localhost:7420", "127.0.0.1:7420", "192.168.1.5:7420", "[::1]:7420", "board.local:7420"]:
            for subprotocol in [None, "boardrelay.v1"]:
                client = ClientProtocol(
                    parse_uri(f"ws://{host}/ws"), origin=f"http://{host}" if dice.random() < 0.5 else None,
                    subprotocols=[subprotocol, "other"] if subprotocol else None)
                client.send_request(client.connect())
                data = b"".join(client.data_to_send())
                messages = []
                for size in SIZES:
                    body = bytes(dice.randrange(97, 123) for _ in range(size))
                    opcode = dice.choice([Opcode.TEXT, Opcode.BINARY])
                    messages.append((opcode, body))
                    cut = dice.randrange(size + 1)
                    data += Frame(opcode, body[:cut], fin=False).serialize(mask=True)
                    data += Frame(Opcode.PING, b"here").serialize(mask=True)
                    data += Frame(Opcode.CONT, body[cut:]).serialize(mask=True)
                data += Frame(Opcode.CLOSE, (4_000).to_bytes(2, "big")).serialize(mask=True)
                clients.append((client, subprotocol, messages))
                file.write(data.hex() + "\n")


def check(folder) -> str:
    lines = (folder / "dialogs.out").read_text().split()
    assert len(lines) == len(clients), f"{len(lines)} answers"
    for line, (client, subprotocol, messages) in zip(lines, clients):
        client.receive_data(bytes.fromhex(line))
        events = client.events_received()
        assert client.handshake_exc is None, client.handshake_exc
        assert client.parser_exc is None, client.parser_exc
        assert events[0].status_code == 101 and client.subprotocol == subprotocol and client.extensions == []
        data = [(event.opcode, bytes(event.data)) for event in events[1:] if event.opcode in (Opcode.TEXT, Opcode.BINARY)]
        assert data == messages, "a message came back as another"
        assert [bytes(event.data) for event in events[1:] if event.opcode == Opcode.PONG] == [b"here"] * len(messages)
        assert client.close_rcvd is not None and client.close_rcvd.code == 4_000 and client.state in (State.CLOSING, State.CLOSED)
    return f"websockets: {len(clients)} clients from request to close, {len(SIZES)} messages each"
