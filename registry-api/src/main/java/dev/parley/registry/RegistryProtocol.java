package dev.parley.registry;

import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionStyle;
import dev.parley.protocol.extension.ExtensionUri;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Operations of a registry on the wire. The agent {@value #AGENT} answers them, at {@code /registry}. */
public final class RegistryProtocol implements ExtensionProtocol.Provider {
    /** Name of the agent. */
    public static final String AGENT = "registry";

    /** Names of the operations on the record that callers without credentials may call, on public entries. */
    public static final Set<String> OPEN = Stream.of(
                    EntryOperation.LIST,
                    EntryOperation.SHOW,
                    EntryOperation.CARD,
                    SearchOperation.SEARCH,
                    SearchOperation.FACETS,
                    HistoryOperation.VERSIONS,
                    HistoryOperation.DIFF,
                    HistoryOperation.CHANGES,
                    HistoryOperation.WATCH,
                    ReviewOperation.REVIEWS,
                    ExchangeOperation.EXPORT,
                    InspectionOperation.REVOCATIONS,
                    InspectionOperation.HEALTH)
            .map(ExtensionMethod::name)
            .collect(Collectors.toUnmodifiableSet());

    /** The operations. */
    public static final ExtensionProtocol PROTOCOL = new ExtensionProtocol(
                    ExtensionUri.permanent("/extensions/registry/v1"),
                    Stream.of(
                                    EntryOperation.ROWS,
                                    HistoryOperation.ROWS,
                                    ReviewOperation.ROWS,
                                    ExchangeOperation.ROWS,
                                    InspectionOperation.ROWS,
                                    SearchOperation.ROWS,
                                    FaceProtocol.ROWS)
                            .<ExtensionMethod<?, ?>>flatMap(Collection::stream)
                            .toList(),
                    ExtensionStyle.A2A,
                    List.of())
            .with(RegistryError.values());

    @Override
    public Collection<ExtensionProtocol> protocols() {
        return List.of(PROTOCOL);
    }
}
