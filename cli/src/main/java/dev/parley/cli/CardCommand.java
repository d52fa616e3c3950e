package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.SecurityScheme;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley card get} and {@code card validate}. Source: a2a-cli specification 0.2, section 10.1. */
final class CardCommand implements Command {
    private final boolean validates;

    /** @param validates the check is the purpose, not an option */
    CardCommand(boolean validates) {
        this.validates = validates;
    }

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, false, "REF", "The agent; the same as --agent-card."));
        if (!validates) {
            spec.addOption(Command.flag("--validate", "Check the card by the schema of its version."));
            spec.addOption(Command.flag("--extended", "The card that only authenticated callers see."));
        }
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        String argument = call.argument(0);
        String reference = argument == null ? call.settings().require(Setting.AGENT_CARD) : argument;
        if (!validates && call.has("--extended")) {
            return extended(call, argument);
        }
        CardSource.Found found = Connection.card(call, reference);
        if (validates || call.has("--validate")) {
            check(call, found);
        }
        AgentCard card = found.card();
        call.output().result(() -> Json.write(found.tree()), page -> {
            page.field("Card", found.place());
            call.view().card(page, card, CardSignatures.shown(call, found));
        });
        return 0;
    }

    /** Checks a card by the schema of each version that it is written in, and reports where it leads. */
    private static void check(Invocation call, CardSource.Found found) {
        List<String> schemas = CardCheck.schemas(found.tree());
        for (String schema : schemas) {
            List<String> faults = CardCheck.faults(found.tree(), schema);
            if (!faults.isEmpty()) {
                throw new CliException(Problem.local(
                        LocalError.CARD_INVALID,
                        found.place() + " breaks the schema of " + schema + ": " + String.join("; ", faults),
                        "correct these members of the card"));
            }
        }
        call.output().aside("Valid", "yes");
        call.output().aside("Schema", String.join(", ", schemas));
        String own = found.origin();
        if (own != null) {
            AgentCard card = found.card();
            Stream.concat(
                            card.supportedInterfaces().stream().map(at -> Connection.origin(at, own)),
                            card.securitySchemes().values().stream().flatMap(CardCommand::tokenOrigins))
                    .filter(origin -> !HttpAddress.isSameOrigin(origin, own))
                    .distinct()
                    .forEach(origin -> call.output()
                            .warn("the card of " + own + " leads to another origin: " + origin
                                    + " (callers refuse that without --allow-origin " + origin + ")"));
        }
    }

    private static Stream<String> tokenOrigins(SecurityScheme scheme) {
        if (scheme instanceof SecurityScheme.OAuth2 oauth
                && oauth.flow() instanceof SecurityScheme.Flow.ClientCredentials flow) {
            try {
                return Stream.of(HttpAddress.origin(HttpAddress.of(flow.tokenUrl())));
            } catch (IllegalArgumentException noUrl) {
                return Stream.of();
            }
        }
        return Stream.of();
    }

    private static int extended(Invocation call, @Nullable String argument) throws InterruptedException {
        if (argument != null) {
            throw CliException.usage("--extended takes the agent from --agent-card", "write -a " + argument);
        }
        return Connection.open(call, agent -> {
            if (!Boolean.TRUE.equals(agent.client().card().capabilities().extendedAgentCard())) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION, agent.client().card().name() + " has no extended card");
            }
            AgentCard card = agent.client().extendedCard();
            String signatures = card.signatures().isEmpty() ? "absent" : "present";
            call.output().result(() -> Json.write(card), page -> call.view().card(page, card, signatures));
            return 0;
        });
    }
}
