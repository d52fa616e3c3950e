package dev.parley.cli.cards;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.connection.CardReferences;
import dev.parley.cli.connection.CardSignatures;
import dev.parley.cli.task.TextView;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.CardCheck;
import dev.parley.dialect.CardCheck.Finding;
import dev.parley.dialect.Json;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.SecurityScheme;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@code parley card get}, {@code validate}, {@code sign} and {@code verify}. Source: a2a-cli specification 0.2, section 10.1. */
public final class CardCommands {
    private CardCommands() {}

    public static Command get() {
        return Command.of(call -> call.has("--extended") ? extended(call) : show(call, call.has("--validate")))
                .optional("REF", "The agent; the same as --agent-card.")
                .flag("--validate", "Check the card by the schema of its version.")
                .flag("--extended", "The card that only authenticated callers see.");
    }

    public static Command validate() {
        return Command.of(call -> show(call, true)).optional("REF", "The agent; the same as --agent-card.");
    }

    public static Command sign() {
        return Command.of(CardCommands::sign)
                .argument("FILE", "The card.")
                .option("--key", "FILE", "The key: see parley card key create. Required.")
                .option("--jku", "URL", "Where the public half is published, to be named in the signature.")
                .settings("output")
                .footer("Keeps the signatures of the card, except one by the same key.");
    }

    public static Command verify() {
        return Command.of(CardCommands::verify)
                .optional("REF", "The agent, or a card file; the same as --agent-card.")
                .settings("trust", "agent-card", "output", "svc-param", "ca", "insecure", "config", "debug")
                .footer(
                        "Exit status: 0 if it is verified, else 1, and the code says why: PARLEY_ERR_CARD_UNSIGNED,",
                        "PARLEY_ERR_CARD_UNVERIFIABLE or PARLEY_ERR_CARD_TAMPERED.");
    }

    private static CardReferences.Found found(Invocation call) throws InterruptedException {
        String argument = call.argument(0);
        return AgentConnection.card(call, argument == null ? call.agent().card() : argument);
    }

    private static int show(Invocation call, boolean validates) throws InterruptedException {
        CardReferences.Found found = found(call);
        if (validates) {
            check(call, found);
        }
        AgentCard card = found.card();
        call.output().result(() -> Json.write(found.tree()), page -> {
            page.field("Card", found.place());
            TextView.of(call).card(page, card, CardSignatures.shown(call, found));
        });
        return 0;
    }

    /** Checks a card by the schema of each version that it is written in, and reports where it leads. */
    private static void check(Invocation call, CardReferences.Found found) {
        List<String> schemas = CardCheck.schemas(found.tree());
        for (String schema : schemas) {
            List<Finding> faults = CardCheck.faults(found.tree(), schema);
            if (!faults.isEmpty()) {
                throw CommandException.of(
                        Kind.CARD_INVALID,
                        found.place() + " breaks the schema of " + schema + ": "
                                + faults.stream().map(Finding::text).collect(Collectors.joining("; ")),
                        "correct these members of the card");
            }
        }
        call.output().aside("Valid", "yes");
        call.output().aside("Schema", String.join(", ", schemas));
        AgentCard card = found.card();
        card.capabilities().extensions().stream()
                .filter(CardCommands::isRequiredData)
                .forEach(
                        extension -> call.output()
                                .warn(
                                        "the extension " + extension.uri()
                                                + " is required, and its entry has data and no methods:"
                                                + " callers that do not know it are refused (expected: required false for data on the card)"));
        HttpUrl own = found.url();
        if (own != null) {
            Stream.concat(
                            card.supportedInterfaces().stream().map(AgentCard.Interface::url),
                            card.securitySchemes().values().stream().flatMap(CardCommands::tokenUrl))
                    .flatMap(address -> AgentConnection.url(address, own).stream())
                    .filter(url -> !url.origin().equals(own.origin()))
                    .map(HttpUrl::server)
                    .distinct()
                    .forEach(origin -> call.output()
                            .warn("the card of " + own.server() + " leads to another origin: " + origin
                                    + " (callers refuse that without --allow-origin " + origin + ")"));
        }
    }

    /** Whether an extension is required that only adds data to the card, which a caller may leave unread. */
    private static boolean isRequiredData(AgentCard.Extension extension) {
        return extension.required()
                && !extension.params().isEmpty()
                && !extension.params().containsKey("methods");
    }

    private static Stream<String> tokenUrl(SecurityScheme scheme) {
        return scheme instanceof SecurityScheme.OAuth2 oauth
                        && oauth.flow() instanceof SecurityScheme.Flow.ClientCredentials flow
                ? Stream.of(flow.tokenUrl())
                : Stream.of();
    }

    private static int extended(Invocation call) throws InterruptedException {
        if (call.argument(0) != null) {
            throw CommandException.usage(
                    "--extended takes the agent from --agent-card", "write -a " + call.argument(0));
        }
        return AgentConnection.open(call, agent -> {
            if (!Boolean.TRUE.equals(agent.client().card().capabilities().extendedAgentCard())) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION, agent.client().card().name() + " has no extended card");
            }
            AgentCard card = agent.client().extendedCard();
            String signatures = card.signatures().isEmpty() ? "absent" : "present";
            call.output()
                    .result(() -> Json.write(card), page -> TextView.of(call).card(page, card, signatures));
            return 0;
        });
    }

    private static int sign(Invocation call) {
        String keyFile = call.option("--key");
        if (keyFile == null) {
            throw CommandException.usage(
                    "no key to sign with", "give --key FILE; parley card key create FILE makes one");
        }
        CardKeys keys = CardSignatures.keys(call, List.of(keyFile));
        CardReferences.Found card = CardReferences.file(call.path(call.requiredArgument(0)));
        card.card(); // throws if it is not a card
        call.output().json(keys.signer(call.option("--jku")).signed(card.bytes()));
        return 0;
    }

    private static int verify(Invocation call) throws InterruptedException {
        CardTrust trust = CardSignatures.trust(call)
                .orElseThrow(() -> CommandException.usage(
                        "no keys to verify by",
                        "give --trust FILE: the JWK set of the card's owner, got in a way that you trust"));
        CardReferences.Found found = found(call);
        found.card(); // throws if it is not a card
        Verdict verdict = trust.verify(found.bytes(), found.host());
        if (!verdict.isVerified()) {
            throw CardSignatures.problem(found, verdict);
        }
        var row = new LinkedHashMap<String, @Nullable Object>();
        row.put("card", found.place());
        row.put("outcome", verdict.outcome().name());
        row.put("keyId", verdict.keyId());
        row.put("reason", verdict.reason());
        call.output().members(row);
        return 0;
    }
}
