package dev.parley.registry.vault;

import dev.parley.registry.vault.VaultAccounts.Developer;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import java.util.Map;
import java.util.Optional;

/** Rows of the audit for actions of accounts. They have numbers of accounts and ids, neither mail addresses nor secrets. */
record Actions(AuditTrail audit) {
    private static final String DENIED = "denied";
    private static final String OK = "ok";
    private static final String ANONYMOUS = "anonymous";

    /** An action that an account has done. */
    void done(Developer developer, String action, String target, VaultRequest request) {
        String name = VaultCards.principal(developer.id());
        note(name, action, target, VaultCards.GROUP + "/" + name, OK, request);
    }

    /** An action that was refused to a client that is not an account, or that has not proved to be one. */
    void denied(Optional<Developer> developer, String action, VaultRequest request) {
        String subject = developer
                .map(known -> VaultCards.GROUP + "/" + VaultCards.principal(known.id()))
                .orElse("");
        note(ANONYMOUS, action, "", subject, DENIED, request);
    }

    private void note(
            String actor, String action, String target, String subject, String outcome, VaultRequest request) {
        String name = "agentvault." + action;
        audit.note(new AuditEntry(
                VaultCards.GROUP, actor, name, target, subject, outcome, request.address(), "", Map.of()));
    }
}
