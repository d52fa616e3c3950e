package dev.parley.registry.vault;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Requests of AgentVault's clients below a path of the hub, with and without a slash at their ends.
 *
 * @param root path of the hub
 */
record VaultFace(String root) implements WireFace {
    /** Accounts are those of the registry, not those of the hub. */
    @Override
    public boolean isPublic(WireRequest request) {
        return true;
    }

    @Override
    public boolean isForAllOrigins() {
        return true;
    }

    @Override
    public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
        String path = root + request.path().replaceFirst("/$", "");
        boolean isKnown = false;
        for (VaultRoute route : VaultRoute.ALL) {
            Optional<String> variable = route.match(path);
            if (variable.isPresent() && route.method().equals(request.method())) {
                var call = new VaultCall(route, VaultRequest.of(request, variable.get()));
                return WireCall.of(call, answer -> answer);
            }
            isKnown |= variable.isPresent();
        }
        throw isKnown
                ? A2AException.notAllowed(request.method(), allowed(path))
                : A2AException.of(A2AError.METHOD_NOT_FOUND);
    }

    private static String allowed(String path) {
        return VaultRoute.ALL.stream()
                .filter(route -> route.match(path).isPresent())
                .map(VaultRoute::method)
                .distinct()
                .collect(Collectors.joining(", "));
    }

    @Override
    public WireAnswer.Whole error(WireRequest request, A2AException problem) {
        int status = problem.error() == A2AError.METHOD_NOT_FOUND
                ? 404
                : problem.error().httpStatus();
        String detail = switch (status) {
            case 404 -> "Not Found";
            case 405 -> "Method Not Allowed";
            case 500 -> "Internal Server Error";
            default -> String.valueOf(problem.getMessage());
        };
        return new WireAnswer.Whole(status, Map.of("Content-Type", Headers.JSON), Json.write(Map.of("detail", detail)));
    }
}
