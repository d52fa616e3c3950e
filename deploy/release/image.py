"""Image of the program as an archive in the layout of OCI, made without a container engine."""

import gzip
import hashlib
import io
import json
import pathlib
import re
import shutil
import tarfile
import time
import urllib.error
import urllib.request

import archive
from build import ReleaseError, run, say

MIRROR = "http://deb.debian.org/debian/"
USER = 10001
SECOND = 1_000_000_000
OCI = "application/vnd.oci.image"

# The libraries of glibc that the runtime and the native libraries in jars are linked with; names are looked up by nss_*.
LIBRARIES = (
    "ld-linux-x86-64.so.2 libc.so.6 libdl.so.2 libm.so.6 libnss_dns.so.2 libnss_files.so.2 libpthread.so.0 libresolv.so.2 librt.so.1"
).split()
LIBRARY = "lib/x86_64-linux-gnu"
# Commands of busybox for the launcher, for hooks and for a look inside; others are called as "busybox NAME".
COMMANDS = "sh cat env ls ps readlink sleep".split()
TEXTS = {
    "etc/passwd": f"root:x:0:0:root:/root:/bin/sh\nparley:x:{USER}:{USER}:Parley:/data:/bin/sh\n",
    "etc/group": f"root:x:0:\nparley:x:{USER}:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "etc/os-release": 'ID=parley\nID_LIKE=debian\nNAME="Parley"\nPRETTY_NAME="Parley, with the C library of Debian 12"\n',
}


