package dev.parley.client.keys;

import dev.parley.client.keys.ServiceKeys.Part;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.dialect.Json;
import dev.parley.outbound.http.HeaderText;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.OwnersOnly;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The keys that stand in a file or in the environment, by service.
 *
 * <p>Source: AgentVault 0.2, KeyManager. Its names are kept, also where they differ: an API key is {@code
 * AGENTVAULT_KEY_<ID>} in the environment and only {@code <id>} in a file.
 */
final class KeyTable {
    private static final String KEY = "AGENTVAULT_KEY_";
    private static final String OAUTH = "AGENTVAULT_OAUTH_";
    private static final Map<String, Part> SUFFIXES =
            Map.of("_CLIENT_ID", Part.CLIENT_ID, "_CLIENT_SECRET", Part.CLIENT_SECRET);

    private final String place;
    private final Consumer<String> warnings;
    private final Map<String, ServiceKeys> keys = new TreeMap<>();

    private KeyTable(String place, Consumer<String> warnings) {
        this.place = place;
        this.warnings = warnings;
    }

    static Map<String, ServiceKeys> ofEnvironment(Map<String, String> environment, Consumer<String> warnings) {
        var table = new KeyTable("the environment", warnings);
        environment.forEach((name, value) -> {
            String upper = name.toUpperCase(Locale.ROOT);
            if (upper.startsWith(OAUTH)) {
                table.addOAuth(name, value);
            } else if (upper.startsWith(KEY)) {
                table.add(name.substring(KEY.length()), Part.API_KEY, value);
            }
        });
        return table.keys;
    }

    /**
     * Reads a file; there being none is worth a warning only.
     *
     * @throws ClientException if there is one that cannot be read: without its keys, others would be used unnoticed
     */
    static Map<String, ServiceKeys> ofFile(Path file, Consumer<String> warnings) {
        String name = String.valueOf(file.getFileName());
        var table = new KeyTable(file.toString(), warnings);
        try {
            if (name.endsWith(".json")) {
                table.readJson(Files.readAllBytes(file));
            } else if (name.endsWith(".env")) {
                table.readLines(Files.readString(file));
            } else {
                warnings.accept(file + ": not read (expected: a name that ends in .env or .json)");
                return Map.of();
            }
            if (OwnersOnly.isReadByOthers(file)) {
                warnings.accept(file + " holds keys and others may read it: chmod 600 " + file);
            }
        } catch (NoSuchFileException e) {
            warnings.accept(file + ": no such file, so no keys come from it");
        } catch (IOException e) {
            throw new ClientException(Problem.KEYS, file + " cannot be read: " + e.getMessage(), e);
        }
        return table.keys;
    }

    private void readLines(String text) {
        int number = 0;
        for (String raw : text.split("\r?\n", -1)) {
            number++;
            String line = raw.strip().replaceFirst("^export\\s+", "");
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            int equals = line.indexOf('=');
            if (equals < 1) {
                // Without the line itself: it may be a key that lost its name.
                warnings.accept(place + ", line " + number + ": ignored (expected: name=value)");
                continue;
            }
            String name = line.substring(0, equals).strip();
            String value = unquoted(line.substring(equals + 1).strip());
            if (name.toUpperCase(Locale.ROOT).startsWith(OAUTH)) {
                addOAuth(name, value);
            } else {
                add(name, Part.API_KEY, value);
            }
        }
    }

    private static String unquoted(String value) {
        char quote = value.isEmpty() ? 0 : value.charAt(0);
        if (quote == '"' || quote == '\'') {
            int end = value.indexOf(quote, 1);
            if (end > 0) {
                return value.substring(1, end);
            }
        }
        return value.replaceFirst("\\s+#.*$", "");
    }

    private void readJson(byte[] json) {
        Map<?, ?> services;
        try {
            services = Json.read(json, Map.class);
        } catch (A2AException e) {
            // Neither the message nor the cause: they quote what they stumbled over.
            throw new ClientException(Problem.KEYS, place + " is not a JSON object in UTF-8");
        }
        services.forEach((id, entry) -> {
            String service = String.valueOf(id);
            switch (entry) {
                case String key -> add(service, Part.API_KEY, key);
                case Map<?, ?> members -> {
                    addText(service, Part.API_KEY, members.get("apiKey"));
                    if (members.get("oauth") instanceof Map<?, ?> client) {
                        addText(service, Part.CLIENT_ID, client.get("clientId"));
                        addText(service, Part.CLIENT_SECRET, client.get("clientSecret"));
                    }
                }
                case null, default ->
                    warnings.accept(place + ": " + service + " is ignored (expected: a key or an object)");
            }
        });
    }

    private void addText(String service, Part part, @Nullable Object value) {
        if (value instanceof String text) {
            add(service, part, text);
        }
    }

    private void addOAuth(String name, String value) {
        String upper = name.toUpperCase(Locale.ROOT);
        for (var suffix : SUFFIXES.entrySet()) {
            int end = name.length() - suffix.getKey().length();
            if (upper.endsWith(suffix.getKey()) && end > OAUTH.length()) {
                add(name.substring(OAUTH.length(), end), suffix.getValue(), value);
                return;
            }
        }
        warnings.accept(place + ": " + name + " is ignored (expected: …_CLIENT_ID or …_CLIENT_SECRET at its end)");
    }

    private void add(String service, Part part, String value) {
        if (value.isBlank()) {
            return;
        }
        if (!ServiceKeys.isService(service)) {
            warnings.accept(
                    place + ": the name of a service is ignored (expected: " + ServiceKeys.EXPECTED_SERVICE + ")");
        } else if (!HeaderText.isValue(value)) {
            warnings.accept(place + ": the value for " + service + " is ignored (expected: printable ASCII)");
        } else {
            String id = service.toLowerCase(Locale.ROOT);
            keys.merge(id, ServiceKeys.NONE.with(part, value), (known, added) -> known.with(part, value));
        }
    }
}
