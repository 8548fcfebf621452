"""What a check is given: browsers that are already there, relays and pages that end with it."""

import itertools
import pathlib
import re
import shutil
import tempfile
import typing
import zlib

from selenium.common.exceptions import WebDriverException
from urllib3.exceptions import HTTPError

from browser import ENGINES, until
from page import Page
from relay import Relay

CHECKS = []

# How an engine that has ended, or hangs, answers.
NO_ANSWER = (WebDriverException, HTTPError, OSError)

# What an engine says by itself, for every page, when a link or a request fails.
BROKEN_LINK = re.compile(
    r"WebSocket connection to 'ws://[^']*' failed|Failed to load resource: net::ERR_|^error: not loaded: http://board\.test:")


class Check(typing.NamedTuple):
    title: str
    function: typing.Callable
    together: bool
    only: str | None

    def is_for(self, engine, by_turns):
        """By turns each check has one engine, which no other check changes."""
        if self.only or not by_turns:
            return self.only in (engine, None)
        return engine == sorted(ENGINES)[zlib.crc32(self.title.encode()) % len(ENGINES)]

    def is_among(self, every):
        """The share of a run that has one check in so many: no other check changes it, and each engine has as many."""
        return zlib.crc32(self.title.encode()) // len(ENGINES) % every == 0


def check(title, together=False, only=None):
    """Registers a check: for each engine by itself, for the one that can do it, or once, with all of them together."""
    def register(function):
        CHECKS.append(Check(title, function, together, only))
        return function
    return register


class Browsers:
    """The sessions of this run, made when they are first wanted."""

    def __init__(self, screen):
        self.screen, self.sessions = screen, {}

    def get(self, engine, dark=False):
        # Chromium changes its colours at any time.
        place = engine, dark and engine != "chromium"
        if place not in self.sessions:
            self.sessions[place] = ENGINES[engine](self.screen, dark)
        return self.sessions[place]

    def forget_console(self):
        """What was said so far is not the next check's."""
        for session in self.sessions.values():
            session.forget_console()

    def lose(self, session):
        """Forgets a session that does not answer any more."""
        self.sessions = {place: other for place, other in self.sessions.items() if other is not session}
        try:
            session.end()
        except NO_ANSWER:
            pass

    def end(self):
        for session in list(self.sessions.values()):
            self.lose(session)


class Stage:
    """One check's relays and pages."""

    def __init__(self, binary, browsers, engines, pictures):
        self.binary, self.browsers, self.engines, self.pictures = binary, browsers, engines, pictures
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="boardrelay-browser-"))
        self.things, self.pages, self.clients = [], [], []
        self.counter = itertools.count()
        self.breaks_links = False

    @property
    def engine(self):
        return self.engines[0]

    def relay(self, *options, auth="key"):
        relay = Relay(self.binary, self.folder / f"relay-{next(self.counter)}", options, auth)
        self.things.append(relay)
        return relay

    def page(self, relay, who, board="lesson", engine=None, dark=False, **more):
        """A page that is open and has come in."""
        page = self.visitor(relay, who, board, engine, dark, **more).open()
        # A window of an earlier check may be dark still.
        if page.browser.name == "chromium":
            page.browser.set_dark(dark)
        return page

    def visitor(self, relay, who, board="lesson", engine=None, dark=False, **more):
        """A page that is not open yet."""
        page = Page(self.browsers.get(engine or self.engine, dark), relay, board, who, **more)
        self.pages.append(page)
        return page

    def settle(self, *pages):
        """Until all pages show the same offset, and nothing is on its way; then what they show must be the same."""
        def states():
            return [page.state() for page in pages]

        def is_settled():
            found = states()
            return len({offset for _, offset, _, _ in found}) == 1 and all(
                    (link, unsent, live) == ("connected", 0, 0) for link, _, unsent, live in found)
        until(is_settled, lambda: f"all boards are the same: {dict(zip((page.who for page in pages), states()))}")
        self.must_be_equal(*pages)

    def must_be_equal(self, *pages):
        """Pixels within an engine, SVG text everywhere, the relay's own export among it."""
        texts = {page.who: page.svg() for page in pages}
        texts["boardrelay board export"] = pages[0].relay.export(pages[0].board)
        first, wanted = next(iter(texts.items()))
        for who, text in texts.items():
            assert text == wanted, f"the SVG of {first} and that of {who} differ: {difference(wanted, text)}"
        for engine in {page.browser for page in pages}:
            layers = {page.who: page.layer() for page in pages if page.browser is engine and page.size == pages[0].size}
            assert len(set(layers.values())) <= 1, f"pixels differ in {engine.name} at equal offset: {layers}"

    def picture(self, page, name):
        """Keeps what a page shows, where pictures are wanted."""
        if self.pictures:
            self.pictures.mkdir(parents=True, exist_ok=True)
            page.driver.get_screenshot_as_file(str(self.pictures / f"{page.browser.name}-{name}.png"))

    def complaints(self):
        """What the engines said that nobody should have to say, and what pages asked of others."""
        found = []
        for page in self.pages:
            said = page.browser.enter(page.window) and page.browser.console()
            if self.breaks_links:
                said = [line for line in said if not BROKEN_LINK.search(line)]
            found += [f"{page.who}'s console: {line}" for line in said]
            own = f"{page.cutter.port}/"
            asked = page.ask("return performance.getEntriesByType('resource').map(entry => entry.name)")
            found += [f"{page.who}'s page asked for {name}" for name in asked
                      if not re.match(rf"(http|ws)://board\.test:{own}|(blob|data):", name)]
        return found

    def end(self):
        for client in self.clients:
            client.end()
        # All pages before any link: one that is left does not complain of it.
        for page in self.pages:
            try:
                page.close()
            except NO_ANSWER:
                # The next check gets another one.
                self.browsers.lose(page.browser)
        for page in self.pages:
            page.cutter.end()
        self.browsers.forget_console()
        for thing in self.things:
            thing.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def difference(wanted, text):
    """The first place at which they differ, with what stands around it."""
    place = next((n for n, (a, b) in enumerate(zip(wanted, text)) if a != b), min(len(wanted), len(text)))
    around = slice(max(0, place - 60), place + 60)
    return f"at {place} of {len(wanted)} and {len(text)}: {wanted[around]!r}, {text[around]!r}"
