package dev.parley.hub.admin;

import dev.parley.extension.Handlers;
import dev.parley.hub.admin.AuditOperation.NewestRow;
import dev.parley.hub.admin.AuditOperation.QueryAudit;
import dev.parley.hub.admin.AuditOperation.RowPage;
import dev.parley.store.audit.AuditNews;
import dev.parley.store.audit.AuditPosition;
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
                .call(AuditOperation.NEWEST, (given, by) -> newest(given))
                .call(AuditOperation.VERIFY, (given, by) -> audit.verify());
    }

    private AuditPosition newest(NewestRow given) {
        AuditPosition place = given.before() == null ? audit.now() : given.before();
        return given.rows() == 0 ? place : audit.back(place, given.rows());
    }

    private RowPage query(QueryAudit given) {
        AuditNews news = audit.since(given.filter(), given.after(), (int) given.limit());
        return new RowPage(news.rows(), news.isLast() ? null : news.next());
    }
}
