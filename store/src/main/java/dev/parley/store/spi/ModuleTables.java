package dev.parley.store.spi;

import java.util.List;
import java.util.Set;

/**
 * Tables of a module in a database system.
 *
 * @param module its name in the table of versions
 * @param scripts SQL statements, a script for each version
 * @param rebuilt names of tables with contents that the module derives from others when it starts: they are not moved to another
 *     database, and their scripts depend on the system
 */
public record ModuleTables(String module, List<String> scripts, Set<String> rebuilt) {
    public ModuleTables {
        scripts = List.copyOf(scripts);
        rebuilt = Set.copyOf(rebuilt);
    }

    public ModuleTables(String module, List<String> scripts) {
        this(module, scripts, Set.of());
    }
}
