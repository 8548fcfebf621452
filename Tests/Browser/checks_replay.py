"""Replays: of the board, and of a recorded lesson from a file; the board below goes on, and nothing is drawn into either."""

import json

from selenium.webdriver.common.keys import Keys

import accessibility
from browser import until
from stage import check

SIZES = (1280, 800), (320, 568)


def line(number, by, y):
    points = [[60 + step * 12, y + (step * 7 + number * 5) % 23] for step in range(24)]
    flat = [points[0][0] * 100, points[0][1] * 100]
    for (x, y0), (x1, y1) in zip(points, points[1:]):
        flat += [(x1 - x) * 100, (y1 - y0) * 100]
    color = ("#1B1B1BFF", "#D92D20FF", "#1F66E5FF")[number % 3]
    return {"color": color, "cols": "xy", "id": f"{by}-{number}", "points": flat, "v": 1, "width": 350, "z": number}


def lesson(is_whole=True):
    """Three people in ten seconds and a pause of an hour: lines live and finished, one erased, some missed."""
    lines = [{"at": 0, "event": "begin", "time": 1_763_683_200_000, "v": 1}]
    text = {"color": "#000000FF", "id": "t1", "size": 2600, "text": "Ask Ada about ink", "v": 1, "x": 6000, "y": 9000, "z": 1}
    lines.append({"at": 0, "by": "ada", "customType": "text", "event": "record", "key": "t1", "text": json.dumps(text)})
    for number, by in enumerate(("ada", "ben", "eve", "ada", "ben", "eve")):
        at, stroke = 1_000 + number * 1_500, line(number, by, 160 + number * 40)
        for first in range(0, 20, 4):
            packet = {name: stroke[name] for name in ("color", "cols", "id", "v", "width")}
            xy = [sum(stroke["points"][axis:2 * first + 2:2]) for axis in (0, 1)]
            packet |= {"first": first, "points": xy + stroke["points"][2 * first + 2:2 * first + 8]}
            lines.append({"at": at + first * 50, "by": by, "device": f"d-{by}", "event": "packet", "topic": "points",
                          "text": json.dumps(packet)})
        lines.append({"at": at + 1_200, "by": by, "customType": "stroke", "event": "record", "key": stroke["id"],
                      "text": json.dumps(stroke)})
    lines.append({"at": 10_000, "by": "ada", "event": "remove", "key": "ada-0"})
    lines.append({"at": 10_500, "count": 3, "event": "missed", "what": "messages"})
    lines.append({"at": 3_610_500, "by": "ada", "customType": "stroke", "event": "record", "key": "late",
                  "text": json.dumps(line(8, "late", 420) | {"id": "late"})})
    if is_whole:
        lines.append({"at": 3_611_000, "event": "end"})
    return "".join(json.dumps({**one, "board": "history"}) + "\n" for one in lines)


def drop(page, text, name="lesson.ndjson"):
    until(lambda: page.ask("return document.getElementById('recording') !== null"), "what comes late has come")
    page.ask("""const files = new DataTransfer()
        files.items.add(new File([arguments[0]], arguments[1]))
        document.getElementById('stage').dispatchEvent(
            new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}))""", text, name)


def slider(page):
    """Value, as readers hear it, and its end; all in seconds."""
    return page.ask("""const slider = document.querySelector('#replay input[type=range]')
        return [Number(slider.value) / 1000, slider.ariaValueText, Number(slider.max) / 1000]""")


def stop(page):
    if page.ask("return document.querySelector('#replay .play').ariaLabel") != "Play":
        page.click("#replay .play")


def seek(page, seconds):
    page.ask("""const slider = document.querySelector('#replay input[type=range]')
        slider.value = arguments[0] * 1000
        slider.dispatchEvent(new Event('input'))""", seconds)
    page.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0])))")


def ink(page, number=0):
    """Pixels with something on them, on the replay's board (0) or on what is live (1)."""
    return page.ask("""const canvas = document.querySelectorAll('#replay canvas')[arguments[0]]
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true})
        copy.drawImage(canvas, 0, 0)
        const {data} = copy.getImageData(0, 0, canvas.width, canvas.height)
        let count = 0
        for (let at = 3; at < data.length; at += 4) count += data[at] > 0
        return count""", number)


def open_dropped(page, text):
    drop(page, text)
    until(lambda: page.is_shown("#replay .controls"), "the replay is shown")
    stop(page)


