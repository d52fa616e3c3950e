package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.registry.spi.RegistryExtensionSource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An extension of the registry in a jar of {@code --agents}, whose hub runs by turns with one that does not have it. */
@Timeout(120)
final class RegistryExtensionJarTest {
    /** Lists the names of public entries at the path {@code /names}. */
    private static final String SOURCE = """
            package example;

            import dev.parley.dialect.spi.WireAnswer;
            import dev.parley.dialect.spi.WireCall;
            import dev.parley.dialect.spi.WireFace;
            import dev.parley.dialect.spi.WireRequest;
            import dev.parley.engine.AgentExtension;
            import dev.parley.extension.Handlers;
            import dev.parley.extension.HubParts;
            import dev.parley.protocol.A2AException;
            import dev.parley.protocol.AgentCard;
            import dev.parley.protocol.CallContext;
            import dev.parley.protocol.Operation;
            import dev.parley.registry.Entry;
            import dev.parley.registry.spi.Conditions;
            import dev.parley.registry.spi.DerivedTable;
            import dev.parley.registry.spi.EntryListener;
            import dev.parley.registry.spi.RegistryEntries;
            import dev.parley.registry.spi.RegistryExtension;
            import dev.parley.registry.spi.RegistryExtensionSource;
            import dev.parley.store.database.Database;
            import dev.parley.store.database.DatabaseSession;
            import dev.parley.store.spi.DatabaseKind;
            import dev.parley.store.spi.ModuleTables;
            import java.sql.SQLException;
            import java.time.InstantSource;
            import java.util.List;
            import java.util.Map;
            import java.util.Set;

            public final class Names implements RegistryExtensionSource {
                private static final ModuleTables TABLES = new ModuleTables("example-names", List.of(
                        "CREATE TABLE example_name (entry_no KEY PRIMARY KEY, entry_change BIGINT NOT NULL, name TEXT NOT NULL)"));
                private static final DerivedTable NAMES = new DerivedTable("example_name", "entry_no", "entry_change");

                public record ListNames(String name) implements Operation.ExtensionCall<String> {}

                @Override
                public Set<String> operations() {
                    return Set.of("names/list");
                }

                @Override
                public List<ModuleTables> tables(DatabaseKind kind) {
                    return List.of(TABLES);
                }

                @Override
                public RegistryExtension open(HubParts hub, RegistryEntries entries, InstantSource clock) {
                    Database database = hub.database();
                    database.migrate(TABLES);
                    entries.derive(NAMES, new Rows());
                    return new RegistryExtension() {
                        @Override
                        public Map<String, WireFace> faces() {
                            return Map.of("/names", new Face());
                        }

                        @Override
                        public Handlers handlers() {
                            return Handlers.NONE.with(
                                    "names/list", AgentExtension.answering(ListNames.class, (call, caller) -> names(caller)));
                        }

                        private String names(CallContext caller) {
                            Conditions seen = entries.seen(NAMES, caller);
                            List<String> names = database.read(session -> session.list(
                                    row -> DatabaseSession.text(row, 1),
                                    "SELECT name FROM example_name WHERE " + seen.where() + " ORDER BY name",
                                    seen.values().toArray()));
                            return String.join(", ", names);
                        }
                    };
                }

                private static final class Rows implements EntryListener {
                    @Override
                    public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
                        erased(session, number);
                        session.update(
                                "INSERT INTO example_name (entry_no, entry_change, name) VALUES (?, ?, ?)",
                                number,
                                now.state().change(),
                                now.resource().name());
                    }

                    @Override
                    public void erased(DatabaseSession session, long number) throws SQLException {
                        session.update("DELETE FROM example_name WHERE entry_no = ?", number);
                    }
                }

                private static final class Face implements WireFace {
                    /** No call has credentials of the hub. */
                    @Override
                    public boolean isPublic(WireRequest request) {
                        return true;
                    }

                    @Override
                    public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
                        return WireCall.of(new ListNames("names/list"), names -> answer(200, names));
                    }

                    @Override
                    public WireAnswer.Whole error(WireRequest request, A2AException problem) {
                        return answer(400, String.valueOf(problem.getMessage()));
                    }

                    private static WireAnswer.Whole answer(int status, String text) {
                        return new WireAnswer.Whole(status, Map.of("Content-Type", "text/plain"), text.getBytes());
                    }
                }
            }
            """;

