#!/usr/bin/env python3
"""Type-checks every module of the package and its tests for macOS and iOS, on Linux, without Apple's SDK.

    python3 Tests/Apple/check.py [--without-tests] [--budget SECONDS] [MODULE…]

Without a name it checks all modules at the floors of the package, and with the tests for a Mac that runs them. Modules, their order,
their settings and the floors are read from Package.swift: a new module is checked without being named here. The app of docs/samples is
checked, too. Warnings are errors. Nothing is linked, and nothing runs: README.md says what is not seen. The first run fetches Apple's
headers from PyPI and builds Swift's own modules; `.build/apple` keeps both.

Exit codes: 0 all is well, 1 a module is not, 2 the command line is wrong, 124 over the budget.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import calls
import standin
from manifest import ROOT, Failure, Module, Package, run
from standin import APP_OVERLAYS, HERE, OVERLAYS, WORK, Platform

ERRORS_SHOWN = 20
# The Mac that `swift test` wants: where a relay runs.
TESTS_FLOOR = "15.0"
# The app of docs/samples, which observes a board.
APP, APP_FLOOR, APP_PRODUCTS = "Whiteboard", "17.0", ["WhiteboardModel", "RelayClient", "BoardFormat"]


class Check:
    """One platform's modules. Those that stand on others, which are checked at a lower floor, import what that check has written."""

    def __init__(self, package: Package, platform: Platform, deadline: float, modules: list[Module], overlays: list[pathlib.Path],
                 below: "Check | None" = None):
        self.package, self.platform, self.deadline, self.modules = package, platform, deadline, modules
        self.declared, self.below = overlays, below
        # Not within the SDK: what lies there is no module of this package.
        self.out = WORK / "modules" / f"{platform.name}{platform.floor}"
        self.overlays = self.out / "overlays"
        self.unwritten: set[str] = set()

    def folder(self, module: Module) -> pathlib.Path:
        """Where importers find a module."""
        return self.out / module.name if module in self.modules or not self.below else self.below.folder(module)

    def is_unwritten(self, module: Module) -> bool:
        return module.name in self.unwritten or bool(self.below) and self.below.is_unwritten(module)

    def write_overlays(self):
        self.overlays.mkdir(parents=True, exist_ok=True)
        for source in self.declared:
            name = source.stem
            command = [*self.frontend("-emit-module"), "-disable-availability-checking", "-parse-as-library", "-module-name", name]
            if name == "Darwin":
                command.append("-import-underlying-module")
            product = self.overlays / f"{name}.swiftmodule"
            written = run([*command, str(source), "-o", str(product)], self.deadline)
            if written.returncode != 0:
                raise Failure(f"{self.platform.name}: {source.relative_to(HERE)} does not compile:\n{written.stdout}")

    def write_interfaces(self, importers: list[Module]):
        """Writes what importers see of the modules that have any, without a look into functions."""
        needed = {need for module in importers for need in module.needs(self.platform.name)}
        for module in self.modules:
            folder = self.out / module.name
            folder.mkdir(exist_ok=True)
            if module.kind == "ClangTarget":
                (folder / "module.modulemap").write_text(f'module {module.name} {{\n  umbrella "{module.headers}"\n  export *\n}}\n')
            elif module.name in needed:
                product = folder / f"{module.name}.swiftmodule"
                product.unlink(missing_ok=True)
                # What it reports is reported by the check of the module, too.
                run([*self.compiler(module, "-emit-module"), "-experimental-skip-all-function-bodies", "-o", str(product)], self.deadline)
                if not product.exists():
                    self.unwritten.add(module.name)

    def frontend(self, mode: str) -> list[str]:
        overlays = [self.overlays, *([self.below.overlays] if self.below else [])]
        return ["swiftc", "-frontend", mode, *self.platform.sdk, *(word for folder in overlays for word in ("-I", str(folder)))]

    def compiler(self, module: Module, mode: str) -> list[str]:
        """The compiler's frontend on a module of Swift, which sees what the module depends on and nothing else."""
        words = [*self.frontend(mode), "-warnings-as-errors", "-enable-testing", "-package-name", module.package]
        words += ["-module-name", module.name]
        for need in self.package.closure(module.name, self.platform.name):
            match need.kind:
                case "SwiftTarget":
                    words += ["-I", str(self.folder(need))]
                case "ClangTarget":
                    words += ["-Xcc", f"-fmodule-map-file={self.folder(need) / 'module.modulemap'}"]
                case "SystemLibraryTarget":
                    words += ["-Xcc", f"-fmodule-map-file={need.folder / 'module.modulemap'}"]
        if not any(source.name == "main.swift" for source in module.sources):
            words.append("-parse-as-library")
        sources = list(module.sources)
        if module.has_resources:
            # SwiftPM writes such a file.
            sources.append(self.out / module.name / "resource_bundle_accessor.swift")
            sources[-1].write_text("import Foundation\n\nextension Bundle { static let module = Bundle.main }\n")
        return [*words, *module.flags(self.platform.name), *map(str, sources)]

    def check(self, module: Module) -> str | None:
        """What is wrong with a module."""
        missing = [need.name for need in self.package.closure(module.name, self.platform.name) if self.is_unwritten(need)]
        if missing:
            return f"not checked: it needs {', '.join(missing)}"
        if module.kind == "ClangTarget":
            command = ["clang", "-target", self.platform.triple, "-isysroot", str(self.platform.folder), "-I", str(module.headers)]
            command += ["-fsyntax-only", "-Werror", *module.flags(self.platform.name), *map(str, module.sources)]
        else:
            # Some of what is wrong shows only when code is made, as what a callback of C captures. Once is enough.
            makes = self.platform.name == "macos" and not self.below
            command = [*self.compiler(module, "-emit-sil"), "-o", os.devnull] if makes else self.compiler(module, "-typecheck")
        checked = run(command, self.deadline)
        if checked.returncode == 0:
            return None
        errors = list(dict.fromkeys(re.findall(r"^\S.*: (?:fatal )?(?:error|warning): .*", checked.stdout, flags=re.M)))
        if len(errors) > ERRORS_SHOWN:
            errors[ERRORS_SHOWN:] = [f"and {len(errors) - ERRORS_SHOWN} more"]
        return "\n".join(errors) or f"the compiler ended with {checked.returncode}:\n{checked.stdout[-2000:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="check these only")
    parser.add_argument("--without-tests", action="store_true", help="what is there to be used, at the floors")
    parser.add_argument("--budget", type=float, default=600, metavar="SECONDS", help="how long it may take (default: %(default)s)")
    arguments = parser.parse_args()
    start = time.monotonic()
    try:
        return check_all(arguments.modules, arguments.without_tests, start, start + arguments.budget)
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    except subprocess.TimeoutExpired:
        print(f"error: not done within {arguments.budget:g} s", file=sys.stderr)
        return 124


