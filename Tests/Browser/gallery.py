#!/usr/bin/env python3
"""What each tool looks like in a hand: every tool, in both themes and four sizes, for whoever looks at pictures.

    python3 Tests/Browser/gallery.py --binary PATH --into DIR [--browser chromium|webkit] [--tool NAME]

One PNG each, named by theme, size and tool. Nothing is judged here: look at them.
"""

import argparse
import pathlib
import sys
import time

import tools

SIZES = (320, 640), (768, 1024), (1280, 800), (1920, 1080)
KEYS = {"select": "v", "pen": "p", "marker": "h", "laser": "k", "eraser": "e", "area-eraser": "x", "line": "l", "arrow": "a",
        "rectangle": "r", "ellipse": "o", "text": "t", "note": "n", "image": "", "camera": ""}
# How long a button is held that shows its group.
HOLD_SECONDS = 0.8


def wave(x, y, count=12, step=18):
    return [(x + n * step, y + (n * 37) % 29) for n in range(count)]


def furnish(page):
    """A board with something of everything, where a phone sees it."""
    import checks_texts
    page.press("p")
    for row in range(3):
        page.draw(*wave(50, 120 + row * 34), kind="mouse")
    page.press("o")
    page.draw((60, 240), (90, 260), (150, 300), kind="mouse")
    checks_texts.write(page, "Ink weighs little.", (170, 240))
    page.press("p")


def use(page, name, take):
    """The tool in the middle of what it does, and a picture of it."""
    import checks_texts
    from selenium.webdriver.common.keys import Keys
    if name in ("image", "camera"):
        if name == "image":
            checks_texts.give(page, width=160, height=100, at=(150, 400))
            time.sleep(0.5)
            return take()
        x, y = page.ask("const {x, y, width, height} = document.querySelector('#tool-image').getBoundingClientRect();"
                        "return [x + width / 2, y + height / 2]")
        hand = page.pen("mouse")
        hand.down(round(x), round(y))
        time.sleep(HOLD_SECONDS)
        take()
        hand.move((10, 300))
        hand.up()
        return page.press(Keys.ESCAPE)
    page.press(KEYS[name])
    if name in ("text", "note"):
        page.draw((150, 400), kind="mouse")
        page.find("#words").send_keys("Who has ever weighed ink?")
        take()
        page.ask("document.getElementById('words').value = ''")
        return page.find("#words").send_keys(Keys.ESCAPE)
    hand = page.pen("mouse")
    # Over what stands, for those that take it or choose it.
    start = (40, 105) if name in ("select", "eraser", "area-eraser") else (60, 380)
    hand.down(*start)
    hand.move(*((start[0] + n * 14, start[1] + n * 8 + (n * 13) % 9) for n in range(1, 17)))
    if name == "select":
        # What lies in the frame is chosen when it is let go.
        hand.up()
        return take()
    take()
    hand.up()
    # A laser leaves nothing that could be undone.
    return name == "laser" or page.press("z", control=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    parser.add_argument("--into", type=pathlib.Path, required=True, help="the folder of the pictures")
    parser.add_argument("--browser", choices=("chromium", "webkit"), default="chromium")
    parser.add_argument("--tool", choices=KEYS, help="one tool alone")
    options = parser.parse_args()
    lacking = tools.missing([options.browser])
    if lacking:
        print(f"this machine lacks {', '.join(lacking)}", file=sys.stderr)
        return 1
    import stage
    from relay import find_binary
    screen = tools.Screen()
    browsers = stage.Browsers(screen)
    try:
        place = stage.Stage(find_binary(options.binary), browsers, [options.browser], options.into)
        for dark in (False, True):
            for width, height in SIZES:
                page = place.page(place.relay(), "Ada", dark=dark, size=(width, height))
                page.browser.enter(page.window)
                page.browser.set_dark(dark)
                furnish(page)
                for name in [options.tool] if options.tool else KEYS:
                    use(page, name, lambda: place.picture(page, f"{'dark' if dark else 'light'}-{width}x{height}-{name}"))
                print(f"{'dark' if dark else 'light'} {width}x{height}", flush=True)
        for complaint in place.complaints():
            print(complaint, file=sys.stderr)
        place.end()
    finally:
        browsers.end()
        screen.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
