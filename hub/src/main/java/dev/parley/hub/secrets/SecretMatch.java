package dev.parley.hub.secrets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.store.database.Database;
import dev.parley.store.encryption.SecretPrints;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Comparison of the secrets of a hub with the fingerprints of those that the hubs of its database have.
 *
 * @param keys the keys of encryption from the settings; null if the key is in the directory
 */
public record SecretMatch(
        SecretDirectory directory, @Nullable ValueCipher keys) {
    /**
     * Compares the secrets with fingerprints, before missing ones are made.
     *
     * @throws NotOpenedException naming the file, if one is missing or is another one
     * @throws dev.parley.store.spi.StoreException if one is too short, even if it has no fingerprint
     */
    public void require(Map<String, String> recorded) {
        problems(recorded).values().stream().findFirst().ifPresent(problem -> {
            throw new NotOpenedException(Reason.SECRETS, problem);
        });
    }

    /** Returns the problems of secrets, by their names; empty if they are those of the database. */
    public Map<String, String> problems(Map<String, String> recorded) {
        var problems = new LinkedHashMap<String, String>();
        for (String name : SecretFile.NAMES) {
            List<String> prints = prints(name);
            String print = recorded.get(name);
            if (print != null && !prints.contains(print)) {
                String problem = problem(name, prints.isEmpty());
                if (problem != null) {
                    problems.put(name, problem);
                }
            }
        }
        return problems;
    }

    /**
     * Adds the fingerprints of secrets that the database has none of, and replaces that of the key of encryption if a newer key stands
     * before it.
     *
     * @throws NotOpenedException if another hub was first, with other secrets
     */
    public void record(Database database) {
        var own = new TreeMap<String, String>();
        for (String name : SecretFile.NAMES) {
            prints(name).stream().findFirst().ifPresent(print -> own.put(name, print));
        }
        Map<String, String> recorded = SecretPrints.in(database);
        if (!recorded.keySet().containsAll(own.keySet())) {
            recorded = SecretPrints.add(database, own);
            require(recorded);
        }
        String key = requireNonNull(own.get(SecretFile.ENCRYPTION), "a hub has a key of encryption");
        String before = requireNonNull(recorded.get(SecretFile.ENCRYPTION), "was added");
        if (!key.equals(before)) {
            SecretPrints.replace(database, SecretFile.ENCRYPTION, before, key);
        }
    }

    /** Fingerprints of a secret, of which one has to be that of the database; empty if it is missing. */
    private List<String> prints(String name) {
        if (name.equals(SecretFile.ENCRYPTION)) {
            ValueCipher all = keys == null
                    ? directory
                            .find(name)
                            .map(key -> ValueCipher.of(List.of(key)))
                            .orElse(null)
                    : keys;
            return all == null ? List.of() : all.prints(name);
        }
        return directory.find(name).stream()
                .map(secret -> SecretPrints.of(name, secret.getBytes(UTF_8)))
                .toList();
    }

    private @Nullable String problem(String name, boolean isMissing) {
        if (isMissing && name.equals(SecretFile.SHARED)) {
            return null; // operators delete it once receivers have the secrets of their groups
        }
        String advice = "; if it is lost or was changed: parley secrets forget " + name + ")";
        if (keys != null && name.equals(SecretFile.ENCRYPTION)) {
            return "encryption keys of the settings: none of them is the one that the database belongs with (expected:"
                    + " the key of the hubs that use the database, first or after a newer one" + advice;
        }
        return "secret file \"" + directory.file(name) + "\": "
                + (isMissing
                        ? "missing, and the database belongs with one"
                        : "not the one that the database belongs with")
                + " (expected: the file of the hubs that use the database, in a data directory that outlasts the process, or in"
                + " the directory of --secrets; parley secrets export and parley secrets import copy it" + advice;
    }
}
