"""Package for Debian and Ubuntu on amd64."""

import gzip
import shutil

import archive
from build import normalise, run, say

# What the runtime needs: its libraries ask for no newer symbols of glibc. adduser makes the user in postinst.
DEPENDS = "libc6 (>= 2.17), adduser"
CONTROL = """\
Package: parley
Version: {version}
Architecture: amd64
Maintainer: Parley maintainers <maintainers@parley.dev>
Installed-Size: {size}
Depends: {depends}
Section: net
Priority: optional
Homepage: https://parley.dev
Description: agent-to-agent (A2A) platform
 Hub that hosts agents of the A2A protocol, with a durable log of tasks, users
 and limits, a registry, a gateway and a console; and the command line that
 calls agents. The package has its own Java runtime.
"""
PLACES = {
    "share/man/man1/parley.1": "usr/share/man/man1/parley.1.gz",
    "share/completions/bash/parley": "usr/share/bash-completion/completions/parley",
    "share/completions/zsh/_parley": "usr/share/zsh/vendor-completions/_parley",
    "share/completions/fish/parley.fish": "usr/share/fish/vendor_completions.d/parley.fish",
    "NOTICE": "usr/share/doc/parley/NOTICE",
    "THIRD-PARTY.txt": "usr/share/doc/parley/THIRD-PARTY.txt",
    "parley.cdx.json": "usr/share/doc/parley/parley.cdx.json",
    "LICENSE": "usr/share/doc/parley/copyright",
}


def program(release, root):
    """Puts the program into a root file system, below usr."""
    top = archive.program_with_runtime(release)
    shutil.copytree(top, root / "usr/lib/parley", symlinks=True, ignore=lambda folder, names: [
        name for name in names if folder == str(top) and name not in ("app", "bin", "runtime")])
    for source, place in PLACES.items():
        content = (top / source).read_bytes()
        target = root / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(content, mtime=0) if place.endswith(".gz") else content)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/parley").symlink_to("../lib/parley/bin/parley")


def make(release):
    root = release.work / "debian"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    program(release, root)
    units = root / "lib/systemd/system"
    units.mkdir(parents=True)
    shutil.copy(release.tree / "deploy/systemd/parley.service", units)
    scripts = release.tree / "deploy/debian"
    (root / "etc/parley").mkdir(parents=True)
    shutil.copy(scripts / "parley.yaml", root / "etc/parley")
    size = sum(path.lstat().st_size for path in root.rglob("*") if not path.is_dir()) // 1024
    # A version with a hyphen would be a revision of the package, and come after the release; one with a tilde comes before it.
    version = release.version.replace("-", "~")
    control = root / "DEBIAN"
    control.mkdir()
    (control / "control").write_text(CONTROL.format(version=version, size=size, depends=DEPENDS))
    (control / "conffiles").write_text("/etc/parley/parley.yaml\n")
    for script in ("postinst", "prerm", "postrm"):
        shutil.copy(scripts / script, control)
        (control / script).chmod(0o755)
    normalise(root, release.time)
    say("packing the Debian package")
    name = f"parley_{version}_amd64.deb"
    run(["dpkg-deb", "--build", "--root-owner-group", "-Zgzip", root, release.out / name],
        log=release.log, env=release.environment)
    release.add(name)
