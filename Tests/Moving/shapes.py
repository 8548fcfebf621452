"""The hosted SDK as Swift sees it, from `hosted.tsv`: what RelayRTM lacks of it, and a module of its signatures to compile against.

A row has the version (2.1, 2.2 or both), the owning type, the kind, the symbol, its types or value, and the number of its source. The
first rows are the sources. What no header shows is marked `unchecked`. Signatures are facts; no text of the vendor's is here.
"""
import json
import pathlib
import re
import typing

TABLE = pathlib.Path(__file__).resolve().parent / "hosted.tsv"
VERSIONS = ("2.1", "2.2")

# The lines of an app that docs/moving-from-agora.md tells to change: what they hold, and what they hold then.
MOVES = (("import AgoraRtmKit\n", "import RelayRTM\n"),
         ('Config(appId: "your_app_id", ', 'Config(host: "192.168.1.5", key: "your_key", '),
         ("            config.areaCode = [.GLOB]\n", ""))


class Row(typing.NamedTuple):
    version: str
    type: str
    kind: str
    symbol: str
    detail: str
    source: str


def rows() -> list[Row]:
    lines = [line.split("\t") for line in TABLE.read_text().splitlines()]
    return [Row(*line) for line in lines if line[0] in (*VERSIONS, "both")]


def moved(app: str) -> str:
    """The source of an app after the move."""
    for hosted, here in MOVES:
        app = app.replace(hosted, here)
    return app


# What RelayRTM has

def lacking(graph: pathlib.Path) -> list[Row]:
    """What the symbol graph of RelayRTM has no symbol for."""
    symbols = [tuple(symbol["pathComponents"]) for symbol in json.loads(graph.read_text())["symbols"]]
    declared = {symbol["names"]["title"]: "".join(part["spelling"] for part in symbol.get("declarationFragments", []))
                for symbol in json.loads(graph.read_text())["symbols"] if symbol["kind"]["identifier"] == "swift.typealias"}
    aliases = {name: text.split("= ")[-1].strip() for name, text in declared.items()}
    there = set(symbols)

    def has(row: Row) -> bool:
        own = re.sub(r"^AgoraRtm", "RTM", row.symbol if row.type == "-" else row.type)
        owner = aliases.get(own, own)
        if row.type == "-":
            return (own,) in there
        name = "copy(with:)" if row.kind == "conformance" else row.symbol.replace("init?()", "init()")
        # An empty set is written `[]`; `init()` is inherited.
        return (row.symbol == "none" and row.kind == "case" and "unavailable" in row.detail
                or (owner, name) in there or row.kind == "init" and name == "init()" and (owner,) in there)
    return [row for row in rows() if not has(row)]


def unforetold(lacks: list[Row], guide: str) -> list[str]:
    """What is lacking and stands in no row of the guide's table of what is not there: by its name, or its type's."""
    table = guide[guide.index("## What is not there"):]
    named = set(re.findall(r"[A-Za-z]\w+", " ".join(re.findall(r"`([^`]+)`", table))))

    def words(row: Row) -> set[str]:
        name, _, labels = row.symbol.removesuffix(")").partition("(")
        names = set(labels.split(":")) - {"", "_"} if name in ("init", "rtmKit") else {name}
        return names | {row.symbol.removeprefix("AgoraRtm"), row.type, row.type.removeprefix("AgoraRtm")}
    return [f"{row.type}.{row.symbol} ({row.version})" for row in lacks if not words(row) & named]


# A module to compile against

def stub(version: str) -> str:
    """Swift source with the signatures of a version."""
    mine = [row for row in rows() if row.version in (version, "both")]
    parts = ["import Foundation\n"]
    for top in (row for row in mine if row.type == "-"):
        members = [row for row in mine if row.type == top.symbol]
        parts.append(FORMS[top.kind](top, members))
    return "\n".join(parts)


def enumeration(top: Row, members: list[Row]) -> str:
    cases = "".join(f"    case {row.symbol} = {row.detail.split()[0]}\n" for row in members if row.kind == "case")
    return f"public enum {top.symbol}: Int {{\n{cases}}}\n"


