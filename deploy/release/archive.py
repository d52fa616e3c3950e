"""Archives of the program: with a Java runtime for Linux on x64, and of jars for all systems."""

import pathlib
import re
import shutil
import tempfile
import time
import zipfile

import manpage
from build import ReleaseError, normalise, pack, run, say
from licences import third_party

# Modules of Java in the runtime: all of Java SE, which agents in jars may use, and of the JDK what the program uses (the compiler
# for "parley run", an HTTP server for sign-in, channels of Unix, name service), file systems of zips, character sets and locales
# of documents, and the tools that look into a running JVM.
MODULES = (
    "java.se jdk.charsets jdk.compiler jdk.crypto.ec jdk.httpserver jdk.jcmd jdk.jfr jdk.localedata jdk.management"
    " jdk.management.agent jdk.management.jfr jdk.naming.dns jdk.net jdk.unsupported jdk.zipfs"
).split()
OLDEST_JAVA = 25


def check_jdk(jdk):
    facts = (jdk / "release").read_text()
    java = int(re.search(r'JAVA_VERSION="(\d+)', facts).group(1))
    if java < OLDEST_JAVA or 'OS_NAME="Linux"' not in facts or 'OS_ARCH="x86_64"' not in facts:
        raise ReleaseError(f'JDK "{jdk}": Java {java} (expected: Java {OLDEST_JAVA} or newer of Linux on x64, in JAVA_HOME)')


def layout(release, top):
    """Makes the part of an archive that all have: launcher, jars, licences."""
    program = release.program()
    shutil.rmtree(top, ignore_errors=True)
    (top / "bin").mkdir(parents=True)
    shutil.copytree(program, top / "app", ignore=lambda folder, names: [
        name for name in names if pathlib.Path(folder) == program and name not in ("parley.jar", "lib")])
    shutil.copy(release.tree / "deploy/release/parley", top / "bin")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(release.tree / name, top)
    materials = program.parent / "parley.cdx.json"
    (top / "THIRD-PARTY.txt").write_text(third_party(release, materials))
    shutil.copy(materials, top)


def texts(release, top, environment):
    """Writes completions and the manual page, as the program prints them."""
    launcher = top / "bin/parley"
    bash = run([launcher, "completion", "bash"], env=environment)
    scripts = {
        "bash/parley": bash,
        # The script is good for both shells; as a file on the path of zsh's functions it also has to complete when it is first run.
        "zsh/_parley": f"#compdef parley\n{bash}\n[ \"${{funcstack[1]}}\" != _parley ] || _bash_complete -o default -F _complete_parley\n",
        "fish/parley.fish": run([launcher, "completion", "fish"], env=environment),
    }
    for name, script in scripts.items():
        file = top / "share/completions" / name
        file.parent.mkdir(parents=True)
        file.write_text(script)
    page = top / "share/man/man1/parley.1"
    page.parent.mkdir(parents=True)
    page.write_text(manpage.page(
        release.version, time.strftime("%Y-%m-%d", time.gmtime(release.time)),
        run([launcher, "--help"], env=environment), run([launcher, "up", "--help"], env=environment)))


def program_with_runtime(release):
    """Makes the directory of the archive with a runtime, which the package and the image have too; returns it."""
    top = release.work / f"parley-{release.version}-linux-x64"
    if not release.once("runtime") and top.exists():
        return top
    check_jdk(release.jdk)
    layout(release, top)
    say("linking the Java runtime")
    run([release.jdk / "bin/jlink", "--add-modules", ",".join(MODULES), "--no-header-files", "--no-man-pages",
         "--strip-java-debug-attributes", "--compress", "zip-0", "--output", top / "runtime"], log=release.log)
    # SQLite's library for this system, which its driver otherwise takes out of the jar at each start.
    (top / "app/native").mkdir()
    driver = next((top / "app/lib").glob("sqlite-jdbc-*.jar"))
    with zipfile.ZipFile(driver) as jar:
        (top / "app/native/libsqlitejdbc.so").write_bytes(jar.read("org/sqlite/native/Linux/x86_64/libsqlitejdbc.so"))
    # The cache is good for files with these very times of change, which archives keep.
    normalise(top, release.time)
    with tempfile.TemporaryDirectory(dir=release.work) as home:
        environment = {"PATH": "/usr/bin:/bin", "HOME": home, "LC_ALL": "C.UTF-8"}
        say("preparing quick starts")
        run([top / "bin/parley", "warm-up"], log=release.log, cwd=home, env=dict(
            environment, PARLEY_JAVA_OPTIONS=f"-XX:AOTCacheOutput={home}/parley.aot"))
        shutil.move(f"{home}/parley.aot", top / "app/parley.aot")
        texts(release, top, environment)
    normalise(top, release.time)
    release.done("runtime")
    return top


def make(release):
    top = program_with_runtime(release)
    say("packing the archives")
    pack(release, top)
    jars = release.work / f"parley-{release.version}"
    layout(release, jars)
    shutil.copy(release.tree / "deploy/release/parley.cmd", jars / "bin")
    shutil.copytree(top / "share", jars / "share")
    normalise(jars, release.time)
    pack(release, jars)
