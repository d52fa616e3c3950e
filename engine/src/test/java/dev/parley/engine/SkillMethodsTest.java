package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
final class SkillMethodsTest {
    private static final Map<String, Object> ALL = Map.of(
            "text",
            "a",
            "whole",
            1,
            "large",
            5_000_000_000L,
            "floating",
            1.5,
            "truth",
            true,
            "names",
            List.of("b"),
            "more",
            Map.of("c", 2));

    private final Engine engine =
            Engine.builder(new MemoryTaskLog()).grace(Duration.ofMillis(200)).build();

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    @DisplayName("AV29: annotated methods of a class are the skills of an agent, on its card and for its callers")
    void annotatedMethodsAreSkills() {
        Agent agent = Agent.named("librarian", "Finds and lends books").skills(new Librarian());
        AgentEndpoint endpoint = engine.host(agent);

        List<AgentCard.Skill> skills = card(agent).skills();
        assertThat(skills).extracting(AgentCard.Skill::id).containsExactly("find", "lend");
        assertThat(skills).extracting(AgentCard.Skill::name).containsExactly("find", "Lend a book");
        assertThat(skills.getFirst().description()).isEqualTo("Finds books by their title");
        assertThat(skills.getFirst().tags()).containsExactly("search");
        assertThat(card(agent).defaultInputModes()).containsExactly("text/plain", "application/json");

        assertThat(send(endpoint, "lend", Part.text("Emma")).text()).isEqualTo("Emma is yours for four weeks");
        assertThat(data(send(endpoint, "find", Part.data(Map.of("title", "Trial", "limit", 3)))))
                .isEqualTo(Map.of("titles", List.of("The Trial")));
    }

    @Test
    void theDocumentationShowsTheAgentThatIsTested() throws Exception {
        String source = Files.readString(Path.of("src/test/java/dev/parley/engine/Librarian.java"));

        assertThat(Files.readString(Path.of("../docs/agents.md")))
                .contains(source.substring(source.indexOf("final class")).strip())
                .contains("Agent.named(\"librarian\", \"Finds and lends books\").skills(new Librarian())");
    }

    @Test
    void aMessageThatNamesNoSkillOrAnUnknownOneIsRejectedWithTheSkills() {
        AgentEndpoint endpoint = host(new Librarian());

        assertThat(rejected(send(endpoint, null, Part.text("Emma"))))
                .isEqualTo("metadata.skillId: missing (expected: one of find, lend)");
        assertThat(rejected(send(endpoint, "fly", Part.text("Emma"))))
                .isEqualTo("metadata.skillId \"fly\": unknown skill (expected: one of find, lend)");
        assertThat(rejected(send(endpoint, 7, Part.text("Emma")))).startsWith("metadata.skillId 7: unknown skill");
    }

    @Test
    void theSkillMayBeNamedByTheRequest() {
        var send = new SendMessage(
                null,
                Message.user(Part.text("Emma")),
                SendMessage.of(Message.user(Part.text(""))).configuration(),
                Map.of("skillId", "lend"));

        Task task = (Task) host(new Librarian()).call(send, CallContext.anonymous());

        assertThat(task.text()).startsWith("Emma is yours");
    }

    @Test
    void valuesReachParametersOfTheirTypes() {
        AgentEndpoint endpoint = host(new Shows());

        assertThat(send(endpoint, null, Part.data(ALL)).text()).isEqualTo("a150000000001.5true[b]{c=2}1");
        assertThat(send(endpoint, null, Part.data(with("whole", 7.0))).text()).startsWith("a7");
        assertThat(send(endpoint, null, Part.data(with("floating", new BigDecimal("2"))))
                        .text())
                .contains("50000000002.0true");
        assertRejected(endpoint, "text", 7, "\"text\": 7 (expected: a string)");
        assertRejected(endpoint, "whole", "1", "\"whole\": \"1\" (expected: an integer of 32 bits)");
        assertRejected(endpoint, "whole", 1.5, "\"whole\": 1.5 (expected: an integer of 32 bits)");
        assertRejected(endpoint, "whole", 5_000_000_000L, "\"whole\": 5000000000 (expected: an integer of 32 bits)");
        assertRejected(endpoint, "whole", Double.NaN, "\"whole\": NaN (expected: an integer of 32 bits)");
        assertRejected(endpoint, "large", new BigDecimal("1E+1000000"), "an integer of 64 bits");
        assertRejected(endpoint, "floating", new BigDecimal("1E+400"), "\"floating\": 1E+400 (expected: a number)");
        assertRejected(endpoint, "truth", "yes", "\"truth\": \"yes\" (expected: true or false)");
        assertRejected(endpoint, "names", "b", "\"names\": \"b\" (expected: a list, each element a string)");
        assertRejected(endpoint, "names", Arrays.asList("b", 1), "\"names\": [b, 1] (expected: a list, each element");
        assertRejected(endpoint, "more", List.of(), "\"more\": [] (expected: an object)");
        assertRejected(endpoint, "more", null, "\"more\": null (expected: an object)");
        assertThat(rejected(send(endpoint, null, Part.data(Map.of("text", "a")))))
                .isEqualTo("parameter \"whole\": missing (expected: an integer of 32 bits)");
    }

