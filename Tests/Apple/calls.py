"""What the client calls of Apple's C library, read from the code that the compiler writes for iOS: an app carries all of it."""
import plistlib
import re

from manifest import Failure, Module, Package, run

# Sockets and their names, clocks, a lock, the file of a secret, a line for standard error, and memory. A name that is new here is a
# decision.
CLIENT = set("""
    clock_gettime close connect fcntl getsockopt poll recv sendmsg setsockopt shutdown socket strerror
    freeaddrinfo gai_strerror getaddrinfo getnameinfo inet_ntop
    pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock
    fsync getpid link mkdir open pread pwrite rename unlink
    write
    malloc_size
""".split())
MODULES = ["RelayClient", "RelayRTM"]
# Those of Apple's list ("Describing use of required reason API") that a C program can call, and the modules of a product that call C.
REASONS = {
    "NSPrivacyAccessedAPICategoryFileTimestamp": {"stat", "fstat", "fstatat", "lstat", "getattrlist", "getattrlistat", "fgetattrlist"},
    "NSPrivacyAccessedAPICategoryDiskSpace": set("statfs fstatfs statvfs fstatvfs".split()),
    "NSPrivacyAccessedAPICategorySystemBootTime": {"mach_absolute_time"},
}
PRIVACY = {"RelayClientPrivacy": ["RelayIO", "RelayClient"], "RelayServerPrivacy": ["RelayIO", "RelaySystem", "RelayServer"]}
# What the compiler calls by itself: coroutines lie in memory from malloc.
COMPILERS = re.compile(r"_?swift_|\$s|llvm\.|_Block_|objc_|(mem(cmp|cpy|move|set)|malloc|free)$")


def called(code: str) -> set[str]:
    """The C functions that a module's code calls, those among them that Apple's module for Swift wraps."""
    names = {name.removeprefix("\\01_") for name in re.findall(r'^declare [^@]*@"?([^"(]+)"?\(', code, flags=re.M)}
    wrapped = {rest[:int(length)] for length, rest in re.findall(r"\$s6Darwin(\d+)(\w+)", code)}
    return {name for name in names if not COMPILERS.match(name)} | {name for name in wrapped if name.islower() and name != "errno"}


def calls_of(check, module: Module) -> set[str]:
    written = run([*check.compiler(module, "-emit-ir"), "-o", "-"], check.deadline)
    if written.returncode != 0:
        raise Failure(f"no code is written for {module.name}:\n{written.stdout[-2000:]}")
    return called(written.stdout)


def client_modules(package: Package, platform: str) -> list[Module]:
    found = {}
    for name in MODULES:
        found |= {module.name: module for module in [*package.closure(name, platform), package.modules[name]]}
    return [module for module in found.values() if module.kind == "SwiftTarget"]


def problems(check, pool) -> list[str]:
    """Each module of the client's that calls what an app has no use for, and what no module calls any more."""
    modules = client_modules(check.package, check.platform.name)
    found = list(pool.map(lambda module: calls_of(check, module), modules))
    wrong = [
        f"{module.name} calls {', '.join(sorted(calls - CLIENT))}: an app would carry it (Tests/Apple/calls.py)"
        for module, calls in zip(modules, found) if calls - CLIENT]
    unused = CLIENT.difference(*found)
    if any(module.name == "RelayAnnouncement" for module in modules):
        wrong.append("RelayAnnouncement, which answers for relays, is in the client's graph")
    wrong += undeclared(check)
    return wrong + ([f"the client does not call {', '.join(sorted(unused))} any more: Tests/Apple/calls.py names it"] if unused else [])


def undeclared(check) -> list[str]:
    """Where a privacy manifest and what is called differ."""
    wrong = []
    for target, names in PRIVACY.items():
        calls = set().union(*(calls_of(check, check.package.modules[name]) for name in names))
        wanted = {category for category, functions in REASONS.items() if functions & calls}
        manifest = plistlib.loads((check.package.modules[target].folder / "PrivacyInfo.xcprivacy").read_bytes())
        declared = {entry["NSPrivacyAccessedAPIType"] for entry in manifest["NSPrivacyAccessedAPITypes"]}
        if declared != wanted:
            wrong.append(f"{target} declares {sorted(declared)}; {', '.join(names)} call what {sorted(wanted)} are about")
    return wrong
