package dev.parley.bench;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.search.Search;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryPublisher;
import dev.parley.store.database.Database;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * Registers agents, and measures searches in them, one at a time.
 *
 * <p>Arguments: the data directory of a hub that is not running, and the number of agents.
 */
public final class SearchSpeed {
    private static final int IN_FLIGHT = 256;
    private static final int QUERIES = 2_000;
    private static final int FACETS = 500;
    private static final CallContext OWNER = CallContext.of("bench", new Scope("default", "bench"));
    private static final CallContext READER = CallContext.of("reader", new Scope("readers", "reader"));

    private SearchSpeed() {}

    public static void main(String[] arguments) throws InterruptedException {
        int agents = Integer.parseInt(arguments[1]);
        long start = System.nanoTime();
        try (Database database = Database.open(Path.of(arguments[0]))) {
            Entries entries = Entries.open(
                    database,
                    "agent.localhost",
                    List.of(),
                    (caller, agent) -> true,
                    new NoParts(),
                    new NoParts(),
                    InstantSource.system());
            try (var search = new Search(database, entries, null)) {
                long indexed =
                        search.facets(SearchQuery.of(""), List.of(), 1, OWNER).total();
                search.search(SearchQuery.of("invoices"), 10, null, READER);
                System.out.printf("%,d agents, ready in %.2f s%n", indexed, seconds(start));
                if (indexed < agents) {
                    start = System.nanoTime();
                    register(entries.publisher(), indexed, agents);
                    System.out.printf("%,d agents registered in %.1f s%n", agents - indexed, seconds(start));
                }
                for (int round = 0; round < 2; round++) {
                    measure(
                            "words",
                            search,
                            number -> new SearchQuery(MeasuredCards.query(number), false, EntryFilter.NONE));
                }
                measure(
                        "words, filtered",
                        search,
                        number -> new SearchQuery(
                                MeasuredCards.query(number),
                                false,
                                new EntryFilter(
                                        List.of(),
                                        List.of(),
                                        Map.of("binding", List.of("GRPC"), "scheme", List.of()),
                                        false)));
                measure("typed", search, number -> {
                    String text = MeasuredCards.query(number);
                    return new SearchQuery(
                            text.substring(0, 2 + (int) (number % (text.length() - 1))), true, EntryFilter.NONE);
                });
                for (int round = 0; round < 2; round++) {
                    double[] millis = new double[FACETS];
                    for (int i = 0; i < millis.length; i++) {
                        long begin = System.nanoTime();
                        search.facets(SearchQuery.of(MeasuredCards.query(i)), List.of("tag", "provider"), 20, READER);
                        millis[i] = (System.nanoTime() - begin) / 1e6;
                    }
                    print("facets", millis);
                }
            }
        }
    }

    private interface Queries {
        SearchQuery of(long number);
    }

    private static void measure(String name, Search search, Queries queries) {
        double[] millis = new double[QUERIES];
        for (int i = 0; i < QUERIES; i++) {
            SearchQuery query = queries.of(i);
            long begin = System.nanoTime();
            search.search(query, 10, null, READER);
            millis[i] = (System.nanoTime() - begin) / 1e6;
        }
        print(name, millis);
    }

    private static void print(String name, double[] millis) {
        double mean = Arrays.stream(millis).average().orElse(0);
        Arrays.sort(millis);
        System.out.printf(
                "%-16s mean %.2f ms, p50 %.2f ms, p95 %.2f ms, p99 %.2f ms%n",
                name,
                mean,
                millis[millis.length / 2],
                millis[millis.length * 95 / 100],
                millis[millis.length * 99 / 100]);
    }

    private static void register(EntryPublisher publisher, long from, int agents) throws InterruptedException {
        var room = new Semaphore(IN_FLIGHT);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (long i = from; i < agents; i++) {
                long number = i;
                room.acquire();
                threads.execute(() -> {
                    try {
                        publisher.publish(
                                new Publication(
                                        "urn:air:agent.localhost:default:bench-" + number,
                                        Entry.AGENT_CARD,
                                        MeasuredCards.json(number),
                                        null,
                                        null,
                                        Visibility.PUBLIC,
                                        null,
                                        List.of(),
                                        Map.of()),
                                OWNER);
                    } finally {
                        room.release();
                    }
                });
            }
        }
    }

    private static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