    @Test
    void aMessageWithoutTheNeededPartIsRejected() {
        AgentEndpoint endpoint = host(new Librarian());

        assertThat(rejected(send(endpoint, "lend", Part.data(Map.of()))))
                .isEqualTo("parameter \"title\": no text in the message (expected: a text part)");
        assertThat(rejected(send(endpoint, "find", Part.text("Emma"))))
                .isEqualTo("parameters of skill \"find\": 0 data parts in the message "
                        + "(expected: one data part, an object with the members title, limit)");
        assertThat(rejected(send(endpoint, "find", Part.data(List.of("Emma")))))
                .contains("[Emma] (expected: one data part");
    }

    @Test
    void aRejectionRepeatsNoMoreThanTheBeginningOfAValue() {
        assertThat(rejected(send(host(new Librarian()), "x".repeat(100_000), Part.text("Emma"))))
                .hasSizeLessThan(400);
    }

    @ParameterizedTest
    @CsvSource({"text, done", "part, done", "parts, done", "nothing, ''", "noParts, ''", "replied, done"})
    void whatAMethodReturnsCompletesItsTask(String skill, String text) {
        Task task = send(host(new Results()), skill, Part.text("go"));

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).isEqualTo(text);
    }

    @Test
    void anExceptionOfAMethodAndANullFailTheTaskWithoutTheirReason() {
        for (String skill : List.of("thrown", "none")) {
            Task task = send(host(new Results()), skill, Part.text("go"));

            assertThat(task.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(task)).startsWith("The agent failed (reference ").doesNotContain("secret");
        }
    }

    @Test
    void anAnswerToTheQuestionOfASkillContinuesThatSkill() {
        AgentEndpoint endpoint = host(new Results());
        Task asked = send(endpoint, "question", Part.text("go"));
        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);

        Message answer = Message.user(Part.text("blue")).in(asked.contextId(), asked.id());
        Task task = (Task) endpoint.call(SendMessage.of(answer), CallContext.anonymous());

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).isEqualTo("blue");
    }

    @Test
    @DisplayName("AV29: a method that moves its task on after the end is refused, and the task stays as it ended")
    void aTransitionAfterTheEndIsRefused() throws Exception {
        var refusal = new CompletableFuture<Throwable>();
        AgentEndpoint endpoint = host(new Late(refusal));

        Task task = send(endpoint, null, Part.text("go"));

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(refusal.get(30, TimeUnit.SECONDS)).isInstanceOf(TaskEndedException.class);
    }

    @Test
    void classesThatCannotBeCalledAreRefusedWithTheMethodAndTheProblem() {
        assertUnusable(new Object(), "no skills (expected: methods annotated with @Skill)");
        assertUnusable(new Threads(), "run: parameter \"thread\" has type java.lang.Thread (expected: String, int");
        assertUnusable(
                new Numbers(),
                "run: parameter \"numbers\" has type java.util.Map<java.lang.String, java.lang.Integer> (expected:");
        assertUnusable(
                new Strings(),
                "run: returns java.util.List<java.lang.String> (expected: String, Part, List<Part>, Map or void)");
        assertUnusable(new Twice(), "skill \"same\": duplicate id");
    }

    @Test
    void theMethodsOfAClassAreCalledOnAnotherObject() {
        AgentEndpoint endpoint = engine.host(Agent.named("agent", "Has skills")
                .skills(Librarian.class, (method, arguments) -> method.getName() + Arrays.toString(arguments)));

        assertThat(send(endpoint, "lend", Part.text("Emma")).text()).isEqualTo("lendBook[Emma]");
    }

    @Test
    void aMethodOfAGenericInterfaceIsOneSkill() {
        AgentEndpoint endpoint = host(new Speaker());

        assertThat(send(endpoint, null, Part.text("hello")).text()).isEqualTo("hello!");
    }

    interface Speaks<T> {
        String speak(T words);
    }

    static final class Speaker implements Speaks<String> {
        @Override
        @Skill(description = "Speaks louder")
        public String speak(String words) {
            return words + "!";
        }
    }

    static final class Shows {
        @Skill(description = "Shows its arguments")
        String show(
                String text,
                int whole,
                Long large,
                double floating,
                boolean truth,
                List<String> names,
                Map<String, Object> more,
                Request request) {
            return text
                    + whole
                    + large
                    + floating
                    + truth
                    + names
                    + more
                    + request.parts().size();
        }
    }

    static final class Late {
        private final CompletableFuture<Throwable> refusal;

        Late(CompletableFuture<Throwable> refusal) {
            this.refusal = refusal;
        }

        @Skill(description = "Goes on after the end")
        void late(Reply reply) {
            reply.complete("done");
            try {
                reply.working("more");
                refusal.complete(new AssertionError("not refused"));
            } catch (TaskEndedException refused) {
                refusal.complete(refused);
            }
        }
    }

    static final class Threads {
        @Skill(description = "Takes a thread")
        void run(Thread thread) {}
    }

    static final class Numbers {
        @Skill(description = "Takes a map by number")
        void run(Map<String, Integer> numbers) {}
    }

    static final class Strings {
        @Skill(description = "Returns strings")
        List<String> run() {
            return List.of();
        }
    }

    static final class Twice {
        @Skill(id = "same", description = "First")
        void first() {}

        @Skill(id = "same", description = "Second")
        void second() {}
    }

    /** One skill for each kind of result. */
    static final class Results {
        @Skill(description = "A string")
        String text() {
            return "done";
        }

        @Skill(description = "A part")
        Part part() {
            return Part.text("done");
        }

        @Skill(description = "Parts")
        List<Part> parts() {
            return List.of(Part.text("done"), Part.data(1));
        }

        @Skill(description = "No parts")
        List<Part> noParts() {
            return List.of();
        }

        @Skill(description = "Nothing")
        void nothing() {}

        @Skill(description = "An answer of its own")
        void replied(Reply reply) {
            reply.complete("done");
        }

        @Skill(description = "A question")
        void question(Request request, Reply reply) {
            if (request.isFollowUp()) {
                reply.complete(request.text());
            } else {
                reply.askForInput("Which colour?");
            }
        }

        @Skill(description = "An exception")
        String thrown() throws java.io.IOException {
            throw new java.io.IOException("secret detail");
        }

        @Skill(description = "Null")
        @Nullable
        String none() {
            return null;
        }
    }

    private AgentEndpoint host(Object skills) {
        return engine.host(Agent.named("agent", "Has skills").skills(skills));
    }

    private static Task send(AgentEndpoint endpoint, @Nullable Object skill, Part part) {
        Message plain = Message.user(part);
        Message message = skill == null
                ? plain
                : new Message(
                        plain.messageId(),
                        plain.role(),
                        plain.parts(),
                        plain.contextId(),
                        plain.taskId(),
                        Map.of("skillId", skill),
                        plain.extensions(),
                        plain.referenceTaskIds());
        return (Task) endpoint.call(SendMessage.of(message), CallContext.anonymous());
    }

    private static Map<String, @Nullable Object> with(String name, @Nullable Object value) {
        var data = new LinkedHashMap<String, @Nullable Object>(ALL);
        data.put(name, value);
        return data;
    }

    private static void assertRejected(AgentEndpoint endpoint, String name, @Nullable Object value, String reason) {
        assertThat(rejected(send(endpoint, null, Part.data(with(name, value))))).contains(reason);
    }

    private static void assertUnusable(Object skills, String problem) {
        assertThatThrownBy(() -> Agent.named("agent", "Has skills").skills(skills))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem);
    }

    private static String rejected(Task task) {
        assertThat(task.state()).isEqualTo(TaskState.REJECTED);
        return reason(task);
    }

    private static String reason(Task task) {
        return requireNonNull(task.status().message()).text();
    }

    private static @Nullable Object data(Task task) {
        return ((Part.Data) task.artifacts().getFirst().parts().getFirst()).data();
    }

    private static AgentCard card(Agent agent) {
        return agent.card(
                List.of(new AgentCard.Interface("http://localhost", AgentCard.Interface.JSONRPC, null, "1.0")));
    }
}
