package dev.parley.registry.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.DeleteEntry;
import dev.parley.registry.EntryOperation.ListEntries;
import dev.parley.registry.EntryOperation.Publication;
import dev.parley.registry.EntryOperation.ReadDocument;
import dev.parley.registry.EntryOperation.UpdateEntry;
import dev.parley.registry.ExchangeOperation.ExportEntries;
import dev.parley.registry.ExchangeOperation.ExportPage;
import dev.parley.registry.HistoryOperation.ListChanges;
import dev.parley.registry.HistoryOperation.ListVersions;
import dev.parley.registry.HistoryOperation.Version;
import dev.parley.registry.HistoryOperation.WatchChanges;
import dev.parley.registry.InspectionOperation.InspectCard;
import dev.parley.registry.InspectionOperation.RevokeEntry;
import dev.parley.registry.InspectionOperation.ShowHealth;
import dev.parley.registry.ReviewOperation.Review;
import dev.parley.registry.ReviewOperation.ReviewEntry;
import dev.parley.registry.ReviewOperation.ReviewList;
import dev.parley.registry.SearchOperation.CountFacets;
import dev.parley.registry.SearchOperation.FoundEntry;
import dev.parley.registry.SearchOperation.SearchEntries;
import dev.parley.registry.SearchQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client of the registry of a hub. */
@Timeout(120)
final class RegistryTest {
    private final Hub hub = Hub.builder()
            .agents(Agent.named("lawyer", "Translates legal text")
                    .skill("translate", "Translates contracts", "legal", "translation")
                    .handle((request, reply) -> reply.message("translated: " + request.text())))
            .inMemory()
            .port(0)
            .drain(Duration.ofMillis(200))
            .start();
    private final Registry registry = Registry.connect(hub.url());

    @AfterEach
    void end() {
        registry.close();
        hub.close();
    }

    private String register(String name) {
        return register(name, null, Map.of());
    }

    private String register(String name, @Nullable Duration lease, Map<String, @Nullable Object> metadata) {
        AgentCard card = AgentClient.connect(hub.agentUrl("lawyer")).card();
        @SuppressWarnings("unchecked")
        var json = new LinkedHashMap<>((Map<String, @Nullable Object>) Json.read(Json.write(card), Map.class));
        json.put("name", name);
        var publication = new Publication(null, json, null, null, null, Visibility.PUBLIC, lease, List.of(), metadata);
        return registry.register(publication).id();
    }

    @Test
    @DisplayName("ONE18 the best agent for a text answers a message")
    void best() {
        register("paralegal");

        Message answer = (Message) registry.find("translate legal text").best().send("Guten Tag");

        assertThat(answer.text()).isEqualTo("translated: Guten Tag");
        assertThatThrownBy(() -> new Results("zzzz", List.of(), List.of(), List.of()).best())
                .isInstanceOf(RegistryException.class)
                .hasMessageContaining("no agent found");
    }

    @Test
    @DisplayName("operations of the registry are records, and so are their answers")
    void typed() {
        String id = register("paralegal");
        String other = register("paraIegal"); // a capital i

        FoundEntry found = registry.call(new SearchEntries(SearchQuery.of("translate"), 1L, null))
                .results()
                .getFirst();
        assertThat(found.why().fields()).isNotEmpty();
        assertThat(registry.call(new ListEntries(EntryFilter.NONE, null, null, null, null))
                        .entries())
                .filteredOn(entry -> entry.id().equals(id))
                .singleElement()
                .satisfies(entry -> assertThat(entry.lookAlikes()).containsExactly(other));
        assertThat(registry.show(id).state().status()).isEqualTo(Entry.Status.ACTIVE);

        ReviewList reviews = registry.call(new ReviewEntry(id, 4, "good"));
        assertThat(reviews.average()).isEqualTo(4);
        assertThat(reviews.reviews()).extracting(Review::stars).containsExactly(4L);

        registry.call(new UpdateEntry(id, null, Entry.Status.DEPRECATED, "old", null, null));
        assertThat(registry.call(new ListChanges(EntryFilter.NONE, null, 0)).changes())
                .filteredOn(change -> change.now().id().equals(id))
                .extracting(EntryChange::kind)
                .contains(EntryChange.Kind.REGISTERED, EntryChange.Kind.DEPRECATED);
        assertThat(registry.call(new ListVersions(id)))
                .extracting(Version::revision)
                .containsExactly(1);

        ExportPage page = registry.call(new ExportEntries(EntryFilter.NONE, null, null));
        assertThat(page.entries())
                .filteredOn(each -> each.entry().id().equals(id))
                .hasSize(1);
        assertThat(registry.call(new CountFacets(SearchQuery.of("translate"), List.of("status"), null))
                        .facets())
                .containsKey("status");
        assertThat(registry.call(new ReadDocument(id, null)).mediaType()).isEqualTo(Entry.AGENT_CARD);
        assertThat(registry.call(new InspectCard(null, null, null, null, id, false))
                        .entry())
                .isEqualTo(id);
        assertThat(registry.call(new ShowHealth(id)).status()).isNotNull();
        assertThatThrownBy(() -> registry.call(new DeleteEntry("nope"))).isInstanceOf(A2AException.class);
    }

    @Test
    @DisplayName("a cached card is used as long as its entity tag holds, and a revoked agent is refused")
    void revoked() {
        String id = register("paralegal");
        assertThat(registry.card(id).name()).isEqualTo("paralegal");
        assertThat(registry.card(id)).isEqualTo(registry.card(id));

        registry.call(new RevokeEntry(id, "stolen"));

        assertThatThrownBy(() -> registry.card(id)).hasMessageContaining(id);
        assertThatThrownBy(() -> registry.connectTo(id)).hasMessageContaining(id);
    }

    @Test
    @Tag("heavy")
    @DisplayName("AK23 agents of a capability are watched, and a silent one goes offline after its time")
    void presence() throws InterruptedException {
        register("other");
        String quiet = register("quiet", Duration.ofSeconds(10), Map.of("kind", "sensor"));
        var sensors = new EntryFilter(List.of(), List.of(), Map.of("metadata.kind", List.of("sensor")), false);
        assertThat(registry.list(sensors).entries()).extracting(Entry::id).containsExactly(quiet);

        try (AgentClient client = AgentClient.connect(Registry.agent(hub.url()));
                Feed<EntryChange> changes = client.watch(new WatchChanges(sensors, 0L), CallContext.anonymous())) {
            assertThat(awaited(changes, EntryChange.Kind.REGISTERED)).isEqualTo(quiet);
            assertThat(awaited(changes, EntryChange.Kind.EXPIRED)).isEqualTo(quiet);
        }
        assertThat(registry.list(sensors).entries()).isEmpty();
    }

    /** Id of the entry of the next change of a kind. */
    private static String awaited(Feed<EntryChange> changes, EntryChange.Kind kind) throws InterruptedException {
        Instant end = Instant.now().plusSeconds(60);
        while (Instant.now().isBefore(end)) {
            List<EntryChange> some = changes.next(Duration.ofSeconds(5));
            for (EntryChange change : some == null ? List.<EntryChange>of() : some) {
                if (change.kind() == kind) {
                    return change.now().id();
                }
            }
        }
        throw new AssertionError("no change " + kind);
    }
}
