package dev.parley.mcp.client;

import dev.parley.mcp.McpException;
import dev.parley.mcp.client.McpClient.Limits;
import dev.parley.mcp.client.McpClient.Server;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.Message;
import dev.parley.mcp.wire.Revision;
import dev.parley.mcp.wire.ServerModel;
import dev.parley.mcp.wire.ServerModel.Initialize;
import dev.parley.mcp.wire.Trees;
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
    private final Connection connection;
    private final Limits limits;
    private final @Nullable Revision pinned;

    /** @param pinned the only revision that is offered; null to search */
    Handshake(Connection connection, Limits limits, @Nullable Revision pinned) {
        this.connection = connection;
        this.limits = limits;
        this.pinned = pinned;
    }

    /** Agrees on a revision. */
    void run(Revision newest) throws InterruptedException {
        Optional<Server> present = newest.isStateless() ? discovered() : Optional.empty();
        if (present.isPresent()) {
            connection.found(present.get());
        } else {
            initialize(newest.isStateless() ? Revision.V2025_11_25 : newest);
        }
    }

    /** Empty for a server of the older era, unless the revision is pinned. */
    private Optional<Server> discovered() throws InterruptedException {
        var present = new Server(Revision.V2026_07_28, false);
        connection.found(present);
        Map<String, @Nullable Object> found;
        try {
            found = discovery();
        } catch (McpException refused) {
            return isOfPresentEra(refused) ? Optional.of(present) : olderEra(refused);
        } catch (ServerFailure failure) {
            boolean isSilent = failure.kind() == Kind.TIMEOUT;
            if (isSilent || UnusableAnswer.isOfClient(failure)) {
                return olderEra(failure);
            }
            throw failure;
        }
        List<String> versions = Trees.texts(found, "supportedVersions");
        if (!versions.contains(present.revision().text())) {
            return olderEra(new ServerFailure(
                    Kind.INVALID_RESPONSE,
                    "protocolVersion \"2026-07-28\": unsupported by the server, which has " + versions));
        }
        return Optional.of(server(present.revision(), found));
    }

    private Optional<Server> olderEra(RuntimeException refusal) {
        if (pinned != null) {
            throw refusal;
        }
        return Optional.empty();
    }

    private Map<String, @Nullable Object> discovery() throws InterruptedException {
        try {
            return connection.request("server/discover", Map.of(), limits.discovery());
        } catch (McpException refused) {
            if (refused.code() == McpException.UNSUPPORTED_VERSION && isOfPresentEra(refused)) {
                return connection.request("server/discover", Map.of(), limits.discovery());
            }
            throw refused;
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

    private static Server server(Revision revision, Map<String, @Nullable Object> answer) {
        Map<String, @Nullable Object> tools = Trees.map(Trees.map(answer, "capabilities"), "tools");
        return new Server(revision, Boolean.TRUE.equals(tools.get("listChanged")));
    }

    /** Begins a session; a server that refuses the revision is offered the one before. */
    private void initialize(Revision wanted) throws InterruptedException {
        connection.found(new Server(wanted, false));
        Map<String, @Nullable Object> answer;
        try {
            answer = connection.request(
                    "initialize",
                    Trees.of(
                            ServerModel.INITIALIZE,
                            new Initialize(wanted.text(), Connection.LEGACY_CAPABILITIES, Connection.SELF)),
                    limits.request());
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
        connection.found(server(revision, answer));
        connection.transport().send(new Message.Notification("notifications/initialized", Map.of()));
        connection.transport().follow();
    }
}
