package dev.parley.hub.admin;

import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Filter;
import dev.parley.store.audit.Row;
import dev.parley.store.audit.Verification;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Handlers for the audit log. */
final class AuditPages {
    private static final int LIMIT = 100;

    private final AuditTrail audit;

    AuditPages(AuditTrail audit) {
        this.audit = audit;
    }

    Map<String, AdminHandler> handlers() {
        return Map.of(
                "audit/query", (given, by) -> query(given),
                "audit/newest", (given, by) -> Map.of("number", audit.newest()),
                "audit/verify", (given, by) -> shown(audit.verify()));
    }

    private Object query(AdminParameters given) {
        var filter = new Filter(
                given.textOrNull("group"),
                given.textOrNull("actor"),
                given.textOrNull("action"),
                given.textOrNull("target"),
                given.textOrNull("subject"),
                given.time("since"));
        List<Row> rows = audit.rows(filter, given.number("after", 0), (int) given.number("limit", LIMIT));
        return Map.of("rows", rows.stream().map(AuditPages::shown).toList());
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
