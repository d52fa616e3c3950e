package dev.parley.cli.connection;

import dev.parley.cli.command.Invocation;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.CardPolicy;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Verification of card signatures by the settings: the keys, and the policy for cards that fail. */
public final class CardSignatures {
    private CardSignatures() {}

    /** The keys of {@code --trust}; empty if there are none. */
    public static Optional<CardTrust> trust(Invocation call) {
        List<String> files = call.agent().trust();
        if (files.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(CommandException.reading(
                "--trust: ",
                "see docs/signatures.md",
                () -> CardTrust.read(files.stream().map(call::path).toList())));
    }

    /** The keys in files, of which the first one signs. */
    public static CardKeys keys(Invocation call, List<String> files) {
        return CommandException.reading(
                "",
                "see docs/signatures.md",
                () -> CardKeys.read(files.stream().map(call::path).toList()));
    }

    /** Judges the card that a command is about to use, and has the client judge those that it fetches itself. */
    public static void check(Invocation call, CardReferences.Found found, AgentClientBuilder builder) {
        String policy = call.agent().cardSignatures();
        Optional<CardTrust> trust = trust(call);
        if (trust.isEmpty() && policy != null && !policy.equals("off")) {
            throw CommandException.usage(
                    "--card-signatures " + policy + ": no keys to verify them by", "give --trust FILE");
        }
        if (trust.isEmpty() || "off".equals(policy)) {
            return;
        }
        boolean warns = "warn".equals(policy);
        builder.verifyCards(trust.get(), warns ? CardPolicy.WARN : CardPolicy.REQUIRE);
        Verdict verdict = trust.get().verify(found.bytes(), found.host());
        if (verdict.isVerified()) {
            WireLog.of(call).note(verdict.reason());
        } else if (warns) {
            call.output().warn(message(found, verdict));
        } else {
            throw problem(found, verdict);
        }
    }

    /** The error for a card that is not verified. */
    public static CommandException problem(CardReferences.Found found, Verdict verdict) {
        return switch (verdict.outcome()) {
            case VERIFIED -> throw new IllegalArgumentException(verdict.toString());
            case UNSIGNED ->
                CommandException.of(
                        Kind.CARD_UNSIGNED,
                        message(found, verdict),
                        "its owner can sign it: parley card sign, or parley up --card-key");
            case UNVERIFIABLE ->
                CommandException.of(
                        Kind.CARD_UNVERIFIABLE,
                        message(found, verdict),
                        "get the key from its owner, not from an address in the card, and add it with --trust");
            case TAMPERED ->
                CommandException.of(
                        Kind.CARD_TAMPERED,
                        message(found, verdict),
                        "do not use it before its owner has confirmed its contents through another channel");
        };
    }

    private static String message(CardReferences.Found found, Verdict verdict) {
        return "the card " + found.place() + " is " + verdict.outcome() + ": " + verdict.reason();
    }

    /** The text about the signatures of a card. */
    public static String shown(Invocation call, CardReferences.Found found) {
        boolean signed = found.tree().get("signatures") instanceof List<?> signatures && !signatures.isEmpty();
        if (!signed) {
            return "absent";
        }
        return trust(call)
                .map(trust -> trust.verify(found.bytes(), found.host()))
                .map(verdict -> verdict.outcome().name().toLowerCase(Locale.ROOT) + ", " + verdict.reason())
                .orElse("present, not verified");
    }
}
