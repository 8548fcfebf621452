"""QR codes: the symbols of qrcode, and what zbarimg reads from what a terminal would show."""
import pathlib
import random
import subprocess
import tempfile

import qrcode
from qrcode.util import MODE_8BIT_BYTE, QRData

START, END = "\x1b[38;5;16;48;5;231m", "\x1b[0m"
texts = []


def write(folder, seed, _mutants):
    dice = random.Random(seed)
    with open(folder / "symbols.txt", "w") as file:
        for size in range(1, 332):
            # Each mask with each length that begins a version or ends it, and in turn with the others.
            masks = range(8) if size in EDGES else [size % 8]
            for mask in masks:
                data = bytes(dice.randrange(256) for _ in range(size))
                modules = "".join(str(int(module)) for row in drawn(QRData(data, mode=MODE_8BIT_BYTE), mask) for module in row)
                file.write(f"{mask}\t{data.hex()}\t{modules}\n")
    texts.clear()
    for size in range(1, 121):
        address = "http://192.168.1.5:7420/#key=" + "".join(dice.choice("abcdefghijklmnopqrstuvwxyz234567-_") for _ in range(120))
        texts.append(address[:size])
    texts.append("x" * 331)
    (folder / "texts.txt").write_text("".join(text.encode().hex() + "\n" for text in texts))


def drawn(data: QRData, mask: int) -> list[list[bool]]:
    code = qrcode.QRCode(error_correction=qrcode.constants.ERROR_CORRECT_M, mask_pattern=mask, border=0)
    code.add_data(data, optimize=0)
    code.make(fit=True)
    return code.modules


CAPACITIES = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331]
EDGES = {1} | set(CAPACITIES) | {size + 1 for size in CAPACITIES}


def image(line: str) -> bytes:
    """What the lines look like: each module three pixels wide and high, the terminal around them black."""
    rows = []
    for text in line.split("|"):
        assert text.startswith(START) and text.endswith(END), "a line without its colours"
        blocks = text[len(START):-len(END)]
        rows.append([block not in "▀█" for block in blocks])
        rows.append([block not in "▄█" for block in blocks])
    width, scale, border = len(rows[0]), 3, 12
    pixels = bytearray()
    dark = bytes([0] * (width * scale + 2 * border))
    for row in rows:
        pixels += (bytes(border) + b"".join(bytes([255 if light else 0]) * scale for light in row) + bytes(border)) * scale
    body = dark * border + pixels + dark * border
    return b"P5\n%d %d\n255\n" % (len(dark), len(body) // len(dark)) + body


def check(folder) -> str:
    lines = (folder / "texts.out").read_text().strip("\n").split("\n")
    assert len(lines) == len(texts), f"{len(lines)} codes"
    with tempfile.TemporaryDirectory() as name:
        for text, line in zip(texts, lines):
            file = pathlib.Path(name) / "code.pgm"
            file.write_bytes(image(line))
            run = subprocess.run(["zbarimg", "-q", "--raw", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert run.stdout == text + "\n", f"{len(text)} bytes are read as {run.stdout!r} {run.stderr}"
    return f"qrcode: {(folder / 'symbols.out').read_text().strip()}; zbarimg: lengths 1…120 and 331"
