package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Links, flags and names of Java in the documents. */
class DocumentsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern CODE_BLOCK = Pattern.compile("(?s)```.*?```");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s#]*)(?:#([^)\\s]+))?\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern FLAG = Pattern.compile("(?<![\\w-])--([a-z][a-z0-9-]+)");
    private static final Pattern CODE = Pattern.compile("`([^`\\n]+)`");
    private static final Pattern TYPE = Pattern.compile("\\b[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+\\b");
    private static final Pattern MEMBER = Pattern.compile("\\b([A-Z][A-Za-z0-9]+)\\.([a-z][A-Za-z0-9]+)");
    private static final Pattern EXPORT = Pattern.compile("exports dev\\.parley\\.([a-z.]+);");
    private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** Documents about programs of others, with flags and names of these. */
    private static final Set<String> FOREIGN =
            Set.of("docs/conformance.md", "docs/interop.md", "docs/cli-compliance.md", "CHANGELOG.md");

    /** Flags of the launcher, of bin/release, of Java, of other programs and of the sample of an extension that documents mention. */
    private static final Set<String> OTHER_FLAGS = Set.of(
            "add-opens",
            "check",
            "enable-native-access",
            "encoding",
            "from-file",
            "ignore-missing",
            "interop",
            "key",
            "network",
            "now",
            "offline",
            "old",
            "out",
            "plaintext",
            "template",
            "unit",
            "verify",
            "volume",
            "window",
            "work");

    /** Names of the JDK and of libraries that documents mention. */
    private static final Set<String> OTHER_NAMES = Set.of(
            "MethodTrace",
            "MockitoBean",
            "ProtobufRuntimeVersionException",
            "TestBean",
            "UnsupportedClassVersionError",
            "WebMvcTest",
            "WithAuthority");

    @Test
    void everyLinkLeadsToAFileAndASection() throws IOException {
        assertThat(brokenLinks(documents(path -> true))).isEmpty();
    }

    private static Set<String> brokenLinks(List<Path> documents) throws IOException {
        var broken = new TreeSet<String>();
        for (Path document : documents) {
            for (MatchResult link : LINK.matcher(prose(document)).results().toList()) {
                String target = link.group(1);
                if (target.contains(":")) {
                    continue;
                }
                Path file = target.isEmpty()
                        ? document
                        : document.resolveSibling(target).normalize();
                String section = link.group(2);
                if (!Files.exists(file)
                        || section != null && !sections(file).contains(section.toLowerCase(Locale.ROOT))) {
                    broken.add(name(document) + ": " + target + (section == null ? "" : "#" + section));
                }
            }
        }
        return broken;
    }

    @Test
    void everyFlagIsAnOptionOfACommand() throws IOException {
        assertThat(unknownFlags(ownDocuments())).isEmpty();
    }

    private static Set<String> unknownFlags(List<Path> documents) throws IOException {
        var options = new HashSet<String>();
        addOptions(new Commands(List.of("help"), taken -> List.of()).parser(), options);
        var unknown = new TreeSet<String>();
        for (Path document : documents) {
            for (MatchResult flag :
                    FLAG.matcher(Files.readString(document)).results().toList()) {
                if (!options.contains(flag.group()) && !OTHER_FLAGS.contains(flag.group(1))) {
                    unknown.add(name(document) + ": " + flag.group());
                }
            }
        }
        return unknown;
    }

    private static void addOptions(CommandLine command, Set<String> options) {
        command.getCommandSpec().options().forEach(option -> options.addAll(List.of(option.names())));
        command.getSubcommands().values().forEach(below -> addOptions(below, options));
    }

    @Test
    void everyNameOfAClassOrMethodIsInTheSources() throws IOException {
        assertThat(unknownNames(ownDocuments(), namesInSources())).isEmpty();
    }

    private static Set<String> unknownNames(List<Path> documents, Set<String> names) throws IOException {
        var unknown = new TreeSet<String>();
        for (Path document : documents) {
            for (MatchResult code : CODE.matcher(prose(document)).results().toList()) {
                Stream<String> types = TYPE.matcher(code.group(1))
                        .results()
                        .map(MatchResult::group)
                        .filter(name -> !names.contains(name));
                Stream<String> members = MEMBER.matcher(code.group(1))
                        .results()
                        .filter(name -> names.contains(name.group(1)) && !names.contains(name.group(2)))
                        .map(MatchResult::group);
                Stream.concat(types, members)
                        .filter(name -> !OTHER_NAMES.contains(name))
                        .forEach(name -> unknown.add(name(document) + ": " + name));
            }
        }
        return unknown;
    }

    @Test
    void everyExportedPackageBesideThatOfTheModuleIsListed() throws IOException {
        String document = Files.readString(ROOT.resolve("docs/embedding.md"));
        var missing = new TreeSet<String>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path descriptor : modules.map(module -> module.resolve("src/main/java/module-info.java"))
                    .filter(Files::exists)
                    .toList()) {
                missing.addAll(unlistedPackages(Files.readString(descriptor), document));
            }
        }

        assertThat(missing).isEmpty();
    }

    private static List<String> unlistedPackages(String descriptor, String document) {
        List<String> exported = EXPORT.matcher(descriptor)
                .results()
                .map(export -> export.group(1))
                .toList();
        return exported.stream()
                .filter(name -> exported.stream().anyMatch(other -> name.startsWith(other + ".")))
                .filter(name -> !document.contains("`" + name + "`"))
                .toList();
    }

    @Test
    void plantedFaultsOfADocumentAreFound(@TempDir Path directory) throws IOException {
        Path document = Files.writeString(directory.resolve("planted.md"), """
                # A section

                [good](planted.md#a-section), [no file](gone.md), [no section](planted.md#gone) and `--no-such-flag`
                of `NoSuchClass` and `Planted.noSuchMethod`, but `--agent-card` of `Planted.method`.
                """);

        assertThat(brokenLinks(List.of(document)))
                .containsExactly("planted.md: gone.md", "planted.md: planted.md#gone");
        assertThat(unknownFlags(List.of(document))).containsExactly("planted.md: --no-such-flag");
        assertThat(unknownNames(List.of(document), Set.of("Planted", "method")))
                .containsExactly("planted.md: NoSuchClass", "planted.md: Planted.noSuchMethod");
        assertThat(unlistedPackages("""
                exports dev.parley.planted;
                exports dev.parley.planted.listed;
                exports dev.parley.planted.spi;
                """, "`planted.listed`")).containsExactly("planted.spi");
    }

    private static String name(Path document) {
        return document.startsWith(ROOT)
                ? ROOT.relativize(document).toString()
                : document.getFileName().toString();
    }

    /** Documents about the product of today: decision records may name classes and flags that have been removed since. */
    private static List<Path> ownDocuments() throws IOException {
        return documents(path -> !FOREIGN.contains(path) && !path.contains("/adr/"));
    }

    /** README and the like, and all below docs. */
    private static List<Path> documents(Predicate<String> wanted) throws IOException {
        var documents = new ArrayList<Path>();
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> below = Files.walk(ROOT.resolve("docs"))) {
            Stream.concat(root, below)
                    .filter(path -> path.toString().endsWith(".md"))
                    .filter(path -> wanted.test(ROOT.relativize(path).toString().replace('\\', '/')))
                    .sorted()
                    .forEach(documents::add);
        }
        assertThat(documents).isNotEmpty();
        return documents;
    }

    private static String prose(Path document) throws IOException {
        return CODE_BLOCK.matcher(Files.readString(document)).replaceAll("");
    }

    /** Returns the anchors of the headings of a document, as GitHub makes them. */
    private static Set<String> sections(Path document) throws IOException {
        var sections = new HashSet<String>();
        HEADING.matcher(prose(document))
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\w\\- ]", "")
                        .replace(' ', '-'))
                .forEach(sections::add);
        return sections;
    }

    private static Set<String> namesInSources() throws IOException {
        var names = new HashSet<String>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path sources : modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(sources)) {
                    for (Path file : files.filter(path -> path.toString().matches(".*\\.(java|proto|graphqls)"))
                            .toList()) {
                        WORD.matcher(Files.readString(file))
                                .results()
                                .map(MatchResult::group)
                                .forEach(names::add);
                    }
                }
            }
        }
        return names;
    }
}
