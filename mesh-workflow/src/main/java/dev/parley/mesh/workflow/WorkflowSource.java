package dev.parley.mesh.workflow;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.mesh.workflow.WorkflowOperation.Cancel;
import dev.parley.mesh.workflow.WorkflowOperation.Cast;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.GetVote;
import dev.parley.mesh.workflow.WorkflowOperation.ListRuns;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunPage;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.StartVote;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
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
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
        return Map.of("/" + WorkflowProtocol.AGENT, WorkflowProtocol.AGENT);
    }

    @Override
    public HubExtension open(HubParts hub) {
        return new OfHub(hub);
    }

    private static final class OfHub implements HubExtension {
        private final HubParts hub;
        private final ForeignAgents foreign;
        private final WorkflowAgent agent;
        private final RunTimers timers;
        private final Votes votes;

        OfHub(HubParts hub) {
            this.hub = hub;
            this.foreign = new ForeignAgents(hub);
            this.timers = new RunTimers(hub, foreign, InstantSource.system());
            this.votes = new Votes(hub, timers, InstantSource.system());
            this.agent = new WorkflowAgent(hub.agents(), foreign, votes, InstantSource.system());
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
                    .call(StartVote.class, votes::start)
                    .call(GetVote.class, votes::get)
                    .call(Cast.class, votes::cast)
                    .watch(Watch.class, this::watch);
        }

        private RunView run(Run run, CallContext caller) {
            StepAgents agents = agents(caller);
            Map<String, @Nullable Object> document = Votes.valid(() -> {
                Map<String, @Nullable Object> content = WorkflowDocument.content(run.document());
                agent.check(content, agents);
                return content;
            });
            var send = new SendMessage(null, Message.user(Part.data(document)), AT_ONCE, Map.of());
            Task task = (Task) one().call(send, agents.toward(WorkflowProtocol.AGENT));
            return RunViews.of(task, 0);
        }

        private RunView view(String id, CallContext caller) {
            return RunViews.of(one().call(GetTask.of(id), toward(caller)), 0);
        }

        private RunView cancel(Cancel cancel, CallContext caller) {
            return RunViews.of(one().call(CancelTask.of(cancel.workflowId()), toward(caller)), 0);
        }

        private RunPage list(ListRuns list, CallContext caller) {
            ListTasks tasks = Votes.valid(() -> new ListTasks(
                    null,
                    null,
                    list.state() == null ? null : RunViews.state(list.state()),
                    list.pageSize(),
                    list.pageToken(),
                    null,
                    null,
                    false));
            TaskPage page = one().call(tasks, toward(caller));
            return new RunPage(
                    page.tasks().stream().map(task -> RunViews.of(task, 0)).toList(), page.nextPageToken());
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
            return hub.agents().within(WorkflowProtocol.AGENT);
        }

        private CallContext toward(CallContext caller) {
            return agents(caller).toward(WorkflowProtocol.AGENT);
        }

        private StepAgents agents(CallContext caller) {
            return new StepAgents(hub.agents(), foreign, caller);
        }

        @Override
        public void started() {
            agent.start();
        }

        @Override
        public Optional<PersonalData> personalData() {
            return Optional.of(timers);
        }

        @Override
        public void close() {
            foreign.close();
        }

        /** Cancels the steps of a run that is canceled, also if no turn of it runs. */
        @Override
        public AgentEndpoint before(AgentEndpoint one) {
            timers.behind(one);
            return new AgentEndpoint() {
                @Override
                @SuppressWarnings("unchecked") // a canceled task is the answer of CancelTask
                public <R> R call(Operation.Call<R> operation, CallContext context) {
                    return operation instanceof CancelTask cancel
                            ? (R) timers.cancel(cancel, context)
                            : one.call(operation, context);
                }

                @Override
                public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                    return one.watch(operation, context);
                }
            };
        }
    }
}
