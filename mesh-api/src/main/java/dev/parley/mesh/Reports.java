package dev.parley.mesh;

import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.mesh.MeshContent.Outcome;
import dev.parley.mesh.MeshContent.Problem;
import dev.parley.mesh.MeshContent.Rejection;
import dev.parley.mesh.MeshContent.Response;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tasks of A2A as contents of messages. */
public final class Reports {
    private static final int DONE = 100;
    private static final String PROGRESS = "progress";

    private Reports() {}

    /**
     * The message about the state of a task.
     *
     * @param before progress of the last report
     */
    public static MeshContent of(Task task, int before) {
        return switch (task.status().state()) {
            case COMPLETED -> new Result(task.id(), Outcome.COMPLETED, result(task), null);
            case FAILED -> failed(task, code(task), "the task failed");
            case CANCELED ->
                task.metadata().get(Delegations.END) instanceof String code
                        ? failed(task, code, "the time limit has passed")
                        : failed(task, "canceled", "the task was canceled");
            case REJECTED ->
                new Rejection(text(task, "the agent declined the task"), MeshError.TASK_REJECTED.word(), List.of());
            case INPUT_REQUIRED, AUTH_REQUIRED ->
                status(task, before, task.state().word());
            case UNSPECIFIED, SUBMITTED, WORKING -> status(task, before, null);
        };
    }

    /** Content of the answer to a query that a task worked on. */
    public static MeshContent response(Task task) {
        return switch (of(task, 0)) {
            case Result result -> new Response(result.result(), result.error(), null);
            case Rejection rejection ->
                new Response(null, new Problem(MeshError.TASK_REJECTED.word(), rejection.reason()), null);
            default ->
                new Response(
                        null,
                        new Problem(task.state().word(), text(task, "the agent needs an answer first")),
                        task.id());
        };
    }

    /** A piece of a result. */
    public static MeshContent piece(String taskId, Artifact artifact) {
        return new Result(taskId, Outcome.PARTIAL, value(artifact.parts()), null);
    }

    /** Progress of a task in percent, as its agent says; never less than before, and 100 at its end. */
    public static int progress(Task task, int before) {
        if (task.status().state() == TaskState.COMPLETED) {
            return DONE;
        }
        Message said = task.status().message();
        Object told = said == null ? null : said.metadata().get(PROGRESS);
        told = told == null ? task.metadata().get(PROGRESS) : told;
        int now = told instanceof Number number && Double.isFinite(number.doubleValue())
                ? (int) Math.clamp(number.doubleValue(), 0, DONE)
                : 0;
        return Math.max(before, now);
    }

    private static MeshContent status(Task task, int before, @Nullable String state) {
        return new Status(task.id(), progress(task, before), textOrNull(task), null, state);
    }

    private static MeshContent failed(Task task, String code, String otherwise) {
        return new Result(task.id(), Outcome.FAILED, result(task), new Problem(code, text(task, otherwise)));
    }

    /** The code of a failure, as the task's agent or the mesh gave it. */
    private static String code(Task task) {
        Message said = task.status().message();
        return said != null && said.metadata().get("code") instanceof String code
                ? code
                : MeshError.INTERNAL_ERROR.word();
    }

    private static String text(Task task, String otherwise) {
        return requireNonNullElse(textOrNull(task), otherwise);
    }

    private static @Nullable String textOrNull(Task task) {
        Message said = task.status().message();
        return said == null || said.text().isEmpty() ? null : said.text();
    }

    private static @Nullable Object result(Task task) {
        return value(parts(task));
    }

    /** Parts of the task's artifacts, else of the message with which it ended. */
    public static List<Part> parts(Task task) {
        List<Part> parts = task.artifacts().stream()
                .flatMap(artifact -> artifact.parts().stream())
                .toList();
        Message said = task.status().message();
        return parts.isEmpty() && said != null ? said.parts() : parts;
    }

    /** Parts as JSON: the data or the text if there is only one, else a list of them; files as objects; null for none. */
    public static @Nullable Object value(List<Part> parts) {
        List<@Nullable Object> values = parts.stream().flatMap(Reports::value).toList();
        return switch (values.size()) {
            case 0 -> null;
            case 1 -> values.getFirst();
            default -> values;
        };
    }

    private static Stream<@Nullable Object> value(Part part) {
        return switch (part) {
            case Part.Text text when text.filename() == null -> Stream.of(text.text());
            case Part.Data data when data.filename() == null -> Stream.of(data.data());
            default -> Stream.of(Json.read(Json.write(part), Map.class));
        };
    }
}
