package dev.parley.hub.admin;

import dev.parley.extension.Handlers;
import dev.parley.hub.admin.AuditOperation.QueryAudit;
import dev.parley.hub.admin.AuditOperation.RowPage;
import dev.parley.store.audit.AuditPage;
import dev.parley.store.audit.AuditTrail;

/** Handlers for the audit log. */
final class AuditPages {
    private final AuditTrail audit;

    AuditPages(AuditTrail audit) {
        this.audit = audit;
    }

    Handlers handlers() {
        return Handlers.NONE
                .call(AuditOperation.QUERY, (given, by) -> query(given))
                .call(AuditOperation.NEWEST, (given, by) -> audit.newest())
                .call(AuditOperation.VERIFY, (given, by) -> audit.verify());
    }

    private RowPage query(QueryAudit given) {
        AuditPage page = audit.page(given.filter(), given.after(), (int) given.limit());
        return new RowPage(page.rows(), page.isLast() ? null : page.next());
    }
}
