package dev.parley.gateway.route;

import dev.parley.client.spi.ClientException;
import dev.parley.gateway.credentials.GatewayCredentials;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.A2AException.Violation;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.support.TemporaryFailure;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Failures of a remote agent as callers see them: without its address and its credentials, and without errors that are about the gateway.
 *
 * @param agent name of the route
 * @param hidden texts that callers must not see, in lower case
 */
record RemoteFailures(String agent, List<String> hidden) {
    /** URLs with a name of several labels, which is not one of a local network as a rule. */
    private static final Pattern OUTSIDE =
            Pattern.compile("https?://([a-z0-9-]+\\.)+[a-z]{2,}(:\\d+)?(/.*)?", Pattern.CASE_INSENSITIVE);

    private static final String ELSEWHERE =
            "Invalid agent response: the agent redirects to another address (the log of the gateway names it)";

    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** Returns the error for the caller. */
    A2AException shown(RuntimeException failure) {
        return switch (failure) {
            case A2AException answer -> shown(answer);
            case ClientException problem -> shown(problem);
            case RuntimeException other
            when other instanceof TemporaryFailure ->
                A2AException.unavailable("The agent cannot be called at present", PAUSE)
                        .causedBy(other);
            default -> A2AException.of(A2AError.INTERNAL).causedBy(failure);
        };
    }

    private A2AException shown(A2AException answer) {
        ErrorKind error = answer.error();
        if (answer.getCause() instanceof ClientException redirect
                && redirect.problem() == ClientException.Problem.REDIRECTED) {
            return elsewhere(redirect).causedBy(redirect); // of a replica
        }
        if (GatewayCredentials.NO_TOKEN.equals(answer.getMessage())) {
            return A2AException.of(A2AError.PERMISSION_DENIED, GatewayCredentials.NO_TOKEN);
        }
        if (error == A2AError.UNAUTHENTICATED || error == A2AError.PERMISSION_DENIED) {
            LOG.log(
                    Level.WARNING,
                    "agent {0}: refuses the credentials of the gateway: {1}",
                    agent,
                    answer.getMessage());
            return A2AException.unavailable("The agent refuses the credentials of the gateway", PAUSE);
        }
        if (error == A2AError.METHOD_NOT_FOUND || error == A2AError.METHOD_NOT_ALLOWED) {
            return A2AException.of(A2AError.UNSUPPORTED_OPERATION).causedBy(answer);
        }
        if (error == A2AError.PARSE_ERROR || error == A2AError.VERSION_NOT_SUPPORTED) {
            return A2AException.of(A2AError.INVALID_AGENT_RESPONSE).causedBy(answer);
        }
        String message = String.valueOf(answer.getMessage());
        var metadata = new HashMap<>(answer.metadata());
        metadata.values().removeIf(this::isHidden);
        List<Violation> violations = answer.violations().stream()
                .filter(one -> !isHidden(one.field()) && !isHidden(one.description()))
                .toList();
        return A2AException.of(
                        error,
                        bare(message, error.defaultMessage()),
                        Map.copyOf(metadata),
                        violations,
                        answer.retryAfter())
                .causedBy(answer);
    }

    /** A message up to details with addresses, such as those of a chain of agents. */
    private String bare(String message, String otherwise) {
        if (!isHidden(message)) {
            return message;
        }
        int details = message.indexOf(": ");
        String problem = details < 0 ? "" : message.substring(0, details);
        return problem.isEmpty() || isHidden(problem) ? otherwise : problem;
    }

    private A2AException shown(ClientException problem) {
        LOG.log(Level.WARNING, "agent {0}: {1}: {2}", agent, problem.problem(), problem.getMessage());
        A2AException shown = switch (problem.problem()) {
            case UNREACHABLE, LOST, STREAM_CUT, CLOSED ->
                A2AException.unavailable("The agent cannot be reached at present", PAUSE);
            case TIMED_OUT -> A2AException.unavailable("The agent did not answer in time", PAUSE);
            case AUTHENTICATION_FAILED, LOGIN_EXPIRED, NO_TOKEN, KEYS, PLAIN_HTTP ->
                A2AException.unavailable("The gateway has no credentials for the agent", PAUSE);
            case INTERRUPTED -> {
                Thread.currentThread().interrupt();
                yield A2AException.unavailable("The gateway is stopping", PAUSE);
            }
            case REDIRECTED -> elsewhere(problem);
            case ANSWER_TOO_LARGE, ORIGIN_NOT_ALLOWED, CARD_NOT_FOUND, CARD_INVALID, CARD_NOT_VERIFIED, NO_INTERFACE ->
                invalid(problem.problem());
        };
        return shown.causedBy(problem);
    }

    /**
     * Names the target of a redirect without its query, unless it may be an address of the network of the gateway, which only the log
     * has.
     */
    private A2AException elsewhere(ClientException redirect) {
        return redirect.target()
                .map(target -> target.replaceFirst("[?#].*", ""))
                .filter(target -> OUTSIDE.matcher(target).matches() && !isHidden(target))
                .map(target -> A2AException.of(
                        A2AError.INVALID_AGENT_RESPONSE, "Invalid agent response: redirected to " + target))
                .orElseGet(() -> A2AException.of(A2AError.INVALID_AGENT_RESPONSE, ELSEWHERE));
    }

    private static A2AException invalid(ClientException.Problem problem) {
        String name = problem.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return A2AException.of(A2AError.INVALID_AGENT_RESPONSE, "Invalid agent response: " + name);
    }

    private boolean isHidden(@Nullable String text) {
        String lower = text == null ? "" : text.toLowerCase(Locale.ROOT);
        return hidden.stream().anyMatch(lower::contains);
    }
}
