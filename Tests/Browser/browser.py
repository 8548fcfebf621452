"""The two engines, each driven through its own driver, with what only one of them can do made alike.

| | Chromium | WebKitGTK |
|---|---|---|
| board.test | told on its command line | /etc/hosts |
| pens, fingers | the driver's, with pressure | events made by a script: its driver loses a pen that is down, and knows no finger; it draws with a mouse |
| console | the driver's log | noted in the page, from before its first script on |
| window size | any, through CDP | any, in windows without bars: those that a script opens |
| focus | shown | goes its way, but is not shown: nobody makes its windows the active one |
| dark | through CDP, at any time | from the start |
"""

import os
import time

from selenium import webdriver
from selenium.common.exceptions import JavascriptException, NoSuchFrameException

from tools import HOST, minibrowser

# What a page says for itself where the driver has no log of it.
NOTE_CONSOLE = """
  const said = window.saidOnConsole = []
  for (const level of ['debug', 'log', 'info', 'warn', 'error', 'assert', 'trace'])
    console[level] = (...words) => said.push(level + ': ' + words.map(String).join(' '))
  addEventListener('error', event => said.push('error: ' + (event.message ?? 'not loaded: ' + (event.target.src ?? event.target.href))), true)
  addEventListener('unhandledrejection', event => said.push('not handled: ' + (event.reason?.stack ?? event.reason)))
  addEventListener('securitypolicyviolation', event => said.push('refused by policy: ' + event.violatedDirective + ' ' + event.blockedURI))
"""


# How long anything is waited for, in seconds. It ends a check that hangs, and judges nothing: a machine may have much else to do.
PATIENCE = 120


def until(answer, what, seconds=PATIENCE):
    """Asks until there is an answer; it is returned. Whatever was still wrong is in the failure."""
    end = time.monotonic() + seconds
    while True:
        found = answer()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.04)


class Browser:
    """One engine's session. Windows are used again: a new one costs more than a new page."""

    # Whether a page that loads needs nobody beside it.
    loads_alone = False

    def __init__(self, driver):
        self.driver = driver
        # An engine that hangs makes its check red, not the run endless.
        driver.command_executor.client_config.timeout = PATIENCE
        driver.set_script_timeout(PATIENCE)
        self.current = self.first = driver.current_window_handle
        self.free = []

    def window(self):
        return self.free.pop() if self.free else self.open_window()

    def give_back(self, window):
        self.enter(window)
        self.driver.get("about:blank")
        self.free.append(window)

    def enter(self, window):
        if self.current != window:
            self.driver.switch_to.window(window)
            self.current = window
        return self.driver

    def mark(self, driver):
        driver.execute_script("window.isOldPage = true")

    def is_marked_no_more(self):
        """Whether another page has come instead of the one that was marked, and stands."""
        try:
            return self.driver.execute_script(
                "return !window.isOldPage && location.hostname === arguments[0] && document.readyState !== 'loading'", HOST)
        except (NoSuchFrameException, JavascriptException):
            # The page before it was left while it was asked.
            return False

    def forget_console(self):
        pass

    def end(self):
        try:
            self.driver.quit()
        finally:
            self.driver.service.stop()


class Chromium(Browser):
    name = "chromium"
    loads_alone = True
    pointers = ("pen", "touch", "mouse")
    best_pointer = "pen"

    def __init__(self, screen, dark=False):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        words = [
            # No other host is found, so that a page that asks for one says so.
            f"host-resolver-rules=MAP {HOST} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
            "no-first-run", "disable-background-networking", "disable-component-update", "disable-dev-shm-usage",
            # Several windows are looked at at once, whichever lies above.
            "disable-backgrounding-occluded-windows", "disable-renderer-backgrounding", "disable-background-timer-throttling",
        ]
        if os.geteuid() == 0:
            words.append("no-sandbox")
        for word in words:
            options.add_argument(f"--{word}")
        super().__init__(webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver", env=screen.environment)))
        self.dark = dark

    def open_window(self):
        self.driver.switch_to.new_window("window")
        self.current = self.driver.current_window_handle
        return self.current

    def load(self, cutter, load):
        load()

    def go(self, driver, address):
        driver.get(address)

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def set_dark(self, dark):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def console(self):
        """What was said in any window since it was last asked."""
        return [f"{entry['source']}: {entry['message']}" for entry in self.driver.get_log("browser")]

    forget_console = console


class WebKit(Browser):
    name = "webkit"
    pointers = ("mouse",)
    best_pointer = "mouse"

    def __init__(self, screen, dark=False):
        options = webdriver.WebKitGTKOptions()
        options.binary_location = minibrowser()
        # The page's first script waits until the console is noted; `get` must not wait for it.
        options.page_load_strategy = "none"
        options.add_argument("--automation")
        if dark:
            options.add_argument("--dark-mode")
        options.add_argument("--javascript-can-open-windows-automatically=true")
        environment = {
            **screen.environment,
            # Its sandbox is made of namespaces, which a container does not have.
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            # Its compositor's thread crashes in Mesa's software driver (swrast_dri.so), about once in thirty checks of a busy machine.
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
        }
        super().__init__(webdriver.WebKitGTK(options, webdriver.WebKitGTKService("/usr/bin/WebKitWebDriver", env=environment)))
        self.dark = dark

    def open_window(self):
        self.enter(self.first)
        known = set(self.driver.window_handles)
        self.driver.execute_script("window.open('about:blank', '', 'popup,width=1000,height=700,noopener')")
        return until(lambda: next(iter(set(self.driver.window_handles) - known), None), "a window opens")

    def load(self, cutter, load):
        cutter.hold(b"/page/")
        try:
            self.leave(load)
            self.driver.execute_script(NOTE_CONSOLE)
        finally:
            cutter.release(b"/page/")

    def go(self, driver, address):
        self.leave(lambda: driver.get(address))

    def leave(self, load):
        """Loads another page; returns when it stands, so that no script is asked of the page before it."""
        self.mark(self.driver)
        load()
        until(self.is_marked_no_more, "the page is there")

    def resize(self, width, height):
        # Its window is no narrower, whatever it is told.
        width = max(width, 360)
        self.driver.set_window_size(width, height)
        until(lambda: self.driver.execute_script("return [innerWidth, innerHeight]") == [width, height],
              f"the window is {width} by {height}")

    def set_dark(self, dark):
        if dark != self.dark:
            raise RuntimeError("this engine is dark or light from its start on")

    def console(self):
        """What was said in this window since it was last asked."""
        return self.driver.execute_script("return window.saidOnConsole ? window.saidOnConsole.splice(0) : []")


ENGINES = {"chromium": Chromium, "webkit": WebKit}
