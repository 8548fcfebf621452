"""What zsh and fish offer behind `boardrelay`, and what mandoc makes of its manual page. bash is asked by `swift test`.

    check.py --binary PATH

One line for each check, then counts; exit code 1 if anything is red. It needs zsh, fish and mandoc.
"""
import argparse
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

WANTED = (
    # Words on a line, some of what is offered behind them, and what is not.
    ("boardrelay re", {"record", "reload"}, {"sub"}),
    ("boardrelay board ", {"ls", "export", "undo"}, {"serve"}),
    ("boardrelay serve --auth ", {"key", "token", "open"}, {"ls"}),
    ("boardrelay serve --max-bo", {"--max-board-bytes", "--max-boards-bytes"}, {"--json"}),
)


def fish(script, line):
    """What fish offers for a line."""
    words = ["fish", "--no-config", "-c", f"source {script}; complete -C {line!r}"]
    said = subprocess.run(words, check=True, capture_output=True, text=True)
    return {row.split("\t")[0] for row in said.stdout.splitlines()}


def zsh(script, line):
    """What zsh writes when Tab is pressed twice behind a line."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], os.environ | {"TERM": "dumb", "PS1": "ready> ", "COLUMNS": "200"})
    said = b""

    def until(text, seconds=20):
        nonlocal said
        end = time.monotonic() + seconds
        while text not in said:
            if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
                return False
            said += os.read(terminal, 65_536)
        return True

    def press(keys, awaited):
        nonlocal said
        said = b""
        os.write(terminal, keys.encode())
        assert until(awaited), f"zsh does not say {awaited}: {said[-500:]}"

    press("stty -echo cols 200; autoload -U compinit && compinit -D -u; setopt no_list_beep no_list_packed\n", b"ready> ")
    press(f"source {script}; echo so''urced\n", b"sourced")
    said = b""
    os.write(terminal, (line + "\t\t").encode())
    until(b"\x00", 2)  # nothing says when it has ended
    os.close(terminal)
    os.waitpid(child, 0)
    return set(re.findall(r"[-\w]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", " ", said.decode(errors="replace")).replace("\x08", "")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    binary = parser.parse_args().binary.resolve()
    failed = passed = 0

    def check(title, problem):
        nonlocal failed, passed
        failed, passed = failed + bool(problem), passed + (not problem)
        print(f"FAIL {title}: {problem}" if problem else f"ok   {title}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for name, ask in (("fish", fish), ("zsh", zsh)):
            script = pathlib.Path(folder) / f"completions.{name}"
            script.write_bytes(subprocess.run([binary, "completion", name], check=True, capture_output=True).stdout)
            for line, some, none in WANTED:
                offered = ask(script, line)
                problem = f"{sorted(some - offered)} missing, {sorted(none & offered)} too many, of {sorted(offered)}"
                check(f"{name}: {line!r}", problem if some - offered or none & offered else None)
        page = pathlib.Path(folder) / "boardrelay.1"
        page.write_bytes(subprocess.run([binary, "man"], check=True, capture_output=True).stdout)
        said = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
        # Without a date two builds have the same bytes.
        wrong = [row for row in said.stdout.splitlines() if "missing date" not in row]
        check("mandoc: no warning but for the date", "\n".join(wrong[:5]) if wrong else None)
        text = subprocess.run(["mandoc", "-T", "utf8", page], check=True, capture_output=True, text=True).stdout.replace("\b", "")
        check("mandoc: the page is long", None if text.count("\n") > 500 else text[:500])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
