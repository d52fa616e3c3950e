"""Bundle of the libraries for Maven Central: the zip that its portal takes."""

import hashlib
import re
import time
import zipfile

from build import ReleaseError, run, say

CHECKSUMS = ("md5", "sha1", "sha256", "sha512")


def artifacts(release):
    """Returns the artifacts of the release with their directories: those that the bill of versions lists, and itself."""
    listed = re.findall(r"<artifactId>(parley[^<]*)</artifactId>", (release.tree / "bom/pom.xml").read_text())
    modules = {}
    for pom in release.tree.glob("*/pom.xml"):
        text = re.sub(r"(?s)<parent>.*?</parent>", "", pom.read_text())
        modules[re.search(r"<artifactId>([^<]+)", text).group(1)] = pom.parent
    return {name: modules[name] for name in sorted(set(listed) - {"parley-parent"})}


def contents(release, name, module):
    """Returns the files of an artifact, by their names in a repository."""
    built = module / "target/quick"
    stem = f"{name}-{release.version}"
    files = {f"{stem}.pom": built / ".flattened-pom.xml"}
    if "<packaging>pom</packaging>" not in (module / "pom.xml").read_text():
        files |= {f"{stem}{kind}.jar": built / f"{stem}{kind}.jar" for kind in ("", "-sources", "-javadoc")}
    for file, source in files.items():
        if not source.exists():
            raise ReleaseError(f"{file}: Maven has not made it")
    return files


def signature(release, file):
    """Returns the armoured signature of a file by the key of the release."""
    return run(["gpg", "--batch", "--local-user", release.key, "--armor", "--detach-sign", "--output", "-", file])


def build(release):
    """Builds the libraries, and returns their artifacts."""
    release.export()
    modules = artifacts(release)
    if release.once("bundle"):
        say("building the libraries with sources and Javadoc, in some minutes")
        release.maven("-Pquick,release", "-Dmaven.test.skip=true", "-Dflatten.phase=package",
                      "-pl", ",".join(f":{name}" for name in [*modules, "parley-cli"]), "-am", "package")
        release.done("bundle")
        release.done("program")
    return modules


def make(release):
    modules = build(release)
    if not release.key:
        say("the bundle is not signed, so that Maven Central refuses it (expected: --key)")
    name = f"parley-{release.version}-bundle.zip"
    moment = time.gmtime(release.time)[:6]
    with zipfile.ZipFile(release.out / name, "w", zipfile.ZIP_DEFLATED) as bundle:

        def add(path, content):
            bundle.writestr(zipfile.ZipInfo(path, moment), content, zipfile.ZIP_DEFLATED)

        for artifact, module in modules.items():
            for file, source in contents(release, artifact, module).items():
                path = f"dev/parley/{artifact}/{release.version}/{file}"
                content = source.read_bytes()
                add(path, content)
                for algorithm in CHECKSUMS:
                    add(f"{path}.{algorithm}", hashlib.new(algorithm, content).hexdigest())
                if release.key:
                    add(f"{path}.asc", signature(release, source))
    release.add(name)
