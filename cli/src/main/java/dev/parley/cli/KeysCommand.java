package dev.parley.cli;

import dev.parley.client.keys.KeyManager;
import dev.parley.client.keys.KeyStatus;
import dev.parley.client.keys.OAuthClient;
import dev.parley.dialect.Json;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley keys …}: the keys that agents get. Tells whether there is one and where it comes from, never the key. */
abstract class KeysCommand implements Command {
    private static final int LONGEST_SECRET = 8192;
    private static final int SHOWN = 4;

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, true, "SERVICE", "The service, such as bank or agents.example.com."));
    }

    @Override
    public List<Setting<?>> relevant() {
        return List.of(
                Setting.KEYS_FILE,
                Setting.KEYRING,
                Setting.ENCRYPTED_KEYS,
                Setting.ENCRYPTED_KEYS_KEY,
                Setting.ENCRYPTED_KEYS_PASSPHRASE,
                Setting.OUTPUT,
                Setting.CONFIG);
    }

    @Override
    public int run(Invocation call) {
        try {
            run(call, Keys.of(call));
            return 0;
        } catch (IllegalArgumentException wrong) {
            throw CliException.usage(String.valueOf(wrong.getMessage()), null);
        }
    }

    abstract void run(Invocation call, KeyManager keys);

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

    private static void show(TextPage page, Map<String, @Nullable Object> row) {
        page.field("Service", row.get("service"))
                .field("API-Key", row.get("status"))
                .field("API-Key-Start", row.get("start"))
                .field("OAuth-Client", row.get("oauthStatus"))
                .field("OAuth-Client-ID", row.get("oauthClientId"));
    }

    /** Tells of one service. */
    static final class Get extends KeysCommand {
        @Override
        public void describe(CommandSpec spec) {
            super.describe(spec);
            spec.addOption(
                    Command.flag("--show", "Show the first 4 characters of the API key, and the OAuth client's id."));
        }

        @Override
        void run(Invocation call, KeyManager keys) {
            String service = call.requiredArgument(0);
            Map<String, @Nullable Object> row = row(keys, service);
            if (call.has("--show")) {
                keys.apiKey(service).ifPresent(key -> row.put("start", start(key)));
                keys.oauthClient(service).ifPresent(client -> row.put("oauthClientId", client.id()));
            }
            call.output().result(() -> Json.write(row), page -> show(page, row));
        }

        /** Of a short key, the start would be most of it. */
        private static String start(String key) {
            return key.substring(0, Math.min(SHOWN, key.length() / 2)) + "…";
        }
    }

    /** Tells of all services. */
    static final class ListAll extends KeysCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.usageMessage().footer("", "The system's keyring does not tell which services it has keys for.");
        }

        @Override
        void run(Invocation call, KeyManager keys) {
            List<Map<String, @Nullable Object>> rows =
                    keys.services().stream().map(service -> row(keys, service)).toList();
            call.output().result(() -> Json.write(Map.of("keys", rows)), page -> {
                rows.forEach(row -> {
                    show(page, row);
                    page.gap();
                });
                page.field("Total-Size", rows.size());
            });
        }
    }

    /** Puts a key into the keyring. */
    static final class Set extends KeysCommand {
        @Override
        public void describe(CommandSpec spec) {
            super.describe(spec);
            spec.addOption(Command.option("--oauth-client-id", "ID", "Keep an OAuth client; the secret is its own."));
            spec.usageMessage()
                    .footer("", "The secret is read from the terminal, or from standard input if that is none.");
        }

        @Override
        void run(Invocation call, KeyManager keys) {
            String service = call.requiredArgument(0);
            String clientId = call.option("--oauth-client-id");
            String secret = secret(call, service);
            if (clientId == null) {
                keys.setApiKey(service, secret);
            } else {
                keys.setOAuthClient(service, new OAuthClient(clientId, secret));
            }
            Map<String, @Nullable Object> row = row(keys, service);
            call.output().result(() -> Json.write(row), page -> show(page, row));
        }

        @SuppressWarnings("SystemConsoleNull") // as below
        private static String secret(Invocation call, String service) {
            if (call.around().in().equals(System.in) && isTerminal()) {
                System.setProperty("jdk.console", "java.base"); // the only one that is null without a terminal
                Console console = System.console();
                if (console == null) {
                    throw CliException.usage(
                            "the secret would be shown while it is typed", "do not redirect standard output");
                }
                char[] typed = console.readPassword("Secret for %s: ", TextPage.oneLine(service));
                return typed == null ? "" : new String(typed);
            }
            return read(call.around().in());
        }

        /** Whether standard input is a terminal; elsewhere than on Linux only if output goes to the same terminal. */
        @SuppressWarnings("SystemConsoleNull") // it is null without a terminal, once java.base is the one to make it
        private static boolean isTerminal() {
            try {
                String device =
                        Files.readSymbolicLink(Path.of("/proc/self/fd/0")).toString();
                return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
            } catch (IOException | UnsupportedOperationException elsewhere) {
                System.setProperty("jdk.console", "java.base");
                return System.console() != null;
            }
        }

        private static String read(InputStream in) {
            try {
                String text = new String(in.readNBytes(LONGEST_SECRET + 2), StandardCharsets.UTF_8);
                return text.replaceFirst("\r?\n$", "");
            } catch (IOException broken) {
                throw new CliException(
                        Problem.local(LocalError.INTERNAL, "cannot read the secret from standard input", null), broken);
            }
        }
    }

    /** Takes keys out of the keyring. */
    static final class Remove extends KeysCommand {
        @Override
        void run(Invocation call, KeyManager keys) {
            String service = call.requiredArgument(0);
            boolean removed = keys.remove(service);
            Map<String, @Nullable Object> row = row(keys, service);
            row.put("removed", removed);
            call.output().result(() -> Json.write(row), page -> {
                page.field("Removed", removed ? "yes" : "no");
                show(page, row);
            });
        }
    }
}
