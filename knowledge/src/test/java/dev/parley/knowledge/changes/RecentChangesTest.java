package dev.parley.knowledge.changes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecentChangesTest {
    private static final int LONG = 1 << 20;
    private static final int FITTING = (int) (RecentChanges.MAX_CHARACTERS / LONG) - 1;
    private static final Statement SHORT = Statement.of("ex:p1", "ex:status", Literal.of("x"));
    private static final String TEXT = "x".repeat(LONG);

    private final RecentChanges changes = new RecentChanges(0);

    private static Numbered numbered(
            long number, Statement statement, Map<String, @Nullable Object> metadata, List<Statement> replaced) {
        return new Numbered(
                number, new Change(Patch.Op.ADD, statement, "id-" + number, Instant.EPOCH, metadata), replaced, null);
    }

    private @Nullable List<Numbered> after(long number) throws InterruptedException {
        return changes.after(number, Duration.ZERO);
    }

    @Test
    void onlySoManyAreKept() throws Exception {
        changes.publish(LongStream.rangeClosed(1, RecentChanges.KEPT + 10)
                .mapToObj(number -> numbered(number, SHORT, Map.of(), List.of()))
                .toList());

        assertThat(after(9)).isNull();
        assertThat(after(10)).hasSize(RecentChanges.KEPT);
    }

    @Test
    void longTextsTakeThePlaceOfOthersWhereverTheyAre() throws Exception {
        Statement value = Statement.of("ex:p1", "ex:status", Literal.of(TEXT));
        Statement told = SHORT.withProvenance(Map.of("log", List.of(Map.of("line", TEXT))));
        List<Numbered> all = List.of(
                numbered(1, value, Map.of(), List.of()),
                numbered(2, told, Map.of(), List.of()),
                numbered(3, SHORT, Map.of("justification", TEXT), List.of()),
                numbered(4, SHORT, Map.of(), List.of(value)),
                numbered(5, SHORT, Map.of(), List.of(told)),
                numbered(6, value, Map.of(), List.of()));

        changes.publish(all);

        assertThat(after(all.size() - FITTING - 1)).isNull();
        assertThat(Objects.requireNonNull(after(all.size() - FITTING)))
                .extracting(Numbered::number)
                .containsExactly(4L, 5L, 6L);
    }
}
