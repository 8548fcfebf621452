#!/usr/bin/env python3
"""Lines, functions and files that are too long, in the Swift, JavaScript, TypeScript and Python of Sources and Tests.

    python3 Tests/Tidy/check.py              names what is over a bound
    python3 Tests/Tidy/check.py --lines      counts lines without blanks and comments, by language
    python3 Tests/Tidy/check.py --hub        prints, for each stored property of `Hub`, the files that write it; red outside of its room
    python3 Tests/Tidy/check.py --self-test  shows that each bound turns it red

A line has at most 140 columns, a function 70 lines, a file 450 lines. A line that is one literal may be longer: a test's title, a
pattern, an address. Folders called Vectors hold data and are passed over.
Exit code 0 or 1.
"""

import argparse
import ast
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COLUMNS_MAX, FUNCTION_LINES_MAX, FILE_LINES_MAX = 140, 70, 450
PROPERTIES_MAX = 35
LANGUAGES = {".swift": "Swift", ".js": "JavaScript", ".mjs": "JavaScript", ".ts": "TypeScript", ".py": "Python"}
# With at most an opening before it, and commas and brackets behind it.
ONE_LITERAL = re.compile(
    r"""^\s*(?:[\w.]*[(\[]|(?:[+=?:]|==) |return |test\(|[bfr]+)?(["'`/]|#"|"\"\").*["'`/]#?[\s,)\]}]*(?:async )?(?:\w* => \{|\(\) => \{)?$""")
SWIFT_FUNCTION = re.compile(r"^( *)(?:@\S+ |[a-z]+(?:\([a-z]+\))? )*"
                            r"(?:func +([^\s(<]+)|(init)[?!]?[(<]|(deinit) *\{)")
SCRIPT_FUNCTION = re.compile(r"^( *)(?:export |default |static |async |get |set )*"
                             r"(?:function\*? *(\w+)|(?!if|for|while|switch|catch)\*?(#?\w+)\(.*\) *\{$"
                             r"|(?:const|let) (\w+) = (?:async )?(?:\(.*\)|\w+) => *\{$)")


