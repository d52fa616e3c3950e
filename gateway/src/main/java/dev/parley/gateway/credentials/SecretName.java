package dev.parley.gateway.credentials;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Name of a secret outside of the database: {@code env:NAME} for the environment variable {@code PARLEY_GATEWAY_SECRET_NAME} of the hub,
 * {@code file:NAME} for a file of the directory of secrets. Other variables and files cannot be named, so that an operator who adds a
 * route reads nothing else of the machine.
 */
public record SecretName(String text) {
    private static final String VARIABLE = "PARLEY_GATEWAY_SECRET_";
    private static final Pattern NAME = Pattern.compile("env:[A-Z0-9_]{1,64}|file:[A-Za-z0-9_][A-Za-z0-9._-]{0,63}");
    private static final int MOST_BYTES = 16 * 1024;

    /** @throws IllegalArgumentException if it is not such a name; the text, which may be a secret, is not in the message */
    public SecretName {
        if (!NAME.matcher(text).matches()) {
            throw new IllegalArgumentException("secret: " + text.length()
                    + " characters (expected: env:NAME or file:NAME, the name of the secret instead of its value)");
        }
    }

    /**
     * Places of secrets.
     *
     * @param environment variables of the process
     * @param directory of files; null for none
     */
    public record Places(
            Map<String, String> environment, @Nullable Path directory) {
        /** The environment of this process, and a directory. */
        public static Places of(@Nullable Path directory) {
            return new Places(System.getenv(), directory);
        }

        @Override
        public String toString() {
            return "Places[" + directory + "]";
        }
    }

    /**
     * Reads the value.
     *
     * @throws ClientException KEYS if there is none
     */
    String value(Places places) {
        String name = text.substring(text.indexOf(':') + 1);
        String value =
                text.startsWith("env:") ? places.environment().get(VARIABLE + name) : file(places.directory(), name);
        if (value == null || value.isBlank()) {
            throw new ClientException(
                    Problem.KEYS,
                    "secret \"" + text + "\": missing (expected: the variable " + VARIABLE
                            + "NAME of the hub, or a file of the directory gateway-secrets)");
        }
        return value.strip();
    }

    private static @Nullable String file(@Nullable Path directory, String name) {
        if (directory == null) {
            return null;
        }
        Path file = directory.resolve(name);
        try {
            return Files.exists(file) && Files.size(file) <= MOST_BYTES ? Files.readString(file) : null;
        } catch (IOException unreadable) {
            throw new ClientException(Problem.KEYS, "secret \"file:" + name + "\": cannot be read", unreadable);
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