def check_all(names: list[str], without_tests: bool, start: float, deadline: float) -> int:
    package = Package(deadline)
    if unknown := [name for name in names if name not in {*package.modules, APP}]:
        print(f"error: Package.swift has no module {', '.join(unknown)}", file=sys.stderr)
        return 2
    if package.floors.keys() != standin.STDLIB_FLOORS.keys():
        raise Failure(f"Package.swift has floors for {', '.join(package.floors)}; this check knows {', '.join(standin.STDLIB_FLOORS)}")
    platforms = [Platform(name, floor) for name, floor in package.floors.items()]
    standin.prepare(platforms, deadline)
    overlay = HERE / "overlay"
    # At the floors, where what is `@available` on newer systems only is told.
    floors = {
        platform.name: Check(package, platform, deadline, [module for module in package.ordered(platform.name) if not module.is_test],
                             [overlay / f"{name}.swift" for name in OVERLAYS])
        for platform in platforms}
    tests = Check(package, Platform("macos", TESTS_FLOOR), deadline, [module for module in package.ordered("macos") if module.is_test], [],
                  floors["macos"])
    package.modules[APP] = package.app(APP, ROOT / "docs" / "samples" / APP, APP_PRODUCTS)
    app = Check(package, Platform("ios", APP_FLOOR), deadline, [package.modules[APP]],
                [overlay / "sample" / f"{name}.swift" for name in APP_OVERLAYS], floors["ios"])
    above = [app] if without_tests else [tests, app]
    checks = [*floors.values(), *above]
    red = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for those in (floors.values(), above):
            list(pool.map(Check.write_overlays, those))
            list(pool.map(lambda check: check.write_interfaces([module for other in checks for module in other.modules]), those))
        found = [
            (check, module, pool.submit(check.check, module))
            for check in checks for module in check.modules if not names or module.name in names]
        for check, module, future in found:
            if problem := future.result():
                red += 1
                print(f"== {check.platform.name} {check.platform.floor}: {module.name}\n{problem}", file=sys.stderr)
        # Once: what the client calls is the same on both platforms.
        for problem in [] if names or red else calls.problems(floors["ios"], pool):
            red += 1
            print(f"== ios: {problem}", file=sys.stderr)
    for check in checks:
        files = [len(module.sources) for other, module, _ in found if other is check]
        if not files and not names:
            raise Failure(f"no module was checked for {check.platform.name}")
        print(f"{check.platform.name} {check.platform.floor}: {len(files)} modules, {sum(files)} files")
    print(f"{red} of {len(found)} are red, {time.monotonic() - start:.0f} s")
    return 1 if red or not found else 0


if __name__ == "__main__":
    sys.exit(main())
