package dev.parley.extension;

import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a hub that its extensions share. Tables of an extension stand in the hub's database, see {@link Database}.
 *
 * @param database null if the hub keeps nothing
 * @param audit of that database
 * @param scratch makes a directory that is removed with the hub
 */
public record HubParts(
        @Nullable Database database, @Nullable AuditTrail audit, Supplier<Path> scratch) {}
