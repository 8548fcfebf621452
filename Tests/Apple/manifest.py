"""The package as SwiftPM builds it for a platform: modules, order, floors and settings are read from Package.swift."""
import dataclasses
import json
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What tests are built with on a Mac. Here they are checked for a system that has all they use.
UNASKED = ["-Xfrontend", "-disable-availability-checking"]


class Failure(Exception):
    """What the check cannot do, in a sentence."""


def run(command: list[str], deadline: float) -> subprocess.CompletedProcess:
    """Runs a program in the top folder, with its errors among its output; what takes longer ends with `TimeoutExpired`."""
    left = max(0.1, deadline - time.monotonic())
    return subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=left)


@dataclasses.dataclass
class Module:
    name: str
    kind: str  # "SwiftTarget", "ClangTarget" or "SystemLibraryTarget"
    folder: pathlib.Path
    sources: list[pathlib.Path]
    has_resources: bool
    is_test: bool
    headers: pathlib.Path  # of a C module
    settings: list[dict]
    dependencies: list[dict]
    package: str = "package"  # whose `package` declarations it sees

    def needs(self, platform: str) -> list[str]:
        """The modules of this package that it depends on there."""
        names = []
        for dependency in self.dependencies:
            (kind, values), = dependency.items()
            if kind not in ("byName", "target"):
                raise Failure(f"{self.name}: this check knows no dependency of the kind '{kind}'")
            if holds(values[-1], platform):
                names.append(values[0])
        return names

    def flags(self, platform: str) -> list[str]:
        """What its settings are to the compiler's frontend, or to clang."""
        flags = []
        for setting in self.settings:
            if not holds(setting.get("condition"), platform):
                continue
            (kind, value), = setting["kind"].items()
            match kind:
                case "swiftLanguageMode":
                    flags += ["-swift-version", value["_0"]]
                case "enableUpcomingFeature":
                    flags += ["-enable-upcoming-feature", value["_0"]]
                case "enableExperimentalFeature":
                    flags += ["-enable-experimental-feature", value["_0"]]
                case "unsafeFlags" if value["_0"] == UNASKED:
                    pass
                case "define":
                    flags += [f"-D{value['_0']}"]
                case _:
                    raise Failure(f"{self.name}: this check knows no setting '{kind}'")
        return flags


def holds(condition: dict | None, platform: str) -> bool:
    """Whether a condition of the manifest holds in a debug build for a platform."""
    if condition is None:
        return True
    names = condition.get("platformNames") or [platform]
    return platform in names and condition.get("config", "debug") == "debug"


class Package:
    def __init__(self, deadline: float):
        dump, description = swift_package(deadline, "dump-package"), swift_package(deadline, "describe", "--type", "json")
        self.name = dump["name"]
        self.floors = {floor["platformName"]: floor["version"] for floor in dump["platforms"]}
        described = {target["name"]: target for target in description["targets"]}
        self.modules = {target["name"]: module(target, described[target["name"]]) for target in dump["targets"]}
        self.products = {product["name"] for product in dump["products"]}

    def app(self, name: str, folder: pathlib.Path, products: list[str]) -> Module:
        """An app that uses products of this package, in Swift 6 mode; it is no module of the package."""
        if missing := [product for product in products if product not in self.products]:
            raise Failure(f"{name} wants the products {', '.join(missing)}, and Package.swift has none of that name")
        mode = {"kind": {"swiftLanguageMode": {"_0": "6"}}}
        return Module(
            name=name, kind="SwiftTarget", folder=folder, sources=sorted(folder.glob("*.swift")), has_resources=False, is_test=False,
            headers=folder, settings=[mode], dependencies=[{"byName": [product, None]} for product in products], package=name)

    def closure(self, name: str, platform: str) -> list[Module]:
        """What a module can import on a platform: all that it needs, however far, what is needed before what needs it."""
        found: dict[str, Module] = {}

        def visit(name: str):
            for need in self.modules[name].needs(platform):
                if need not in found:
                    visit(need)
                    found[need] = self.modules[need]

        visit(name)
        return list(found.values())

    def ordered(self, platform: str) -> list[Module]:
        """All that has code, what is needed before what needs it."""
        found: dict[str, Module] = {}
        for name in self.modules:
            found |= {module.name: module for module in self.closure(name, platform)} | {name: self.modules[name]}
        return [module for module in found.values() if module.kind != "SystemLibraryTarget"]


def module(target: dict, described: dict) -> Module:
    folder = ROOT / described["path"]
    kind = described["module_type"]
    sources = [folder / source for source in described["sources"]]
    if not sources and kind != "SystemLibraryTarget":
        raise Failure(f"{target['name']} has no source")
    if any("embedInCode" in resource["rule"] for resource in target["resources"]):
        raise Failure(f"{target['name']}: this check knows no resource with the rule 'embedInCode'")
    return Module(
        name=target["name"], kind=kind, folder=folder, sources=sources, has_resources=bool(target["resources"]),
        is_test=target["type"] == "test",
        headers=folder / (target.get("publicHeadersPath") or "include"), settings=target["settings"], dependencies=target["dependencies"])


def swift_package(deadline: float, *words: str) -> dict:
    # A scratch folder of its own: in the package's it would wait for whatever builds there.
    scratch = ROOT / ".build" / "apple-manifest"
    told = run(["swift", "package", "--scratch-path", str(scratch), *words], deadline)
    if told.returncode != 0:
        raise Failure(f"swift package {words[0]} ended with {told.returncode}:\n{told.stdout}")
    # What it warns of may stand around it.
    return json.JSONDecoder().raw_decode(told.stdout, told.stdout.index("{\n"))[0]
