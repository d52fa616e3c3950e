package dev.parley.registry;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.protocol.extension.MethodCall;
import java.util.List;
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

    /** The rows. Over REST, the operations have the addresses of their protocols only. */
    static List<ExtensionMethod<?, ?>> rows() {
        return NAMES.stream()
                .sorted()
                .<ExtensionMethod<?, ?>>map(FaceProtocol::row)
                .toList();
    }

    private static ExtensionMethod<MethodCall, Object> row(String name) {
        JsonForm<MethodCall> request = JsonForm.object(params -> new MethodCall(name, params), MethodCall::params);
        return ExtensionMethod.call(name, MethodCall.class, request, ANY);
    }
}
