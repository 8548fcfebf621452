#!/usr/bin/env python3
"""A whole small lesson of ten people on one relay, from the invitation to the replay; in the end all have what the relay has.

    python3 Tests/Browser/lesson_of_ten.py --binary PATH [--browser chromium|webkit|both] [--seed 19] [--rounds 3] [--screenshots DIR]

A host, a pen with palms beside it, a phone of 320 px, somebody who only watches, a laptop that comes by the join code, somebody whose
link is cut, and four more who draw. `both` puts some of them into WebKit. The seed decides where the lines go, and nothing else is left
to chance. One line a step; exit code 1 if anything is missing anywhere, or a console says a word.
"""

import argparse
import pathlib
import random
import sys
import time

import tools

# Each has a place of the board: as many fit as there are people, and a phone shows the first.
COLUMNS, CELL, CORNER = 4, (230, 160), (40, 120)
ROUNDS_MAX = 20
# Where a palm lies, right of all that is drawn.
PALM = 1050, 500


class Lesson:
    """Ten people, and the steps of their lesson."""

    def __init__(self, stage, seed, rounds, say):
        self.stage, self.chance, self.rounds, self.say = stage, random.Random(seed), rounds, say
        self.began = time.monotonic()
        # What each has drawn that stands, as far as it is known here.
        self.count = 0

    STEPS = ("invite", "come", "draw", "shape", "write", "paste", "cut_off", "follow", "raise_hands", "pause", "free", "take_back", "erase",
             "come_back", "replay", "compare")

    def hold(self):
        """All of it."""
        for number, name in enumerate(self.STEPS, 1):
            step = getattr(self, name)
            step()
            self.say(f"{number:2}/{len(self.STEPS)} {time.monotonic() - self.began:5.1f} s  {step.__doc__}")

    # -- people ----------------------------------------------------------------------------------

    def visitor(self, who, engine=0, **more):
        """A page in the first engine of this run, or in its last."""
        return self.stage.visitor(self.relay, who, engine=self.stage.engines[engine], **more)

    def invite(self):
        """The host shows the way: a link without the host's key, and six letters."""
        import checks_rights
        self.relay = self.stage.relay()
        self.host = self.visitor("Ms Ray", key="host", size=(1280, 800)).open()
        self.host.click("#invite")
        self.code = checks_rights.shown_code(self.host)
        link = self.host.ask("return document.getElementById('address').value")
        assert self.relay.keys["join"] in link and self.relay.keys["host"] not in link, f"the invitation is {link}"

    def come(self):
        """Eight come by the link, one by the letters; the host closes the invitation, and lets one only watch."""
        import checks_rights
        from browser import until
        self.laptop = self.visitor("Lea", board=None, key=None)
        self.laptop.load()
        self.laptop.introduce()
        until(lambda: self.laptop.is_shown("#key-dialog"), "letters are asked for")
        self.laptop.find("#key").send_keys(self.code.lower())
        self.laptop.leave_by("#key-enter")
        self.laptop.board = "lesson"
        self.pen = self.visitor("Pia", size=(1180, 820))
        self.phone = self.visitor("Finn", size=(320, 640))
        self.reader, self.offline = self.visitor("Rea", engine=-1), self.visitor("Olaf")
        self.drawers = [self.visitor(name, engine=-(number % 2)) for number, name in enumerate(("Ann", "Bob", "Cem", "Dee"))]
        self.guests = [self.laptop, self.pen, self.phone, self.reader, self.offline, *self.drawers]
        self.all = [self.host, *self.guests]
        for page in self.guests[1:]:
            page.load(is_awaited=False)
        for page in self.guests[1:]:
            page.introduce()
        for page in self.guests:
            page.wait("connected")
            until(lambda: page.state()[1] is not None, f"{page.who} has read the board")
        self.host.click("#invite-close")
        names = "return [...document.querySelectorAll('#people-list li > b')].map(({textContent}) => textContent).sort()"
        self.host.click("#people")
        until(lambda: self.host.ask(names) == sorted(page.who for page in self.all), lambda: f"ten are here: {self.host.ask(names)}")
        checks_rights.decide(self.host, "Rea", "#person-view")
        checks_rights.role(self.reader, "reader")

    # -- drawing ---------------------------------------------------------------------------------

    def cell(self, page):
        """A person's part of the board; the phone's is the first."""
        number = [self.phone, *(other for other in self.all if other is not self.phone)].index(page)
        return CORNER[0] + number % COLUMNS * CELL[0], CORNER[1] + number // COLUMNS * CELL[1]

    def line(self, page, row=0):
        """A line through the person's part of the board."""
        x, y = self.cell(page)
        y += 12 + row % 5 * 26
        return [(x + n * 21, y + self.chance.randrange(-9, 10)) for n in range(9)]

    def stands(self, more):
        """So much more stands on the board for the host, the phone and who watches; in the end all are compared."""
        self.count += more
        for page in (self.host, self.phone, self.reader):
            page.must_have(self.count)

    def draw(self):
        """Everybody draws; what a palm does beside the pen is not kept, and who watches cannot draw."""
        import checks_hands as hands
        for page in self.all:
            page.show(0, 0)
        for turn in range(self.rounds):
            for page in (self.host, self.laptop, self.offline, *self.drawers):
                page.draw(*self.line(page, turn), kind="mouse")
            self.phone.draw(*self.line(self.phone, turn), kind="touch")
            (x, y), *rest = self.line(self.pen, turn)
            hands.play(self.pen, hands.PALM_MS, ("f1", "down", *PALM), 16, ("f1", "move", 1060, 510), ("p1", "down", x, y),
                       *(part for place in rest for part in (("p1", "move", *place), 16)), ("p1", "up", *rest[-1]), ("f1", "up", 1070, 520))
            self.reader.draw(*self.line(self.reader, turn), kind="mouse")
        self.stands(9 * self.rounds)
        lines = self.relay.records("lesson")
        assert sum("p" in line["cols"] for line in lines) == self.rounds, "the pen's lines are kept with their pressure"
        assert all(line["points"][0] < PALM[0] * 100 for line in lines), "what a palm drew is kept"

    def shape(self):
        """A rectangle, an ellipse, an arrow and a line, by keys and by the phone's buttons."""
        for page, key in zip(self.drawers, "roal"):
            x, y = self.cell(page)
            page.press(key)
            page.draw((x + 20, y + 30), (x + 60, y + 50), (x + 150, y + 110), kind="mouse")
            page.press("p")
        self.phone.click("#tool-line")
        x, y = self.cell(self.phone)
        self.phone.draw((x, y + 20), (x + 80, y + 60), (x + 160, y + 120), kind="touch")
        self.stands(5)
        shapes = sorted(record["shape"] for record in self.relay.records("lesson") if "shape" in record)
        assert shapes == ["arrow", "ellipse", "line", "line", "rectangle"], f"the relay has {shapes}"

    def write(self):
        """A sticky note and a text."""
        import checks_texts
        for page, words, tool in ((self.laptop, "What weighs more?", "note"), (self.drawers[1], "Feathers!", "text")):
            x, y = self.cell(page)
            checks_texts.write(page, words, (x + 80, y + 60), tool=tool)
            page.press("p")
        self.stands(2)

    def paste(self):
        """A picture is dropped on the board."""
        import checks_texts
        x, y = self.cell(self.drawers[3])
        checks_texts.give(self.drawers[3], width=160, height=80, at=(x + 100, y + 70))
        self.stands(1)

    # -- together --------------------------------------------------------------------------------

    def cut_off(self):
        """One link breaks; its owner draws on, and moves what was drawn before."""
        self.stage.breaks_links = True
        page = self.offline
        page.cutter.cut()
        page.wait(link=lambda link: link in ("waiting", "connecting"))
        (x, y), *_ = first = self.line(page, 4)
        page.draw(*first, kind="mouse")
        page.press("v")
        page.draw((x + 3, y), (x + 20, y + 10), (x + 30, y + 20), kind="mouse")
        page.press("p")
        page.draw(*self.line(page, 3), kind="mouse")
        page.wait(unsent=lambda unsent: unsent >= 2)
        self.here = [other for other in self.all if other is not page]

    def follow(self):
        """One follows another, and the host brings everybody here."""
        import checks_together as together
        from browser import until
        ann = self.drawers[0]
        together.press_beside(self.reader, "Ann", ".follow")
        until(lambda: "Rea follows you" in together.notices(ann), "Ann is told")
        ann.show(-900, -700, 0.5)
        until(lambda: abs(together.view(self.reader)["scale"] - 0.5) < 0.2, "Rea sees what Ann sees")
        self.host.show(-500, -400)
        if not self.host.is_shown("#bring"):
            self.host.click("#people")
        self.host.click("#bring")
        for page in self.here[1:]:
            until(lambda: "Ms Ray has brought you here" in together.notices(page), f"{page.who} is brought")

    def raise_hands(self):
        """Two raise a hand, and the host lowers them."""
        from browser import until
        import checks_together as together
        for page in self.phone, self.laptop:
            if not page.is_shown("#hand"):
                page.click("#people")
            page.click("#hand")
            until(lambda: page.who in self.host.ask(together.RAISED), f"the host sees {page.who}'s hand")
        self.host.click("#hands-down")
        for page in self.phone, self.laptop:
            until(lambda: page.words("#hand") == "Raise your hand", f"{page.who}'s hand is down")
            page.click("#people")

    def pause(self):
        """The host pauses: nobody else draws, their hands move the view; and the host does."""
        from checks_rights import role
        self.host.click("#pause")
        for page in self.here[1:]:
            role(page, "reader")
        for page in (self.host, *self.drawers):
            page.show(0, 0)
        for page in self.drawers:
            page.draw(*self.line(page, 4), kind="mouse")
        self.host.draw(*self.line(self.host, 4), kind="mouse")
        self.stands(1)
        self.host.click("#pause")
        for page in self.drawers:
            role(page, "editor")

    def free(self):
        """Free-for-all: one erases what another drew, and takes it back."""
        from browser import until
        ann, bob = self.drawers[:2]
        x, y = self.cell(ann)
        self.host.click("#free")
        until(lambda: "Free-for-all" in bob.words("#toasts"), "Bob is told")
        bob.show(0, 0)
        bob.press("e")
        before = bob.elements()
        bob.draw((x - 12, y + 90), *((x + n * 12, y + 30 + n * 6) for n in range(14)), kind="mouse")
        until(lambda: self.host.elements() < before, "what Ann drew is erased")
        bob.press("z", control=True)
        bob.press("p")
        self.stands(0)
        self.host.click("#free")

    def take_back(self):
        """The host takes back what one person drew: lines, a shape and the picture."""
        import checks_rights
        checks_rights.decide(self.host, "Dee", "#person-take-back")
        self.host.click("#remove-yes")
        self.stands(-self.rounds - 2)

    def erase(self):
        """One erases an own shape, and undoes it; an area eraser leaves the rest of a line."""
        cem, phone = self.drawers[2], self.phone
        x, y = self.cell(cem)
        across = [(x + 70, y - 30), *((x + 70, y + n * 8) for n in range(-3, 18))]
        cem.show(0, 0)
        cem.press("e")
        cem.draw(*across, kind="mouse")
        self.stands(-self.rounds - 1)
        cem.press("z", control=True)
        self.stands(self.rounds + 1)
        cem.press("x")
        cem.draw(*across, kind="mouse")
        self.stands(self.rounds + 1)
        cem.press("p")
        phone.click("#undo")
        self.stands(-1)

    def come_back(self):
        """The link is mended: what was drawn without it comes to all, and what all did meanwhile comes to its owner."""
        page = self.offline
        page.cutter.mend()
        page.click("#status")
        page.wait("connected", unsent=0)
        self.stands(2)

    def replay(self):
        """Who watches sees the lesson once more, up to its end."""
        from browser import until
        from checks_replay import ink, slider
        from selenium.webdriver.common.keys import Keys
        page = self.reader
        page.press(Keys.ESCAPE)
        page.click("#more")
        page.click("#replay-board")
        until(lambda: page.is_shown("#replay .controls"), "the board is played again")
        page.find("#replay input[type=range]").send_keys(Keys.END)
        until(lambda: len({*slider(page)[1].split(" of ")}) == 1 and ink(page) > 0, lambda: f"its end is shown: {slider(page)}")
        page.press(Keys.ESCAPE)
        until(lambda: not page.is_shown("#replay"), "it is closed")

    def compare(self):
        """All ten have the relay's records, key by key, and their SVG is the relay's."""
        self.stage.settle(*self.all)
        wanted = self.relay.keyed("lesson")
        for page in self.all:
            found = page.keyed()
            assert found == wanted, f"{page.who} differs at {sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key))}"
            self.stage.picture(page, f"lesson-{page.who.replace(' ', '-')}")
        assert len(wanted) >= self.count > 9, f"{len(wanted)} records for {self.count} elements"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", help="boardrelay; a build of this tree if not given")
    parser.add_argument("--browser", choices=("chromium", "webkit", "both"), default="chromium")
    parser.add_argument("--seed", type=int, default=19, help="decides where lines go")
    parser.add_argument("--rounds", type=int, default=3, help=f"lines of each who draws, 1…{ROUNDS_MAX}")
    parser.add_argument("--screenshots", type=pathlib.Path, help="keeps what each sees in the end in this folder")
    options = parser.parse_args()
    if not 1 <= options.rounds <= ROUNDS_MAX:
        parser.error(f"--rounds is 1…{ROUNDS_MAX}, and {options.rounds} was given")
    engines = ["chromium", "webkit"] if options.browser == "both" else [options.browser]
    lacking = tools.missing(engines)
    if lacking:
        print(f"this machine lacks {', '.join(lacking)}", file=sys.stderr)
        return 1
    import check
    import stage
    from relay import find_binary
    screen = tools.Screen()
    browsers = stage.Browsers(screen)
    try:
        lesson = stage.Stage(find_binary(options.binary), browsers, engines, options.screenshots)
        say = lambda text: print(text, flush=True)
        problem = check.attempt(lambda place: Lesson(place, options.seed, options.rounds, say).hold(), lesson)
    finally:
        browsers.end()
        screen.end()
    print(f"FAIL: {problem}" if problem else "ok: nothing was lost, and no console said a word")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
