package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files that {@code bin/release} makes of the last commit, used as their users do. It is made once for all tests. Skipped as {@link
 * InteropTest}.
 */
@Timeout(1200)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ReleaseTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path DIRECTORY = Path.of("target", "release").toAbsolutePath();
    private static final String VERSION = "9.9.9";
    private static final String WITH_RUNTIME = "parley-" + VERSION + "-linux-x64";
    private static final String SIGNER = "release@example.com";
    private static final String CACHE = WITH_RUNTIME + "/app/parley.aot";

    @TempDir
    private Path directory;

    private Path keys;
    private Path files;

    /** The unpacked archives. */
    private Path runtime;

    private Path jars;

    @BeforeAll
    @Timeout(1200)
    void make() throws Exception {
        if (!System.getProperty("os.name").equals("Linux") || Runtime.version().feature() < 25) {
            Requirement.missing("a JDK 25 of Linux");
        }
        // GnuPG's sockets need a short path.
        keys = Files.createTempDirectory("gnupg");
        require(signing(
                "gpg", "--batch", "--passphrase", "", "--quick-generate-key", SIGNER, "ed25519", "sign", "never"));
        files = release("first", "all", "--key", SIGNER);
        // Nothing may depend on the directory that the archives were made from.
        run(new ProcessBuilder(
                "rm", "-rf", DIRECTORY.resolve("first").resolve(WITH_RUNTIME).toString()));
        runtime = unpack(files.resolve(WITH_RUNTIME + ".tar.gz"), DIRECTORY.resolve("unpacked"));
        jars = unpack(files.resolve("parley-" + VERSION + ".tar.gz"), DIRECTORY.resolve("unpacked"));
    }

    /** Makes a release in a working directory of its own, and returns the directory of its files. */
    private Path release(String name, String... kinds) throws Exception {
        Path work = DIRECTORY.resolve(name);
        Path out = work.resolve("out");
        List<String> command = new ArrayList<>(List.of(
                ROOT.resolve("bin/release").toString(), VERSION, "--out", out.toString(), "--work", work.toString()));
        command.addAll(List.of(kinds));
        run(signing(command.toArray(String[]::new)));
        return out;
    }

    /** A command with a key ring of this test. */
    private ProcessBuilder signing(String... command) {
        var builder = new ProcessBuilder(command);
        builder.environment().put("GNUPGHOME", keys.toString());
        return builder;
    }

    @AfterAll
    void stopTheAgentOfTheKeys() throws Exception {
        if (keys != null) {
            run(signing("gpgconf", "--kill", "all"));
            run(new ProcessBuilder("rm", "-rf", keys.toString()));
        }
    }

    private static String run(ProcessBuilder command) throws IOException, InterruptedException {
        Path log = Files.createTempFile(Files.createDirectories(DIRECTORY), "output", ".log");
        Process process =
                command.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        assertThat(process.waitFor(15, TimeUnit.MINUTES)).isTrue();
        String output = Files.readString(log);
        assertThat(process.exitValue())
                .as(String.join(" ", command.command()) + "\n" + output)
                .isZero();
        Files.delete(log);
        return output;
    }

    /** A command of an archive, with an environment that knows no Java. */
    private ProcessBuilder program(Path archive, String... arguments) {
        List<String> command =
                new ArrayList<>(List.of(archive.resolve("bin/parley").toString()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).directory(directory.toFile());
        builder.environment().clear();
        builder.environment().putAll(Map.of("PATH", "/usr/bin:/bin", "HOME", directory.toString()));
        return builder;
    }

    private static Path unpack(Path archive, Path into) throws IOException, InterruptedException {
        Files.createDirectories(into);
        run(new ProcessBuilder("tar", "-xzf", archive.toString(), "-C", into.toString()));
        return into.resolve(archive.getFileName().toString().replace(".tar.gz", ""));
    }

    @Test
    void theArchiveWithARuntimeServesAndCallsAgentsWithoutJava() throws Exception {
        Path source = Files.writeString(
                directory.resolve("Hello.java"),
                "public class Hello { public static void main(String[] args) { System.out.println(\"compiled\"); } }");

        assertThat(run(program(runtime, "--version"))).isEqualTo("parley " + VERSION + "\n");
        assertThat(run(program(runtime, "run", source.toString()))).contains("compiled");
        try (var hub = ParleyProgram.start(program(runtime, "up", "--port", "0"), "up")) {
            assertThat(run(program(runtime, "send", "-a", hub.url() + "/agents/echo", "hello")))
                    .contains("hello");
        }
    }

    @Test
    void theCacheForQuickStartsFitsTheUnpackedFiles() throws Exception {
        ProcessBuilder program = program(runtime, "--version");
        // The JVM then ends with an error if it cannot use the cache.
        program.environment().put("PARLEY_JAVA_OPTIONS", "-XX:AOTMode=on");

        assertThat(run(program)).isEqualTo("parley " + VERSION + "\n");
    }

    @Test
    void theArchiveOfJarsRunsOnTheJdkOfTheMachine() throws Exception {
        ProcessBuilder program = program(jars, "--version");
        program.environment().put("JAVA_HOME", System.getProperty("java.home"));

        assertThat(run(program)).isEqualTo("parley " + VERSION + "\n");
        assertThat(jars.resolve("bin/parley.cmd")).exists();
    }

    @Test
    void theArchiveOfJarsSaysWhatItNeedsWhereThereIsNoJava() throws Exception {
        ProcessBuilder program = program(jars, "--version");
        program.environment().put("JAVA_HOME", directory.toString());
        Process process = program.redirectErrorStream(true).start();

        assertThat(process.inputReader().lines().collect(Collectors.joining()))
                .isEqualTo("parley: JAVA_HOME \"" + directory
                        + "\": no bin/java in it (expected: the directory of a JDK 21 or newer)");
        assertThat(process.waitFor()).isEqualTo(1);
    }

    @Test
    void completionsAndTheManualPageAreInTheArchives() {
        assertThat(jars.resolve("share/completions/bash/parley")).content().contains("push-config");
        assertThat(jars.resolve("share/completions/fish/parley.fish")).content().contains("-a push-config");
        assertThat(jars.resolve("share/man/man1/parley.1"))
                .content()
                .contains("\"Parley " + VERSION + "\"", "parley \\- calls A2A agents", "\\-\\-retention=DURATION");
        assertThat(jars.resolve("NOTICE")).exists();
    }

    @Test
    void anotherBuildOfTheCommitHasTheSameBytesExceptTheCache() throws Exception {
        Path again = release("another-working-directory", "archive", "image");

        assertThat(again.resolve("parley-" + VERSION + ".tar.gz"))
                .hasSameBinaryContentAs(files.resolve("parley-" + VERSION + ".tar.gz"));
        assertThat(entries(again.resolve(WITH_RUNTIME + ".tar.gz")))
                .isEqualTo(entries(files.resolve(WITH_RUNTIME + ".tar.gz")));
        Path second = unpack(again.resolve(WITH_RUNTIME + ".tar.gz"), DIRECTORY.resolve("again"));
        run(new ProcessBuilder(
                "diff", "-r", "--no-dereference", "--exclude=parley.aot", runtime.toString(), second.toString()));
        assertSameImage(image(files), image(again));
    }

    /** Only the layer with the cache may differ, and what names its checksum. */
    private static void assertSameImage(ReleasedImage one, ReleasedImage other) throws Exception {
        assertThat(one.stableLayers()).hasSize(2);
        for (int i = 0; i < 2; i++) {
            assertThat(other.stableLayers().get(i))
                    .hasSameBinaryContentAs(one.stableLayers().get(i));
        }
        assertThat(other.config()).isEqualTo(one.config());
        assertThat(other.about().get("created")).isEqualTo(one.about().get("created"));
        for (ReleasedImage image : List.of(one, other)) {
            assertThat(run(new ProcessBuilder("tar", "-tzf", image.lastLayer().toString())))
                    .isEqualTo("opt/\nopt/parley/\nopt/parley/app/\nopt/parley/app/parley.aot\n");
        }
    }

    private static ReleasedImage image(Path files) throws Exception {
        Path layout = files.resolveSibling("image");
        run(new ProcessBuilder("rm", "-rf", layout.toString()));
        Files.createDirectories(layout);
        run(new ProcessBuilder(
                "tar", "-xf", files.resolve("parley-" + VERSION + "-image.tar").toString(), "-C", layout.toString()));
        return ReleasedImage.read(layout);
    }

    @Test
    void theImageHasAUserAPortAVolumeAHealthCheckAndLabels() throws Exception {
        ReleasedImage image = image(files);

        assertThat(image.about().get("architecture")).isEqualTo("amd64");
        assertThat(image.config().get("User")).isEqualTo("10001:10001");
        assertThat(image.config().get("ExposedPorts")).hasToString("{7420/tcp={}}");
        assertThat(image.config().get("Volumes")).hasToString("{/data={}}");
        assertThat(image.lines("Entrypoint") + " " + image.lines("Cmd")).isEqualTo("/opt/parley/bin/parley up");
        assertThat(image.healthCheck()).containsExactly("CMD", "/opt/parley/bin/parley", "hub", "health");
        assertThat(image.config().get("Labels"))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("org.opencontainers.image.version", VERSION)
                .containsKey("org.opencontainers.image.revision")
                .isEqualTo(image.manifest().get("annotations"));
    }

    /** umoci, which knows nothing of Parley, unpacks the image; its entry point runs there as the user of the image. */
    @Test
    void theImageServesAndCallsAgentsAsItsUser() throws Exception {
        ReleasedImage image = image(files);
        Path bundle = DIRECTORY.resolve("container");
        if (!"root".equals(System.getProperty("user.name"))) {
            Requirement.missing("the user root, for chroot");
        }
        run(new ProcessBuilder("rm", "-rf", bundle.toString()));
        require(new ProcessBuilder("umoci", "unpack", "--image", image.directory() + ":" + VERSION, bundle.toString()));
        List<String> health = image.healthCheck();

        assertThat(run(new ProcessBuilder(
                        "unshare",
                        "--mount",
                        "--pid",
                        "--net",
                        "--fork",
                        "--kill-child",
                        "sh",
                        ROOT.resolve("interop/src/test/release/image.sh").toString(),
                        bundle.resolve("rootfs").toString(),
                        (String) image.config().get("User"),
                        image.lines("Env"),
                        image.lines("Entrypoint") + "\n" + image.lines("Cmd"),
                        String.join("\n", health.subList(1, health.size())),
                        "parley " + VERSION)))
                .endsWith("all as expected\n");
    }

    @Test
    void aPackageOfTheBaseWithAnotherChecksumEndsTheRelease() throws Exception {
        Path tree = Files.createDirectories(directory.resolve("tree/deploy/release"));
        Files.writeString(tree.resolve("base.txt"), "00ff  pool/main/l/libc6_1_amd64.deb\n");
        Files.writeString(
                Files.createDirectories(directory.resolve("debian-packages")).resolve("libc6_1_amd64.deb"), "other");

        Process process = new ProcessBuilder("python3", "-B", "-c", """
                        import image, pathlib, sys, types
                        work = pathlib.Path(sys.argv[1])
                        image.packages(types.SimpleNamespace(tree=work / "tree", work=work, offline=True))
                        """, directory.toString())
                .directory(ROOT.resolve("deploy/release").toFile())
                .redirectErrorStream(true)
                .start();

        assertThat(process.inputReader().lines().collect(Collectors.joining("\n")))
                .contains("libc6_1_amd64.deb: checksum d9298a10", "(expected: 00ff)");
        assertThat(process.waitFor()).isEqualTo(1);
    }

    @Test
    void allLinksOfTheSiteLeadToPagesAndAnchorsThatItHas() throws Exception {
        Path site = unpack(files.resolve("parley-" + VERSION + "-site.tar.gz"), DIRECTORY.resolve("site"));
        Path pages = site.resolve(VERSION);

        var links = new SitePages(site);
        assertThat(links.broken()).isEmpty();
        assertThat(links.pages()).isGreaterThan(1000);
        assertThat(links.links()).isGreaterThan(10_000);
        assertThat(pages.resolve("getting-started.html"))
                .content()
                .contains("<title>Getting started – Parley " + VERSION);
        assertThat(pages.resolve("api/parley-client/dev.parley.client/dev/parley/client/AgentClient.html"))
                .exists();
        assertThat(Json.read(Files.readAllBytes(pages.resolve("openapi.json")), Map.class)
                        .get("openapi"))
                .asString()
                .startsWith("3.1");
    }

    @Test
    void theSearchOfTheSiteFindsSections() throws Exception {
        Path site = unpack(files.resolve("parley-" + VERSION + "-site.tar.gz"), DIRECTORY.resolve("searched"));
        String found = run(new ProcessBuilder(
                "node", "-e", """
                require(process.argv[1]);
                console.log(JSON.stringify(parleySearch('verifying download')[0]));
                """, site.resolve(VERSION + "/search.js").toString()));

        assertThat(found).contains("\"page\":\"release.html\"", "\"slug\":\"verifying-a-download\"", "SHA256SUMS");
    }

    /** The earlier bundle is the one of this commit with one more public method, so that this commit has removed it. */
    @Test
    void aPublicMethodThatIsMissingFailsTheComparisonByName() throws Exception {
        Path repository = bundle();
        Path jar = repository.resolve("dev/parley/parley-protocol/" + VERSION + "/parley-protocol-" + VERSION + ".jar");
        String state = Files.readString(ROOT.resolve("protocol/src/main/java/dev/parley/protocol/TaskState.java"));
        Path source = directory.resolve("dev/parley/protocol/TaskState.java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, state.replaceFirst("}\\s*$", "    public void planted() {}\n}\n"));
        String java = System.getProperty("java.home") + "/bin/";
        String libraries = runtime.resolve("app/lib").toString() + "/*";
        run(new ProcessBuilder(
                java + "javac",
                "-proc:none",
                "-cp",
                jar + ":" + libraries,
                "-d",
                directory.toString(),
                source.toString()));
        run(new ProcessBuilder(
                java + "jar",
                "-uf",
                jar.toString(),
                "-C",
                directory.toString(),
                "dev/parley/protocol/TaskState.class"));
        Path earlier = directory.resolve("earlier.zip");
        run(new ProcessBuilder(java + "jar", "-cMf", earlier.toString(), "-C", repository.toString(), "dev"));

        assertThat(compared(files.resolve("parley-" + VERSION + "-bundle.zip")))
                .contains("the API is compatible with that of " + VERSION);
        assertThat(compared(earlier))
                .contains(
                        "not compatible", "dev.parley.protocol.TaskState", "REMOVED METHOD: PUBLIC(-) void planted()");
    }

    /** Output of a comparison of the release with an earlier bundle. */
    private String compared(Path earlier) throws Exception {
        Process process = new ProcessBuilder(
                        ROOT.resolve("bin/release").toString(),
                        VERSION,
                        "api",
                        "--old",
                        earlier.toString(),
                        "--out",
                        directory.resolve("none").toString(),
                        "--work",
                        DIRECTORY.resolve("first").toString())
                .redirectErrorStream(true)
                .start();
        String output = process.inputReader().lines().collect(Collectors.joining("\n"));
        assertThat(process.waitFor()).as(output).isEqualTo(output.contains("not compatible") ? 1 : 0);
        return output;
    }

    /** Modes, owners, times and names of the entries of an archive, in their order. */
    private static List<String> entries(Path archive) throws IOException, InterruptedException {
        return run(new ProcessBuilder("tar", "--numeric-owner", "--full-time", "-tvzf", archive.toString()))
                .lines()
                .filter(entry -> !entry.endsWith(CACHE))
                .toList();
    }

    /** A Debian without systemd, made by mmdebstrap, in which the package is installed, upgraded, used, removed and purged. */
    @Test
    void thePackageIsInstalledUpgradedUsedAndRemoved() throws Exception {
        Path root = DIRECTORY.resolve("root");
        if (!"root".equals(System.getProperty("user.name"))) {
            Requirement.missing("the user root, for chroot");
        }
        run(new ProcessBuilder("rm", "-rf", root.toString()));
        require(new ProcessBuilder(
                "mmdebstrap", "--quiet", "--variant=essential", "--include=adduser", "bookworm", root.toString()));
        Path sources = ROOT.resolve("interop/src/test/release");
        Files.copy(files.resolve("parley_" + VERSION + "_amd64.deb"), root.resolve("package.deb"));
        Files.copy(sources.resolve("package.sh"), root.resolve("package.sh"));
        run(new ProcessBuilder(
                "sh",
                "-e",
                sources.resolve("older.sh").toString(),
                ROOT.toString(),
                root.resolve("older.deb").toString()));

        assertThat(run(new ProcessBuilder(
                        "unshare",
                        "--mount",
                        "--pid",
                        "--fork",
                        "--kill-child",
                        "sh",
                        "-ec",
                        "mount -t proc proc \"$0/proc\"; exec chroot \"$0\" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin sh /package.sh \"$1\"",
                        root.toString(),
                        VERSION)))
                .endsWith("all as expected\n");
    }

    /** Runs a program that not every machine has, and that needs the network. */
    private static void require(ProcessBuilder command) throws InterruptedException {
        try {
            run(command);
        } catch (IOException | AssertionError failure) {
            Requirement.missing(String.valueOf(failure.getMessage()));
        }
    }

    @Test
    void theUnitOfThePackageIsAcceptedBySystemd() throws Exception {
        Path root = DIRECTORY.resolve("unit");
        run(new ProcessBuilder(
                "dpkg-deb",
                "--extract",
                files.resolve("parley_" + VERSION + "_amd64.deb").toString(),
                root.toString()));
        Path unit = root.resolve("lib/systemd/system/parley.service");
        // systemd-analyze looks for the program at its absolute path.
        Files.writeString(unit, Files.readString(unit).replace("=/usr/bin/parley", "=" + root + "/usr/bin/parley"));

        assertThat(run(new ProcessBuilder("systemd-analyze", "verify", "--man=no", unit.toString())))
                .isEmpty();
    }

    @Test
    void theBundleHasEachLibraryWithSourcesJavadocChecksumsAndSignatures() throws Exception {
        Path repository = bundle();
        List<String> artifacts = Pattern.compile("<artifactId>(parley[^<]*)</artifactId>")
                .matcher(Files.readString(ROOT.resolve("bom/pom.xml")))
                .results()
                .map(found -> found.group(1))
                .filter(artifact -> !artifact.equals("parley-parent"))
                .toList();

        assertThat(artifacts).hasSizeGreaterThan(30);
        for (String artifact : artifacts) {
            Path place = repository.resolve("dev/parley").resolve(artifact).resolve(VERSION);
            String stem = artifact + "-" + VERSION;
            List<String> names = artifact.equals("parley-bom")
                    ? List.of(stem + ".pom")
                    : List.of(stem + ".pom", stem + ".jar", stem + "-sources.jar", stem + "-javadoc.jar");
            for (String name : names) {
                for (String algorithm : List.of("md5", "sha1", "sha256", "sha512")) {
                    assertThat(place.resolve(name + "." + algorithm)).as(name).exists();
                }
                assertThat(place.resolve(name + ".sha256")).hasContent(sha256(place.resolve(name)));
                assertThat(place.resolve(name + ".asc")).content().startsWith("-----BEGIN PGP SIGNATURE-----");
            }
            assertThat(place.resolve(stem + ".pom"))
                    .content()
                    .contains("<name>", "<description>", "<url>", "<license>", "<developer>", "<scm")
                    .doesNotContain("SNAPSHOT", "<parent>");
            run(signing(
                    "gpg",
                    "--batch",
                    "--verify",
                    place.resolve(stem + ".pom.asc").toString(),
                    place.resolve(stem + ".pom").toString()));
        }
    }

    private Path bundle() throws Exception {
        Path repository = DIRECTORY.resolve("bundle");
        run(new ProcessBuilder("rm", "-rf", repository.toString()));
        run(new ProcessBuilder(
                "unzip",
                "-q",
                files.resolve("parley-" + VERSION + "-bundle.zip").toString(),
                "-d",
                repository.toString()));
        return repository;
    }

    private static String sha256(Path file) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    }

    /** Maven takes Parley from the bundle, and all else from the registry or from where an earlier run has put it. */
    @Test
    void aProjectIsBuiltFromTheBundle() throws Exception {
        Path repository = bundle();
        Path local = OutsideBuild.cache().resolve("parley-interop/release");
        run(new ProcessBuilder("rm", "-rf", local.resolve("dev/parley").toString()));
        Path settings = Files.writeString(directory.resolve("settings.xml"), """
                <settings>
                  <profiles>
                    <profile>
                      <id>bundle</id>
                      <repositories>
                        <repository>
                          <id>bundle</id>
                          <url>%s</url>
                          <releases>
                            <checksumPolicy>fail</checksumPolicy>
                          </releases>
                        </repository>
                      </repositories>
                    </profile>
                  </profiles>
                  <activeProfiles>
                    <activeProfile>bundle</activeProfile>
                  </activeProfiles>
                </settings>
                """.formatted(repository.toUri()));
        run(program(runtime, "init", "hello"));
        ProcessBuilder maven = new ProcessBuilder(
                        "mvn", "-B", "--settings", settings.toString(), "-Dmaven.repo.local=" + local, "package")
                .directory(directory.resolve("hello").toFile());
        maven.environment().put("JAVA_HOME", System.getProperty("java.home"));

        try {
            run(maven);
        } catch (AssertionError failure) {
            if (String.valueOf(failure.getMessage()).contains("Could not transfer artifact")) {
                Requirement.missing(String.valueOf(failure.getMessage()));
            }
            throw failure;
        }

        assertThat(directory.resolve("hello/target/hello.jar")).exists();
        assertThat(local.resolve("dev/parley/parley/" + VERSION + "/parley-" + VERSION + ".jar"))
                .exists();
    }

    @Test
    void licencesThatAreNotListedEndTheReleaseWithTheNamesOfTheirLibraries() throws Exception {
        Process process = new ProcessBuilder("python3", "-B", "-c", """
                        import licences
                        licences.check([
                            {"name": "free", "version": "1", "licenses": [{"license": {"id": "MIT"}}]},
                            {"name": "choice", "version": "2", "licenses": [{"license": {"id": "GPL-3.0"}}, {"license": {"id": "MIT"}}]},
                            {"name": "other", "version": "3", "licenses": [{"license": {"name": "Own"}}]},
                            {"name": "silent", "version": "4"},
                        ], {"MIT"})
                        """)
                .directory(ROOT.resolve("deploy/release").toFile())
                .redirectErrorStream(true)
                .start();

        assertThat(process.inputReader().lines().collect(Collectors.joining("\n")))
                .endsWith("licences.txt does not list:\n  other 3: Own\n  silent 4: no licence");
        assertThat(process.waitFor()).isEqualTo(1);
    }

    @Test
    void theArchiveHasTheBillOfMaterialsAndTheLicencesOfItsLibraries() throws IOException {
        assertThat(runtime.resolve("parley.cdx.json"))
                .content()
                .contains("CycloneDX", "pkg:maven/tools.jackson.core/jackson-core@");
        assertThat(runtime.resolve("THIRD-PARTY.txt"))
                .content()
                .containsPattern("tools\\.jackson\\.core:jackson-core [0-9.]+\n    Apache-2\\.0\n")
                .doesNotContain("dev.parley");
    }

    @Test
    void theListOfChecksumsFitsTheFiles() throws Exception {
        run(new ProcessBuilder("sha256sum", "--check", "--strict", "SHA256SUMS").directory(files.toFile()));
    }
}
