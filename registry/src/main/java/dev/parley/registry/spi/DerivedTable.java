package dev.parley.registry.spi;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A table that an extension derives from the entries of a registry. Its rows are copies: {@link RegistryEntries#seen} decides which of them
 * are as their entries are, and may be shown.
 *
 * @param name also that under which the registry notes the changes that the table has
 * @param number column with the number of the entry, as {@link EntryListener#changed} has it
 * @param change column with the {@linkplain dev.parley.registry.Entry.State#change change} of the entry from which the row was derived
 */
public record DerivedTable(String name, String number, String change) {
    private static final Pattern IDENTIFIER = Pattern.compile("[a-z][a-z0-9_]{0,62}");

    /** @throws IllegalArgumentException for a name that SQL would not take unquoted */
    public DerivedTable {
        for (String each : List.of(name, number, change)) {
            if (!IDENTIFIER.matcher(each).matches()) {
                throw new IllegalArgumentException(
                        "derived table \"" + each + "\": invalid name (expected: a-z, 0-9 and _)");
            }
        }
    }
}
