package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.ConversationMemory;
import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.Tools;
import dev.parley.engine.tasks.LiveTask;
import dev.parley.engine.tasks.Refused;
import dev.parley.engine.tasks.RunQueue;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.extension.ExtensionView;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One call of an agent's handler, with its request and reply. Its events go to its {@link LiveTask}; the
 * first emission of a new task creates it.
 */
final class HandlerRun implements Request, Reply, RunQueue.Run {
    private static final String PROGRESS = "progress";

    /** Circumstances of a turn besides its message; {@code names} identify repetitions of the message. */
    record Origin(
            CallContext context,
            List<String> acceptedOutputModes,
            Map<String, @Nullable Object> metadata,
            boolean followUp,
            int attempt,
            List<MessageKey> names) {}

    private final LiveTask live;
    private final Message message;
    private final Origin origin;
    private final InstantSource clock;
    private final TaskLimits limits;
    private final Function<String, @Nullable AgentEndpoint> extensions;
    private @Nullable String credential;
    private volatile boolean recovered;
    private volatile boolean begunBefore;
    private boolean cutOff;
    private volatile boolean asked;
    private volatile long number;
    /** Epoch of the task when this run entered its queue. */
    private volatile long epoch;

    private final Runnable onCreate;
    private volatile List<Message> history = List.of();
    private volatile boolean created;
    private volatile boolean canceled;
    private volatile boolean expired;
    private volatile @Nullable Thread thread;
    private volatile @Nullable Parts parts;
    private volatile Optional<ConversationMemory> memory = Optional.empty();
    private volatile Instant deadline = Instant.MAX;
    private volatile long fence;
    /** Events that the agent emitted after the end of its task. */
    private long dropped;

    private @Nullable LongConsumer whenLate;

    /**
     * @param extensions operations of the extensions that the agent uses, by URI
     * @param onCreate called once, before the first emission of a task that does not exist yet
     */
    HandlerRun(
            LiveTask live,
            Message message,
            Origin origin,
            InstantSource clock,
            TaskLimits limits,
            Function<String, @Nullable AgentEndpoint> extensions,
            Runnable onCreate) {
        this.live = live;
        this.message = message;
        this.origin = origin;
        this.clock = clock;
        this.limits = limits;
        this.extensions = extensions;
        this.onCreate = onCreate;
        this.created = origin.followUp || live.durable() != null;
        this.epoch = live.runs().epoch();
    }

    List<MessageKey> names() {
        return origin.names;
    }

    LiveTask live() {
        return live;
    }

    /** Marks this turn as the resumption of an interrupted task; {@code begun}: a handler has been called for its message before. */
    void recovered(boolean begun) {
        recovered = true;
        begunBefore = begun;
    }

    /** Gives this turn its place among those that run. */
    void numbered(long number) {
        this.number = number;
    }

    long number() {
        return number;
    }

    boolean isRecovered() {
        return recovered;
    }

    boolean hasBegunBefore() {
        return begunBefore;
    }

    /** Says that the stop of the engine has ended the handler, before it was done unless it lingers after its question. */
    void cutOff() {
        cutOff = !asked;
    }

    boolean isCutOff() {
        return cutOff;
    }

    /** Hands over a credential, before this turn runs. */
    void give(String credential) {
        this.credential = credential;
    }

    @Override
    public Optional<String> credential() {
        return Optional.ofNullable(credential);
    }

