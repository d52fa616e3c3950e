package dev.parley.hub.admin;

import static dev.parley.extension.AnswerSchema.answer;
import static dev.parley.hub.admin.AdminOperations.AUDIT_ROW;
import static dev.parley.hub.admin.AdminOperations.VERIFICATION;

import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Entry;
import dev.parley.store.audit.Filter;
import dev.parley.store.audit.Page;
import dev.parley.store.audit.Row;
import dev.parley.store.audit.Verification;
import java.util.LinkedHashMap;
import java.util.Map;

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
        Page page = audit.page(filter, given.number("after", 0), (int) given.number("limit", LIMIT));
        var answer = new LinkedHashMap<String, Object>();
        answer.put("rows", page.rows().stream().map(AuditPages::shown).toList());
        if (!page.isLast()) {
            answer.put("next", page.next());
        }
        return answer;
    }

    private static Map<String, Object> shown(Verification found) {
        return answer(VERIFICATION, found.broken() == null, found.rows(), found.end(), found.broken());
    }

    private static Map<String, Object> shown(Row row) {
        Entry entry = row.entry();
        return answer(
                AUDIT_ROW,
                row.number(),
                row.at(),
                entry.group(),
                entry.actor(),
                entry.action(),
                entry.target(),
                entry.subject(),
                entry.outcome(),
                entry.address(),
                entry.trace(),
                entry.detail(),
                row.hash());
    }
}
