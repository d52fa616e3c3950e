package dev.parley.cli.admin;

import dev.parley.cli.command.ClientFlags;
import dev.parley.cli.command.ClientFlags.Credentials;
import dev.parley.cli.command.ClientFlags.Reports;
import dev.parley.cli.command.ClientFlags.Tls;
import dev.parley.cli.command.HttpAddress;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.command.Setting;
import dev.parley.cli.connection.Problems;
import dev.parley.cli.connection.Requests;
import dev.parley.cli.connection.WireLog;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.HttpCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.Parameters;
import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.hub.admin.Administration;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.StoreException;
import dev.parley.trust.Authentication;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/** Requests of operators to a hub; not part of A2A. */
public final class HubAdmin {
    private static final byte[] NOTHING = new byte[0];
    private static final String AUDIT = "audit/";
    private static final Set<String> OFFLINE = Set.of("groups", "users", "keys", "audit");
    private static final String JSON = "application/json";
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private HubAdmin() {}

    /** Settings of requests to a hub. */
    public static List<Setting> settings() {
        return Setting.of(in -> List.of(Tls.read(in), Credentials.read(in), Reports.read(in)));
    }

    /** The option that names the hub, by the names that commands for agents have for it, too. */
    public static OptionSpec option() {
        return OptionSpec.builder("-a", "--url", "--agent-card")
                .type(String.class)
                .arity("1")
                .paramLabel("HUB")
                .description("The hub; default: " + ClientFlags.LOCAL_HUB + ".")
                .build();
    }

    /** The option that names a directory instead. */
    static OptionSpec dataOption(String operation) {
        return Parameters.option(
                "--data",
                "DIR",
                operation.startsWith(AUDIT)
                        ? "The data directory of a hub instead, which may be running."
                        : "The data directory of a hub that does not run; made if missing.");
    }

    /** Whether a data directory can answer an operation, too. */
    static boolean isOffline(String operation) {
        return OFFLINE.contains(operation.replaceFirst("/.*", ""));
    }

    /** Refuses {@code --url} beside {@code --data}. */
    static void refuseHub(Invocation call) {
        if (call.option("--url") != null) {
            throw CommandException.usage("--data and --url together (expected: one of them)", null);
        }
    }

    /**
     * Calls an operation of the hub, or of its data directory; the answer is its JSON.
     *
     * @param operation name after {@code admin/}
     * @param values values of its parameters by their names; others are ignored
     */
    public static Map<?, ?> ask(Invocation call, String operation, Map<String, ?> values) throws InterruptedException {
        return ask(call, operation, values, "the same command with --help lists its parameters");
    }

    /** The same with a hint for the user if the hub refuses the request or has no such operation. */
    public static Map<?, ?> ask(
            Invocation call, String operation, Map<String, ? extends @Nullable Object> values, String hint)
            throws InterruptedException {
        String[] place = AdminCommand.row(operation).rest().split(" ", 2);
        String path = place[1];
        var query = new LinkedHashMap<String, List<String>>();
        var members = new LinkedHashMap<String, Object>();
        for (RestParameter one : AdminCommand.parameters(operation)) {
            Object value = values.get(one.name());
            if (value != null) {
                switch (one.place()) {
                    case PATH -> path = path.replace("{" + one.name() + "}", Requests.segment(value.toString()));
                    case QUERY -> query.put(one.name(), List.of(value.toString()));
                    case MEMBER -> members.put(one.name(), value);
                    case BODY -> ((Map<?, ?>) value).forEach((name, member) -> members.put(name.toString(), member));
                }
            }
        }
        byte[] json = ExtensionMethod.hasBody(place[0]) ? Json.write(members) : NOTHING;
        String data = isOffline(operation) ? call.option("--data") : null;
        if (data == null) {
            String parameters = query.entrySet().stream()
                    .map(one ->
                            one.getKey() + "=" + Requests.segment(one.getValue().getFirst()))
                    .collect(Collectors.joining("&", "?", ""));
            return Json.read(
                    ask(call, place[0], parameters.equals("?") ? path : path + parameters, json, hint), Map.class);
        }
        refuseHub(call);
        var request =
                new WireRequest(place[0], path, query, header -> header.equals("Content-Type") ? JSON : null, json, "");
        try {
            return Json.read(answer(call, data, operation, request).body(), Map.class);
        } catch (A2AException wrong) {
            throw CommandException.usage(String.valueOf(wrong.getMessage()), null);
        } catch (StoreException failed) {
            CommandException problem = Problems.of(failed);
            throw failed instanceof InUseException
                    ? problem.withHint("ask a hub that runs by --url, with a key that has the scope admin")
                    : problem;
        }
    }

    private static WireAnswer.Whole answer(Invocation call, String data, String operation, WireRequest request) {
        if (operation.startsWith(AUDIT)) {
            return (WireAnswer.Whole) Administration.audit(call.existingData(data), request);
        }
        try (Administration administration = Administration.open(call.around().path(data))) {
            return (WireAnswer.Whole) administration.answer(request);
        }
    }

    /**
     * Asks the hub; the answer is its JSON.
     *
     * @param body JSON, or nothing
     * @param hint next step for the user if the hub refuses the path
     */
    private static byte[] ask(Invocation call, String method, String path, byte[] body, String hint) {
        String typed = call.option("--url");
        String named = (typed == null ? ClientFlags.LOCAL_HUB : typed).replaceFirst("/+$", "");
        String hub;
        HttpUrl place;
        try {
            hub = named.contains("://")
                    ? named
                    : HttpAddress.typed(named).uri().toString().replaceFirst("/+$", "");
            place = HttpAddress.of(hub + path);
        } catch (IllegalArgumentException wrong) {
            throw CommandException.usage(
                    "invalid --url: " + named + " (expected: such as " + ClientFlags.LOCAL_HUB + ")", null);
        }
        if (place.isPlain()) {
            throw CommandException.usage(
                    "operators' keys would go to " + place.server()
                            + " over plain HTTP, which others on the network can read (expected: https, or this"
                            + " machine)",
                    "use https, or run the command on the machine of the hub, for groups, users and keys also with"
                            + " --data DIR");
        }
        WireLog wire = WireLog.of(call);
        AgentClientBuilder client = Requests.client(call, isSecret(method, path) ? wire.withoutAnswers() : wire)
                .callTimeout(TIMEOUT)
                .maxAnswerBytes(Integer.MAX_VALUE);
        Credentials credentials = call.credentials();
        if (credentials.apiKey() != null) {
            client.header(Authentication.KEY_HEADER, credentials.apiKey());
        }
        if (credentials.bearer() != null) {
            client.bearer(credentials.bearer());
        }
        HttpCall.Answer answer = Requests.read(
                "start a hub with: parley up; or name another one with --url",
                () -> client.exchange(new HttpCall(method, hub + path, Map.of("Content-Type", JSON), body)));
        int status = answer.status();
        if (status != 200) {
            throw Requests.refused(
                    status == 401 || status == 403 ? Kind.CREDENTIALS_MISSING : Kind.INTERNAL,
                    hub + " answered " + status,
                    status,
                    answer.body(),
                    switch (status) {
                        case 400 -> hint;
                        case 401 -> "pass a key that has the scope admin with --api-key";
                        case 404 -> hint + "; the hub may answer operators only at its --admin-port";
                        default -> null;
                    });
        }
        return answer.body();
    }

    /** True if the answer holds a key or a secret. */
    private static boolean isSecret(String method, String path) {
        return method.equals("POST") && (path.startsWith("/admin/keys") || path.equals("/admin/webhooks/secret"));
    }
}
