package dev.parley.registry.vault;

import static dev.parley.registry.vault.ValueRules.anyObject;
import static dev.parley.registry.vault.ValueRules.list;
import static dev.parley.registry.vault.ValueRules.object;
import static dev.parley.registry.vault.ValueRules.oneOf;
import static dev.parley.registry.vault.ValueRules.optional;
import static dev.parley.registry.vault.ValueRules.required;
import static dev.parley.registry.vault.ValueRules.text;
import static dev.parley.registry.vault.ValueRules.truth;
import static dev.parley.registry.vault.ValueRules.url;

import dev.parley.registry.vault.ValueRules.Faults;
import dev.parley.registry.vault.ValueRules.Rule;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rules of a card of AgentVault. Further members are allowed, and kept. */
final class CardForm {
    private static final Rule WEB = url("http", "https");
    private static final Rule TEXTS = list(0, text());

    private static final Rule ENDPOINT = (value, faults) -> {
        url().check(value, faults);
        if (value instanceof String text && ValueRules.uri(text) != null && !isSafe(text)) {
            faults.add("value_error", "Value error, Agent URL must use HTTPS unless it is localhost", value);
        }
    };

    private static final Rule SCHEME = object(
            (scheme, faults) -> {
                if ("oauth2".equals(ValueRules.members(scheme).get("scheme"))
                        && ValueRules.text(ValueRules.members(scheme), "tokenUrl") == null) {
                    faults.add("value_error", "Value error, 'tokenUrl' is required when scheme is 'oauth2'", scheme);
                }
            },
            required("scheme", oneOf("apiKey", "bearer", "oauth2", "none")),
            optional("description", text()),
            optional("tokenUrl", WEB),
            optional("scopes", TEXTS),
            optional("service_identifier", text()));

    private static final Rule TEE = object(
            required("type", text()),
            optional("attestationEndpoint", WEB),
            optional("publicKey", text()),
            optional("description", text()));

    private static final Rule CARD = object(
            required("schemaVersion", text()),
            required("humanReadableId", ValueRules.line(1, 200)),
            required("agentVersion", text()),
            required("name", ValueRules.line(1, 200)),
            required("description", text()),
            required("url", ENDPOINT),
            required(
                    "provider",
                    object(required("name", text()), optional("url", WEB), optional("support_contact", text()))),
            required(
                    "capabilities",
                    object(
                            required("a2aVersion", text()),
                            optional("mcpVersion", text()),
                            optional("supportedMessageParts", TEXTS),
                            optional("teeDetails", TEE),
                            optional("supportsPushNotifications", truth()))),
            required("authSchemes", list(1, SCHEME)),
            optional(
                    "skills",
                    list(
                            0,
                            object(
                                    required("id", text()),
                                    required("name", text()),
                                    required("description", text()),
                                    optional("input_schema", anyObject()),
                                    optional("output_schema", anyObject())))),
            optional("tags", TEXTS),
            optional("privacyPolicyUrl", WEB),
            optional("termsOfServiceUrl", WEB),
            optional("iconUrl", WEB),
            optional("lastUpdated", text()));

    private CardForm() {}

    /** The faults of a card as a text; empty for a valid one. */
    static Optional<String> problem(@Nullable Object card) {
        Faults faults = Faults.at();
        CARD.check(card, faults);
        return faults.isEmpty() ? Optional.empty() : Optional.of(faults.text("AgentCard"));
    }

    private static boolean isSafe(String text) {
        URI url = ValueRules.uri(text);
        return url != null
                && ("https".equals(url.getScheme())
                        || "http".equals(url.getScheme()) && "localhost".equals(url.getHost()));
    }
}
