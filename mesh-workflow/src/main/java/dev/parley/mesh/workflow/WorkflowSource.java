package dev.parley.mesh.workflow;

import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.workflow.WorkflowOperation.Cancel;
import dev.parley.mesh.workflow.WorkflowOperation.Cast;
import dev.parley.mesh.workflow.WorkflowOperation.Check;
import dev.parley.mesh.workflow.WorkflowOperation.CheckView;
import dev.parley.mesh.workflow.WorkflowOperation.DeleteDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.GetDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.GetVote;
import dev.parley.mesh.workflow.WorkflowOperation.ListDefinitions;
import dev.parley.mesh.workflow.WorkflowOperation.ListRuns;
import dev.parley.mesh.workflow.WorkflowOperation.ListVotes;
import dev.parley.mesh.workflow.WorkflowOperation.Problem;
import dev.parley.mesh.workflow.WorkflowOperation.Repeat;
import dev.parley.mesh.workflow.WorkflowOperation.Resume;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunPage;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.SaveDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.StartVote;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
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
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskPage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
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
    public boolean sharesDatabase() {
        return true;
    }

    @Override
    public Map<String, String> paths() {
        return Map.of("/" + WorkflowProtocol.AGENT, WorkflowProtocol.AGENT);
    }

    @Override
    public List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(Definitions.TABLES);
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
        /** Address of the agent. */
        private volatile String url = "";

        private final Votes votes;
        private final Definitions definitions;

        OfHub(HubParts hub) {
            this.hub = hub;
            this.foreign = new ForeignAgents(hub);
            this.definitions = new Definitions(hub.database(), InstantSource.system());
            this.timers = new RunTimers(hub, foreign, definitions, InstantSource.system());
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
            url = agentUrl;
            return AgentExtension.of(WorkflowProtocol.PROTOCOL, "Runs of workflows")
                    .call(Run.class, this::run)
                    .call(Check.class, this::check)
                    .call(Get.class, (get, caller) -> view(get.workflowId(), caller))
                    .call(Cancel.class, this::cancel)
                    .call(ListRuns.class, this::list)
                    .call(Resume.class, this::resume)
                    .call(Repeat.class, this::repeat)
                    .call(SaveDefinition.class, definitions::save)
                    .call(GetDefinition.class, definitions::get)
                    .call(ListDefinitions.class, definitions::list)
                    .call(DeleteDefinition.class, definitions::delete)
                    .call(StartVote.class, votes::start)
                    .call(GetVote.class, votes::get)
                    .call(ListVotes.class, votes::list)
                    .call(Cast.class, votes::cast)
                    .watch(Watch.class, this::watch);
        }

        private RunView run(Run run, CallContext caller) {
            AgentCard card = hub.agents().cards(caller).get(WorkflowProtocol.AGENT);
            boolean isInMesh = card != null
                    && MeshProtocol.PROTOCOL
                            .in(card.capabilities().extensions())
                            .isPresent();
            if (isInMesh && WorkflowMessages.isMessage(run.document())) {
                Envelope envelope =
                        WorkflowDocument.valid(() -> WorkflowMessages.envelope(run.document(), caller, url));
                String receiver = envelope.to().agentId();
                AgentEndpoint agent = receiver.equals(WorkflowProtocol.AGENT)
                        ? one()
                        : hub.agents().endpoint(receiver);
                return view(WorkflowMessages.delivered(envelope, agent, toward(caller)), caller);
            }
            Map<String, @Nullable Object> document = WorkflowDocument.valid(() -> {
                if (run.document().containsKey("definition") && run.document().containsKey("workflow")) {
                    throw InvalidField.of("definition", "present (expected: none beside workflow)");
                }
                return definitions.expanded(WorkflowDocument.content(run.document()), caller);
            });
            return begin(document, Map.of(), caller);
        }

        private CheckView check(Check check, CallContext caller) {
            List<StepView> steps = List.of();
            try {
                Map<String, @Nullable Object> given = check.document();
                boolean isDefinition = DefinitionDocument.is(given);
                Map<String, @Nullable Object> document = isDefinition
                        ? DefinitionDocument.checked(given)
                        : definitions.expanded(WorkflowDocument.content(given), caller);
                Workflow workflow = isDefinition
                        ? DefinitionDocument.workflow(document)
                        : WorkflowDocument.strict(document).checked();
                steps = RunViews.planned(workflow);
                WorkflowDocument read =
                        WorkflowDocument.of(isDefinition ? DefinitionDocument.plain(document) : document);
                agents(caller).check(read.workflow().steps(), read.participants());
                return new CheckView(true, List.of(), steps);
            } catch (InvalidField invalid) {
                return new CheckView(false, List.of(new Problem(invalid.field(), invalid.problem())), steps);
            } catch (A2AException refused) {
                int status = refused.error().httpStatus();
                if (status != 400 && status != 404) {
                    throw refused; // of the hub or the caller, not of the document
                }
                return new CheckView(
                        false, List.of(new Problem("", requireNonNullElse(refused.getMessage(), "invalid"))), steps);
            }
        }

        private RunView begin(
                Map<String, @Nullable Object> document, Map<String, @Nullable Object> metadata, CallContext caller) {
            StepAgents agents = agents(caller);
            WorkflowDocument.valid(() -> {
                agent.check(document, agents);
                return document;
            });
            Message plain = Message.user(Part.data(document));
            var message = new Message(
                    plain.messageId(), plain.role(), plain.parts(), null, null, metadata, List.of(), List.of());
            var send = new SendMessage(null, message, AT_ONCE, Map.of());
            Task task = (Task) one().call(send, agents.toward(WorkflowProtocol.AGENT));
            return RunViews.of(task, 0);
        }

        private RunView resume(Resume resume, CallContext caller) {
            Task ended = one().call(GetTask.of(resume.workflowId()), toward(caller));
            if (ended.state() != TaskState.FAILED && ended.state() != TaskState.CANCELED) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        "workflow " + ended.id() + ": " + ended.state().word() + " (expected: failed or canceled)");
            }
            return begin(document(ended), Map.of(WorkflowRun.RESUMES, ended.id()), caller);
        }

        private RunView repeat(Repeat repeat, CallContext caller) {
            Task other = one().call(GetTask.of(repeat.workflowId()), toward(caller));
            return begin(document(other), Map.of(WorkflowRun.REPEATS, other.id()), caller);
        }

        /** The document of a run, of which it was checked that it is not a vote. */
        private static Map<String, @Nullable Object> document(Task run) {
            return WorkflowDocument.valid(() -> {
                Map<String, @Nullable Object> document =
                        WorkflowDocument.members(run.history().getFirst());
                if (Votes.isVote(document)) {
                    throw InvalidField.of("workflowId", "a vote (expected: a run)");
                }
                return document;
            });
        }

        private RunView view(String id, CallContext caller) {
            return RunViews.of(one().call(GetTask.of(id), toward(caller)), 0);
        }

        private RunView cancel(Cancel cancel, CallContext caller) {
            return RunViews.of(one().call(CancelTask.of(cancel.workflowId()), toward(caller)), 0);
        }

        private RunPage list(ListRuns list, CallContext caller) {
            ListTasks tasks = WorkflowDocument.valid(() ->
                    new ListTasks(null, null, list.state(), list.pageSize(), list.pageToken(), null, null, false));
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
                if (!last.state().isTerminal()) {
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
            timers.agent(one);
            return new AgentEndpoint() {
                @Override
                @SuppressWarnings("unchecked") // a canceled task is the answer of CancelTask
                public <R> R call(Operation.Call<R> operation, CallContext context) {
                    return switch (operation) {
                        case CancelTask cancel -> (R) timers.cancel(cancel, context);
                        case SendMessage send ->
                            (R) one.call(
                                    new SendMessage(
                                            send.tenant(),
                                            expanded(send.message(), context),
                                            send.configuration(),
                                            send.metadata()),
                                    context);
                        default -> one.call(operation, context);
                    };
                }

                @Override
                @SuppressWarnings("unchecked") // events are the answer of SendStreamingMessage
                public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                    return operation instanceof SendStreamingMessage send
                            ? (Feed<E>) one.watch(
                                    new SendStreamingMessage(
                                            send.tenant(),
                                            expanded(send.message(), context),
                                            send.configuration(),
                                            send.metadata()),
                                    context)
                            : one.watch(operation, context);
                }
            };
        }

        /** A message that names a stored definition, with its document. */
        private Message expanded(Message message, CallContext caller) {
            if (message.taskId() != null) {
                return message;
            }
            Map<String, @Nullable Object> written;
            try {
                written = WorkflowDocument.members(message);
            } catch (InvalidField noDocument) {
                return message; // the agent tells what it expects
            }
            Map<String, @Nullable Object> document =
                    WorkflowDocument.valid(() -> definitions.expanded(written, caller));
            return document.equals(written)
                    ? message
                    : new Message(
                            message.messageId(),
                            message.role(),
                            List.of(Part.data(document)),
                            message.contextId(),
                            null,
                            message.metadata(),
                            message.extensions(),
                            message.referenceTaskIds());
        }
    }
}
