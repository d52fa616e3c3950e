package dev.parley.cli.cards;

import dev.parley.cli.command.ClientFlags.KeyStore;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.command.Setting;
import dev.parley.cli.connection.Keys;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.client.keys.KeyManager;
import dev.parley.client.keys.KeyStatus;
import dev.parley.client.keys.OAuthClient;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.CommandOutput.Fields;
import dev.parley.command.SafeText;
import dev.parley.dialect.Json;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@code parley keys …}: the keys for agents. Shows whether there is one and its source, never the key. */
public final class KeysCommands {
    private static final int LONGEST_SECRET = 8192;
    private static final int SHOWN = 4;

    private KeysCommands() {}

    /** Work with the keys of the settings. */
    private interface Work {
        void run(Invocation call, KeyManager keys);
    }

    private static Command command(Work work) {
        var settings = new ArrayList<>(Setting.of(KeyStore::read));
        settings.add(Setting.client("output"));
        settings.add(Setting.client("config"));
        return Command.of(call -> {
                    return CommandException.reading("", null, () -> {
                        work.run(call, Keys.of(call));
                        return 0;
                    });
                })
                .settings(settings);
    }

    private static Command ofService(Work work) {
        return command(work).argument("SERVICE", "The service, such as bank or agents.example.com.");
    }

    /** Printable facts about a service, without its secrets. */
    private static Map<String, @Nullable Object> row(KeyManager keys, String service) {
        KeyStatus key = keys.apiKeyStatus(service);
        KeyStatus client = keys.oauthStatus(service);
        var row = new LinkedHashMap<String, @Nullable Object>();
        row.put("service", service);
        row.put("source", source(key));
        row.put("status", key.text());
        row.put("oauthSource", source(client));
        row.put("oauthStatus", client.text());
        return row;
    }

    private static @Nullable String source(KeyStatus status) {
        return switch (status) {
            case KeyStatus.Configured(var source) -> source.toString();
            case KeyStatus.PartiallyConfigured(var source) -> source.toString();
            case KeyStatus.NotConfigured() -> null;
        };
    }

    private static void show(Fields page, Map<String, @Nullable Object> row) {
        Object removed = row.get("removed");
        page.field("Removed", removed == null ? null : Boolean.TRUE.equals(removed) ? "yes" : "no")
                .field("Service", row.get("service"))
                .field("API-Key", row.get("status"))
                .field("API-Key-Start", row.get("start"))
                .field("OAuth-Client", row.get("oauthStatus"))
                .field("OAuth-Client-ID", row.get("oauthClientId"));
    }

    private static void print(Invocation call, Map<String, @Nullable Object> row) {
        call.output().result(() -> Json.write(row), page -> show(page, row));
    }

    public static Command get() {
        return ofService((call, keys) -> {
                    String service = call.requiredArgument(0);
                    Map<String, @Nullable Object> row = row(keys, service);
                    if (call.has("--show")) {
                        keys.apiKey(service).ifPresent(key -> row.put("start", start(key)));
                        keys.oauthClient(service).ifPresent(client -> row.put("oauthClientId", client.id()));
                    }
                    print(call, row);
                })
                .flag("--show", "Show the first 4 characters of the API key, and the OAuth client's id.");
    }

    /** Of a short key, the start would be most of it. */
    private static String start(String key) {
        return key.substring(0, Math.min(SHOWN, key.length() / 2)) + "…";
    }

    public static Command list() {
        return command((call, keys) -> {
                    List<Map<String, @Nullable Object>> rows = keys.services().stream()
                            .map(service -> row(keys, service))
                            .toList();
                    call.output().result(() -> Json.write(Map.of("keys", rows)), page -> {
                        rows.forEach(row -> {
                            show(page, row);
                            page.gap();
                        });
                        page.field("Total-Size", rows.size());
                    });
                })
                .footer("The system's keyring does not tell which services it has keys for.");
    }

    public static Command set() {
        return ofService((call, keys) -> {
                    String service = call.requiredArgument(0);
                    String clientId = call.option("--oauth-client-id");
                    String secret = secret(call, service);
                    if (clientId == null) {
                        keys.setApiKey(service, secret);
                    } else {
                        keys.setOAuthClient(service, new OAuthClient(clientId, secret));
                    }
                    print(call, row(keys, service));
                })
                .option("--oauth-client-id", "ID", "Keep an OAuth client; the secret is its own.")
                .footer("The secret is read from the terminal, or from standard input if that is not one.");
    }

