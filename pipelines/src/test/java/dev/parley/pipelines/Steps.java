package dev.parley.pipelines;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.mesh.Reports;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.LocalAgent;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Calls agents one after the other, with the results of earlier ones as a workflow hands them on. */
final class Steps implements AutoCloseable {
    private final Map<String, LocalAgent> agents = new HashMap<>();
    private final Map<String, @Nullable Object> results = new HashMap<>();

    Steps(List<Agent> agents) {
        agents.forEach(agent -> this.agents.put(agent.name(), LocalAgent.of(agent)));
    }

    /** Runs a step that completes; {@code depends} are names of agents. */
    Task run(String agent, Map<String, ?> parameters, List<String> depends, Part... files) {
        Task task = send(agent, parameters, depends, files);
        assertThat(task.state()).as("%s", task.status()).isEqualTo(TaskState.COMPLETED);
        results.put(
                agent,
                Reports.value(task.artifacts().stream()
                        .flatMap(artifact -> artifact.parts().stream())
                        .toList()));
        return task;
    }

    Task send(String agent, Map<String, ?> parameters, List<String> depends, Part... files) {
        var all = new LinkedHashMap<String, @Nullable Object>(parameters);
        var inputs = new LinkedHashMap<String, @Nullable Object>();
        depends.forEach(before -> inputs.put(before, results.get(before)));
        all.put("inputs", inputs);
        var parts = new java.util.ArrayList<Part>();
        parts.add(Part.data(Map.of("task", "x", "parameters", all)));
        parts.addAll(List.of(files));
        return requireNonNull(agents.get(agent)).send(parts.toArray(Part[]::new));
    }

    static byte[] sample(String name) {
        try (InputStream in = Steps.class.getResourceAsStream(name)) {
            return requireNonNull(in).readAllBytes();
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    @Override
    public void close() {
        agents.values().forEach(LocalAgent::close);
    }
}
