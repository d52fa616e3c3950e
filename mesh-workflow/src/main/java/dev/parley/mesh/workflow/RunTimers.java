package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.spi.ClientException;
import dev.parley.dialect.Json;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers.Timers;
import dev.parley.extension.PersonalData;
import dev.parley.mesh.workflow.StepAgents.StepAgent;
import dev.parley.mesh.workflow.Workflow.Step;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowRun.Happening;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.Ids;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Cancels runs with their steps: a timer is set before, so that the steps are canceled too if a crash comes between, or if the hub of a
 * step cannot be reached for a while. Ends votes at their deadlines. Safe for any thread.
 */
final class RunTimers implements PersonalData {
    private static final Logger LOG = System.getLogger("dev.parley.mesh");

    /** Time for the call that cancels a run, after which the timer does the same. */
    private static final Duration GRACE = Duration.ofSeconds(10);

    /** Time after which steps that cannot be canceled are given up. */
    private static final Duration LONGEST = Duration.ofDays(1);

    private static final String DEADLINE = "deadline";

    private final HubParts hub;
    private final ForeignAgents foreign;
    private final Definitions definitions;
    private final InstantSource clock;
    private final Timers timers;
    /** Whether other hubs run tasks, too. */
    private final boolean isShared;

    private volatile AgentEndpoint one;

    RunTimers(HubParts hub, ForeignAgents foreign, Definitions definitions, InstantSource clock) {
        this.hub = hub;
        this.definitions = definitions;
        this.foreign = foreign;
        this.clock = clock;
        this.one = hub.agents().within(WorkflowProtocol.AGENT);
        this.timers = hub.timers().named("workflows", this::due);
        this.isShared = hub.database().access().feeds().isShared();
    }

    /** Sets the agent {@code one}. */
    void agent(AgentEndpoint agent) {
        this.one = agent;
    }

    /** The agent {@code one}, for operations that are authorized and recorded themselves. */
    AgentEndpoint one() {
        return one;
    }

    /** Has a vote end at its deadline. */
    void end(String vote, Instant deadline, CallContext caller) {
        timers.set(vote, deadline, content(vote, caller, deadline));
    }

    Task cancel(CancelTask cancel, CallContext caller) {
        String timer = Ids.next(clock.instant());
        String content = content(cancel.id(), caller, null);
        timers.set(timer, clock.instant().plus(GRACE), content);
        Task run;
        try {
            run = one.call(cancel, caller);
        } catch (A2AException refused) {
            // Another hub that runs it may have canceled it, and ended before its steps.
            if (!isShared || refused.error() != A2AError.UNAVAILABLE) {
                timers.cancel(timer);
            }
            throw refused;
        }
        if (cancelSteps(run, caller, agent -> !agent.isForeign())) {
            timers.cancel(timer);
        } else {
            timers.set(timer, clock.instant(), content);
        }
        return run;
    }

    private void due(String timer, String content) {
        Map<?, ?> kept = read(content);
        CallContext caller = caller(kept);
        String id = String.valueOf(kept.get("run"));
        if (Boolean.TRUE.equals(kept.get("ends"))) {
            Instant deadline = kept.get(DEADLINE) instanceof Number millis
                    ? Instant.ofEpochMilli(millis.longValue())
                    : Instant.MIN; // of an earlier release
            if (clock.instant().isBefore(deadline)) {
                timers.set(timer, deadline, content); // of a hub with another clock
            } else {
                end(id, caller);
            }
            return;
        }
        Task run;
        try {
            run = one.call(CancelTask.of(id), caller);
        } catch (A2AException ended) {
            if (ended.error() == A2AError.TASK_NOT_FOUND) {
                return;
            }
            run = one.call(GetTask.of(id), caller);
        }
        if (run.state() == TaskState.CANCELED && !cancelSteps(run, caller, agent -> true)) {
            Instant begun = Ids.madeAt(timer);
            if (begun == null || begun.plus(LONGEST).isAfter(clock.instant())) {
                throw new IllegalStateException("steps of the canceled run " + id + " could not be canceled");
            }
            LOG.log(Level.WARNING, "steps of the canceled run {0} could not be canceled within {1}", id, LONGEST);
        }
    }

