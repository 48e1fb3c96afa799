"""SPDX 2.3 (JSON) of an image: the program, and the Debian packages whose files are in it or were linked into it."""
import hashlib
import json
import subprocess
from pathlib import Path

# Linked statically.
ARCHIVES = {"edge-agent": ["libhyperscan-dev"], "edge-controller": ["libhyperscan-dev", "llvm-19-dev", "liblld-19-dev"],
            "edge-standalone": ["libhyperscan-dev", "llvm-19-dev", "liblld-19-dev"],
            "edgectl": ["libhyperscan-dev", "llvm-19-dev", "liblld-19-dev"], "edge-operator": []}
# What the page of edgectl web is made of.
PAGE = Path(__file__).resolve().parents[2] / "edgectl/web/ui/package-lock.json"


def text(name, version, packages, when):
    created = subprocess.run(["date", "-u", "-d", f"@{when}", "+%Y-%m-%dT%H:%M:%SZ"], check=True, capture_output=True,
                             text=True).stdout.strip()

    def entry(one, supplier):
        found = {"SPDXID": f"SPDXRef-Package-{''.join(c if c.isalnum() or c in '.-' else '-' for c in one['name'])}",
                 "name": one["name"], "versionInfo": one["version"], "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
                 "copyrightText": "NOASSERTION", "supplier": supplier}
        if "architecture" in one:
            found["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                      "referenceLocator": f"pkg:deb/debian/{one['name']}@{one['version']}"
                                                          f"?arch={one['architecture']}&distro=debian-12"}]
        return found

    program = entry({"name": name, "version": version}, "Organization: edge-proxy")
    entries, relations = [program], [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                                      "relatedSpdxElement": program["SPDXID"]}]
    linked = []
    for archive in ARCHIVES[name]:
        form = "${Package}\t${Version}\t${Architecture}\t${Maintainer}"
        values = subprocess.run(["dpkg-query", "-W", "-f", form, archive], check=True, capture_output=True, text=True).stdout
        linked.append(dict(zip(("name", "version", "architecture", "maintainer"), values.split("\t"))))
    for kind, group in (("DEPENDS_ON", packages), ("STATIC_LINK", linked)):
        for one in group:
            found = entry(one, "Organization: Debian")
            entries.append(found)
            relations.append({"spdxElementId": program["SPDXID"], "relationshipType": kind,
                              "relatedSpdxElement": found["SPDXID"]})
    for path, one in json.loads(PAGE.read_text())["packages"].items() if name == "edgectl" else ():
        if path == "" or one.get("dev"):
            continue
        module = path.removeprefix("node_modules/")
        found = entry({"name": module, "version": one["version"]}, "NOASSERTION")
        found["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": f"pkg:npm/{module}@{one['version']}"}]
        entries.append(found)
        relations.append({"spdxElementId": program["SPDXID"], "relationshipType": "CONTAINS",
                          "relatedSpdxElement": found["SPDXID"]})
    identity = hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
                "documentNamespace": f"https://edgeproxy.io/spdx/{name}-{version}-{identity[:16]}",
                "creationInfo": {"created": created, "creators": ["Tool: script/package"]}, "packages": entries,
                "relationships": relations}
    return json.dumps(document, indent=1, sort_keys=True) + "\n"
