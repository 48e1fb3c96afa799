"""Makes an OCI image (image-spec 1.1, as a layout) of a program, without a daemon and without fetching anything: its files are
those that the program needs of this machine's Debian packages. What a package has besides is left out, and its entry in
/var/lib/dpkg/status.d, where scanners look, stays."""
import functools
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import struct
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

USER = 65532
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# Permitted, and not effective: where the pod does not grant one, the program starts all the same, and does without.
CAPABILITIES = {"edge-agent": (10, 12, 13), "edge-standalone": (10, 12, 13)}  # NET_BIND_SERVICE, NET_ADMIN, NET_RAW
PORTS = {"edge-agent": ["9090/tcp", "9091/tcp", "9095/udp"], "edge-controller": ["9090/tcp", "9092/tcp"],
         "edge-standalone": ["6443/tcp", "9090/tcp", "9091/tcp"], "edge-operator": ["9093/tcp"]}
OTHERS = {"edge-agent": ["edge-regexc", "bird", "bash"], "edge-standalone": ["edge-regexc", "bird", "bash"],
          "edge-controller": ["edge-regexc"], "edgectl": ["edge-regexc"], "edge-operator": []}


@dataclass
class Image:
    digest: str
    size: int
    unpacked: int
    packages: list = field(default_factory=list)  # {name, version, architecture, maintainer}


def text_of(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL).stdout


def libraries_of(program):
    """Paths of the libraries and of the loader, as the loader finds them here."""
    return sorted(set(re.findall(r"(?:=> )?(/\S+) \(0x", text_of("ldd", program))))


@functools.cache
def owners():
    """The package of each file of this machine, from dpkg's lists: to ask dpkg-query for one takes as long as to read all."""
    found = {}
    for names in sorted(Path("/var/lib/dpkg/info").glob("*.list")):
        package = names.stem.split(":")[0]
        found.update((path, package) for path in names.read_text().splitlines())
    return found


def owner_of(path):
    for name in (path, path.removeprefix("/usr"), os.path.realpath(path), os.path.realpath(path).removeprefix("/usr")):
        if name in owners():
            return owners()[name]
    raise SystemExit(f"package: no Debian package has {path}")


def package_fields(name):
    form = "${Package}\t${Version}\t${Architecture}\t${Maintainer}\t${source:Package}\t${source:Version}"
    values = text_of("dpkg-query", "-W", "-f", form, name).split("\t")
    return dict(zip(("name", "version", "architecture", "maintainer", "source", "source_version"), values))


