package dev.parley.protocol.json;

import dev.parley.protocol.extension.ExtensionProtocol;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** The extensions that modules of the program provide, and the codecs of their values, those of A2A among them. */
public final class InstalledExtensions {
    private static final List<ExtensionProtocol> PROTOCOLS = new ArrayList<>();
    private static final Map<Class<?>, Codec<?>> CODECS = new HashMap<>();

    static {
        for (ExtensionProtocol.Provider provider :
                ServiceLoader.load(ExtensionProtocol.Provider.class, InstalledExtensions.class.getClassLoader())) {
            PROTOCOLS.addAll(provider.protocols());
            provider.values().forEach((type, form) -> CODECS.put(type, TreeCodec.of(form)));
        }
    }

    private InstalledExtensions() {}

    public static List<ExtensionProtocol> protocols() {
        return PROTOCOLS;
    }

    /**
     * Returns the codec of a class of values.
     *
     * @throws IllegalArgumentException if it has none
     */
    public static <T> Codec<T> codec(Class<? extends T> type) {
        @Nullable Codec<?> codec = CODECS.get(type);
        if (codec == null) {
            throw new IllegalArgumentException(type.getName() + " (expected: a class with a form on the wire)");
        }
        @SuppressWarnings("unchecked") // by the table
        var same = (Codec<T>) codec;
        return same;
    }
}
