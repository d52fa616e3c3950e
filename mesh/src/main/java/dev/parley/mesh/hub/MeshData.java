package dev.parley.mesh.hub;

import dev.parley.extension.PersonalData;
import dev.parley.protocol.CallContext;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Erases personal data of the mesh: answers, timers, and sums over the audit in memory. Safe for any thread. */
record MeshData(MessageAnswers answers, Deadlines deadlines, Views views) implements PersonalData {
    @Override
    public void unlink(Collection<String> ids, CallContext operator) {
        String group = operator.scope().group();
        for (String id : ids) {
            answers.about(group, id).forEach(deadlines::cancel);
        }
        answers.unlink(group, List.copyOf(ids));
    }

    @Override
    public Map<String, Object> erase(String principal, boolean withStatements, CallContext operator) {
        String group = operator.scope().group();
        return Map.of(
                "messageAnswers", answers.erase(group, principal),
                "messageTimers", deadlines.erase(group, principal));
    }

    @Override
    public void erased(CallContext operator) {
        views.forget(operator.scope().group());
    }
}
