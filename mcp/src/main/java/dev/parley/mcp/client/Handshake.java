package dev.parley.mcp.client;

import dev.parley.mcp.McpException;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.ServerModel;
import dev.parley.mcp.wire.ServerModel.Initialize;
import dev.parley.mcp.wire.Trees;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a server speaks the present revision, where each request stands for itself, or an older one, which begins with
 * {@code initialize}.
 */
final class Handshake {
    /** Wait for the answer to the discovery after a server has refused a session; most servers answer in order. */
    private static final Duration LATE = Duration.ofSeconds(1);

    private final McpConnection connection;
    private final Duration discovery;
    private final Duration request;
    private final @Nullable Revision pinned;
    private @Nullable ClientExchange unanswered; // the discovery, if it had no answer in time

    /**
     * @param discovery wait for the answer of a server that may be of the older era
     * @param request wait for other answers
     * @param pinned the only revision that is offered; null to search
     */
    Handshake(McpConnection connection, Duration discovery, Duration request, @Nullable Revision pinned) {
        this.connection = connection;
        this.discovery = discovery;
        this.request = request;
        this.pinned = pinned;
    }

    /** Agrees on a revision. */
    void run(Revision newest) throws InterruptedException {
        try {
            if (!newest.isStateless()) {
                initialize(newest);
            } else if (!isPresent()) {
                initializeOrHear();
            }
        } finally {
            if (unanswered != null) {
                unanswered.close();
            }
        }
    }

    /** Begins a session. A server of the present revision that was slow to start answers the discovery, and refuses the session. */
    private void initializeOrHear() throws InterruptedException {
        try {
            initialize(Revision.V2025_11_25);
        } catch (McpException refused) {
            if (unanswered == null || !hasAnsweredLate(unanswered)) {
                throw refused;
            }
        }
    }

    private boolean hasAnsweredLate(ClientExchange exchange) throws InterruptedException {
        try {
            Map<String, @Nullable Object> found =
                    McpConnection.result(connection.await(exchange, LATE, Progress.NONE, false));
            connection.revision(Revision.V2026_07_28);
            return isOfPresentEra(found);
        } catch (McpException | ServerFailure none) {
            return false; // the refusal of the session is reported
        }
    }

    /** Whether the server speaks the present revision; a pinned one has to. */
    private boolean isPresent() throws InterruptedException {
        connection.revision(Revision.V2026_07_28);
        Map<String, @Nullable Object> found;
        try {
            found = discovered();
        } catch (McpException refused) {
            return isOfPresentEra(refused) || olderEra(refused);
        } catch (ServerFailure failure) {
            if (failure.kind() == Kind.TIMEOUT || UnusableAnswer.isOfClient(failure)) {
                return olderEra(failure);
            }
            throw failure;
        }
        return isOfPresentEra(found);
    }

    private boolean isOfPresentEra(Map<String, @Nullable Object> found) {
        List<String> versions = Trees.texts(found, "supportedVersions");
        if (!versions.contains(Revision.V2026_07_28.text())) {
            return olderEra(new ServerFailure(
                    Kind.INVALID_RESPONSE,
                    "protocolVersion \"2026-07-28\": unsupported by the server, which has " + versions));
        }
        connection.described(found);
        return true;
    }

    /** False for a server of the older era, unless the revision is pinned. */
    private boolean olderEra(RuntimeException refusal) {
        if (pinned != null) {
            throw refusal;
        }
        return false;
    }

    private Map<String, @Nullable Object> discovered() throws InterruptedException {
        try {
            return asked();
        } catch (McpException refused) {
            if (refused.code() == McpException.UNSUPPORTED_VERSION && isOfPresentEra(refused)) {
                return asked();
            }
            throw refused;
        }
    }

    /** The answer to the discovery, which stays open if it has none in time. */
    private Map<String, @Nullable Object> asked() throws InterruptedException {
        ClientExchange exchange = connection.exchange();
        boolean isLate = false;
        try {
            connection.begin(exchange, "server/discover", Map.of(), Map.of());
            return McpConnection.result(connection.await(exchange, discovery, Progress.NONE, false));
        } catch (ServerFailure failure) {
            isLate = failure.kind() == Kind.TIMEOUT;
            throw failure;
        } finally {
            if (isLate) {
                unanswered = exchange;
            } else {
                exchange.close();
            }
        }
    }

    /** Servers of the older era do not know the method, or refuse requests before {@code initialize}, with any code. */
    private static boolean isOfPresentEra(McpException refused) {
        return switch (refused.code()) {
            case McpException.UNSUPPORTED_VERSION -> supportsPresent(refused);
            case McpException.HEADER_MISMATCH, McpException.MISSING_CLIENT_CAPABILITY -> throw refused;
            default -> false;
        };
    }

    /** Whether a refusal of a version names the present one among those that are supported. */
    static boolean supportsPresent(McpException refused) {
        return Trees.texts(refused.data(), "supported").contains(Revision.V2026_07_28.text());
    }

    /** Begins a session; a server that refuses the revision is offered the one before. */
    private void initialize(Revision wanted) throws InterruptedException {
        connection.revision(wanted);
        Map<String, @Nullable Object> answer;
        try {
            answer = connection.request(
                    "initialize",
                    Trees.of(
                            ServerModel.INITIALIZE,
                            new Initialize(wanted.text(), McpConnection.LEGACY_CAPABILITIES, McpConnection.SELF)),
                    request);
        } catch (McpException refused) {
            boolean isOfVersion = refused.code() == McpException.UNSUPPORTED_VERSION
                    || String.valueOf(refused.getMessage())
                            .toLowerCase(Locale.ROOT)
                            .contains("version");
            if (isOfVersion && pinned == null && wanted == Revision.V2025_11_25) {
                initialize(Revision.V2025_06_18);
                return;
            }
            throw refused;
        }
        String version = String.valueOf(answer.get("protocolVersion"));
        Revision revision = Revision.of(version)
                .filter(each -> !each.isStateless())
                .or(() -> version.equals("2025-03-26") || version.equals("2024-11-05")
                        ? Optional.of(Revision.V2025_06_18) // whose messages are the same as far as they are used here
                        : Optional.empty())
                .orElseThrow(() -> new ServerFailure(
                        Kind.INVALID_RESPONSE, "protocolVersion \"" + version + "\": unsupported by this client"));
        connection.revision(revision);
        connection.described(answer);
        connection.transport.send(new McpMessage.Notification("notifications/initialized", Map.of()));
        connection.transport.follow();
    }
}
