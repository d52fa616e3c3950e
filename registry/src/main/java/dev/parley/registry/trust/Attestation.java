package dev.parley.registry.trust;

import dev.parley.dialect.Json;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CardVerifier.Outcome;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.registry.CompactJws;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.TeeOutcome;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.trust.TrustManifest.Finding;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A trusted execution environment that a card declares.
 *
 * @param type such as {@code Intel SGX}
 * @param endpoint address of its attestation; null if the card names none
 */
record Attestation(String type, @Nullable String endpoint) {
    private static final int SHOWN = 60;

    /** Verdict on an attestation. */
    record Finding(TeeOutcome outcome, String reason) {}

    /** The environment that a document declares in {@code capabilities.teeDetails}; null if it declares none. */
    static @Nullable Attestation declared(byte[] document) {
        try {
            return Json.read(document, Map.class).get("capabilities") instanceof Map<?, ?> capabilities
                            && capabilities.get("teeDetails") instanceof Map<?, ?> details
                    ? new Attestation(
                            shown(String.valueOf(details.get("type"))),
                            details.get("attestationEndpoint") instanceof String url ? url : null)
                    : null;
        } catch (A2AException noJson) {
            return null;
        }
    }

    /**
     * Fetches the attestation. It is verified if it is a JWS by a trusted key, about this entry, and of now: evidence in the formats of
     * hardware vendors is not read.
     */
    Finding check(Fetch fetch, TrustedKeys trusted, Entry entry, Instant now) throws InterruptedException {
        if (endpoint == null) {
            return new Finding(TeeOutcome.UNVERIFIED, "the card names no attestation endpoint");
        }
        Document answer;
        try {
            answer = fetch.get(entry.ownership().group(), endpoint);
        } catch (IOException | A2AException failure) {
            return new Finding(TeeOutcome.FAILED, String.valueOf(failure.getMessage()));
        }
        if (answer.status() != 200) {
            return new Finding(TeeOutcome.FAILED, "the attestation endpoint answered with status " + answer.status());
        }
        CompactJws evidence;
        try {
            evidence = CompactJws.read(new String(answer.body(), StandardCharsets.ISO_8859_1));
        } catch (IllegalArgumentException another) {
            return new Finding(
                    TeeOutcome.UNVERIFIED,
                    "evidence of " + type + " is not verified: " + answer.body().length + " bytes of "
                            + shown(answer.mediaType()) + ", " + CardReader.digest(answer.body()));
        }
        Verdict verdict = trusted.judge(keys -> keys.verify(evidence.payload(), evidence.detached(), null));
        if (!verdict.isVerified()) {
            return new Finding(
                    verdict.outcome() == Outcome.TAMPERED ? TeeOutcome.FAILED : TeeOutcome.UNVERIFIED,
                    "attestation: " + verdict.reason());
        }
        return claims(evidence.payload(), entry, now, verdict.reason());
    }

    private static Finding claims(byte[] payload, Entry entry, Instant now, String signed) {
        Map<?, ?> claims;
        try {
            claims = Json.read(payload, Map.class);
        } catch (A2AException noJson) {
            return new Finding(TeeOutcome.FAILED, "the attestation has no claims");
        }
        if (!(claims.get("exp") instanceof Number exp) || now.getEpochSecond() >= exp.longValue()) {
            return new Finding(TeeOutcome.FAILED, "the attestation has expired, or has no expiry");
        }
        String subject = String.valueOf(claims.get("sub"));
        boolean isOfEntry = subject.equals(entry.id())
                || subject.equals(entry.resource().digest())
                || entry.resource().endpoints().stream()
                        .anyMatch(one -> one.url().equals(subject));
        return isOfEntry
                ? new Finding(TeeOutcome.VERIFIED, "attestation: " + signed)
                : new Finding(TeeOutcome.FAILED, "the attestation is about another subject: " + shown(subject));
    }

    private static String shown(String text) {
        String line = text.replaceAll("\\p{Cntrl}", "?");
        return line.length() <= SHOWN ? line : line.substring(0, SHOWN) + "…";
    }
}