    /** Says that the calling thread runs the handler, until {@code deadline}. */
    void begin(Instant deadline) {
        this.deadline = deadline;
        this.fence = live.written(); // only numbers on disk are given once
        this.history = before(message);
        this.thread = Thread.currentThread();
        if (canceled || expired) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the history before a message, including the question that it answers. */
    private List<Message> before(Message message) {
        Task task = live.ahead();
        if (task == null) {
            return List.of();
        }
        List<Message> all = task.history();
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i).messageId().equals(message.messageId())) {
                return all.subList(0, i);
            }
        }
        return all;
    }

    /** Detaches the thread of the handler, which has returned; returns whether it is interrupted, and clears that. */
    synchronized boolean end() {
        credential = null;
        thread = null;
        return Thread.interrupted();
    }

    /** Reports the events that were dropped during the run now, and the first of those that follow when it comes. */
    void over(LongConsumer report) {
        long soFar;
        synchronized (this) {
            soFar = dropped;
            whenLate = report;
        }
        if (soFar > 0) {
            report.accept(soFar);
        }
    }

    private void drop() {
        LongConsumer report;
        synchronized (this) {
            dropped++;
            report = whenLate;
            whenLate = null; // only the first is reported: an agent may go on for as long as it likes
        }
        if (report != null) {
            report.accept(1);
        }
    }

    @Override
    public void cancel() {
        canceled = true;
        interrupt();
    }

    @Override
    public void enters(long epoch) {
        this.epoch = epoch;
    }

    /** Whether another engine has written to the task since this run entered its queue. Emissions of this run fail then. */
    boolean isSuperseded() {
        return live.runs().epoch() != epoch;
    }

    /** Tells the handler that its time is up. */
    void expire() {
        expired = true;
        interrupt();
    }

    boolean isExpired() {
        return expired;
    }

    @Override
    public synchronized void interrupt() {
        Thread running = thread;
        if (running != null) {
            running.interrupt();
        }
    }

    /** Creates the task now, in {@code state}, unless it exists or its agent has answered with a message. */
    void create(TaskState state) {
        if (live.isAnswered() || live.ahead() != null) {
            return;
        }
        announce();
        live.emit(task -> task == null && !live.isAnswered() ? List.of(beginning(state)) : List.of());
    }

    /** Has the engine know the task before its first event. The agent and its sender may do so at once: twice is harmless. */
    private void announce() {
        if (!created) {
            onCreate.run();
            created = true;
        }
    }

    /** Emits {@code events}, made from the task as it stands, after its creation if there is no task yet. */
    void emit(Function<Task, List<TaskEvent>> events) {
        announce();
        live.emit(task -> {
            if (isSuperseded()) {
                throw Refused.unwritten(new OtherOwnerException(taskId()));
            }
            if (task != null) {
                return events.apply(task);
            }
            Task beginning = beginning(TaskState.WORKING);
            var all = new ArrayList<TaskEvent>(4);
            all.add(beginning);
            all.addAll(events.apply(beginning));
            return all;
        });
    }

    /** Emits what the agent says, unless the task would be too large then: it keeps what it has, and fails. */
    private void say(Function<Task, List<TaskEvent>> events) {
        var tooMuch = new AtomicBoolean();
        try {
            emit(task -> {
                List<TaskEvent> said = events.apply(task);
                String reason = refusal(task, said);
                if (reason == null) {
                    return said;
                }
                tooMuch.set(true);
                return List.of(moved(TaskState.FAILED, Message.agent(Part.text(reason)), Map.of()));
            });
        } catch (TaskEndedException late) {
            drop();
            throw late;
        }
        if (tooMuch.get()) {
            throw new TaskEndedException(live.key().taskId(), TaskState.FAILED);
        }
    }

    /** Returns why events do not fit; null if they do, and then space is reserved for them. */
    private @Nullable String refusal(Task task, List<TaskEvent> said) {
        String excess = live.excess(task, said, limits.events(), limits.bytes());
        if (excess != null) {
            return "The task got too large: " + excess;
        }
        if (!said.stream().allMatch(TaskLimits::isFree)) {
            try {
                live.reserve(said);
            } catch (A2AException full) {
                return full.getMessage();
            }
        }
        return null;
    }

    private Task beginning(TaskState state) {
        return new Task(
                live.key().taskId(),
                live.contextId(),
                TaskStatus.of(state, now()),
                List.of(),
                List.of(message.in(live.contextId(), live.key().taskId())),
                Map.of(),
                1);
    }

    Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }

    TaskEvent moved(TaskState state, @Nullable Message note, Map<String, @Nullable Object> metadata) {
        Message said =
                note == null ? null : note.in(live.contextId(), live.key().taskId());
        return new TaskStatusUpdateEvent(
                live.key().taskId(), live.contextId(), new TaskStatus(state, said, now()), metadata);
    }

    private TaskEvent produced(Artifact artifact, boolean append, boolean last) {
        return new TaskArtifactUpdateEvent(live.key().taskId(), live.contextId(), artifact, append, last, Map.of());
    }

    // ---- Reply

    @Override
    public void message(Message answer) {
        if (created || origin.context().knowsOnlyTasks() || !live.answer(answer.in(live.contextId(), null))) {
            move(TaskState.COMPLETED, answer, Map.of());
        }
    }

    @Override
    public void progress(int percent, @Nullable String note) {
        if (percent < 0 || percent > 100) {
            throw new IllegalArgumentException("percent: " + percent + " (expected: 0 to 100)");
        }
        Message said = note == null ? null : Message.agent(Part.text(note));
        // A run after a crash begins anew; its progress counts from where the earlier one was.
        say(task -> {
            int before = task.metadata().get(PROGRESS) instanceof Integer earlier ? earlier : 0;
            return List.of(moved(TaskState.WORKING, said, Map.of(PROGRESS, Math.max(before, percent))));
        });
        asked = false;
    }

    @Override
    public void artifact(Artifact artifact) {
        artifact(artifact, false, true);
    }

    @Override
    public void artifact(Artifact piece, boolean append, boolean last) {
        say(task -> List.of(produced(piece, append, last)));
    }

    @Override
    public void artifact(String name, String text) {
        say(task -> List.of(produced(Artifact.named(newId(task), name, Part.text(text)), false, true)));
    }

    @Override
    public void file(String filename, String mediaType, byte[] bytes) {
        say(task -> List.of(
                produced(Artifact.named(newId(task), filename, Part.file(filename, mediaType, bytes)), false, true)));
    }

    @Override
    public ArtifactWriter stream(String name) {
        return new Pieces(name);
    }

    @Override
    public void askForInput(Message question) {
        move(TaskState.INPUT_REQUIRED, question, Map.of());
    }

    @Override
    public void askForCredentials(String explanation) {
        move(TaskState.AUTH_REQUIRED, Message.agent(Part.text(explanation)), Map.of());
    }

    @Override
    public void complete() {
        move(TaskState.COMPLETED, null, Map.of());
    }

    @Override
    public void complete(Part... parts) {
        if (parts.length == 0) {
            complete();
            return;
        }
        say(task -> List.of(
                produced(Artifact.of(newId(task), parts), false, true), moved(TaskState.COMPLETED, null, Map.of())));
    }

    @Override
    public void fail(String reason) {
        move(TaskState.FAILED, Message.agent(Part.text(reason)), Map.of());
    }

    @Override
    public void reject(String reason) {
        move(TaskState.REJECTED, Message.agent(Part.text(reason)), Map.of());
    }

    @Override
    public void move(TaskState state, @Nullable Message note, Map<String, @Nullable Object> metadata) {
        say(task -> List.of(moved(state, note, metadata)));
        asked = state.isInterrupted();
    }

    private static String newId(Task task) {
        int number = task.artifacts().size() + 1;
        while (true) {
            String id = "artifact-" + number;
            if (task.artifacts().stream()
                    .noneMatch(artifact -> artifact.artifactId().equals(id))) {
                return id;
            }
            number++;
        }
    }

    private final class Pieces implements ArtifactWriter {
        private final String name;
        private @Nullable String id;
        private boolean closed;

        Pieces(String name) {
            this.name = name;
        }

        @Override
        public void append(Part... parts) {
            piece(false, parts);
        }

        @Override
        public void last(Part... parts) {
            piece(true, parts);
            closed = true;
        }

        private void piece(boolean last, Part... parts) {
            if (closed) {
                throw new IllegalStateException("artifact " + name + " is closed");
            }
            if (parts.length == 0) {
                return;
            }
            say(task -> {
                boolean append = id != null;
                String artifactId = append ? requireNonNull(id) : newId(task);
                id = artifactId;
                Artifact piece =
                        new Artifact(artifactId, append ? null : name, null, List.of(parts), Map.of(), List.of());
                return List.of(produced(piece, append, last));
            });
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    // ---- Request

    @Override
    public Message message() {
        return message;
    }

    @Override
    public String text() {
        return message.text();
    }

    @Override
    public List<Part> parts() {
        return message.parts();
    }

    @Override
    public Map<String, @Nullable Object> metadata() {
        return origin.metadata;
    }

    @Override
    public String taskId() {
        return live.key().taskId();
    }

    @Override
    public String contextId() {
        return live.contextId();
    }

    @Override
    public List<Message> history() {
        return history;
    }

    @Override
    public Optional<Task> task() {
        return Optional.ofNullable(live.ahead());
    }

    @Override
    public boolean isFollowUp() {
        return origin.followUp;
    }

    @Override
    public int attempt() {
        return origin.attempt;
    }

    @Override
    public long fence() {
        return fence;
    }

    @Override
    public Instant deadline() {
        return deadline;
    }

    @Override
    public boolean isCanceled() {
        return canceled;
    }

    @Override
    public List<String> acceptedOutputModes() {
        return origin.acceptedOutputModes;
    }

    @Override
    public <V> V extension(ExtensionView<V> view) {
        AgentEndpoint operations = extensions.apply(view.uri());
        if (operations == null) {
            throw new IllegalStateException("agent " + live.key().agent() + ": no extension " + view.uri()
                    + " (expected: declared by uses(), and a hub that has it)");
        }
        return view.view()
                .apply(new ExtensionView.Use(
                        operations, live.key().agent(), live.key().taskId(), origin.context()));
    }

    /** Sets the parts that have tools and memories, when the message is admitted: data that are erased later are not written any more. */
    HandlerRun offer(Parts shared) {
        parts = shared;
        memory = shared.memory(this);
        return this;
    }

    @Override
    public Tools tools() {
        return requireNonNull(parts, "offered before it runs").tools(this);
    }

    @Override
    public Optional<ConversationMemory> memory() {
        return memory;
    }

    @Override
    public CallContext context() {
        return origin.context;
    }
}
