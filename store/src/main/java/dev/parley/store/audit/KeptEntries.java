package dev.parley.store.audit;

import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditRows.Part;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.DatabaseSystem;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Entries of the audit that are readings of the log, and get rows of their own before the log loses them. For the writer thread. */
public final class KeptEntries {
    private static final int PARTS_AT_ONCE = 64;

    private KeptEntries() {}

    /** Makes rows of the entries of tasks, before the removal of their segments. Entries that have rows by an earlier transaction keep them. */
    public static void keep(DatabaseSession session, DatabaseSystem system, List<String> taskIds) throws SQLException {
        var groups = new HashMap<String, Parts>();
        var rows = new ArrayList<@Nullable Object[]>();
        for (LoggedEntry entry : LoggedEntry.withoutRow(session, system, taskIds)) {
            Part link = groups.computeIfAbsent(entry.entry().group(), any -> new Parts())
                    .of(session, entry);
            rows.add(AuditRows.values(
                    entry.number(),
                    link == null ? 0 : link.at(),
                    entry.entry(),
                    AuditChain.text(entry.entry().detail()),
                    HexFormat.of().formatHex(Sha256.of(entry.events())),
                    entry.salt()));
        }
        session.updateAll(AuditRows.INSERT, rows);
    }

    /** Parts of links of a group, read page by page: more at once where entries follow each other. */
    private static final class Parts {
        private List<Part> page = List.of();
        private int next;
        private int used;

        /** The part that has an entry, which comes after those before; null if none has. */
        @Nullable
        Part of(DatabaseSession session, LoggedEntry entry) throws SQLException {
            while (next < page.size() && page.get(next).last() < entry.number()) {
                next++;
            }
            if (next == page.size()) {
                int most = Math.clamp(2L * used, 1, PARTS_AT_ONCE);
                page = AuditRows.parts(session, entry.entry().group(), entry.number() - 1, most);
                next = 0;
                used = 0;
            }
            if (page.isEmpty() || !page.get(next).has(entry)) {
                return null;
            }
            used++;
            return page.get(next);
        }
    }
}
