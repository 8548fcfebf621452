"""What these checks need of a machine, and what is missing of it."""

import glob
import importlib.util
import os
import select
import shutil
import socket
import subprocess

HOST = "board.test"


def missing(engines):
    """Names of what is not there, as Debian and PyPI have them."""
    programs = {"Xvfb": "xvfb"}
    if "chromium" in engines:
        programs |= {"chromium": "chromium", "chromedriver": "chromium-driver"}
    if "webkit" in engines:
        programs |= {"WebKitWebDriver": "webkit2gtk-driver"}
    lacking = [package for program, package in programs.items() if not shutil.which(program)]
    lacking += [package for module, package in (("selenium", "selenium"), ("axe_playwright_python", "axe-playwright-python"))
                if importlib.util.find_spec(module) is None]
    if "webkit" in engines and not is_named():
        lacking.append(f"a line '127.0.0.1 {HOST}' in /etc/hosts")
    return lacking


def is_named():
    """Whether this machine finds itself by the name; Chromium can be told, WebKit asks the system."""
    try:
        return socket.gethostbyname(HOST) == "127.0.0.1"
    except OSError:
        return False


def axe_source():
    """axe-core, as the package for another driver carries it."""
    place = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    with open(os.path.join(place, "axe.min.js"), encoding="utf-8") as file:
        return file.read()


def minibrowser():
    """WebKitGTK's own small browser, which its driver drives."""
    places = sorted(glob.glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser"))
    return places[-1] if places else None


class Screen:
    """An X server without a screen, larger than any window here."""

    def __init__(self):
        reader, writer = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", "4000x2400x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writer)
        # Its number, in more than one write; who closes the pipe between them ends the server.
        text = ""
        while not text.endswith("\n") and select.select([reader], [], [], 20)[0]:
            part = os.read(reader, 32).decode()
            if not part:
                break
            text += part
        os.close(reader)
        if not text.endswith("\n"):
            self.end()
            raise RuntimeError("Xvfb does not start")
        self.environment = {**os.environ, "DISPLAY": f":{text.strip()}", "NO_AT_BRIDGE": "1"}

    def end(self):
        self.process.terminate()
        self.process.wait()
