package dev.parley.hub;

import dev.parley.dialect.WireAnswer;
import dev.parley.store.AuditTrail;
import dev.parley.store.AuditTrail.Filter;
import dev.parley.store.AuditTrail.Row;
import dev.parley.store.AuditTrail.Verification;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pages of the audit log, for operators.
 *
 * <p>{@code GET /audit} lists rows, by {@code group}, {@code actor}, {@code action}, {@code target}, {@code subject} and {@code since}, behind
 * the number {@code after}, at most {@code limit}; {@code GET /audit/newest} tells the number of the last one; {@code GET
 * /audit/verify} looks at the whole chain.
 */
final class AuditPages {
    private static final int LIMIT = 100;
    private static final int MOST = 10_000;

    private final AuditTrail audit;

    AuditPages(AuditTrail audit) {
        this.audit = audit;
    }

    WireAnswer answer(AdminRequest request) {
        request.requireGet();
        if (request.steps() == 1) {
            var filter = new Filter(
                    request.parameter("group"),
                    request.parameter("actor"),
                    request.parameter("action"),
                    request.parameter("target"),
                    request.parameter("subject"),
                    request.timeParameter("since"));
            List<Map<String, @Nullable Object>> rows = audit
                    .rows(filter, request.number("after", 0, Long.MAX_VALUE), (int)
                            request.number("limit", LIMIT, MOST))
                    .stream()
                    .map(AuditPages::shown)
                    .toList();
            return AdminRequest.json(Map.of("rows", rows));
        }
        return switch (request.step(1)) {
            case "newest" -> AdminRequest.json(Map.of("number", audit.newest()));
            case "verify" -> AdminRequest.json(shown(audit.verify()));
            default -> throw request.nothingHere();
        };
    }

    private static Map<String, @Nullable Object> shown(Verification found) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("good", found.broken() == null);
        shown.put("rows", found.rows());
        shown.put("end", found.end());
        if (found.broken() != null) {
            shown.put("broken", found.broken());
        }
        return shown;
    }

    private static Map<String, @Nullable Object> shown(Row row) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("number", row.number());
        shown.put("at", row.at().toString());
        shown.put("group", row.entry().group());
        shown.put("actor", row.entry().actor());
        shown.put("action", row.entry().action());
        shown.put("target", row.entry().target());
        if (!row.entry().subject().isEmpty()) {
            shown.put("subject", row.entry().subject());
        }
        shown.put("outcome", row.entry().outcome());
        if (!row.entry().address().isEmpty()) {
            shown.put("address", row.entry().address());
        }
        if (!row.entry().trace().isEmpty()) {
            shown.put("trace", row.entry().trace());
        }
        if (!row.entry().detail().isEmpty()) {
            shown.put("detail", row.entry().detail());
        }
        shown.put("hash", row.hash());
        return shown;
    }
}