    /** {@code config set} of AgentVault: says where a key belongs, or keeps it in the keyring. */
    public static Command configSet() {
        return ofService((call, keys) -> {
                    String service = call.requiredArgument(0);
                    List<String> ways = Stream.of("--env", "--file", "--keyring", "--oauth-configure")
                            .filter(call::has)
                            .toList();
                    if (ways.size() != 1) {
                        throw CommandException.failed(
                                Kind.USAGE.code(),
                                "places of the key: " + (ways.isEmpty() ? "none" : String.join(", ", ways))
                                        + " (expected: one of --env, --file PATH, --keyring, --oauth-configure)",
                                null);
                    }
                    String id = service.toLowerCase(Locale.ROOT);
                    switch (ways.getFirst()) {
                        case "--env" ->
                            call.output()
                                    .line("export AGENTVAULT_KEY_" + service.toUpperCase(Locale.ROOT) + "=…"
                                            + "    # a service with / or - needs a file or the keyring");
                        case "--file" ->
                            call.output()
                                    .line("add to " + call.option("--file") + ", and name it with --keys-file:  " + id
                                            + "=…");
                        case "--oauth-configure" -> {
                            String[] lines = secret(call, service).split("\\R", 2);
                            String client = call.option("--oauth-client-id");
                            if (client == null && lines.length < 2) {
                                throw CommandException.usage(
                                        "no client id (expected: --oauth-client-id ID, or two lines: id and secret)",
                                        null);
                            }
                            keys.setOAuthClient(
                                    service,
                                    client == null
                                            ? new OAuthClient(lines[0], lines[1])
                                            : new OAuthClient(client, lines[0]));
                            print(call, row(keys, service));
                        }
                        default -> {
                            keys.setApiKey(service, secret(call, service));
                            print(call, row(keys, service));
                        }
                    }
                })
                .flag("--env", "Show the environment variable of the key.")
                .option("--file", "PATH", "Show the line of a file of keys.")
                .flag("--keyring", "Keep the key in the keyring; it is read as by \"parley keys set\".")
                .flag("--oauth-configure", "Keep an OAuth client in the keyring.")
                .option("--oauth-client-id", "ID", "Id of the OAuth client; its secret is read.");
    }

    /** {@code config get} of AgentVault. */
    public static Command configGet() {
        return ofService((call, keys) -> {
                    String service = call.requiredArgument(0);
                    Map<String, @Nullable Object> row = row(keys, service);
                    if (call.has("--show-key")) {
                        keys.apiKey(service).ifPresent(key -> row.put("start", start(key)));
                    }
                    if (call.has("--show-oauth-id")) {
                        keys.oauthClient(service).ifPresent(client -> row.put("oauthClientId", client.id()));
                    }
                    print(call, row);
                })
                .flag("--show-key", "Show the first 4 characters of the API key.")
                .flag("--show-oauth-id", "Show the id of the OAuth client.");
    }

    @SuppressWarnings("SystemConsoleNull") // it is null without a terminal, once java.base is the one to make it
    private static String secret(Invocation call, String service) {
        if (call.around().in().equals(System.in) && CliEnvironment.isTerminal(0)) {
            System.setProperty("jdk.console", "java.base");
            Console console = System.console();
            if (console == null) {
                throw CommandException.usage(
                        "the secret would be shown while it is typed", "do not redirect standard output");
            }
            char[] typed = console.readPassword("Secret for %s: ", SafeText.oneLine(service));
            return typed == null ? "" : new String(typed);
        }
        return read(call.around().in());
    }

    private static String read(InputStream in) {
        try {
            String text = new String(in.readNBytes(LONGEST_SECRET + 2), StandardCharsets.UTF_8);
            return text.replaceFirst("\r?\n$", "");
        } catch (IOException broken) {
            throw CommandException.of(Kind.INTERNAL, "cannot read the secret from standard input", null, broken);
        }
    }

    public static Command remove() {
        return ofService((call, keys) -> {
            String service = call.requiredArgument(0);
            boolean removed = keys.remove(service);
            Map<String, @Nullable Object> row = row(keys, service);
            row.put("removed", removed);
            print(call, row);
        });
    }
}
