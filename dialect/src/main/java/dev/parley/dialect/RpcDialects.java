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
import dev.parley.dialect.calls.Kernel;
import dev.parley.dialect.calls.ServedRequest;
import dev.parley.dialect.legacy.LegacyDialect;
import dev.parley.dialect.legacy.LegacyOperations;
import dev.parley.dialect.legacy.UnversionedCall;
import dev.parley.dialect.operations.ExtensionRow;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionStyle;
import dev.parley.protocol.support.Excerpt;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The dialects of JSON-RPC at the address of an agent. A table tells the dialect of a call by its method and its version. */
final class RpcDialects {
    /** A row of the table. The first one that recognizes a call answers it; the agent is not called before. */
    private record Row(Predicate<Call> recognizer, Function<Call, WireAnswer> binding) {}

    /** A call of an agent, of which only the head has been read. */
    private record Call(ServedRequest served, RpcEnvelope envelope) {
        String method() {
            return envelope.method();
        }

        ServedAgent agent() {
            return served.agent();
        }

        /** @throws A2AException VERSION_NOT_SUPPORTED if it is not one that ever was */
        Version version() {
            return Version.of(served.http(), agent().dialects());
        }

        /** The operation of an extension of the agent; null if none has the method. */
        @Nullable
        ExtensionRow extension() {
            return agent().extensions().named(method());
        }
    }

    /** A version of A2A: its methods, and the versions of the requests that it answers. */
    private record Spoken(Dialect dialect, OperationTable methods, Set<Version> versions) {
        boolean has(Call call) {
            return call.agent().speaks(dialect.name()) && methods.named(call.method()) != null;
        }
    }

    private final DialectSettings settings;
    private final List<Spoken> versions;
    private final List<Row> rows;

    RpcDialects(DialectSettings settings, Kernel kernel) {
        this.settings = settings;
        var v1 = new Spoken(Dialect.V1, of(Dialect.V1), isStrict() ? Set.of(V1) : Set.of(V1, UNSAID));
        var kind = new Spoken(LegacyDialect.KIND, of(LegacyDialect.KIND), Set.of(V03, UNSAID));
        var type = new Spoken(LegacyDialect.TYPE, of(LegacyDialect.TYPE), Set.of(V01, UNSAID));
        this.versions = List.of(v1, kind, type);
        this.rows = List.of(
                new Row(RpcDialects::isOfExtension, RpcDialects::extension),
                new Row(RpcDialects::isOfAbsentExtension, RpcDialects::absentExtension),
                new Row(RpcDialects::isOfKernel, call -> kernel.answer(call.served)),
                new Row(this::lacksId, RpcDialects::withoutId),
                new Row(call -> kind.has(call) && type.has(call) && call.version() == UNSAID, this::unversioned),
                new Row(call -> isOf(v1, call), call -> answer(v1, call)),
                new Row(call -> isOf(kind, call), call -> answer(kind, call)),
                new Row(call -> isOf(type, call), call -> answer(type, call)),
                new Row(call -> true, this::unknown));
    }

    /** Answers a call, or throws in the form of its dialect. */
    WireAnswer answer(ServedRequest served) {
        var call = new Call(served, RpcEnvelope.read(served.http(), Dialect.V1, served.caller(), served.framing()));
        return rows.stream()
                .filter(row -> row.recognizer.test(call))
                .findFirst()
                .orElseThrow()
                .binding
                .apply(call);
    }

    // ---- Extensions

    private static boolean isOfExtension(Call call) {
        ExtensionRow row = call.extension();
        return row != null && (call.envelope.problem() == null || answersWithoutId(row, call));
    }

    /** Clients of extensions that differ from A2A may call without an id, as callers of A2A before 1.0. */
    private static boolean answersWithoutId(ExtensionRow row, Call call) {
        return !row.style().equals(ExtensionStyle.A2A) && call.version() != V1;
    }

    private static WireAnswer extension(Call call) {
        ExtensionRow row = requireNonNull(call.extension());
        Dialect dialect = call.served.dialect(row, Dialect.V1);
        call.served.framing().use(ResponseFraming.rpc(dialect, call.envelope.id()));
        return call.served.rpc(dialect, row, call.envelope);
    }

