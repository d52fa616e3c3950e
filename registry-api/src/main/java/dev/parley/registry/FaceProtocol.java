package dev.parley.registry;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.JsonForm;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Operations of a registry behind ARD, AI Catalog, the MCP registry and the API catalog. */
public final class FaceProtocol {
    public static final String ARD_SEARCH = "registry/ard/search";
    public static final String ARD_EXPLORE = "registry/ard/explore";
    public static final String ARD_LIST = "registry/ard/list";
    public static final String ARD_SHOW = "registry/ard/show";
    public static final String CATALOG = "registry/catalog";
    public static final String MCP_LIST = "registry/mcp/list";
    public static final String MCP_SHOW = "registry/mcp/show";
    public static final String APIS = "registry/apis";
    public static final String IDENTITY = "registry/identity";
    public static final String HOST_CARD = "registry/card/host";

    /** Binding of addresses at which agents are servers of MCP. */
    public static final String MCP_BINDING = "MCP";

    /** The operations: all of them read, and callers without credentials may call them. */
    public static final Set<String> NAMES =
            Set.of(ARD_SEARCH, ARD_EXPLORE, ARD_LIST, ARD_SHOW, CATALOG, MCP_LIST, MCP_SHOW, APIS, IDENTITY, HOST_CARD);

    private static final JsonForm<Object> ANY = new JsonForm<>() {
        @Override
        public Object fromJson(@Nullable Object json) {
            return requireNonNull(json, "json");
        }

        @Override
        public Object toJson(Object value) {
            return value;
        }
    };

    private FaceProtocol() {}

    /**
     * A request of another protocol, which its operation reads.
     *
     * @param name one of {@link #NAMES}
     * @param params members of the request, and variables of its address
     */
    public record FaceCall(String name, Map<String, @Nullable Object> params)
            implements Operation.ExtensionCall<Object> {}

    private static ExtensionMethod<FaceCall, Object> row(String name) {
        JsonForm<FaceCall> request = JsonForm.object(params -> new FaceCall(name, params), FaceCall::params);
        return ExtensionMethod.call(name, FaceCall.class, request, ANY);
    }

    /** The rows. Over REST, the operations have the addresses of their protocols only. */
    public static final List<ExtensionMethod<FaceCall, Object>> ROWS =
            NAMES.stream().sorted().map(FaceProtocol::row).toList();
}
