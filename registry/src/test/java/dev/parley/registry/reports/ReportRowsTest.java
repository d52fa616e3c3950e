package dev.parley.registry.reports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.registry.ReportProtocol;
import dev.parley.registry.ReportProtocol.Reliability;
import dev.parley.registry.ReportProtocol.Report;
import dev.parley.registry.ReportProtocol.Row;
import dev.parley.registry.ReportProtocol.Subject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ReportRowsTest {
    /** Tables show the columns in the order of the members. */
    @Test
    void subjectsAreInTheOrderOfTheRequest() {
        var subjects = new LinkedHashMap<Subject, String>();
        subjects.put(Subject.DAY, "2027-01-05");
        subjects.put(Subject.AGENT, "echo");
        var measures = new Reliability(
                3,
                66.67,
                1.5,
                null,
                Map.of("TASK_NOT_FOUND", 1L),
                2,
                50.0,
                Map.of("COMPLETED", 1L),
                null,
                null,
                0,
                null);
        var report = new Report<>(Instant.EPOCH, Instant.EPOCH, List.of(new Row<>(subjects, measures)));

        Object json = ReportProtocol.RELIABILITY_REPORT.toJson(report);

        assertThat(new String(Json.write(json), StandardCharsets.UTF_8))
                .contains("[{\"day\":\"2027-01-05\",\"agent\":\"echo\",\"calls\":3,\"success\":66.67,\"p50Millis\":1.5,"
                        + "\"errors\":{\"TASK_NOT_FOUND\":1},\"tasks\":2,");
        assertThat(ReportProtocol.RELIABILITY_REPORT.fromJson(json)).isEqualTo(report);
        assertThat(ReportProtocol.RELIABILITY_REPORT
                        .fromJson(json)
                        .rows()
                        .getFirst()
                        .subjects()
                        .keySet())
                .containsExactly(Subject.DAY, Subject.AGENT);
    }
}
