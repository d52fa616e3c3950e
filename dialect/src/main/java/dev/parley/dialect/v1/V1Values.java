package dev.parley.dialect.v1;

import dev.parley.protocol.Part;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.JsonForm;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Values of A2A for documents that hold some among maps and lists. For the service loader. */
public final class V1Values implements ExtensionProtocol.Provider {
    @Override
    public Collection<ExtensionProtocol> protocols() {
        return List.of();
    }

    @Override
    public Map<Class<?>, JsonForm<?>> values() {
        var values = new LinkedHashMap<Class<?>, JsonForm<?>>(V1Model.CODECS);
        for (Class<?> part : Part.class.getPermittedSubclasses()) {
            values.put(part, V1Model.PART);
        }
        return values;
    }
}
