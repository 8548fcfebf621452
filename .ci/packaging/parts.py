"""The list of parts, in SPDX 2.3: the program, what is linked into it, and the image's Debian packages."""
import json
import re
import time
import urllib.parse

import base
from release import NAME, ROOT, Release, sha256

NONE = "NOASSERTION"
PUBLIC_DOMAIN = "The tz database and its code are in the public domain: see /usr/share/doc/tzdata/copyright in the image."


def make(release: Release, made: dict[str, bytes]) -> bytes:
    """The document. It names the files made so far by their checksums."""
    parts = [
        # The demo's lesson is Apache-2.0: Sources/boardrelay/Demo/README.md.
        part(NAME, release.version, "MIT AND Apache-2.0", declared="MIT", primaryPackagePurpose="APPLICATION",
             sourceInfo=f"commit {release.commit}", copyrightText=copyright_line(), checksums=checksums(sha256(release.bytes))),
        part("swift-runtime", release.toolchain, "Apache-2.0 WITH Swift-exception", primaryPackagePurpose="LIBRARY",
             sourceInfo="Swift's runtime and standard library, Dispatch and FoundationEssentials of the toolchain that built the program",
             externalRefs=purl(f"pkg:github/swiftlang/swift@swift-{release.toolchain}-RELEASE")),
    ]
    related = [("SPDXRef-DOCUMENT", "DESCRIBES", ref(NAME)), (ref(NAME), "STATIC_LINK", ref("swift-runtime"))]
    for name, data in made.items():
        kind = "CONTAINER" if "-oci-" in name else "INSTALL" if name.endswith(".deb") else "ARCHIVE"
        parts.append(part(name, release.version, NONE, declared="MIT", packageFileName=name, primaryPackagePurpose=kind,
                          checksums=checksums(sha256(data))))
        related += [("SPDXRef-DOCUMENT", "DESCRIBES", ref(name)), (ref(name), "CONTAINS", ref(NAME))]
    image = next(name for name in made if "-oci-" in name)
    for package in base.packages(release.arch):
        name, version = package["name"], package["version"]
        quoted = f"pkg:deb/debian/{urllib.parse.quote(name)}@{urllib.parse.quote(version)}?arch={release.arch}&distro=debian-12"
        parts.append(part(f"debian-{name}", version, NONE, declared=base.LICENCES[name], name=name, externalRefs=purl(quoted),
                          supplier="Organization: Debian", downloadLocation=base.CURRENT.format(**package),
                          checksums=checksums(package["sha256"])))
        related.append((ref(image), "CONTAINS", ref(f"debian-{name}")))
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{NAME}-{release.version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{NAME}-{release.version}-{sha256(b''.join(made.values()))}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.time)),
                         "creators": [f"Tool: {NAME}-packaging"]},
        "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain", "name": "Public domain", "extractedText": PUBLIC_DOMAIN}],
        "packages": parts,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in related],
    }, indent=1).encode() + b"\n"


def part(key: str, version: str, concluded: str, declared: str = "", **fields) -> dict:
    """One part with the fields that every part must have."""
    return {"SPDXID": ref(key), "name": key, "versionInfo": version, "downloadLocation": NONE, "filesAnalyzed": False,
            "licenseConcluded": concluded, "licenseDeclared": declared or concluded, "copyrightText": NONE, **fields}


def ref(key: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", key)


def checksums(digest: str) -> list[dict]:
    return [{"algorithm": "SHA256", "checksumValue": digest}]


def purl(locator: str) -> list[dict]:
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]


def copyright_line() -> str:
    return next(line for line in (ROOT / "LICENSE.txt").read_text().splitlines() if line.startswith("Copyright"))


def problems(document: dict) -> list[str]:
    """What SPDX 2.3 requires and the document does not have."""
    required = ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages", "relationships")
    wrong = [f"the document has no {field}" for field in required if field not in document]
    if wrong:
        return wrong
    ids = [document["SPDXID"], *(part.get("SPDXID", "") for part in document["packages"])]
    wrong += [f"{one} is there twice" for one in {one for one in ids if ids.count(one) > 1}]
    wrong += [f"{one!r} is no id" for one in ids if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one)]
    for part in document["packages"]:
        wrong += [f"{part['SPDXID']} has no {field}" for field in ("name", "versionInfo", "downloadLocation", "licenseConcluded",
                                                                    "licenseDeclared", "copyrightText") if not part.get(field)]
        wrong += [f"{part['SPDXID']}: {it['checksumValue']} is no SHA-256" for it in part.get("checksums", [])
                  if not re.fullmatch(r"[0-9a-f]{64}", it["checksumValue"])]
    for relation in document["relationships"]:
        wrong += [f"{end} is nowhere" for end in (relation["spdxElementId"], relation["relatedSpdxElement"]) if end not in ids]
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"].get("created", "")):
        wrong.append("creationInfo has no time")
    return wrong
