package dev.parley.hub.secrets;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The secrets of a hub as one document of JSON, for hubs that share its database.
 *
 * @param secrets by the names of their files
 */
public record SecretBundle(Map<String, String> secrets) {
    private static final String VERSION = "parleySecrets";
    private static final String SECRETS = "secrets";
    private static final String EXPECTED = " (expected: a file of parley secrets export)";

    public SecretBundle {
        secrets = Map.copyOf(secrets);
    }

    /**
     * Reads the secrets in the directory of a hub, which may run.
     *
     * @throws StoreException if one cannot be read
     */
    public static SecretBundle of(Path directory) {
        var secrets = new LinkedHashMap<String, String>();
        var files = SecretDirectory.data(directory);
        SecretFile.NAMES.forEach(name -> files.find(name).ifPresent(secret -> secrets.put(name, secret)));
        return new SecretBundle(secrets);
    }

    /** @throws IllegalArgumentException if it is another document, of a newer version, or has something that is no secret */
    public static SecretBundle read(byte[] json) {
        Map<?, ?> document;
        try {
            document = Json.read(json, Map.class);
        } catch (A2AException wrong) {
            throw new IllegalArgumentException("no JSON object" + EXPECTED); // its message could quote a secret
        }
        if (!(document.get(VERSION) instanceof Number version)
                || !(document.get(SECRETS) instanceof Map<?, ?> members)) {
            throw new IllegalArgumentException("no \"" + VERSION + "\" or no \"" + SECRETS + "\"" + EXPECTED);
        }
        if (version.longValue() != 1) {
            throw new IllegalArgumentException("version " + version + " (expected: 1; a newer Parley reads it)");
        }
        var secrets = new LinkedHashMap<String, String>();
        members.forEach((name, secret) -> secrets.put(String.valueOf(name), secret instanceof String text ? text : ""));
        secrets.forEach(SecretBundle::require);
        if (secrets.isEmpty()) {
            throw new IllegalArgumentException("no secrets" + EXPECTED);
        }
        return new SecretBundle(secrets);
    }

    private static void require(String name, String secret) {
        if (!SecretFile.NAMES.contains(name)) {
            throw new IllegalArgumentException("secret \"" + name + "\": unknown (expected: one of "
                    + String.join(", ", SecretFile.NAMES) + "; a newer Parley may know it)");
        }
        try {
            SecretFile.require(secret, "secret \"" + name + "\"", "the file as it was exported");
            if (name.equals(SecretFile.ENCRYPTION)) {
                ValueCipher.of(List.of(secret));
            } else if (!name.equals(SecretFile.TOKENS)) {
                StandardWebhooks.of(List.of(secret));
            }
        } catch (StoreException wrong) {
            throw new IllegalArgumentException(wrong.getMessage(), wrong);
        }
    }

    public byte[] json() {
        var members = new LinkedHashMap<String, String>();
        SecretFile.NAMES.stream()
                .filter(secrets::containsKey)
                .forEach(name -> members.put(name, String.valueOf(secrets.get(name))));
        var document = new LinkedHashMap<String, Object>();
        document.put(VERSION, 1);
        document.put(SECRETS, members);
        return Json.write(document);
    }

    /** Names of the secrets that a directory has others of. Unreadable and short ones are others. */
    public List<String> differing(Path directory) {
        var files = SecretDirectory.data(directory);
        return SecretFile.NAMES.stream()
                .filter(secrets::containsKey)
                .filter(name -> {
                    try {
                        return files.find(name)
                                .filter(secret -> !secret.equals(secrets.get(name)))
                                .isPresent();
                    } catch (StoreException damaged) {
                        return true;
                    }
                })
                .toList();
    }

    /**
     * Writes the secrets into a data directory, which is made if it is missing, over those that it has.
     *
     * @throws NotOpenedException if it cannot be written; some of them may have been
     */
    public void write(Path directory) {
        try {
            OwnersOnly.directory(directory);
            for (Map.Entry<String, String> secret : secrets.entrySet()) {
                OwnersOnly.replace(
                        directory.resolve(secret.getKey()), secret.getValue().getBytes(UTF_8));
            }
        } catch (IOException failure) {
            throw NotOpenedException.directory(directory, failure);
        }
    }
}