def sources():
    """Each file in its order, with its lines."""
    for folder in ("Sources", "Tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in LANGUAGES and "Vectors" not in path.parts:
                yield path, path.read_text(encoding="utf-8").splitlines()


def python_functions(lines):
    """(name, first line, lines) of each function."""
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def braced_functions(lines, pattern):
    """The same where braces hold a body: it ends with the first brace that stands where its declaration does."""
    for number, line in enumerate(lines):
        found = pattern.match(line)
        if not found or line.rstrip().endswith("}"):
            continue
        for last in range(number + 1, len(lines)):
            text = lines[last]
            if text.startswith(found[1] + "}"):
                yield next(name for name in found.groups()[1:] if name), number + 1, last - number + 1
                break
            # A declaration without a body, as a protocol has.
            if text.strip() and len(text) - len(text.lstrip()) <= len(found[1]) and not text.lstrip().startswith((")", "#", '"""')):
                break


def functions(suffix, lines):
    if suffix == ".py":
        return python_functions(lines)
    return braced_functions(lines, SWIFT_FUNCTION if suffix == ".swift" else SCRIPT_FUNCTION)


def problems(name, suffix, lines):
    """What is over a bound in one file."""
    if len(lines) > FILE_LINES_MAX:
        yield f"{name}: {len(lines)} lines, at most {FILE_LINES_MAX}"
    is_text = False
    for number, line in enumerate(lines, 1):
        is_text ^= line.count('"""') % 2 == 1
        if len(line) > COLUMNS_MAX and not is_text and not ONE_LITERAL.match(line):
            yield f"{name}:{number}: {len(line)} columns, at most {COLUMNS_MAX}"
    for function, number, count in functions(suffix, lines):
        if count > FUNCTION_LINES_MAX:
            yield f"{name}:{number}: {function} has {count} lines, at most {FUNCTION_LINES_MAX}"


def code_lines(suffix, lines):
    """Lines without blanks and comments. A docstring of Python is a comment."""
    comment = "#" if suffix == ".py" else "//"
    kept = {number for number, line in enumerate(lines, 1) if line.strip() and not line.strip().startswith(comment)}
    if suffix == ".py":
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                kept -= set(range(node.lineno, node.end_lineno + 1))
        return len(kept)
    inside = False
    for number, line in enumerate(lines, 1):
        begins = line.strip().startswith("/*")
        if inside or begins:
            kept.discard(number)
            inside = "*/" not in line
    return len(kept)


def print_lines():
    """A table of folders and languages."""
    counts = collections.Counter()
    for path, lines in sources():
        counts[path.relative_to(ROOT).parts[0], LANGUAGES[path.suffix]] += code_lines(path.suffix, lines)
    for (folder, language), count in sorted(counts.items()):
        print(f"{folder:8} {language:11} {count:7,}")


# Calls that change what they are called on, in the standard library: what else changes a property is found by `=` or `&` alone.
CHANGING = "append|insert|remove\\w*|reserveCapacity|update\\w*|swapAt|sort|popLast|popFirst|formUnion|subtract|merge|next"


# The folders whose files may write a property of `Hub`, besides Hub.swift. What every room shares is written by all of them: the tables of
# connections, sessions, channels, memberships and boards, the counters, and the effects. Of these each field has a room of its own.
SHARED = {"connections", "sessions", "channels", "memberships", "boards", "counters", "effects"}
ROOMS = {
    "start": "Channels Metadata", "people": "Sessions Rates", "rooms": "Channels", "flows": "Streams", "buckets": "Rates Sessions",
    "metadata": "Metadata Storage Access",
    "locks": "Locks Storage", "outbox": "Outbox", "work": "Account Streams", "accounts": "Account Access Sessions Channels", "accessRules": "Access", "claims": "Access Storage",
    "moderation": "Access Storage", "storage": "Storage Metadata", "authors": "Boards", "directs": "Messages",
    "historyTotals": "Messages Boards", "catchUps": "CatchUp", "greetings": "Sessions", "isShuttingDown": "Sessions",
}


def print_hub():
    """A table of the stored properties of `Hub` and the files that write them, as far as text shows it: a write is an
    assignment, `&`, or a call named in `CHANGING`, to the property or a part of it. Other mutating methods are not seen.
    Exit code 1 if a file outside of the property's room writes it, or if there are more than 35 properties."""
    folder = ROOT / "Sources" / "RelayCore"
    head = (folder / "Hub.swift").read_text(encoding="utf-8").splitlines()
    begin = next(number for number, line in enumerate(head) if re.search(r"\bstruct Hub\b", line))
    end = next(number for number in range(begin, len(head)) if head[number].startswith("}"))
    declared = (re.match(r"    (?:[a-z]+(?:\(set\))? )*(?:var|let) (\w+)(?:[^{]*|[^{=]*=.*)(?:\{ *(?:didSet|willSet).*)?$", line)
                for line in head[begin:end])
    files = [path for path in sorted(folder.rglob("*.swift")) if path.stem == "Hub" or path.stem.startswith("Hub+")]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    names = [found[1] for found in declared if found]
    outside = []
    for name in names:
        part = r"(?:[!?]|\.\w+|\[[^\]]*\])*"
        write = re.compile(rf"(?:(?<![\w.])|\bself\.){name}{part}(?: *[-+*/&|^]?=(?!=)|\.(?:{CHANGING})\()|&(?:self\.)?{name}\b")
        writers = [str(path.relative_to(folder)) for path, text in texts.items() if write.search(text)]
        print(f"{name:28} {len(writers):2}  {', '.join(writers)}")
        room = {"Hub.swift", *ROOMS.get(name, "").split()}
        outside += [f"{writer} writes {name}" for writer in writers if name not in SHARED and writer.split("/")[0] not in room]
    outside += [f"{name} is no property of Hub" for name in sorted((SHARED | set(ROOMS)) - set(names))]
    print("\n".join([f"{len(names)} stored properties, at most {PROPERTIES_MAX}"] + outside))
    return 1 if outside or len(names) > PROPERTIES_MAX else 0


def self_test():
    """Each bound: at it a file is green, one over it is red."""
    heads = {".swift": "    func long() {", ".js": "    long() {", ".py": "    def long():"}
    failed = 0
    for suffix, head in heads.items():
        end = [] if suffix == ".py" else ["    }", "}"]
        begin = ["class C:" if suffix == ".py" else "class C {", head]

        def function(lines):
            return begin + ["        a = 1"] * (lines - 1 - (suffix != ".py")) + end

        cases = [([""] * FILE_LINES_MAX, 0), ([""] * (FILE_LINES_MAX + 1), 1), (["#" * COLUMNS_MAX], 0), (["#" * (COLUMNS_MAX + 1)], 1),
                 (function(FUNCTION_LINES_MAX), 0), (function(FUNCTION_LINES_MAX + 1), 1)]
        for number, (lines, wanted) in enumerate(cases):
            found = list(problems("file", suffix, lines))
            if len(found) != wanted:
                failed += 1
                print(f"FAIL {suffix}, case {number}: {found}")
    print("self-test failed" if failed else "self-test passed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--hub", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.lines:
        return print_lines()
    if options.hub:
        return print_hub()
    files, wrong = 0, []
    for path, lines in sources():
        files += 1
        wrong += problems(path.relative_to(ROOT), path.suffix, lines)
    print("\n".join([*wrong, f"{files} files, {len(wrong)} over a bound"]))
    return 1 if wrong or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
