package dev.parley.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TableReaderTest {
    private static final TableReader.Limits LIMITS = new TableReader.Limits(200, 5, 4, 12);

    @Test
    void theFirstRowIsTheHeader() throws InterruptedException {
        Table table = read("city,population\nOslo,709037\nBergen,291940\n");

        assertThat(table.rows()).isEqualTo(2);
        assertThat(table.columns())
                .containsExactly(
                        new Table.Column("city", List.of("Oslo", "Bergen")),
                        new Table.Column("population", List.of("709037", "291940")));
    }

    @Test
    void quotedFieldsMayHoldSeparatorsQuotesAndLineBreaks() throws InterruptedException {
        Table table = read("a,b\r\n\"1,5\",\"say \"\"hi\"\"\"\r\n\"two\nlines\",x");

        assertThat(cells(table, 0)).containsExactly("1,5", "two\nlines");
        assertThat(cells(table, 1)).containsExactly("say \"hi\"", "x");
    }

    @ParameterizedTest
    @CsvSource({"',',a,b", "';',a,b", "'\t',a,b", "'|',a,b"})
    void theSeparatorIsFoundOut(String separator, String first, String second) throws InterruptedException {
        Table table = read(first + separator + second + "\n\"x,;|y\"" + separator + "2");

        assertThat(table.separator()).isEqualTo(separator.charAt(0));
        assertThat(cells(table, 0)).containsExactly("x,;|y");
    }

    @Test
    void aSeparatorOccursInEveryRowWhereACommaInTextDoesNot() throws InterruptedException {
        Table table = read("name;price, gross\ntea;2,50\ncoffee;3");

        assertThat(table.separator()).isEqualTo(';');
        assertThat(cells(table, 1)).containsExactly("2,50", "3");
    }

    @Test
    void oneColumnNeedsNoSeparator() throws InterruptedException {
        assertThat(cells(read("n\n1\n2"), 0)).containsExactly("1", "2");
    }

    @Test
    void blankLinesAreSkippedButCountedAsLines() {
        assertThatThrownBy(() -> read("a,b\n\n1,2\n\n3\n"))
                .hasMessage("row 2 (line 5), column 2 \"b\": the row has 1 fields (expected: 2, as in the header)");
    }

    @Test
    void aColumnWithoutANameIsNamedByItsPlace() throws InterruptedException {
        assertThat(read("a,\n1,2").columns()).extracting(Table.Column::name).containsExactly("a", "column 2");
    }

    @ParameterizedTest
    @CsvSource({"UTF-8", "UTF-16LE", "UTF-16BE"})
    void aByteOrderMarkTellsTheEncodingAndIsNoPartOfTheHeader(Charset charset) throws InterruptedException {
        Table table = new TableReader(LIMITS).read("\uFEFFnavn,by\nBjørn,Tromsø".getBytes(charset), share -> {});

        assertThat(table.columns()).extracting(Table.Column::name).containsExactly("navn", "by");
        assertThat(cells(table, 1)).containsExactly("Tromsø");
    }

    @Test
    void aRowThatIsTooLongIsNamedWithItsFirstSuperfluousColumn() {
        assertThatThrownBy(() -> read("a,b\n1,2\n3,4,5"))
                .isInstanceOf(UnreadableTable.class)
                .hasMessage("row 2 (line 3), column 3: the row has 3 fields (expected: 2, as in the header)");
    }

    @Test
    void textBehindAClosingQuoteIsNamedWithItsPlace() {
        assertThatThrownBy(() -> read("a,b\n1,2\n3,\"4\"x"))
                .isInstanceOf(UnreadableTable.class)
                .hasMessageStartingWith("row 2 (line 3), column 2 \"b\": ")
                .hasMessageContaining("closing quote");
    }

    @Test
    void aQuoteThatIsNeverClosedIsNamedWithTheRowThatOpensIt() {
        assertThatThrownBy(() -> read("a,b\n\"1,2\n3,4\n"))
                .isInstanceOf(UnreadableTable.class)
                .hasMessageStartingWith("row 1 (line 2), column 1 \"a\": ")
                .hasMessageContaining("Unclosed");
    }

    @Test
    void aFaultInTheHeaderIsCalledSo() {
        assertThatThrownBy(() -> read("a,\"b\"c\n1,2"))
                .isInstanceOf(UnreadableTable.class)
                .hasMessageStartingWith("header (line 1), column 2: ");
    }

    @Test
    void bytesThatAreNotUtf8AreNamedWithTheirPlace() {
        byte[] latin = "name,city\nAda,London\nBjørn,Tromsø".getBytes(StandardCharsets.ISO_8859_1);

        assertThatThrownBy(() -> new TableReader(LIMITS).read(latin, share -> {}))
                .hasMessage("row 2 (line 3), column 1 \"name\": bytes that are not UTF-8");
    }

    @Test
    void binaryDataIsRefused() {
        assertThatThrownBy(() -> read("a,b\n1,\0\0"))
                .hasMessage("row 1 (line 2), column 2 \"b\": a NUL character (expected: text)");
    }

    @Test
    void aTableHasAHeaderAndARow() {
        assertThatThrownBy(() -> read("")).hasMessageStartingWith("the table is empty");
        assertThatThrownBy(() -> read("\n\n")).hasMessageStartingWith("the table is empty");
        assertThatThrownBy(() -> read("a,b\n")).hasMessageStartingWith("the table has a header only");
    }

    @Test
    void eachLimitIsToldWithTheValueThatExceedsIt() {
        assertThatThrownBy(() -> read("x".repeat(201))).hasMessage("bytes: 201 (expected: at most 200)");
        assertThatThrownBy(() -> read("a,b,c,d,e\n1,2,3,4,5")).hasMessage("columns: 5 (expected: at most 4)");
        assertThatThrownBy(() -> read("a\n1\n2\n3\n4\n5\n6")).hasMessage("rows: 6 (expected: at most 5)");
        assertThatThrownBy(() -> read("a,b,c,d\n" + "1,2,3,4\n".repeat(4)))
                .hasMessage("cells: 16 (expected: at most 12)");
    }

    @Test
    void theProgressGrowsToTheEnd() throws InterruptedException {
        var shares = new ArrayList<Double>();

        new TableReader(LIMITS).read("a\n1\n2\n3\n4".getBytes(StandardCharsets.UTF_8), shares::add);

        assertThat(shares).isSorted().endsWith(1.0);
    }

    @Test
    void anInterruptionEndsTheReading() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> read("a\n1")).isInstanceOf(InterruptedException.class);
    }

    private static Table read(String text) throws InterruptedException {
        return new TableReader(LIMITS).read(text.getBytes(StandardCharsets.UTF_8), share -> {});
    }

    private static List<String> cells(Table table, int column) {
        return table.columns().get(column).cells();
    }
}
