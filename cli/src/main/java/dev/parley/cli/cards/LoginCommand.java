package dev.parley.cli.cards;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.connection.CardReferences;
import dev.parley.cli.connection.Keys;
import dev.parley.cli.connection.Problems;
import dev.parley.cli.connection.Requests;
import dev.parley.client.keys.KeyManager;
import dev.parley.client.login.OAuthLogin;
import dev.parley.client.spi.ClientException;
import dev.parley.command.CommandException;
import dev.parley.command.SafeText;
import dev.parley.dialect.Json;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.SecurityScheme.Flow;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@code parley auth login}: gets a token for an agent whose users log in, and keeps it; not part of the A2A CLI specification. */
public final class LoginCommand {
    private LoginCommand() {}

    public static Command command() {
        return Command.of(LoginCommand::run)
                .option("--client-id", "ID", "This program at the authorization server; required.")
                .flag("--device", "Use the device code flow, for a browser on another machine.")
                .option("--scope", "SCOPES", "Requested scopes, separated by spaces. Default: the scopes of the card.")
                .flag("--show", "Print the token instead of keeping it.")
                .footer("The token is kept as the key of the agent's host, in --keyring or --encrypted-keys, sent from"
                        + " then on, and renewed if the server gives a refresh token. The authorization server has"
                        + " to be at the card's origin or at one of --allow-origin.");
    }

    private static int run(Invocation call) throws InterruptedException {
        String reference = call.agent().card();
        String clientId = call.option("--client-id");
        if (clientId == null) {
            throw CommandException.usage("--client-id is missing", "the operator of the authorization server gives it");
        }
        boolean keeps = !call.has("--show");
        if (keeps && !call.keyStore().keyring() && call.keyStore().encrypted() == null) {
            throw CommandException.usage(
                    "nowhere to keep the token (expected: --keyring, --encrypted-keys FILE or --show)", null);
        }
        CardReferences.Found found = AgentConnection.card(call, reference);
        AgentCard card = found.card();
        Flow flow = flow(card, call.has("--device"));
        var login = new OAuthLogin(
                clientId,
                AgentConnection.loginOrigins(call, found),
                call.request().limit(),
                Requests.tls(call));
        OAuthLogin.Token token = token(call, login, flow, reference);
        String service = keeps ? keep(call, card, token) : null;
        report(call, service, token);
        return 0;
    }

    private static OAuthLogin.Token token(Invocation call, OAuthLogin login, Flow flow, String reference)
            throws InterruptedException {
        String typed = call.option("--scope");
        List<String> scopes = typed == null
                ? flow.scopes().keySet().stream().sorted().toList()
                : List.of(typed.strip().split(" +", -1));
        try {
            return switch (flow) {
                case Flow.AuthorizationCode code -> login.byCode(code, scopes, prompt -> show(call, prompt));
                case Flow.DeviceCode device -> login.byDevice(device, scopes, prompt -> show(call, prompt));
                default -> throw new IllegalStateException("no flow of users: " + flow);
            };
        } catch (ClientException failed) {
            throw Problems.of(failed, new Problems.Place(reference, null, true));
        }
    }

    private static void show(Invocation call, OAuthLogin.Prompt prompt) {
        call.output().note("Open in a browser: " + prompt.url());
        if (prompt.code() != null) {
            call.output().note("and type the code: " + SafeText.oneLine(prompt.code()));
        }
    }

    /** The flow of the card for users: the one of the options, else the authorization code, else the device code. */
    private static Flow flow(AgentCard card, boolean device) {
        List<Flow> flows = card.securitySchemes().values().stream()
                .flatMap(
                        scheme -> scheme instanceof SecurityScheme.OAuth2 oauth ? Stream.of(oauth.flow()) : Stream.of())
                .toList();
        Optional<Flow> code =
                flows.stream().filter(Flow.AuthorizationCode.class::isInstance).findFirst();
        Optional<Flow> byDevice =
                flows.stream().filter(Flow.DeviceCode.class::isInstance).findFirst();
        return (device ? byDevice : code.or(() -> byDevice))
                .orElseThrow(() -> CommandException.usage(
                        card.name() + " declares no flow " + (device ? "by device code" : "for users")
                                + " (expected: OAuth 2 authorizationCode or deviceCode)",
                        "see what it declares: parley card get"));
    }

    private static String keep(Invocation call, AgentCard card, OAuthLogin.Token token) {
        KeyManager keys = Keys.of(call);
        String named = call.agent().keyService();
        String service = named != null
                ? named
                : card.supportedInterfaces().stream()
                        .flatMap(at -> KeyManager.serviceId(at.url()).stream())
                        .findFirst()
                        .orElseThrow(
                                () -> CommandException.usage("the card names no host", "name one with --key-service"));
        return CommandException.reading("", null, () -> {
            keys.setLogin(service, token, Instant.now());
            return service;
        });
    }

    private static void report(Invocation call, @Nullable String service, OAuthLogin.Token token) {
        Long seconds = token.life() == null ? null : token.life().toSeconds();
        var row = new LinkedHashMap<String, @Nullable Object>();
        row.put(service == null ? "token" : "service", service == null ? token.text() : service);
        row.put("expiresIn", seconds);
        call.output()
                .result(
                        () -> Json.write(row),
                        page -> page.field("Token", row.get("token"))
                                .field("Service", service)
                                .field("Expires-In", seconds == null ? "unknown" : seconds + " s"));
    }
}
