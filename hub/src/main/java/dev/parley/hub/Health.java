package dev.parley.hub;

import dev.parley.engine.Engine;
import dev.parley.engine.spi.UnreadableTask;
import dev.parley.hub.Checkup.Finding;
import dev.parley.hub.admin.HubOperation.Check;
import dev.parley.hub.admin.HubOperation.Level;
import dev.parley.store.encryption.ValueCipher;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Checks of a running hub: those of its data directory, of its queues, and of the parts that do not work. */
final class Health {
    private static final int LONG_QUEUE = 100;

    private Health() {}

    /**
     * Runs the checks, which may take a minute.
     *
     * @param data null for a hub in memory
     * @param secrets directory of the setting {@code secrets}; null if the secrets are in {@code data}
     * @param outage why nothing can be written
     * @param problems of parts of the hub, by their names
     */
    static List<Check> of(
            @Nullable Path data,
            @Nullable Path secrets,
            @Nullable ValueCipher cipher,
            Engine engine,
            Optional<String> outage,
            Map<String, String> problems) {
        var findings = new ArrayList<Finding>();
        if (data == null) {
            findings.add(new Finding("memory", Level.WARNING, "the hub keeps its data in memory", null));
        } else {
            findings.addAll(Checkup.of(data, secrets, cipher));
        }
        outage.ifPresent(reason -> findings.add(new Finding("changes", Level.PROBLEM, reason, null)));
        int waiting =
                engine.load().values().stream().mapToInt(Engine.Load::waiting).sum();
        findings.add(finding("queue", waiting >= LONG_QUEUE, waiting + " tasks wait for a slot of their agents"));
        engine.deliveries().ifPresent(webhooks -> {
            long backlog = webhooks.backlog();
            findings.add(finding("backlog", backlog >= LONG_QUEUE, backlog + " webhooks have deliveries outstanding"));
            boolean hasDead = !webhooks.dead(1).isEmpty();
            findings.add(finding("dead letters", hasDead, (hasDead ? "some" : "no") + " deliveries were given up"));
        });
        problems.forEach((part, reason) -> findings.add(new Finding(part, Level.PROBLEM, reason, null)));
        return findings.stream().map(Health::shown).toList();
    }

    private static Finding finding(String check, boolean isWarning, String message) {
        return new Finding(check, isWarning ? Level.WARNING : Level.OK, message, null);
    }

    private static Check shown(Finding finding) {
        UnreadableTask task = finding.task();
        return new Check(
                finding.check(),
                finding.level(),
                finding.message(),
                finding.level() == Level.OK ? null : finding.advice(),
                task == null ? null : task.taskId(),
                task == null ? null : task.agent(),
                task == null ? null : task.group());
    }
}