    private void end(String vote, CallContext caller) {
        Message end = Message.user(Part.data(Map.of("end", true)));
        var message = new Message(end.messageId(), end.role(), end.parts(), null, vote, Map.of(), List.of(), List.of());
        try {
            Object ended = one.call(new SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of()), caller);
            if (ended instanceof Task task && !task.state().isTerminal()) {
                throw new IllegalStateException("the vote " + vote + " has not ended");
            }
        } catch (A2AException ended) {
            if (ended.error() != A2AError.UNSUPPORTED_OPERATION && ended.error() != A2AError.TASK_NOT_FOUND) {
                throw ended;
            }
        }
    }

    /**
     * Cancels the steps of a run that have a task.
     *
     * @param reached agents that are called
     * @return false if a step may go on
     */
    private boolean cancelSteps(Task task, CallContext caller, Predicate<StepAgent> reached) {
        Workflow workflow;
        try {
            workflow = WorkflowDocument.of(task.history().getFirst()).checked();
        } catch (InvalidField | A2AException rejected) {
            return true;
        }
        var agents = new StepAgents(hub.agents(), foreign, caller);
        workflow = workflow.chosen(Choice.of(task.metadata()));
        WorkflowRun run = WorkflowRun.of(workflow, Happening.of(workflow, task.metadata()));
        Set<Step> ready = Set.copyOf(run.ready());
        boolean done = true;
        for (Step step : workflow.steps().values()) {
            StepState state = run.state(step.id());
            if (state == StepState.RUNNING || state == StepState.INPUT_REQUIRED || ready.contains(step)) {
                StepAgent agent = agents.find(step.agent());
                if (agent != null) {
                    Optional<String> id = ready.contains(step)
                            ? unnoted(task.id(), step, run.attempts(step.id()) + 1, caller)
                            : Optional.ofNullable(run.taskId(step.id()));
                    done &= id.isEmpty()
                            || reached.test(agent) && isCanceled(agent, id.get(), agents.toward(step.agent()));
                }
            }
        }
        return done;
    }

    /** The task of an attempt that the run has not noted, because it was canceled or cut off meanwhile. */
    private Optional<String> unnoted(String run, Step step, int attempt, CallContext caller) {
        String message = StepMessage.id(run, step.id(), String.valueOf(attempt));
        return Stream.of(caller.own(), caller.sharing())
                .flatMap(own -> hub.tasks().taskOf(new MessageKey(own.scope(), step.agent(), message)).stream())
                .findFirst();
    }

    /** Cancels a task; false if that may succeed later. */
    static boolean isCanceled(StepAgent agent, String taskId, CallContext caller) {
        try {
            var unused = agent.endpoint().call(CancelTask.of(taskId), caller);
            return true;
        } catch (A2AException refused) {
            LOG.log(Level.DEBUG, "task " + taskId + " of a step was not canceled", refused);
            return refused.error() != A2AError.UNAVAILABLE
                    && refused.error() != A2AError.RATE_LIMITED
                    && refused.error() != A2AError.INTERNAL;
        } catch (ClientException unreached) {
            LOG.log(Level.DEBUG, "task " + taskId + " of a step was not canceled", unreached);
            return unreached.problem() == ClientException.Problem.ORIGIN_NOT_ALLOWED;
        }
    }

    /**
     * Content of a timer. The rights of the caller serve the cancellation, or the end of its vote, only.
     *
     * @param deadline of a vote; null for a run
     */
    private static String content(String run, CallContext caller, @Nullable Instant deadline) {
        var kept = new HashMap<String, Object>(Map.of(
                "run",
                run,
                "group",
                caller.scope().group(),
                "owner",
                caller.scope().owner(),
                "caller",
                caller.caller(),
                "names",
                caller.namesTasks(),
                "ends",
                deadline != null,
                "grants",
                List.copyOf(caller.grants())));
        if (deadline != null) {
            kept.put(DEADLINE, deadline.toEpochMilli());
        }
        return new String(Json.write(kept), UTF_8);
    }

    private static CallContext caller(Map<?, ?> kept) {
        Set<String> grants = kept.get("grants") instanceof List<?> all
                ? all.stream().map(String::valueOf).collect(Collectors.toSet())
                : Set.of();
        return CallContext.of(
                        String.valueOf(kept.get("caller")),
                        new Scope(String.valueOf(kept.get("group")), String.valueOf(kept.get("owner"))))
                .withGrants(grants, "")
                .withDialect(CallContext.V1, Boolean.TRUE.equals(kept.get("names")));
    }

    private static Map<?, ?> read(String content) {
        return Json.read(content.getBytes(UTF_8), Map.class);
    }

    @Override
    public void unlink(Collection<String> ids, CallContext operator) {
        var unused = erase(kept -> ids.contains(String.valueOf(kept.get("run"))), operator);
    }

    @Override
    public Map<String, Object> erase(String principal, boolean withStatements, CallContext operator) {
        return Map.of(
                "workflowTimers",
                erase(kept -> principal.equals(kept.get("caller")), operator),
                "workflowDefinitions",
                definitions.erase(operator.scope().group(), principal));
    }

    private int erase(Predicate<Map<?, ?>> about, CallContext operator) {
        return timers.erase(content -> {
            var kept = new HashMap<>(read(content));
            return operator.scope().group().equals(kept.get("group")) && about.test(kept) ? null : content;
        });
    }
}
