package dev.parley.knowledge;

import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.Verification;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.model.Pattern;
import dev.parley.protocol.CallContext;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Provenance that the graph writes to the statements of an update. */
record Stamps(Map<String, @Nullable Object> members) {
    /** Members of the provenance; values by the caller are ignored. */
    private static final Set<String> NAMES = Set.of(
            "recordedBy",
            "recordedAt",
            "sourceAgentId",
            "claimedSourceAgentId",
            "taskId",
            "sessionId",
            "justification",
            "approvedBy",
            "changeId");

    private static final String ANONYMOUS = "anonymous";

    /** @param approvedBy principal that approved the update; null if none did */
    static Stamps of(CallContext context, Update update, @Nullable String approvedBy) {
        // The source agent is the caller, or the agent that the update names if the caller is anonymous.
        String source = context.caller().equals(ANONYMOUS) ? update.sourceAgentId() : context.caller();
        var members = new LinkedHashMap<String, @Nullable Object>();
        members.put("recordedBy", context.caller());
        put(members, "sourceAgentId", source);
        put(
                members,
                "claimedSourceAgentId",
                Objects.equals(source, update.sourceAgentId()) ? null : update.sourceAgentId());
        put(members, "taskId", update.taskId());
        put(members, "sessionId", update.sessionId());
        put(members, "justification", update.justification());
        put(members, "approvedBy", approvedBy);
        return new Stamps(members);
    }

    private static void put(Map<String, @Nullable Object> members, String name, @Nullable String value) {
        if (value != null) {
            members.put(name, value);
        }
    }

    /** A statement with these stamps instead of those that it has. */
    Statement on(Statement statement) {
        if (statement.provenance().isEmpty() && statement.graph() == null) {
            return statement.withProvenance(members);
        }
        var provenance = new LinkedHashMap<>(statement.provenance());
        provenance.keySet().removeAll(NAMES);
        provenance.putAll(members);
        boolean isDefault = Pattern.DEFAULT_GRAPH.equals(statement.graph());
        return (isDefault ? statement.in(null) : statement).withProvenance(provenance);
    }

    /** The stamps of the changes of a transaction. */
    Map<String, @Nullable Object> in(String transaction) {
        var more = new LinkedHashMap<>(members);
        more.put("transactionId", transaction);
        more.put("verificationStatus", Verification.VERIFIED);
        return more;
    }

    /** Returns the provenance that the caller gave, and the source agent. */
    static Map<String, @Nullable Object> said(Statement statement) {
        var said = new LinkedHashMap<>(statement.provenance());
        said.keySet().removeIf(name -> NAMES.contains(name) && !name.equals("sourceAgentId"));
        return said;
    }
}