    private static boolean isOfAbsentExtension(Call call) {
        return call.envelope.problem() == null
                && call.extension() == null
                && ExtensionTable.installed().named(call.method()) != null;
    }

    /** Refuses in the form that clients of the extension expect of an agent without it. */
    private static WireAnswer absentExtension(Call call) {
        ExtensionRow row = requireNonNull(ExtensionTable.installed().named(call.method()));
        call.served.framing().use(ResponseFraming.rpc(call.served.dialect(row, Dialect.V1), call.envelope.id()));
        throw A2AException.of(A2AError.METHOD_NOT_FOUND);
    }

    // ---- Agentic Kernel

    private static boolean isOfKernel(Call call) {
        return call.agent().speaksKernelAtRoot() && Kernel.has(call.method()) && call.version() == UNSAID;
    }

    // ---- Versions of A2A

    private boolean isStrict() {
        return settings.has(Switch.STRICT_VERSION_HEADER);
    }

    /** The operations of a dialect. */
    OperationTable of(Dialect dialect) {
        if (dialect instanceof LegacyDialect older) {
            return older.operations();
        }
        if (settings.has(Switch.PREVIEW_1_1)) {
            return settings.has(Switch.LENIENT_BODIES) ? LegacyOperations.LENIENT_PREVIEW : V1Operations.PREVIEW;
        }
        return settings.has(Switch.LENIENT_BODIES) ? LegacyOperations.LENIENT : V1Operations.TABLE;
    }

    /** Whether a call lacks an id where it needs one: before 1.0, a call without an id is answered like any other. */
    private boolean lacksId(Call call) {
        return call.envelope.problem() != null
                && (call.version() == V1
                        || of(Dialect.V1).named(call.method()) != null
                        || !call.agent().speaks("0.3"));
    }

    private static WireAnswer withoutId(Call call) {
        throw requireNonNull(call.envelope.problem());
    }

    private boolean isOf(Spoken spoken, Call call) {
        if (!spoken.has(call)) {
            return false;
        }
        Version version = call.version();
        boolean isServed = version != V1 || call.agent().speaks(Version.SUPPORTED);
        return isServed && (spoken.versions.contains(version) || isAnyVersion(version));
    }

    private boolean isAnyVersion(Version version) {
        return version == V1 && settings.has(Switch.LENIENT_METHODS);
    }

    private WireAnswer answer(Spoken spoken, Call call) {
        return call.served.answer(spoken.dialect, row(spoken.dialect, call), read(spoken.dialect, call));
    }

    private WireAnswer unversioned(Call call) {
        LegacyDialect otherwise =
                settings.has(Switch.MERGED_LEGACY_ANSWERS) ? LegacyDialect.MERGED : LegacyDialect.KIND;
        ServedRequest served = call.served;
        return served.answer(new UnversionedCall(call.envelope, otherwise, served.framing()), read(otherwise, call));
    }

    private WireOperation row(Dialect dialect, Call call) {
        return requireNonNull(of(dialect).named(call.method()));
    }

    /** Reads the parameters. Failures are answered in the dialect from then on. */
    private Operation read(Dialect dialect, Call call) {
        WireOperation row = row(dialect, call);
        ServedRequest served = call.served;
        ResponseFraming form = served.framing().use(ResponseFraming.rpc(dialect, call.envelope.id()));
        boolean streams = row.result() == null && !dialect.equals(Dialect.V1);
        if (streams && ResponseFraming.readsOnlyStreams(served.http())) {
            served.framing().useInStream(form);
        }
        return call.envelope.params(row.request(), served.http(), served.caller());
    }

    /** Refuses a method that the agent does not have, or not in the version of the request. */
    private WireAnswer unknown(Call call) {
        Version version = call.version();
        List<Spoken> having = versions.stream().filter(each -> each.has(call)).toList();
        Dialect refusing =
                having.isEmpty() || version == V1 && !isAnyVersion(version) ? Dialect.V1 : having.getFirst().dialect;
        call.served.framing().use(ResponseFraming.rpc(refusing, call.envelope.id()));
        throw refusal(call.method(), version, call.agent().dialects(), having.isEmpty());
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
