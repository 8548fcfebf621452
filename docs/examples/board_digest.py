#!/usr/bin/env python3
"""The digest of a board (docs/board-format.md): 128 bits that do not depend on the order of records. It is not cryptographic."""

MASK = (1 << 64) - 1


def words(record):
    """A record as 64-bit words: key, custom type, kind of payload, payload."""
    key, custom_type, payload = record
    yield from counted(key.encode())
    yield from counted(custom_type.encode()) if custom_type is not None else [MASK]
    yield 1 if isinstance(payload, str) else 2
    yield from counted(payload.encode() if isinstance(payload, str) else payload)


def counted(data):
    """The length in bytes, then words of 8 bytes: the first byte is the lowest, zeros fill the last word."""
    yield len(data)
    for at in range(0, len(data), 8):
        yield int.from_bytes(data[at:at + 8], "little")


def turn(x, bits):
    """Turned left."""
    return (x << bits | x >> (64 - bits)) & MASK


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def digest(records):
    """The sums of the two numbers of each record. To follow a board, add those of new records and subtract those of removed ones."""
    first = second = 0
    for record in records:
        a, b = 0x243F6A8885A308D3, 0x13198A2E03707344
        for word in words(record):
            a = turn(a ^ word, 29) * 0x9E3779B97F4A7C15 & MASK
            b = turn((b + word) & MASK, 31) * 0xC2B2AE3D27D4EB4F & MASK
        first, second = (first + mix(a ^ turn(b, 32))) & MASK, (second + mix((b + a) & MASK)) & MASK
    return f"{first:016x}{second:016x}"


if __name__ == "__main__":
    stroke, photo = ("s1", "stroke", '{"v":1}'), ("p", None, bytes(range(17)))
    assert digest([stroke]) == "b22491af89c4f6f11c79c143257c93e9"
    assert digest([photo]) == "e7e591b18349ce509494387b2939bd5a"
    assert digest([photo, stroke]) == digest([stroke, photo])
    print(digest([stroke, photo]))
