package dev.parley.dialect;

import static dev.parley.dialect.answers.Version.UNSAID;
import static dev.parley.dialect.answers.Version.V01;
import static dev.parley.dialect.answers.Version.V03;
import static dev.parley.dialect.answers.Version.V1;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.ResponseFraming;
import dev.parley.dialect.answers.RpcEnvelope;
import dev.parley.dialect.answers.Version;
import dev.parley.dialect.calls.ServedRequest;
import dev.parley.dialect.legacy.LegacyDialect;
import dev.parley.dialect.legacy.LegacyOperations;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import dev.parley.protocol.support.Excerpt;
import java.util.List;
import java.util.Set;

/** The methods of A2A over JSON-RPC, in the dialects of an agent. A table tells the dialect by method and version. */
final class RpcMethods {
    /** A dialect, its methods, and the versions of the requests that it answers. */
    private record Row(Dialect dialect, OperationTable methods, Set<Version> versions) {}

    private final DialectSettings settings;
    private final List<Row> rows;

    RpcMethods(DialectSettings settings) {
        this.settings = settings;
        this.rows = List.of(
                new Row(Dialect.V1, of(Dialect.V1), isStrict() ? Set.of(V1) : Set.of(V1, UNSAID)),
                new Row(LegacyDialect.KIND, of(LegacyDialect.KIND), Set.of(V03, UNSAID)),
                new Row(LegacyDialect.TYPE, of(LegacyDialect.TYPE), Set.of(V01, UNSAID)));
    }

    private boolean isStrict() {
        return settings.has(Switch.STRICT_VERSION_HEADER);
    }

    /** The operations of a dialect. */
    OperationTable of(Dialect dialect) {
        if (dialect instanceof LegacyDialect older) {
            return older.operations();
        }
        return settings.has(Switch.LENIENT_BODIES) ? LegacyOperations.LENIENT : V1Operations.TABLE;
    }

    private WireOperation row(Dialect dialect, String method) {
        return requireNonNull(of(dialect).named(method));
    }

    /** Answers a call, or throws in the form of its dialect. */
    WireAnswer answer(ServedRequest served, RpcEnvelope envelope, Version version) {
        String method = envelope.method();
        Set<String> spoken = served.agent().dialects();
        A2AException problem = envelope.problem();
        boolean needsId = version == V1 || of(Dialect.V1).named(method) != null || !spoken.contains("0.3");
        if (problem != null && needsId) {
            throw problem; // before 1.0, a call without an id is answered like any other
        }
        boolean isAnyVersion = version == V1 && settings.has(Switch.LENIENT_METHODS);
        List<Row> known = rows.stream()
                .filter(row -> spoken.contains(row.dialect.name()) && row.methods.named(method) != null)
                .toList();
        List<Row> answering = known.stream()
                .filter(row -> row.versions.contains(version) || isAnyVersion)
                .toList();
        if (answering.isEmpty() || version == V1 && !spoken.contains(Version.SUPPORTED)) {
            Dialect refusing =
                    known.isEmpty() || version == V1 && !isAnyVersion ? Dialect.V1 : known.getFirst().dialect;
            served.framing().use(ResponseFraming.rpc(refusing, envelope.id()));
            throw refusal(method, version, spoken, known.isEmpty());
        }
        Dialect dialect = answering.getFirst().dialect;
        Operation operation = read(served, envelope, dialect);
        if (version != UNSAID || answering.size() == 1) {
            return served.answer(dialect, row(dialect, method), operation);
        }
        operation.requireShortIds();
        boolean isMerged = settings.has(Switch.MERGED_LEGACY_ANSWERS);
        Dialect shown = LegacyDialect.of(operation, served.agent().endpoint(), served.caller(), isMerged);
        return served.answer(shown, row(shown, method), read(served, envelope, shown));
    }

    /** Reads the parameters. Failures are answered in the dialect from then on. */
    private Operation read(ServedRequest served, RpcEnvelope envelope, Dialect dialect) {
        WireOperation row = row(dialect, envelope.method());
        ResponseFraming form = served.framing().use(ResponseFraming.rpc(dialect, envelope.id()));
        boolean streams = row.result() == null && !dialect.equals(Dialect.V1);
        if (streams && ResponseFraming.readsOnlyStreams(served.http())) {
            served.framing().useInStream(form);
        }
        return envelope.params(row.request(), served.http(), served.caller());
    }

    private A2AException refusal(String method, Version version, Set<String> spoken, boolean isUnknown) {
        if (version == V1 || of(Dialect.V1).named(method) != null) {
            requireV1(version, spoken);
        }
        boolean isOlder = method.startsWith("message/") || method.startsWith("tasks/");
        if (isUnknown && isOlder && version != V1 && !spoken.contains("0.3")) {
            return Version.notSupported("0.3", spoken); // this agent is not served in the version that has the method
        }
        String where = version == UNSAID ? "" : " in the version that was asked for";
        return A2AException.of(
                A2AError.METHOD_NOT_FOUND,
                A2AError.METHOD_NOT_FOUND.defaultMessage() + where + ": " + Excerpt.of(method, 60));
    }

    /** Refuses an operation of 1.0 to an agent that does not speak it, and without a version if settings say so. */
    void requireV1(Version version, Set<String> spoken) {
        if (!version.isOlder() && !spoken.contains(Version.SUPPORTED)) {
            throw Version.notSupported(Version.SUPPORTED, spoken);
        }
        if (version == UNSAID && isStrict()) {
            throw Version.notSupported("0.3", Set.of(Version.SUPPORTED)); // only 1.0 has this operation
        }
    }
}
