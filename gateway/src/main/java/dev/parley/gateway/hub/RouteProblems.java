package dev.parley.gateway.hub;

import dev.parley.client.spi.ClientException;
import dev.parley.protocol.A2AException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Reasons why routes are not hosted as their rows say: for operators, and for callers of routes that wait. Safe for any thread. */
final class RouteProblems {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final String BEING_READ = "its card is being read";

    /** Pause that callers of a waiting route are told. */
    private static final Duration RETRY_SOON = Duration.ofSeconds(1);

    private final BooleanSupplier isOpen;
    private final Map<String, String> problems = new ConcurrentHashMap<>();
    /** Reasons, for callers, of routes that are not hosted yet. */
    private final Map<String, String> waiting = new ConcurrentHashMap<>();

    /** @param isOpen false once failures are no news */
    RouteProblems(BooleanSupplier isOpen) {
        this.isOpen = isOpen;
    }

    /** The routes wait for their cards, unless they wait already. */
    void await(Collection<String> names) {
        names.forEach(name -> waiting.putIfAbsent(name, BEING_READ));
    }

    void fail(String name, RuntimeException failure) {
        waiting.computeIfPresent(name, (route, before) -> reason(failure));
        String problem = String.valueOf(failure.getMessage());
        if (problem.equals(problems.put(name, problem))) {
            return; // logged before
        }
        if (isOpen.getAsBoolean()) {
            LOG.log(Level.WARNING, "route {0}: {1}", name, problem);
        }
    }

    /** A problem without the addresses in it, which callers must not see. */
    private static String reason(RuntimeException failure) {
        return switch (failure) {
            case ClientException problem ->
                switch (problem.problem()) {
                    case CARD_NOT_FOUND -> "it has no card";
                    case CARD_INVALID -> "its card cannot be read";
                    case CARD_NOT_VERIFIED -> "its card is not signed as required";
                    case TIMED_OUT -> "it does not answer in time";
                    case REDIRECTED -> "its card is elsewhere";
                    case NO_INTERFACE -> "its card names no interface that can be called";
                    case ORIGIN_NOT_ALLOWED -> "its address is not allowed";
                    default -> "it cannot be reached";
                };
            default -> "its card cannot be used";
        };
    }

    /** The route has no problem any more. */
    void solve(String name) {
        problems.remove(name);
    }

    /** The route is hosted. */
    void host(String name) {
        waiting.remove(name);
    }

    /** Forgets routes that are gone. */
    void forget(Predicate<String> gone) {
        problems.keySet().removeIf(gone);
        waiting.keySet().removeIf(gone);
    }

    /** Routes that are not hosted as their rows say, with the reasons; empty if all are. */
    Optional<String> all() {
        String all = problems.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(problem -> problem.getKey() + ": " + problem.getValue())
                .collect(Collectors.joining("; "));
        return all.isEmpty() ? Optional.empty() : Optional.of(all);
    }

    /** Why a route is not hosted as its row says; empty if it is. */
    String of(String name) {
        return problems.getOrDefault(name, "");
    }

    /** The refusal of a route that is not hosted yet, with the reason; empty for other names. */
    Optional<A2AException> refusal(String name) {
        return Optional.ofNullable(waiting.get(name))
                .map(reason -> A2AException.unavailable(
                        "The agent \"" + name + "\" cannot be called yet: " + reason, RETRY_SOON));
    }
}
