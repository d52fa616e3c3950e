package dev.parley.registry.client.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class JsonTableTest {
    private static Map<String, Object> row(String caller, Object calls) {
        var row = new LinkedHashMap<String, Object>();
        row.put("caller", caller);
        row.put("calls", calls);
        return row;
    }

    @Test
    @DisplayName("GEM32 a name that a spreadsheet would take for a formula is text in CSV, numbers stay numbers")
    void formulas() {
        JsonTable table = JsonTable.of(List.of(
                row("=HYPERLINK(\"http://example.com\")", -1),
                row("@a,b", 2),
                row("+1", 3),
                row("-x", 4),
                row("\t=1", 5)));

        assertThat(table.csv()).isEqualTo("""
                        caller,calls
                        "'=HYPERLINK(""http://example.com"")",-1
                        "'@a,b",2
                        '+1,3
                        '-x,4
                        '\t=1,5
                        """.replace("\n", "\r\n"));
    }

    @Test
    void textHasColumnsOfEqualWidthWithoutControlCharacters() {
        JsonTable table = JsonTable.of(List.of(row("a\u001b[2J", 1), row("long name", Map.of("X", 12))));

        assertThat(table.text()).doesNotContain("\u001b").contains("caller", "long name", "X:12");
    }
}