@check("a recorded lesson that is dropped on the board is played: live lines, what was erased, what was missed")
def recording(stage):
    page = stage.page(stage.relay(), "Ada", size=SIZES[0])
    page.wait("connected")
    open_dropped(page, lesson())
    seek(page, 0)
    at_first = ink(page)
    assert at_first > 0, "the text stands there from the beginning on"
    assert slider(page)[1:] == ["0:00 of 0:14", 14], slider(page)
    seek(page, 1.9)
    assert ink(page, 1) > 0 and ink(page) == at_first, "a line is live before it is finished"
    assert page.ask("return document.querySelectorAll('#replay .cursor').length") == 1
    seek(page, 9.8)
    before = ink(page)
    seek(page, 10.2)
    assert at_first < ink(page) < before, f"what was erased goes: {at_first}, {before}, {ink(page)}"
    seek(page, 9.8)
    assert ink(page) == before, "and is there again a moment before"
    seek(page, 10.6)
    assert page.words("#replay .notice") == "3 changes were not recorded here.", page.words("#replay .notice")
    # By keys, as time.
    page.find("#replay input[type=range]").send_keys(Keys.HOME)
    until(lambda: slider(page)[0] == 0, "Home is the beginning")
    page.press(Keys.ARROW_RIGHT)
    until(lambda: slider(page)[1] == "0:05 of 0:14", lambda: f"an arrow goes five seconds on: {slider(page)}")
    page.click("#replay .pauses")
    until(lambda: slider(page)[1:] == ["0:05 of 1:00:11", 3611], lambda: f"pauses are kept: {slider(page)}")
    page.press(Keys.ESCAPE)
    until(lambda: not page.is_shown("#replay"), "Escape goes back to the board")


@check("a replay runs by itself, faster if somebody wants, up to its end")
def speed(stage):
    page = stage.page(stage.relay(), "Ada")
    drop(page, lesson(is_whole=False))
    until(lambda: page.is_shown("#replay .controls"), "the replay is shown")
    page.ask("""const select = document.querySelector('#replay select')
        select.value = '20'
        select.dispatchEvent(new Event('change'))""")
    until(lambda: slider(page)[1] == "0:13 of 0:13", lambda: f"it comes to its end: {slider(page)}")
    until(lambda: page.words("#replay .notice") == "The recording was cut off here.", "that it was cut off is told")
    assert page.ask("return document.querySelector('#replay .play').ariaLabel") == "Play"
    page.click("#replay .play")
    until(lambda: slider(page)[0] < 13, "it begins anew")
    page.click("#replay .close")
    until(lambda: not page.is_shown("#replay"), "its button closes it")


@check("while a replay is shown the board goes on receiving, and nothing is drawn into it")
def below(stage):
    relay = stage.relay()
    page, other = stage.page(relay, "Ada"), stage.page(relay, "Ben")
    page.draw((200, 200), (300, 240), (380, 220))
    other.must_have(1)
    page.click("#more")
    page.click("#replay-board")
    until(lambda: page.is_shown("#replay .controls"), "the board is played again")
    until(lambda: ink(page) > 0, "with what stands on it")
    page.draw((200, 300), (400, 360), (420, 380))
    page.press(Keys.DELETE, "e", "t")
    other.draw((200, 400), (300, 440), (380, 420))
    page.must_have(2)
    assert page.ask("return document.documentElement.dataset.tool") == "pen"
    page.press(Keys.ESCAPE)
    until(lambda: not page.is_shown("#replay"), "it is closed")
    page.draw((200, 500), (300, 540), (380, 520))
    other.must_have(3)
    stage.settle(page, other)


@check("a file that is no recording is refused with its line, and one that is chosen in the menu is played")
def refused(stage):
    page = stage.page(stage.relay(), "Ada")
    lines = lesson().splitlines(keepends=True)
    for text, words in (("".join([*lines[:3], "{\n", *lines[3:]]), "Line 4: It is not a JSON object"),
                        ("".join([lines[0], lines[2].replace('"by"', '"bye"')]), "Line 2: The field “by” is missing."),
                        ('{"board":"b","points":[[1,2.5]]}\n', "Line 1: This file has strokes alone.")):
        drop(page, text)
        until(lambda: page.is_shown("#replay-fault"), "the fault is told")
        told = page.words("#replay-fault p")
        assert told.startswith(words), told
        assert not page.is_shown("#replay")
        page.click("#replay-done")
        until(lambda: not page.is_shown("#replay-fault"), "it is read")
    path = stage.folder / "lesson.ndjson"
    path.write_text(lesson())
    page.find("#recording").send_keys(str(path))
    until(lambda: page.is_shown("#replay .controls"), "the chosen file is played")


@check("a replay is well to see and to use")
def replay_look(stage):
    relay = stage.relay()
    wrong = []
    for dark in (False, True):
        page = stage.page(relay, "Night" if dark else "Day", dark=dark, size=SIZES[0])
        page.browser.enter(page.window)
        page.browser.set_dark(dark)
        open_dropped(page, lesson())
        for width, height in SIZES:
            page.resize(width, height)
            seek(page, 10.6)
            place = f"replay-{'dark' if dark else 'light'}-{width}"
            wrong += [f"{place}: {fault}" for fault in accessibility.faults(page)]
            wide = page.ask("""const {left, right} = document.querySelector('#replay .controls').getBoundingClientRect()
                return [left, right, innerWidth]""")
            if wide[0] < 0 or wide[1] > wide[2]:
                wrong.append(f"{place}: the bar reaches from {wide[0]} to {wide[1]} of {wide[2]} px")
            stage.picture(page, place)
            seek(page, 4.9)
            stage.picture(page, f"{place}-live")
    assert not wrong, "; ".join(wrong[:8])
