package dev.parley.store.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Tables of a module in a database system.
 *
 * <p>Semicolons separate the statements of a script. In all of them {@code BLOB} stands for bytes, {@code KEY PRIMARY KEY} for a number
 * that SQLite needs no index to find, {@code ROWLESS} after a table for one that is its own index, where there are such; not for rows of
 * more than a few hundred bytes, which SQLite would read to their ends to compare keys.
 *
 * @param module its name in the table of versions
 * @param scripts SQL statements, a script for each version, which run at the start of a hub. Hubs of the release before work with the
 *     tables meanwhile and afterwards: a script adds tables, and columns with a default, and does nothing that takes long
 * @param rebuilt names of tables with contents that the module derives from others when it starts: they are not moved to another
 *     database, and their scripts depend on the system
 * @param finishing SQL statements that change or remove what programs without the script of a version need, by that version. With hubs that
 *     share a database they run when an operator has finished an upgrade, else at the start of a hub
 */
public record ModuleTables(String module, List<String> scripts, Set<String> rebuilt, Map<Integer, String> finishing) {
    public ModuleTables {
        scripts = List.copyOf(scripts);
        rebuilt = Set.copyOf(rebuilt);
        finishing = Map.copyOf(finishing);
        for (int version : finishing.keySet()) {
            if (version < 1 || version > scripts.size()) {
                throw new IllegalArgumentException("tables of " + module + ": finishing statements of version "
                        + version + " (expected: 1 to " + scripts.size() + ")");
            }
        }
    }

    public ModuleTables(String module, List<String> scripts, Set<String> rebuilt) {
        this(module, scripts, rebuilt, Map.of());
    }

    public ModuleTables(String module, List<String> scripts) {
        this(module, scripts, Set.of());
    }

    /** Returns the scripts with their finishing statements, for a database that no older program uses. */
    public List<String> finished() {
        var all = new ArrayList<>(scripts);
        new TreeMap<>(finishing).forEach((version, sql) -> all.set(version - 1, all.get(version - 1) + ";\n" + sql));
        return all;
    }
}
