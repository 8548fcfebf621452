"""The console blocks of a page of Markdown, and how they are marked; `console.py` says what the marks mean."""
import dataclasses
import re

# Lines that need not be run, by the kind of comment. One more has a reason that a reader accepts.
BOUNDS = {"options only": 55, "not run": 8}
# Kinds of fenced blocks that are nothing for a shell. swift_blocks.py runs `swift`, Tests/Page run `js`.
OTHER_KINDS = {"swift", "js", "html", "json", "text", "ini", "nginx"}
MODES = {f"{word}{place}{company}" for word in ("run", "stays") for place in ("", " elsewhere")
         for company in ("", ", with a relay")} | set(BOUNDS)
COMMENT = re.compile(r"<!-- console: ([a-z, ]+?)(?:: (.*))? -->$")
# How a line begins that is for a shell, behind variables that are set for it.
COMMAND = re.compile(
    r"(\$ )?([A-Z_]+=\S* )*(sudo |time |exec )?"
    r"(swift (run|test|build|package)|swiftc|boardrelay [a-z-]|python3?|node|npm|curl|git|docker|prlimit|systemctl|journalctl|tar|cp|mv|rm|cd|mkdir|rsync|apt-get|openssl"
    r"|\./|\.ci/|\.build/)(\s|\S|$)")


@dataclasses.dataclass
class Block:
    page: str
    line: int
    mode: str | None
    reason: str
    lines: list[str]

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str, text: str) -> tuple[list[Block], list[str]]:
    """The blocks for a shell, and what is wrong with how they are marked."""
    found, problems, lines = [], [], text.split("\n")
    pending, index = None, 0
    while index < len(lines):
        line = lines[index]
        if comment := COMMENT.match(line.strip()) or (line.strip().startswith("<!-- console") and line.strip()):
            if pending:
                problems.append(f"{page}:{pending[0]}: a console comment without a block")
            if isinstance(comment, str) or comment[1] not in MODES or (comment[1] in BOUNDS) != bool(comment[2]):
                problems.append(f"{page}:{index + 1}: no console comment that is known: {line.strip()}")
                comment = None
            pending = comment and (index + 1, comment[1], comment[2] or "")
            index += 1
            continue
        start, kind, body = index + 1, None, []
        if fence := re.match(r"(```+)(\w*)", line):
            kind = fence[2]
            index += 1
            while index < len(lines) and not lines[index].startswith(fence[1]):
                body.append(lines[index])
                index += 1
            index += 1
        elif line.startswith("    ") and (index == 0 or not lines[index - 1].strip() or pending):
            while index < len(lines) and (lines[index].startswith("    ") or not lines[index].strip()):
                body.append(lines[index][4:])
                index += 1
            while body and not body[-1].strip():
                body.pop()
        else:
            if line.strip() and pending:
                problems.append(f"{page}:{pending[0]}: a console comment without a block")
                pending = None
            index += 1
            continue
        if kind and kind not in OTHER_KINDS | {"sh", "console", "bash", "shell"}:
            problems.append(f"{page}:{start}: a block of kind {kind}, which is not known")
        looks = kind in ("sh", "console", "bash", "shell") or (
            kind in (None, "", "text") and any(COMMAND.match(text) for text in body))
        if pending:
            found.append(Block(page, start, pending[1], pending[2], joined(body)))
            pending = None
        elif looks:
            problems.append(f"{page}:{start}: looks like a console block and says not how it is run: {body[0]}")
    if pending:
        problems.append(f"{page}:{pending[0]}: a console comment without a block")
    return found, problems


def joined(body: list[str]) -> list[str]:
    """Lines for a shell, without empty ones and comments; one that ends with a backslash goes on in the next."""
    lines, rest = [], ""
    for text in body:
        if text.endswith("\\"):
            rest += text[:-1] + " "
            continue
        if (rest + text).strip() and not (rest + text).lstrip().startswith("#"):
            lines.append(rest + text)
        rest = ""
    return lines