def options(top: Row, members: list[Row]) -> str:
    raw = "Int" if "type Int" in top.detail else "UInt"
    bits = "".join(f"    public static let {row.symbol} = Self(rawValue: {row.detail.split()[0]})\n"
                   for row in members if row.kind == "case" and row.symbol != "none")
    head = f"    public let rawValue: {raw}\n    public init(rawValue: {raw}) {{ self.rawValue = rawValue }}\n"
    return f"public struct {top.symbol}: OptionSet, Sendable {{\n{head}{bits}}}\n"


def alias(top: Row, members: list[Row]) -> str:
    return f"public typealias {top.symbol} = {top.detail.split(';')[0]}\n"


def protocol(top: Row, members: list[Row]) -> str:
    heads = [function(row, "")[0] for row in members]
    needs = "".join(f"    {head}\n" for head in heads)
    # They are optional in Objective-C.
    given = "".join(f"    public {head} {{}}\n" for head in heads)
    return f"public protocol {top.symbol}: NSObjectProtocol {{\n{needs}}}\n\nextension {top.symbol} {{\n{given}}}\n"


def instance(top: Row, members: list[Row]) -> str:
    inits = [row for row in members if row.kind == "init"]
    base = top.detail.split()[0]
    if any(row.symbol == "init?()" for row in inits):
        # In Swift no initializer that may fail overrides one that does not.
        base = ""
    if base == "NSError":
        members = [row for row in members if row.kind == "property"]
    more = ["@unchecked Sendable"] if base == "NSError" else [row.symbol for row in members if row.kind == "conformance"]
    supers = ", ".join(filter(None, [base, *more]))
    lines = []
    for row in members:
        if row.kind == "property":
            lines.append(f"open var {row.symbol}: {row.detail.split(';')[0]} {{ get {{ fatalError() }} set {{}} }}")
        elif row.kind == "method":
            lines += function(row, "open ")
        elif row.kind == "init":
            override = "override " if row.symbol == "init()" else ""
            throws = " throws" if row.detail.endswith("throws") else ""
            lines.append(f"public {override}{row.symbol.split('(')[0]}({parameters(row)}){throws} {{ fatalError() }}")
        elif row.kind == "conformance":
            lines.append("open func copy(with zone: NSZone? = nil) -> Any { fatalError() }")
    if not inits and base == "NSObject":
        lines.append("init(hidden: Void) {}")
    body = "".join(f"    {line}\n" for line in lines)
    return f"open class {top.symbol}{': ' + supers if supers else ''} {{\n{body}}}\n"


def split(types: str) -> list[str]:
    """Between the commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in types:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def arguments(row: Row) -> tuple[list[str], str]:
    """The types of a row's parameters, and what stands behind them."""
    text, depth = row.detail.removeprefix("class: "), 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return split(text[1:at]), text[at + 1:]
    raise ValueError(row)


def parameters(row: Row, without_last: bool = False) -> str:
    types = arguments(row)[0]
    labels = re.search(r"\((.*)\)", row.symbol)[1].rstrip(":").split(":") if types else []
    written = []
    for index, (label, kind) in enumerate(zip(labels, types)):
        default = " = nil" if index == len(types) - 1 and is_completion(kind) else ""
        written.append(f"{label} value{index}: {kind}{default}")
    return ", ".join(written[:-1] if without_last else written)


def is_completion(kind: str) -> bool:
    return kind.startswith("((") and "-> Void" in kind


def function(row: Row, access: str) -> list[str]:
    """A method, and once more to be awaited if it takes a completion handler."""
    types, behind = arguments(row)
    result = re.sub(r"[;(] ?(optional|last|also|async|Objective).*", "", behind).replace("-> Void", "").strip()
    name = row.symbol.split("(")[0]
    static = "class " if row.detail.startswith("class: ") else ""
    body = "" if access == "" else " { fatalError() }"
    # What Objective-C answers may go unread.
    unread = "@discardableResult " if result.removeprefix("throws").strip() and access else ""
    lines = [f"{unread}{access}{static}func {name}({parameters(row)}){' ' + result if result else ''}{body}"]
    if types and is_completion(types[-1]):
        answer = types[-1][2:types[-1].index(")")]
        lines.append(f"@discardableResult {access}func {name}({parameters(row, True)}) async -> ({answer}){body}")
    return lines


FORMS = {"enum": enumeration, "options": options, "typealias": alias, "protocol": protocol, "class": instance}
