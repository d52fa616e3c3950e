package dev.parley.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Imports among the modules of the page: browsers load those of the first screen at once instead of one after the other. */
final class Modules {
    private static final Pattern IMPORT = Pattern.compile(
            "(?:^|[;}\\s])(?:import|export)\\b\\s*(?:[\\w$*{}\\s,]+?\\bfrom\\b\\s*)?[\"']([^\"']+)[\"']",
            Pattern.MULTILINE);

    private final ConsoleFiles files;

    private Modules(ConsoleFiles files) {
        this.files = files;
    }

    static Modules of(ConsoleFiles files) {
        return new Modules(files);
    }

    /** Paths of the modules that a module imports, directly or not, without {@code import()}. */
    Set<String> reachable(String module) {
        var reached = new LinkedHashSet<String>();
        var waiting = new ArrayDeque<String>();
        waiting.add(module);
        for (String next = waiting.poll(); next != null; next = waiting.poll()) {
            for (String imported : imports(next).values()) {
                if (!imported.equals(module) && files.read(imported) != null && reached.add(imported)) {
                    waiting.add(imported);
                }
            }
        }
        return reached;
    }

    /** Paths of the files that a module names in its imports, by the names. */
    Map<String, String> imports(String module) {
        var imports = new LinkedHashMap<String, String>();
        byte[] source = files.read(module);
        if (source != null) {
            var found = IMPORT.matcher(new String(source, UTF_8));
            while (found.find()) {
                String path = path(module, found.group(1));
                if (path != null) {
                    imports.put(found.group(1), path);
                }
            }
        }
        return imports;
    }

    private static @Nullable String path(String module, String name) {
        if (name.startsWith("./") || name.startsWith("../")) {
            return Path.of("/" + module)
                    .resolveSibling(name)
                    .normalize()
                    .toString()
                    .substring(1)
                    .replace('\\', '/');
        }
        for (Library library : Library.ALL) {
            String directory = ConsoleFiles.LIBRARIES + library.artifact() + "/";
            if (name.equals(library.name())) {
                return directory + library.main();
            }
            if (name.startsWith(library.name() + "/")) {
                return directory + name.substring(library.name().length() + 1);
            }
        }
        return null;
    }
}