    @TempDir
    private Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    private RunningHub hub(String... more) throws InterruptedException {
        var arguments = new ArrayList<>(List.of("--data", "data", "--no-demo", "--drain", "1s"));
        arguments.addAll(List.of(more));
        return new RunningHub(directory, Map.of(), arguments.toArray(String[]::new));
    }

    private void writeJar(String name) throws Exception {
        TestAgents.writeJar(
                directory.resolve(name),
                TestAgents.module("dev.parley.registry.hub", "java.sql"),
                "Names",
                SOURCE,
                Map.of(RegistryExtensionSource.class, "example.Names"));
    }

    private HttpResponse<String> send(String method, String url, String body) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create(url))
                        .header("Content-Type", "application/json")
                        .method(method, BodyPublishers.ofString(body.replace('\'', '"')))
                        .build(),
                BodyHandlers.ofString());
    }

    /** Registers a public agent, and returns the URL of its entry. */
    private String register(RunningHub hub, String name) throws Exception {
        HttpResponse<String> registered = send("POST", hub.url() + "/registry/agents", """
                {'visibility':'public','card':{'name':'%s','description':'Test','version':'1','capabilities':{},
                'supportedInterfaces':[{'url':'https://agents.example.com','protocolBinding':'JSONRPC','protocolVersion':'1.0'}],
                'defaultInputModes':['text/plain'],'defaultOutputModes':['text/plain'],'skills':[]}}
                """.formatted(name));
        assertThat(registered.statusCode()).as(registered.body()).isEqualTo(200);
        return "/registry/agents/" + registered.body().replaceFirst("(?s)^\\{\"id\":\"([^\"]+)\".*$", "$1");
    }

    private String names(RunningHub hub) throws Exception {
        return send("GET", hub.url() + "/names", "").body();
    }

    @Test
    void itsTableFollowsTheEntriesOfAllHubsOfADatabase() throws Exception {
        writeJar("names.jar");
        String hidden;
        try (RunningHub without = hub()) {
            register(without, "earlier");
        }
        try (RunningHub with = hub("--agents", "names.jar")) {
            hidden = register(with, "hidden");
            assertThat(names(with)).contains("earlier", "hidden");
        }
        try (RunningHub without = hub()) {
            assertThat(send("PATCH", without.url() + hidden, "{'visibility':'private'}")
                            .statusCode())
                    .isEqualTo(200);
            register(without, "later");
            assertThat(send("GET", without.url() + "/names", "").statusCode()).isEqualTo(404);
        }
        try (RunningHub with = hub("--agents", "names.jar")) {
            assertThat(names(with)).contains("earlier", "later").doesNotContain("hidden");
        }
    }

    @Test
    void theSameExtensionInTwoJarsIsRefusedWithTheirNames() throws Exception {
        writeJar("names.jar");
        Files.copy(directory.resolve("names.jar"), directory.resolve("copy.jar"));

        Shell.Ran refused = new Shell(directory)
                .with("PARLEY_PORT", "0")
                .run("up", "--in-memory", "--no-demo", "--agents", "names.jar", "--agents", "copy.jar");

        assertThat(refused.status()).as(refused.err()).isEqualTo(2);
        assertThat(refused.err())
                .contains("path \"/names\" of the registry extension example.Names of ")
                .contains(
                        "/names.jar",
                        "/copy.jar",
                        " has it, too (expected: one of them; leave out the jar of the other)");
    }
}
