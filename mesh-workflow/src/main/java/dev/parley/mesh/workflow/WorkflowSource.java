package dev.parley.mesh.workflow;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.mesh.workflow.StepAgents.StepAgent;
import dev.parley.mesh.workflow.WorkflowOperation.Cancel;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.ListRuns;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunPage;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.mesh.workflow.WorkflowRun.Happening;
import dev.parley.mesh.workflow.WorkflowRun.StepState;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The agent {@code one} of a hub, which runs workflows. */
public final class WorkflowSource implements HubExtensionSource {
    private static final SendConfiguration AT_ONCE = new SendConfiguration(List.of(), null, null, true);

    @Override
    public String uri() {
        return WorkflowProtocol.PROTOCOL.uri();
    }

    @Override
    public Map<String, String> paths() {
        return Map.of("/" + WorkflowAgent.NAME, WorkflowAgent.NAME);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new OfHub(hub);
    }

    private static final class OfHub implements HubExtension {
        private final HubParts hub;
        private final WorkflowAgent agent;

        OfHub(HubParts hub) {
            this.hub = hub;
            this.agent = new WorkflowAgent(hub.agents(), InstantSource.system());
        }

        @Override
        public String name() {
            return "workflows";
        }

        @Override
        public List<Agent> agents() {
            return List.of(agent.agent());
        }

        @Override
        public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
            return AgentExtension.of(WorkflowProtocol.PROTOCOL, "Runs of workflows")
                    .call(Run.class, this::run)
                    .call(Get.class, (get, caller) -> view(get.workflowId(), caller))
                    .call(Cancel.class, this::cancel)
                    .call(ListRuns.class, this::list)
                    .watch(Watch.class, this::watch);
        }

        private RunView run(Run run, CallContext caller) {
            var agents = new StepAgents(hub.agents(), caller);
            Map<String, @Nullable Object> document;
            try {
                document = WorkflowDocument.content(run.document());
                agent.check(document, agents);
            } catch (InvalidField invalid) {
                throw A2AException.invalidParams(invalid.field(), invalid.problem());
            }
            var send = new SendMessage(null, Message.user(Part.data(document)), AT_ONCE, Map.of());
            Task task = (Task) one().call(send, agents.toward(WorkflowAgent.NAME));
            return RunViews.of(task, 0);
        }

        private RunView view(String id, CallContext caller) {
            return RunViews.of(one().call(GetTask.of(id), toward(caller)), 0);
        }

        private RunView cancel(Cancel cancel, CallContext caller) {
            return RunViews.of(one().call(CancelTask.of(cancel.workflowId()), toward(caller)), 0);
        }

        private RunPage list(ListRuns list, CallContext caller) {
            TaskPage page = one().call(
                            new ListTasks(
                                    null,
                                    null,
                                    list.state() == null ? null : state(list.state()),
                                    list.pageSize(),
                                    list.pageToken(),
                                    null,
                                    null,
                                    false),
                            toward(caller));
            return new RunPage(
                    page.tasks().stream().map(task -> RunViews.of(task, 0)).toList(), page.nextPageToken());
        }

        private static TaskState state(String word) {
            try {
                return RunViews.state(word);
            } catch (InvalidField unknown) {
                throw A2AException.invalidParams(unknown.field(), unknown.problem());
            }
        }

        private Feed<RunView> watch(Watch watch, CallContext caller) {
            CallContext context = toward(caller);
            try {
                return one().watch(new SubscribeToTask(null, watch.workflowId(), watch.after()), context)
                        .as(event -> RunViews.of(watch.workflowId(), event));
            } catch (A2AException ended) {
                RunView last = view(watch.workflowId(), caller);
                if (!RunViews.state(last.state()).isTerminal()) {
                    throw ended;
                }
                return Feed.of(List.of(last));
            }
        }

        private AgentEndpoint one() {
            return hub.agents().within(WorkflowAgent.NAME);
        }

        private CallContext toward(CallContext caller) {
            return new StepAgents(hub.agents(), caller).toward(WorkflowAgent.NAME);
        }

        /** Cancels the steps of a run that is canceled, also if no turn of it runs. */
        @Override
        public AgentEndpoint before(AgentEndpoint one) {
            return new AgentEndpoint() {
                @Override
                @SuppressWarnings("unchecked") // a canceled task is the answer of CancelTask
                public <R> R call(Operation.Call<R> operation, CallContext context) {
                    if (!(operation instanceof CancelTask cancel)) {
                        return one.call(operation, context);
                    }
                    Task task = one.call(cancel, context);
                    cancelSteps(task, context);
                    return (R) task;
                }

                @Override
                public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                    return one.watch(operation, context);
                }
            };
        }

        private void cancelSteps(Task task, CallContext context) {
            Workflow workflow;
            try {
                workflow = WorkflowAgent.document(task.history().getFirst()).checked();
            } catch (InvalidField | A2AException rejected) {
                return;
            }
            var agents = new StepAgents(hub.agents(), context);
            for (Happening happening : Happening.of(workflow, task.metadata())) {
                if (happening.state() == StepState.RUNNING || happening.state() == StepState.INPUT_REQUIRED) {
                    String name = requireNonNull(workflow.steps().get(happening.step()))
                            .agent();
                    StepAgent one = agents.get(name);
                    StepCall.cancel(one, happening.taskId(), agents.toward(name));
                }
            }
        }
    }
}
