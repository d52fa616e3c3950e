package dev.parley.guards;

import static java.util.stream.Collectors.toCollection;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Uses of constants of classes of the same package, from the sources. Class files do not show them: the compiler copies the
 * values, and names the class of a constant for some expressions only, not for labels of cases, concatenations and annotations.
 */
final class ConstantUses {
    private static final Pattern TEXT_OR_COMMENT = Pattern.compile(String.join(
            "|",
            "\"\"\"[\\s\\S]*?\"\"\"",
            "\"[^\"\\\\\\n]*+(?:\\\\.[^\"\\\\\\n]*+)*+\"",
            "'(?:\\\\[^'\\n]+|\\\\'|[^'\\\\])'",
            "//.*",
            "/\\*[\\s\\S]*?\\*/"));

    private static final Pattern CONSTANT =
            Pattern.compile("(?<![\\w.])([A-Z]\\w*)(?:\\.[A-Z]\\w*)*\\.[A-Z][A-Z0-9_]*\\b");

    private ConstantUses() {}

    /** Names of the classes of whose constants a class makes use, by its name, for the classes below a directory. */
    static Map<String, Set<String>> below(Path sources) throws IOException {
        var uses = new TreeMap<String, Set<String>>();
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                uses.put(name(sources, file), uses(sources, file));
            }
        }
        return uses;
    }

    private static String name(Path sources, Path file) {
        return sources.relativize(file).toString().replace(".java", "").replace('/', '.');
    }

    private static Set<String> uses(Path sources, Path file) throws IOException {
        String name = name(sources, file);
        String ownPackage = name.substring(0, name.lastIndexOf('.') + 1);
        String text =
                TEXT_OR_COMMENT.matcher(Files.readString(file)).replaceAll(" ").replace(ownPackage, "");
        return CONSTANT.matcher(text)
                .results()
                .map(constant -> constant.group(1))
                .filter(type -> !text.contains('.' + type + ';')) // imported from another package
                .map(type -> file.resolveSibling(type + ".java"))
                .filter(Files::exists)
                .map(source -> name(sources, source))
                .collect(toCollection(TreeSet::new));
    }
}
