package dev.parley.cli;

import dev.parley.dialect.Json;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.trust.cards.CardTrust;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley card verify}: whether a trusted key has signed a card as it is. */
final class CardVerifyCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, false, "REF", "The agent, or a card file; the same as --agent-card."));
        spec.usageMessage()
                .footer(
                        "",
                        "Exit status: 0 if it is verified, else 1, and the code says why: PARLEY_ERR_CARD_UNSIGNED,",
                        "PARLEY_ERR_CARD_UNVERIFIABLE or PARLEY_ERR_CARD_TAMPERED.");
    }

    @Override
    public List<Setting<?>> relevant() {
        return List.of(
                Setting.TRUST,
                Setting.AGENT_CARD,
                Setting.OUTPUT,
                Setting.SVC_PARAM,
                Setting.INSECURE,
                Setting.CONFIG,
                Setting.DEBUG);
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        CardTrust trust = CardSignatures.trust(call)
                .orElseThrow(() -> CliException.usage(
                        "no keys to verify by",
                        "give --trust FILE: the JWK set of the card's owner, got in a way that you trust"));
        String argument = call.argument(0);
        CardSource.Found found =
                Connection.card(call, argument == null ? call.settings().require(Setting.AGENT_CARD) : argument);
        found.card(); // throws if it is no card
        Verdict verdict = trust.verify(found.bytes(), found.host());
        if (!verdict.isVerified()) {
            throw new CliException(CardSignatures.problem(found, verdict));
        }
        var row = new LinkedHashMap<String, @Nullable Object>();
        row.put("card", found.place());
        row.put("outcome", verdict.outcome().name());
        row.put("keyId", verdict.keyId());
        row.put("reason", verdict.reason());
        call.output()
                .result(
                        () -> Json.write(row),
                        page -> page.field("Card", found.place())
                                .field("Outcome", verdict.outcome())
                                .field("Key-ID", verdict.keyId())
                                .field("Reason", verdict.reason()));
        return 0;
    }
}
