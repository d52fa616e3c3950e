package dev.parley.registry.trust;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.extension.HubSignatures;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CardVerifier.Outcome;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.protocol.support.Sha256;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The keys that verify documents: those of the operator, in files, and those of the hub. Immutable: files that have changed are read by
 * another one.
 */
final class TrustedKeys {
    private static final List<Outcome> DECISIVE =
            List.of(Outcome.VERIFIED, Outcome.TAMPERED, Outcome.UNVERIFIABLE, Outcome.UNSIGNED);

    private final List<String> texts;
    private final List<CardTrust> keys;

    private TrustedKeys(List<String> texts) {
        this.texts = texts;
        this.keys = texts.isEmpty()
                ? List.of(CardTrust.none())
                : texts.stream().map(CardTrust::of).toList();
    }

    /**
     * @throws UncheckedIOException if a file cannot be read
     * @throws IllegalArgumentException if a file holds anything else than keys
     */
    static TrustedKeys read(List<Path> files, HubSignatures hub) {
        var texts = new ArrayList<String>(hub.keys().stream().toList());
        for (Path file : files) {
            try {
                texts.add(Files.readString(file));
            } catch (IOException unreadable) {
                throw new UncheckedIOException("registry-trust: cannot read " + file, unreadable);
            }
        }
        return new TrustedKeys(List.copyOf(texts));
    }

    /** Text that is another one if the keys are others. */
    String fingerprint() {
        return Sha256.hex(String.join("\n", texts));
    }

    /** The first time after {@code now} at which a key becomes valid or expires. */
    Optional<Instant> nextChange(Instant now) {
        return texts.stream()
                .filter(text -> text.stripLeading().startsWith("{"))
                .flatMap(TrustedKeys::times)
                .filter(now::isBefore)
                .min(Instant::compareTo);
    }

    private static Stream<Instant> times(String text) {
        try {
            Map<?, ?> tree = Json.read(text.getBytes(UTF_8), Map.class);
            List<?> keys = tree.get("keys") instanceof List<?> set ? set : List.of(tree);
            return keys.stream()
                    .flatMap(key -> key instanceof Map<?, ?> jwk
                            ? Stream.of("exp", "nbf").map(jwk::get)
                            : Stream.of())
                    .filter(Number.class::isInstance)
                    .map(time -> Instant.ofEpochSecond(((Number) time).longValue()));
        } catch (A2AException another) {
            return Stream.of();
        }
    }

    /** The decisive one of the verdicts by all keys. */
    Verdict judge(Function<CardTrust, Verdict> question) {
        List<Verdict> verdicts = keys.stream().map(question).toList();
        for (Outcome outcome : DECISIVE) {
            for (Verdict verdict : verdicts) {
                if (verdict.outcome() == outcome) {
                    return verdict;
                }
            }
        }
        return new Verdict(Outcome.UNVERIFIABLE, null, "no key is trusted");
    }
}
