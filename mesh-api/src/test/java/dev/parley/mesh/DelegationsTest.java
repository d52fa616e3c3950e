package dev.parley.mesh;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.mesh.Envelope.Handling;
import dev.parley.mesh.Envelope.Party;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.MeshContent.Outcome;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class DelegationsTest {
    private static Skill skill(String id, String name, List<String> tags, List<String> inputModes) {
        return new Skill(id, name, "", tags, List.of(), inputModes, List.of(), List.of());
    }

    private static AgentCard card(Skill... skills) {
        return new AgentCard(
                "researcher",
                "",
                List.of(new Interface("https://b.example/agents/researcher", "JSONRPC", null, "1.0")),
                null,
                "1",
                null,
                new Capabilities(null, null, List.of(), null),
                Map.of(),
                List.of(),
                List.of("text/plain"),
                List.of("text/plain"),
                List.of(skills),
                List.of(),
                null);
    }

    private static final Skill TEXT = skill("research", "Web research", List.of("search", "facts"), List.of());
    private static final Skill DATA = skill("facts", "Facts", List.of(), List.of("application/json", "text/plain"));

    private static Message message(Skill skill, String task, Map<String, @Nullable Object> parameters) {
        var delegation = new Delegation(task, parameters, null, null);
        var envelope = new Envelope(
                "m-1",
                "c-1",
                null,
                Party.of("planner", "https://a.example"),
                Party.of("researcher", "https://b.example"),
                EnvelopeModel.body(delegation),
                Handling.DEFAULT);
        return Delegations.message(envelope, delegation, card(skill), skill, "default");
    }

    private static Part only(Skill skill, Map<String, @Nullable Object> parameters) {
        Message message = message(skill, "research", parameters);
        assertThat(message.parts()).hasSize(1);
        return message.parts().getFirst();
    }

    @Test
    @DisplayName("ONE22 a task names a skill by its id, else a tag, else the name")
    void skills() {
        AgentCard card = card(TEXT, DATA);

        assertThat(Delegations.skill(card, "facts")).contains(DATA);
        assertThat(Delegations.skill(card, "Search")).contains(TEXT);
        assertThat(Delegations.skill(card, "web research")).contains(TEXT);
        assertThat(Delegations.skill(card, "cook")).isEmpty();
    }

    @Test
    @DisplayName("an agent for text gets the parameter text, the only text, or the JSON of the parameters")
    void text() {
        assertThat(only(TEXT, Map.of("text", "Why?", "topic", "x"))).isEqualTo(Part.text("Why?"));
        assertThat(only(TEXT, Map.of("topic", "x", "depth", 3))).isEqualTo(Part.text("x"));
        assertThat(only(TEXT, Map.of("depth", 3))).isEqualTo(Part.text("{\"depth\":3}"));
        assertThat(only(TEXT, Map.of())).isEqualTo(Part.text("research"));
    }

    @Test
    @DisplayName("M1 an agent for data and text gets the parameters as both, and files as files, too")
    void dataAndFiles() {
        byte[] bytes = "a,b".getBytes(StandardCharsets.UTF_8);
        Map<String, @Nullable Object> parameters = Map.of(
                "table",
                Map.of(
                        "name",
                        "t.csv",
                        "mimeType",
                        "text/csv",
                        "bytes",
                        Base64.getEncoder().encodeToString(bytes)));
        Message message = message(DATA, "facts", parameters);

        assertThat(message.parts())
                .containsExactly(Part.data(parameters), Part.text("facts"), Part.file("t.csv", "text/csv", bytes));
        assertThat(message.contextId()).startsWith("one-");
        assertThat(message.metadata()).containsKey(Delegations.URI);
        assertThatThrownBy(() -> message(DATA, "facts", Map.of("table", Map.of("name", "t.csv", "bytes", "?"))))
                .isInstanceOfSatisfying(
                        InvalidField.class,
                        refused -> assertThat(refused.field()).isEqualTo("message.content.parameters.table"));
    }

    @Test
    @DisplayName("M1 a skill for JSON only gets exactly the parameters, whatever they look like")
    void dataOnly() {
        Skill tool = skill("clone", "Clones", List.of(), List.of("application/json"));
        Map<String, @Nullable Object> parameters =
                Map.of("repository", Map.of("name", "r", "url", "https://r.example/r"), "task", "t", "parameters", 1);

        assertThat(only(tool, parameters)).isEqualTo(Part.data(parameters));
        assertThat(message(tool, "clone", Map.of()).parts()).containsExactly(Part.data(Map.of()));
        assertThat(message(tool, "clone", Map.of()).metadata()).containsEntry("skillId", "clone");
    }

    private static Task task(TaskState state, @Nullable Message said) {
        return new Task("t-1", "c-1", new TaskStatus(state, said, Instant.EPOCH), List.of(), List.of(), Map.of());
    }

    private static Message saying(String text, Map<String, @Nullable Object> metadata) {
        return new Message("s-1", Role.AGENT, List.of(Part.text(text)), null, null, metadata, List.of(), List.of());
    }

    @Test
    @DisplayName("ONE06 progress is what the agent says, never falls, and ends at 100")
    void progress() {
        Task half = task(TaskState.WORKING, saying("half", Map.of("progress", 50)));

        assertThat(Reports.of(half, 0)).isEqualTo(new Status("t-1", 50, "half", null, null));
        assertThat(Reports.of(half, 70)).isEqualTo(new Status("t-1", 70, "half", null, null));
        assertThat(Reports.progress(task(TaskState.WORKING, saying("odd", Map.of("progress", Double.NaN))), 0))
                .isZero();
        assertThat(Reports.progress(task(TaskState.WORKING, saying("much", Map.of("progress", 1e9))), 0))
                .isEqualTo(100);
        assertThat(Reports.progress(task(TaskState.COMPLETED, null), 10)).isEqualTo(100);
    }

    @Test
    void endsAndQuestions() {
        assertThat(Reports.of(task(TaskState.COMPLETED, saying("done", Map.of())), 0))
                .isEqualTo(new Result("t-1", Outcome.COMPLETED, "done", null));
        MeshContent canceled = Reports.of(task(TaskState.CANCELED, null), 0);
        assertThat(requireNonNull(((Result) canceled).error()).code()).isEqualTo("canceled");
        assertThat(Reports.of(task(TaskState.INPUT_REQUIRED, saying("Which?", Map.of())), 20))
                .isEqualTo(new Status("t-1", 20, "Which?", null, "input-required"));
        assertThat(Reports.of(task(TaskState.REJECTED, null), 0).type()).isEqualTo(MessageType.TASK_REJECTION);
    }
}