class Layer:
    """A tar archive whose bytes depend on nothing but what is put in."""

    def __init__(self, when):
        self.when = when
        self.entries = {}

    def directory(self, path, mode=0o755, user=0):
        self.entries[path.strip("/")] = (tarfile.DIRTYPE, b"", mode, user, None)

    def file(self, path, content, mode=0o644, capabilities=()):
        xattr = None
        if capabilities:
            mask = sum(1 << number for number in capabilities)
            # vfs_cap_data, revision 2 (linux/capability.h): no effective bit.
            xattr = struct.pack("<5I", 0x02000000, mask, 0, 0, 0)
        path = path.strip("/")
        for parent in list(Path(path).parents)[:-1]:
            if str(parent) not in self.entries:
                self.directory(str(parent))
        self.entries[path] = (tarfile.REGTYPE, content, mode, 0, xattr)

    def bytes(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, (kind, content, mode, user, xattr) in sorted(self.entries.items()):
                info = tarfile.TarInfo(path)
                info.type, info.size, info.mode, info.uid, info.gid, info.mtime = kind, len(content), mode, user, user, self.when
                if xattr is not None:
                    info.pax_headers["SCHILY.xattr.security.capability"] = xattr.decode("utf-8", "surrogateescape")
                archive.addfile(info, io.BytesIO(content))
        return out.getvalue()


def stripped(program):
    done = subprocess.run(["objcopy", "--strip-all", str(program), "/dev/stdout"], capture_output=True, check=False)
    if done.returncode == 0 and done.stdout:
        return done.stdout
    copy = Path(str(program) + ".stripped")
    subprocess.run(["objcopy", "--strip-all", str(program), str(copy)], check=True)
    content = copy.read_bytes()
    copy.unlink()
    return content


def make(name, version, programs, folder, when):
    layer = Layer(when)
    layer.directory("tmp", 0o1777)
    layer.directory("var/lib/edge", 0o700, USER)
    layer.directory("var/cache/edge", 0o700, USER)
    layer.directory("run", 0o755)
    layer.directory("etc/edge")
    layer.file("etc/passwd", b"root:x:0:0:root:/:/sbin/nologin\nedge:x:65532:65532:edge:/var/lib/edge:/sbin/nologin\n")
    layer.file("etc/group", b"root:x:0:\nedge:x:65532:\n")
    layer.file("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n")
    layer.file(CERTIFICATES, Path(CERTIFICATES).read_bytes())
    wanted, owners = set(), {"ca-certificates", "base-files"}
    for program in [name, *OTHERS[name]]:
        ours = program.startswith("edge")
        path = programs / program if ours else Path(shutil.which(program) or "/missing/" + program)
        if not path.exists():
            raise SystemExit(f"package: there is no {path}")
        content = stripped(path) if ours else path.read_bytes()
        layer.file(f"usr/bin/{program}" if ours else str(path), content, 0o755,
                   CAPABILITIES.get(program, ()))
        wanted.update(libraries_of(path))
        if not ours:
            owners.add(owner_of(str(path)))
    for path in sorted(wanted):
        # With the name by which it is looked for; the loader's own stays below /lib64.
        layer.file(path if path.startswith("/lib64/") else "/usr" + path.removeprefix("/usr"), Path(path).read_bytes(), 0o755)
        owners.add(owner_of(path))
    packages = sorted((package_fields(owner) for owner in owners), key=lambda one: one["name"])
    for one in packages:
        status = (f"Package: {one['name']}\nStatus: install ok installed\nMaintainer: {one['maintainer']}\n"
                  f"Architecture: {one['architecture']}\nSource: {one['source']} ({one['source_version']})\n"
                  f"Version: {one['version']}\nDescription: the files that {name} needs\n")
        layer.file(f"var/lib/dpkg/status.d/{one['name']}", status.encode())
    os_release = "".join(line for line in Path("/etc/os-release").read_text().splitlines(True)
                         if line.split("=")[0] in ("ID", "NAME", "VERSION_ID", "VERSION_CODENAME", "PRETTY_NAME"))
    layer.file("etc/os-release", os_release.encode())
    content = layer.bytes()
    packed = gzip.compress(content, 6, mtime=0)
    created = text_of("date", "-u", "-d", f"@{when}", "+%Y-%m-%dT%H:%M:%SZ").strip()
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    config = {
        "created": created, "architecture": machine, "os": "linux",
        "config": {"User": f"{USER}:{USER}", "Entrypoint": [f"/usr/bin/{name}"], "WorkingDir": "/var/lib/edge",
                   "Env": ["PATH=/usr/bin:/usr/sbin", "SSL_CERT_FILE=" + CERTIFICATES],
                   "ExposedPorts": {port: {} for port in PORTS.get(name, [])},
                   "Labels": {"org.opencontainers.image.title": name, "org.opencontainers.image.version": version,
                              "org.opencontainers.image.base.name": "debian:12"}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(content).hexdigest()]},
        "history": [{"created": created, "created_by": "script/package"}]}
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def put(value, kind):
        data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": kind, "digest": "sha256:" + digest, "size": len(data)}

    kinds = "application/vnd.oci.image."
    manifest = put({"schemaVersion": 2, "mediaType": kinds + "manifest.v1+json", "config": put(config, kinds + "config.v1+json"),
                    "layers": [put(packed, kinds + "layer.v1.tar+gzip")]}, kinds + "manifest.v1+json")
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
    manifest["platform"] = {"architecture": machine, "os": "linux"}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "mediaType": kinds + "index.v1+json",
                                                   "manifests": [manifest]}, sort_keys=True))
    (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
    return Image(manifest["digest"], len(packed), len(content), packages)
