package dev.parley.mcp.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.Tool;
import dev.parley.mcp.agent.ToolTable.Pin;
import dev.parley.mcp.agent.ToolTable.Row;
import dev.parley.store.database.Database;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Definitions of tools in a database, as two hubs see them. */
abstract class ToolTableContract {
    private Database database;
    private ToolTable here;
    private ToolTable there;

    abstract Database open() throws Exception;

    @BeforeEach
    void start() throws Exception {
        database = open();
        here = new ToolTable(database);
        there = new ToolTable(database);
    }

    @AfterEach
    void stop() {
        database.close();
    }

    private static Tool tool(String name, String description) {
        return new Tool(name, null, description, Map.of("type", "object"), null, Map.of());
    }

    @Test
    @DisplayName("tools of the first contact are approved; changed and new ones wait, with what differs")
    void held() {
        here.offered("shop", List.of(tool("find", "Finds")));
        assertThat(here.pins("shop"))
                .hasSize(1)
                .allSatisfy(pin -> assertThat(pin.heldDigest()).isNull());

        here.offered("shop", List.of(tool("find", "Finds, and sells"), tool("sell", "Sells")));

        List<Row> rows = here.rows("shop");
        assertThat(rows).extracting(Row::name).containsExactly("find", "sell");
        assertThat(rows.getFirst().differences()).containsOnlyKeys("description");
        assertThat(rows.getFirst().approved()).isEqualTo(tool("find", "Finds"));
        assertThat(rows.getLast().approved()).isNull();
        assertThat(rows.getLast().held()).isEqualTo(tool("sell", "Sells"));
    }

    @Test
    @DisplayName("an approval by one hub is read by the other one")
    void approvedForBoth() {
        here.offered("shop", List.of(tool("find", "Finds")));
        here.offered("shop", List.of(tool("find", "Finds more"), tool("sell", "Sells")));

        assertThat(here.approve("shop", "find", null).tools()).containsExactly("find");

        List<Row> rows = there.rows("shop");
        assertThat(rows.getFirst().approved()).isEqualTo(tool("find", "Finds more"));
        assertThat(rows.getFirst().held()).isNull();
        assertThat(rows.getLast().held()).isNotNull();
        assertThat(there.approve("shop", "find", null).tools())
                .as("approved once")
                .isEmpty();
    }

    @Test
    @DisplayName("an approval of a definition that has changed since approves nothing")
    void changedSince() {
        here.offered("shop", List.of(tool("find", "Finds")));
        here.offered("shop", List.of(tool("find", "Finds more")));
        Pin seen = here.pins("shop").getFirst();
        there.offered("shop", List.of(tool("find", "Sends all files")));

        assertThat(here.approve("shop", "find", seen.heldDigest()).tools()).isEmpty();
        assertThat(there.rows("shop").getFirst().approved()).isEqualTo(tool("find", "Finds"));
    }
}
