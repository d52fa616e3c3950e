package dev.parley.cli.host;

import dev.parley.hub.secrets.SecretDirectory;
import dev.parley.hub.secrets.SecretMatch;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Verification;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.SecretPrints;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.StoreException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Results of checks of a copied database.
 *
 * @param audit the state of its audit, in words
 * @param isAuditBroken whether a row of the audit was changed
 * @param secrets problems of secrets with which no hub starts
 */
record CopyChecks(String audit, boolean isAuditBroken, List<String> secrets) {
    /**
     * Checks the database in a directory.
     *
     * @param secrets the directory of the secrets that go with it
     * @param keys the keys of encryption; null if they are in that directory
     */
    static CopyChecks of(Path directory, SecretDirectory secrets, @Nullable ValueCipher keys) {
        try (Database database = Database.openForReading(directory)) {
            List<String> problems = List.copyOf(new SecretMatch(secrets, keys)
                    .problems(SecretPrints.in(database))
                    .values());
            try {
                Verification audit = AuditTrail.reading(database).verify();
                String rows = audit.rows() + " rows";
                return audit.broken() == null
                        ? new CopyChecks("verified, " + rows, false, problems)
                        : new CopyChecks("broken, " + rows + ": " + audit.broken(), true, problems);
            } catch (StoreException otherVersion) {
                return new CopyChecks("not verified: " + otherVersion.getMessage(), false, problems);
            }
        }
    }
}
