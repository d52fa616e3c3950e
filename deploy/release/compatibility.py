"""Comparison of the public API of the libraries with that of an earlier release, by japicmp."""

import io
import re
import shutil
import subprocess
import zipfile

import bundle
from build import ReleaseError, say

JAPICMP = "com.github.siom79.japicmp:japicmp:0.26.2:jar:jar-with-dependencies"
# A failure of japicmp itself has the same exit status as incompatible changes, without this line.
INCOMPATIBLE = "E: There is at least one incompatibility"
JAR = re.compile(r"dev/parley/([^/]+)/([^/]+)/\1-\2(-javadoc)?\.jar")


def unpack(file, into):
    """Unpacks the jars of an earlier bundle; returns its version, the jars by their artifacts, and the packages with Javadoc."""
    version, jars, packages = None, {}, set()
    try:
        with zipfile.ZipFile(file) as files:
            for name in files.namelist():
                fields = JAR.fullmatch(name)
                if not fields:
                    continue
                artifact, version, javadoc = fields.groups()
                content = files.read(name)
                if javadoc:
                    # Javadoc has the packages that a module exports, below its name; the others are free to change.
                    with zipfile.ZipFile(io.BytesIO(content)) as pages:
                        packages.update(
                            re.sub(r"^[^/]*\.[^/]*/", "", page.removesuffix("/package-summary.html"))
                            for page in pages.namelist() if page.endswith("/package-summary.html"))
                else:
                    jars[artifact] = into / f"{artifact}.jar"
                    jars[artifact].write_bytes(content)
    except (OSError, zipfile.BadZipFile) as failure:
        raise ReleaseError(f'bundle "{file}": {failure} (expected: parley-VERSION-bundle.zip of an earlier release)') from None
    if not jars:
        raise ReleaseError(f'bundle "{file}": no libraries in it (expected: parley-VERSION-bundle.zip of an earlier release)')
    return version, jars, sorted(page.replace("/", ".") for page in packages)


def may_break(old, new):
    """Whether semantic versions allow incompatible changes between two: another major version, or before 1.0.0 another minor one."""
    first, second = (version.split("-")[0].split(".") for version in (old, new))
    return first[0] != second[0] or first[0] == "0" and first[1] != second[1]


def tool(release):
    directory = release.work / "japicmp"
    if not directory.exists():
        release.maven("dependency:copy", "-N", f"-Dartifact={JAPICMP}", f"-DoutputDirectory={directory}")
    return next(directory.glob("*.jar"))


def make(release):
    """Compares the libraries of this release with those of the earlier bundle, as compare() does."""
    modules = bundle.build(release)
    before = release.work / "earlier"
    shutil.rmtree(before, ignore_errors=True)
    before.mkdir()
    version, old, packages = unpack(release.old, before)
    new = [module / f"target/quick/{name}-{release.version}.jar" for name, module in modules.items()]
    say(f"comparing the API with that of {version}")
    command = [
        release.jdk / "bin/java", "-jar", tool(release), "--only-incompatible", "--only-modified", "--ignore-missing-classes",
        "--no-annotations", "--include-exclusively", "--include", ";".join(packages), "--report-only-filename",
        "--error-on-binary-incompatibility", "--error-on-source-incompatibility",
        "--old", ";".join(str(jar) for jar in old.values()), "--new", ";".join(str(jar) for jar in new if jar.exists())]
    compare(command, version, release.version)


def compare(command, old, new):
    """Runs japicmp. Fails with the incompatible changes, unless the version says that there may be some, and with its error if it fails."""
    compared = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if compared.returncode == 0:
        say(f"the API is compatible with that of {old}")
    elif INCOMPATIBLE not in compared.stdout:
        raise ReleaseError(f"japicmp failed with exit status {compared.returncode}:\n{compared.stdout}")
    elif may_break(old, new):
        print(compared.stdout)
        say(f"{new} may change the API of {old}: name these changes in CHANGELOG.md")
    else:
        raise ReleaseError(f"the API is not compatible with that of {old}:\n{compared.stdout}")
