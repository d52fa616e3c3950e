package dev.parley.registry.spi;

import dev.parley.registry.Difference;
import dev.parley.registry.Entry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A document to publish.
 *
 * @param id URN; null for one that is made of the publisher domain, the group and the name
 * @param document bytes, which are kept and served unchanged
 * @param url from which the document was fetched, and is fetched for probes; null for none
 * @param lease after which the entry expires without a heartbeat; null for none
 * @param refuse kinds of differences that refuse the publication
 * @param metadata further members of the entry; {@code trustManifest} and {@code trustManifests} are those of AI Catalogs as trees of
 *     JSON, which are verified against the document
 */
public record Publication(
        @Nullable String id,
        String type,
        byte[] document,
        @Nullable String url,
        @Nullable String humanId,
        Entry.Visibility visibility,
        @Nullable Duration lease,
        List<Difference.Kind> refuse,
        Map<String, Object> metadata) {}
