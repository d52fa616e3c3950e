"""The build of a release: the tree of the commit, Maven, and what all files of a release have in common."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ReleaseError(Exception):
    """A release cannot be made; the message is for the maintainer."""


def say(text):
    print(f"release: {text}", file=sys.stderr, flush=True)


def run(command, log=None, **more):
    """Runs a command and returns its output; with a log, its output goes there, and the end of that is shown if it fails."""
    command = [str(word) for word in command]
    try:
        if not log:
            return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, **more).stdout
        with open(log, "ab") as output:
            subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=True, **more)
        return ""
    except FileNotFoundError:
        raise ReleaseError(f'command "{command[0]}": not found') from None
    except subprocess.CalledProcessError as failure:
        if log:
            sys.stderr.writelines(log.read_text(errors="replace").splitlines(keepends=True)[-30:])
        raise ReleaseError(f"{' '.join(command[:3])} …: ended with status {failure.returncode}") from None


def git(*arguments):
    return run(["git", "-C", ROOT, *arguments]).strip()


class Release:
    """The directories, the version and the time of a release. What is made once for several files is kept in the directory work."""

    def __init__(self, version, out, work, offline, key):
        self.version = version
        self.out = out
        self.work = work
        self.offline = offline
        self.key = key
        self.commit = git("rev-parse", "HEAD")
        self.time = int(git("log", "-1", "--format=%ct"))
        self.tree = work / "tree"
        self.log = work / "build.log"
        self.environment = dict(os.environ, SOURCE_DATE_EPOCH=str(self.time), TZ="UTC", LC_ALL="C.UTF-8")
        self.jdk = pathlib.Path(run([ROOT / "parley", "jdk"]).strip())
        self.environment["JAVA_HOME"] = str(self.jdk)
        self.files = []

    def once(self, step):
        """Returns whether a step has to be done in the directory work, which may have it of an earlier run; done() marks its end."""
        stamp = self.work / f"{step}.done"
        if stamp.exists() and stamp.read_text() == f"{self.commit} {self.version}\n":
            return False
        stamp.unlink(missing_ok=True)
        return True

    def done(self, step):
        (self.work / f"{step}.done").write_text(f"{self.commit} {self.version}\n")

    def export(self):
        """Puts the files of the commit into the working directory, with the version of the release."""
        if not self.once("export"):
            return
        if git("status", "--porcelain"):
            say("uncommitted changes are not part of the release")
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir(parents=True)
        files = subprocess.Popen(["git", "-C", ROOT, "archive", self.commit], stdout=subprocess.PIPE)
        run(["tar", "-x", "-C", self.tree], stdin=files.stdout)
        if files.wait():
            raise ReleaseError("git archive failed")
        pom = (self.tree / "pom.xml").read_text()
        present = re.search(r"<artifactId>parley-parent</artifactId>\s*<version>([^<]+)", pom).group(1)
        for name in run(["grep", "-rlIF", present, self.tree]).splitlines():
            path = pathlib.Path(name)
            path.write_text(path.read_text().replace(present, self.version))
        self.done("export")

    def maven(self, *arguments):
        options = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.time))
        run(["mvn", "-B", "-T1C", *(["-o"] if self.offline else []), f"-Dproject.build.outputTimestamp={moment}", *arguments],
            log=self.log, cwd=self.tree,
            env=dict(self.environment, MAVEN_OPTS=f"{options} {os.environ.get('MAVEN_OPTS', '')}"))

    def program(self):
        """Builds the program, and returns its directory: parley.jar, and lib with what it needs."""
        self.export()
        if self.once("program"):
            say("building the program, in about two minutes")
            self.maven("-Pquick,release", "-Dmaven.test.skip=true", "-Dmaven.source.skip=true", "-Dmaven.javadoc.skip=true",
                       "-pl", "cli", "-am", "package")
            self.done("program")
        return self.tree / "cli/target/quick/parley"

    def add(self, name):
        """Adds a file of the directory out to the release."""
        self.files.append(name)
        say(f"made {self.out / name}, {(self.out / name).stat().st_size / 1e6:.1f} MB")

    def write_sums(self):
        """Lists the checksums of this run and of files that were made before and are still there."""
        sums = self.out / "SHA256SUMS"
        names = set(self.files)
        if sums.exists():
            names.update(line.split("  ", 1)[1] for line in sums.read_text().splitlines())
        with open(sums, "w") as lines:
            for name in sorted(names):
                if (self.out / name).exists():
                    with open(self.out / name, "rb") as file:
                        lines.write(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n")
        say(f"made {sums}")


def normalise(directory, moment):
    """Gives all files modes that do not depend on the umask, and the time of the release."""
    for path in sorted(directory.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) and path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (moment, moment), follow_symlinks=False)
    os.utime(directory, (moment, moment))


def pack(release, top):
    """Makes an archive of a directory, whose bytes depend on its files and the time of the release only."""
    name = f"{top.name}.tar.gz"
    with open(release.out / name, "wb") as file:
        tar = subprocess.Popen(
            ["tar", "-c", "--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", f"--mtime=@{release.time}",
             "-C", str(top.parent), top.name], stdout=subprocess.PIPE)
        gzip = subprocess.run(["gzip", "-n"], stdin=tar.stdout, stdout=file)
        if tar.wait() or gzip.returncode:
            raise ReleaseError(f"{name}: tar or gzip failed")
    release.add(name)
