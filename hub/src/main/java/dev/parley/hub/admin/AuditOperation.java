package dev.parley.hub.admin;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.store.audit.AuditCodecs;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditPosition;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.Filter;
import dev.parley.store.audit.Verification;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations on the audit. */
public final class AuditOperation {
    private static final long ROWS_BY_DEFAULT = 100;
    private static final long MOST_ROWS = 10_000;

    private AuditOperation() {}

    /** @param after rows after this place */
    @AdminCall.Named("audit/query")
    record QueryAudit(Filter filter, AuditPosition after, long limit) implements AdminCall<RowPage> {}

    /**
     * @param before place before which rows are counted; null for that of the newest row
     * @param rows of each hub that works at the same time as others, by which the answer is earlier
     */
    @AdminCall.Named("audit/newest")
    record NewestRow(@Nullable AuditPosition before, long rows) implements AdminCall<AuditPosition> {}

    @AdminCall.Named("audit/verify")
    record VerifyAudit() implements AdminCall<Verification> {}

    /**
     * Rows of the audit: those of a task and those of a hub in order, apart from that by their times, which are of the clocks of their hubs.
     *
     * @param next place after which the next page begins; null on the last one
     */
    record RowPage(List<AuditRow> rows, @Nullable AuditPosition next) {}

    private static final Codec<Map<String, ?>> DETAIL =
            Codecs.via(STRUCT, detail -> (Map<String, ?>) detail, LinkedHashMap<String, @Nullable Object>::new);

    private static final Codec<AuditRow> ROW = ObjectCodec.<AuditRow>of()
            .required("number", AuditCodecs.NUMBER, AuditRow::number)
            .required("at", TIME, AuditRow::at)
            .required("group", TEXT, row -> row.entry().group())
            .required("actor", TEXT, row -> row.entry().actor())
            .required("action", TEXT, row -> row.entry().action())
            .required("target", TEXT, row -> row.entry().target())
            .optional("subject", TEXT, "", row -> row.entry().subject())
            .required("outcome", TEXT, row -> row.entry().outcome())
            .optional("address", TEXT, "", row -> row.entry().address())
            .optional("trace", TEXT, "", row -> row.entry().trace())
            .optional("detail", DETAIL, Map.of(), row -> row.entry().detail())
            .required("hash", TEXT, AuditRow::hash)
            .as(AuditOperation::row);

    private static AuditRow row(ObjectCodec.Values v) {
        long number = v.<Long>next();
        Instant at = v.next();
        var entry = new AuditEntry(
                v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next());
        return new AuditRow(number, at, entry, v.next());
    }

    private static final Codec<RowPage> PAGE = ObjectCodec.<RowPage>of()
            .required("rows", Codecs.list(ROW), RowPage::rows)
            .optional("next", AuditCodecs.PLACE, RowPage::next)
            .as(v -> new RowPage(v.next(), v.next()));

    private static final Codec<Verification> VERIFICATION = ObjectCodec.<Verification>of()
            .required("good", BOOLEAN, found -> found.broken() == null)
            .required("rows", COUNT, Verification::rows)
            .required("end", TEXT, Verification::end)
            .optional("broken", TEXT, Verification::broken)
            .as(v -> {
                v.skip();
                return new Verification(v.<Long>next(), v.next(), v.next());
            });

    static final ExtensionMethod<QueryAudit, RowPage> QUERY = AdminRow.of(
            QueryAudit.class,
            "GET /audit",
            "Show rows by group, actor, action, target or time",
            ObjectCodec.<QueryAudit>of()
                    .optional("group", TEXT, query -> query.filter().group())
                    .help("GROUP", "Rows of one group.")
                    .optional("actor", TEXT, query -> query.filter().actor())
                    .help("NAME", "Actions of one principal, even if its name was erased.")
                    .optional("action", TEXT, query -> query.filter().action())
                    .help("ACTION", "Such as task.created or key.revoked.")
                    .optional("target", TEXT, query -> query.filter().target())
                    .help("ID", "Actions on one task, key, graph, …")
                    .optional("subject", TEXT, query -> query.filter().subject())
                    .help("GROUP/NAME", "Actions that concern one member.")
                    .optional("since", TIME, query -> query.filter().since())
                    .help("WHEN", "A duration such as 2h back from now, or a date or time.")
                    .optional("after", AuditCodecs.PLACE, AuditPosition.BEGINNING, QueryAudit::after)
                    .help("PLACE", "Rows after this number, or after the next of a page.")
                    .optional("limit", Codecs.number(0, MOST_ROWS), ROWS_BY_DEFAULT, QueryAudit::limit)
                    .help("ROWS", "How many rows at most; default: 100.")
                    .as(v -> new QueryAudit(
                            new Filter(v.next(), v.next(), v.next(), v.next(), v.next(), v.next()),
                            v.next(),
                            v.<Long>next())),
            PAGE);

    static final ExtensionMethod<NewestRow, AuditPosition> NEWEST = AdminRow.of(
            NewestRow.class,
            "GET /audit/newest",
            "Show the number of the newest row, or the place of the newest ones of several hubs",
            ObjectCodec.<NewestRow>of()
                    .optional("before", AuditCodecs.PLACE, NewestRow::before)
                    .help("PLACE", "Place before which rows are counted; default: that of the newest row.")
                    .optional("rows", COUNT, 0L, NewestRow::rows)
                    .help("ROWS", "Show a place that is so many rows earlier; of several hubs, as many of each.")
                    .as(v -> new NewestRow(v.next(), v.<Long>next())),
            ObjectCodec.<AuditPosition>of()
                    .required("number", AuditCodecs.PLACE, place -> place)
                    .as(v -> v.next()));

    static final ExtensionMethod<VerifyAudit, Verification> VERIFY = AdminRow.of(
            VerifyAudit.class,
            "GET /audit/verify",
            "Verify that no row was changed",
            ObjectCodec.<VerifyAudit>of().as(v -> new VerifyAudit()),
            VERIFICATION);

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(QUERY, NEWEST, VERIFY);
}
