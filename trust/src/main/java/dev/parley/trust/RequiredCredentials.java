package dev.parley.trust;

import static dev.parley.trust.ResourceMetadata.AUTHORIZE_PATH;
import static dev.parley.trust.ResourceMetadata.SERVER_PATH;
import static dev.parley.trust.ResourceMetadata.TOKEN_PATH;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.SecurityScheme.Flow;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.tokens.Issuer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Required credentials of agents, on cards and in challenges.
 *
 * @param service prefix of the names of security schemes
 * @param flows to get tokens of issuers
 * @param keyHeader header of API keys
 * @param hasClients whether the hub has OAuth clients that act for themselves
 * @param hasUsers whether users can sign in
 * @param hub the address of the hub
 * @param namesMetadata whether cards name the metadata of the hub's token endpoint: a preview of A2A 1.1
 */
record RequiredCredentials(
        String service,
        List<String> issuers,
        List<SecurityScheme.Flow> flows,
        String keyHeader,
        boolean hasClients,
        boolean hasUsers,
        Supplier<String> hub,
        boolean namesMetadata) {
    /** Adds security schemes and requirements to the card of an agent. */
    AgentCard declared(AgentCard card, Authentication wanted) {
        var schemes = new LinkedHashMap<String, SecurityScheme>();
        var requirements = new ArrayList<SecurityRequirement>();
        for (Scheme scheme : wanted.schemes()) {
            List<String> scopes = scheme == Scheme.OAUTH2 ? List.copyOf(wanted.scopes()) : List.of();
            for (SecurityScheme one : declared(scheme, wanted)) {
                String label = service + "." + scheme.label();
                String name = schemes.isEmpty() ? service : label;
                for (int next = 2; schemes.putIfAbsent(name, one) != null; next++) {
                    name = label + "." + next;
                }
                requirements.add(new SecurityRequirement(Map.of(name, scopes)));
            }
        }
        if (!schemes.isEmpty() && wanted.isOpen()) {
            requirements.add(new SecurityRequirement(Map.of()));
        }
        return card.withSecurity(schemes, requirements)
                .withSkills(card.skills().stream()
                        .map(skill -> declared(skill, schemes.keySet()))
                        .toList());
    }

    /**
     * A skill with the scopes that it asks for, under the schemes of this hub: its agent does not know what they are called.
     */
    private static Skill declared(Skill skill, Set<String> schemes) {
        if (skill.securityRequirements().isEmpty()) {
            return skill;
        }
        var requirements = new ArrayList<SecurityRequirement>();
        for (SecurityRequirement one : skill.securityRequirements()) {
            List<String> scopes =
                    one.schemes().values().stream().flatMap(List::stream).toList();
            schemes.forEach(scheme -> requirements.add(new SecurityRequirement(Map.of(scheme, scopes))));
        }
        return skill.withSecurity(requirements);
    }

    /** Entries of a scheme on cards; OpenID Connect has one for each issuer. */
    private List<SecurityScheme> declared(Scheme scheme, Authentication wanted) {
        return switch (scheme) {
            case NONE, CONTAINER -> List.of(); // how a container authenticates is not known here
            case API_KEY -> List.of(new SecurityScheme.ApiKey(null, "header", keyHeader));
            case BEARER -> List.of(new SecurityScheme.HttpAuth(null, "Bearer", null));
            case BASIC -> List.of(new SecurityScheme.HttpAuth(null, "Basic", null));
            case MUTUAL_TLS -> List.of(new SecurityScheme.MutualTls(null));
            case OPEN_ID ->
                Stream.concat(
                                issuers.stream()
                                        .map(issuer ->
                                                new SecurityScheme.OpenIdConnect(null, Issuer.discovery(issuer))),
                                flows.stream().map(flow -> new SecurityScheme.OAuth2(null, flow, null)))
                        .<SecurityScheme>map(one -> one)
                        .toList();
            case OAUTH2 -> {
                var scopes = new LinkedHashMap<String, String>();
                wanted.scopes().forEach(scope -> scopes.put(scope, "needed to call this agent"));
                String metadata = namesMetadata && (hasClients || hasUsers) ? hub.get() + SERVER_PATH : null;
                yield flows(scopes).stream()
                        .<SecurityScheme>map(flow -> new SecurityScheme.OAuth2(null, flow, metadata))
                        .toList();
            }
        };
    }

    /** The flows by which the hub makes tokens. */
    private List<Flow> flows(Map<String, String> scopes) {
        String token = hub.get() + TOKEN_PATH;
        var own = new ArrayList<Flow>();
        if (hasClients || !hasUsers) {
            own.add(new Flow.ClientCredentials(token, null, scopes));
        }
        if (hasUsers) {
            own.add(new Flow.AuthorizationCode(hub.get() + AUTHORIZE_PATH, token, token, scopes, true));
        }
        return own;
    }

    /** Returns the value of {@code WWW-Authenticate}. Source: RFC 6750, section 3; RFC 9728, section 5.1. */
    String challenge(Authentication wanted, String why) {
        var challenges = new ArrayList<String>();
        if (wanted.takes(Scheme.API_KEY)) {
            challenges.add("ApiKey realm=\"parley\", header=\"" + keyHeader + '"');
        }
        if (wanted.takesTokens()) {
            String scope = wanted.scopes().isEmpty() || why.contains("scope=")
                    ? ""
                    : ", scope=\"" + String.join(" ", new TreeSet<>(wanted.scopes())) + '"';
            challenges.add("Bearer realm=\"parley\"" + why + scope + ", resource_metadata=\"" + hub.get()
                    + ResourceMetadata.PATH + '"');
        }
        if (wanted.takes(Scheme.BASIC)) {
            challenges.add("Basic realm=\"parley\"");
        }
        if (wanted.takes(Scheme.MUTUAL_TLS)) {
            challenges.add("Mutual realm=\"parley\"");
        }
        return String.join(", ", challenges);
    }

    /** A refusal with the challenge, if there is one. */
    A2AException refusal(A2AError error, String message, Authentication wanted, String why) {
        String challenge = challenge(wanted, why);
        return challenge.isEmpty() ? A2AException.of(error, message) : A2AException.refused(error, message, challenge);
    }
}