def packages(release):
    """Returns the files of the packages of the base, downloaded if the working directory has none with the right checksum."""
    files = []
    for line in (release.tree / "deploy/release/base.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        checksum, path = line.split()
        file = release.work / "debian-packages" / pathlib.Path(path).name
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            if release.offline:
                raise ReleaseError(f"package {file}: not there (expected: a copy of {MIRROR}{path})")
            try:
                with urllib.request.urlopen(MIRROR + path, timeout=60) as answer:
                    file.write_bytes(answer.read())
            except (urllib.error.URLError, OSError) as failure:
                raise ReleaseError(f"package {MIRROR}{path}: {failure} (expected: see deploy/release/base.txt)") from None
        present = hashlib.sha256(file.read_bytes()).hexdigest()
        if present != checksum:
            file.unlink()
            raise ReleaseError(f"package {MIRROR}{path}: checksum {present} (expected: {checksum})")
        files.append(file)
    return files


def base(release, root):
    """Makes the root file system below the program: the C library, a shell, the user. Scanners find the packages in status.d."""
    shutil.rmtree(root, ignore_errors=True)
    for name in ("bin", "data", "dev", "etc", LIBRARY, "lib64", "opt", "proc", "root", "sys", "tmp", "usr/bin", "var/lib/dpkg/status.d"):
        (root / name).mkdir(parents=True)
    for file in packages(release):
        package = file.name.split("_")[0]
        content = release.work / "debian-package"
        shutil.rmtree(content, ignore_errors=True)
        run(["dpkg-deb", "--extract", file, content], log=release.log)
        (root / "var/lib/dpkg/status.d" / package).write_text(run(["dpkg-deb", "--field", file]))
        licence = f"usr/share/doc/{package}/copyright"
        (root / licence).parent.mkdir(parents=True)
        shutil.copyfile(content / licence, root / licence)
        if package == "libc6":
            for name in LIBRARIES:
                shutil.copy2((content / LIBRARY / name).resolve(), root / LIBRARY / name)
        else:
            shutil.copy2(content / "bin/busybox", root / "bin")
    (root / "lib64/ld-linux-x86-64.so.2").symlink_to(f"../{LIBRARY}/ld-linux-x86-64.so.2")
    for name in COMMANDS:
        (root / "bin" / name).symlink_to("busybox")
    (root / "usr/bin/env").symlink_to("../../bin/busybox")
    for name, text in TEXTS.items():
        (root / name).write_text(text)
    return root


def attributes(entry, moment):
    """Gives an entry of a layer modes and owners that do not depend on this machine."""
    entry.uid = entry.gid = USER if entry.name == "data" else 0
    entry.uname = entry.gname = ""
    entry.mtime = moment
    if entry.name == "tmp":
        entry.mode = 0o1777
    elif entry.name in ("data", "root"):
        entry.mode = 0o700
    elif not entry.issym():
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def layer(root, moment, under="", chosen=lambda path: True):
    """Returns a layer as a tar with the files of a directory that are chosen, all with one time, below a path of the image."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for parent in reversed(pathlib.PurePath(under, "x").parents[:-1]):
            entry = tarfile.TarInfo(str(parent))
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(attributes(entry, moment))
        for path in sorted(root.rglob("*")):
            if chosen(path.relative_to(root)):
                name = str(pathlib.PurePath(under) / path.relative_to(root))
                tar.add(path, name, recursive=False, filter=lambda entry: attributes(entry, moment))
    return output.getvalue()


def is_program(path):
    """Files of the archive that the image has, without the cache: it has a layer of its own, as it is not the same in two builds."""
    return path.parts[0] != "share" and path.name != "parley.aot"


def is_cache(path):
    return path.parts == ("app",) or path.name == "parley.aot"


def settings(release):
    """Returns how containers run the image; Healthcheck is an extension of Docker, which Podman knows, too."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.time))
    address = re.search(r"<url>([^<]+)</url>", (release.tree / "pom.xml").read_text())
    labels = {
        "title": "Parley", "description": "Agent-to-agent (A2A) platform", "version": release.version, "revision": release.commit,
        "created": created, "licenses": "Apache-2.0 AND LGPL-2.1-or-later AND GPL-2.0-only",
        **({"url": address.group(1)} if address else {})}
    labels = {f"org.opencontainers.image.{name}": labels[name] for name in sorted(labels)}
    return created, labels, {
        "User": f"{USER}:{USER}",
        "ExposedPorts": {"7420/tcp": {}},
        "Env": ["PATH=/opt/parley/bin:/usr/bin:/bin", "HOME=/data", "PARLEY_JAVA_OPTIONS=-Duser.home=/data"],
        "Entrypoint": ["/opt/parley/bin/parley"],
        "Cmd": ["up"],
        "Volumes": {"/data": {}},
        "WorkingDir": "/data",
        "Labels": labels,
        "StopSignal": "SIGTERM",
        "Healthcheck": {
            "Test": ["CMD", "/opt/parley/bin/parley", "hub", "health"],
            "Interval": 30 * SECOND, "Timeout": 10 * SECOND, "StartPeriod": 30 * SECOND, "Retries": 3},
    }


class Layout:
    """The blobs of an image, by their names in the archive."""

    def __init__(self):
        self.files = {}

    def blob(self, content, kind):
        """Adds a blob, and returns its descriptor."""
        checksum = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{checksum}"] = content
        return {"mediaType": f"{OCI}.{kind}", "digest": f"sha256:{checksum}", "size": len(content)}

    def json(self, value, kind):
        return self.blob(json.dumps(value, separators=(",", ":")).encode(), kind)


def layout(release, layers):
    """Returns the files of the archive: the layout of OCI, and manifest.json, which older versions of Docker load."""
    created, labels, config = settings(release)
    image = Layout()
    blobs = [image.blob(gzip.compress(tar, 6, mtime=0), "layer.v1.tar+gzip") for tar in layers.values()]
    about = image.json({
        "created": created, "architecture": "amd64", "os": "linux", "config": config,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(tar).hexdigest()}" for tar in layers.values()]},
        "history": [{"created": created, "created_by": "bin/release", "comment": name} for name in layers],
    }, "config.v1+json")
    manifest = image.json({
        "schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json", "config": about, "layers": blobs, "annotations": labels,
    }, "manifest.v1+json")
    manifest |= {
        "annotations": {"org.opencontainers.image.ref.name": release.version, "io.containerd.image.name": f"parley:{release.version}"},
        "platform": {"architecture": "amd64", "os": "linux"}}
    path = {entry["digest"]: entry["digest"].replace("sha256:", "blobs/sha256/") for entry in (about, *blobs)}
    texts = {
        "oci-layout": {"imageLayoutVersion": "1.0.0"},
        "index.json": {"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": [manifest]},
        "manifest.json": [{
            "Config": path[about["digest"]], "RepoTags": [f"parley:{release.version}"], "Layers": [path[entry["digest"]] for entry in blobs]}],
    }
    return image.files | {name: json.dumps(value).encode() for name, value in texts.items()}


def make(release):
    top = archive.program_with_runtime(release)
    say("packing the image")
    layers = {
        # Without the time of the release, so that releases share it.
        "base: C library and shell": layer(base(release, release.work / "image-base"), 0),
        "program": layer(top, release.time, "opt/parley", is_program),
        "cache for quick starts": layer(top, release.time, "opt/parley", is_cache),
    }
    name = f"parley-{release.version}-image.tar"
    with tarfile.open(release.out / name, "w", format=tarfile.GNU_FORMAT) as tar:
        for path, content in sorted(layout(release, layers).items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mtime = len(content), release.time
            tar.addfile(entry, io.BytesIO(content))
    release.add(name)
