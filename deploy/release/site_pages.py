"""Site of a release: its documents as pages, Javadoc of its libraries and openapi.json, for any server of files."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import urllib.request
import zipfile

import bundle
from build import ReleaseError, git, normalise, pack, run, say

UI = "console/src/main/resources/dev/parley/console/ui"
LOCAL_HUB = "http://127.0.0.1:7420"
LATEST = """<!doctype html>
<meta charset="utf-8">
<title>Parley</title>
<meta http-equiv="refresh" content="0; url={version}/index.html">
<a href="{version}/index.html">Parley {version}</a>
"""


def versions(release):
    """Returns the version, and the released ones before it, which have tags; the newest is first."""
    tags = git("tag", "--list", "v*", "--merged", release.commit, "--sort=-version:refname").splitlines()
    return [release.version, *(tag[1:] for tag in tags if tag[1:] != release.version)]


def ordered(value, name=""):
    """Returns a JSON value with its members and choices sorted: the program keeps some of them as sets."""
    if isinstance(value, dict):
        return {key: ordered(value[key], key) for key in sorted(value)}
    if isinstance(value, list):
        values = [ordered(entry) for entry in value]
        return sorted(values, key=str) if name in ("enum", "required") else values
    return value


def openapi(release):
    """Returns the description of the operations, from a hub of the program."""
    program = release.program()
    with tempfile.TemporaryDirectory(dir=release.work) as home:
        hub = subprocess.Popen(
            [release.jdk / "bin/java", f"-Duser.home={home}", "-jar", program / "parley.jar", "up", "--port", "0", "--data", f"{home}/data"],
            cwd=home, env={"PATH": "/usr/bin:/bin", "HOME": home, "LC_ALL": "C.UTF-8"}, stdout=subprocess.PIPE,
            stderr=open(release.log, "ab"), text=True)
        try:
            address = next((line.split()[-1] for line in hub.stdout if line.startswith("URL: ")), None)
            if address is None:
                raise ReleaseError("the hub for openapi.json did not start")
            with urllib.request.urlopen(f"{address}/openapi.json", timeout=60) as answer:
                text = answer.read().decode()
        finally:
            hub.terminate()
            hub.wait()
            hub.stdout.close()
    return json.dumps(ordered(json.loads(text.replace(address, LOCAL_HUB))), ensure_ascii=False)


def javadoc(release, pages):
    """Unpacks the Javadoc of the libraries, and returns the names of those that have any."""
    names = []
    for name, module in bundle.build(release).items():
        jar = module / f"target/quick/{name}-{release.version}-javadoc.jar"
        if not jar.exists():
            continue
        with zipfile.ZipFile(jar) as files:
            if "index.html" in files.namelist():
                files.extractall(pages / "api" / name, [file for file in files.namelist() if not file.startswith("META-INF")])
                names.append(name)
    return names


def make(release):
    top = release.work / f"parley-{release.version}-site"
    shutil.rmtree(top, ignore_errors=True)
    pages = top / release.version
    pages.mkdir(parents=True)
    libraries = javadoc(release, pages)
    say("making the site")
    # Node takes a file as a module by its name.
    marked = release.work / "marked.mjs"
    with zipfile.ZipFile(next((release.program() / "lib").glob("marked-*.jar"))) as jar:
        marked.write_bytes(jar.read(next(name for name in jar.namelist() if name.endswith("/marked.esm.js"))))
    scripts = pathlib.Path(release.tree / "deploy/release/site")
    run(["node", scripts / "build.mjs", release.tree / "docs", release.tree / UI, marked, pages, release.version, ",".join(libraries)],
        log=release.log)
    (pages / "openapi.json").write_text(openapi(release))
    (top / "versions.js").write_text(f"globalThis.parleyVersions = {json.dumps(versions(release))};\n")
    (top / "index.html").write_text(LATEST.format(version=release.version))
    normalise(top, release.time)
    pack(release, top)
