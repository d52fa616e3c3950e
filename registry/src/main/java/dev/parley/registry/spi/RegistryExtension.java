package dev.parley.registry.spi;

import dev.parley.dialect.spi.WireFace;
import dev.parley.extension.Handlers;
import dev.parley.extension.PersonalData;
import java.util.Map;
import java.util.Optional;

/** A protocol of one registry, with the data that it keeps beside the entries. Safe for any thread. */
public interface RegistryExtension extends AutoCloseable {
    /** Protocols by paths of the hub, as {@link dev.parley.extension.HubExtension#faces}, each in front of the agent of the registry. */
    Map<String, WireFace> faces();

    /**
     * Handlers of the operations that the requests of its faces call. They are called once the agents of the hub are entries, also for
     * callers without credentials.
     */
    Handlers handlers();

    /** Personal data that it holds beside the entries, which it erases before them; empty if none. */
    default Optional<PersonalData> personalData() {
        return Optional.empty();
    }

    /** Called when the registry ends, before it closes its own parts. Idempotent. */
    @Override
    default void close() {}
}
