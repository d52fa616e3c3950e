package dev.parley.mesh.hub;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.Notification;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.RunObserver;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.MeshProtocol;
import dev.parley.mesh.MeshProtocol.ReadTask;
import dev.parley.mesh.MeshProtocol.RegisterCallback;
import dev.parley.mesh.MeshProtocol.SendEnvelope;
import dev.parley.mesh.MeshViews;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/** The mesh of one hub. */
final class Mesh implements HubExtension {
    private static final String DESCRIPTION = "Messages of the ONE mesh at the suffix " + MeshProtocol.SUFFIX;

    private final MessageAnswers answers;
    private final MessageSignatures signatures;
    private final Durations durations;
    private final Deadlines deadlines;
    private final Views views;
    private final MessageCounts messages;
    private final MessageLog log;
    private final MessageHandlers handlers;
    private final Receiver.Services services;

    Mesh(HubParts hub, MessageSignatures.Trust trust, MessageHandlers handlers) {
        this.handlers = handlers;
        this.signatures = new MessageSignatures(hub.signatures(), trust, InstantSource.system());
        this.messages = new MessageCounts(hub.metrics());
        this.log = new MessageLog(hub.audit());
        this.answers = new MessageAnswers(hub.database(), hub.audit());
        this.durations = new Durations(hub.database());
        this.deadlines = new Deadlines(hub, answers);
        this.views = new Views(hub, new Events(hub.audit()), durations);
        this.services = new Receiver.Services(hub, answers, signatures, durations, deadlines, messages, log);
    }

    @Override
    public String name() {
        return MeshProtocol.DIALECT;
    }

    @Override
    public boolean isForAll() {
        return true;
    }

    @Override
    public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
        Receiver receiver = receiver(hubUrl, agentUrl);
        boolean hasViews = agentUrl.endsWith("/" + MeshProtocol.VIEWS_AGENT);
        ExtensionProtocol protocol = hasViews ? MeshViews.protocol() : MeshProtocol.PROTOCOL;
        AgentExtension extension = AgentExtension.of(protocol, DESCRIPTION);
        return operations(hasViews ? extension.operations(protocol, views) : extension, receiver);
    }

    private Receiver receiver(String hubUrl, String agentUrl) {
        return new Receiver(services, handlers, hubUrl, agentUrl);
    }

    @Override
    public Optional<AgentExtension> ofRemote(String hubUrl, String agentUrl) {
        return Optional.of(
                operations(AgentExtension.of(MeshProtocol.PROTOCOL, DESCRIPTION), receiver(hubUrl, agentUrl)));
    }

    private static AgentExtension operations(AgentExtension extension, Receiver receiver) {
        return extension
                .call(SendEnvelope.class, receiver::send)
                .call(ReadTask.class, receiver::read)
                .call(RegisterCallback.class, receiver::register);
    }

    @Override
    public Notification notification(String dialect, TaskKey task, String agent, Notification notification) {
        if (!dialect.equals(MeshProtocol.DIALECT)) {
            return notification;
        }
        Envelope callback = EnvelopeModel.ENVELOPE.fromJson(Json.read(notification.body(), Map.class));
        messages.sent(callback.from().agentId(), callback.message().type());
        log.offered(task, callback);
        return signatures.signed(notification, callback);
    }

    @Override
    public Agent hosted(Agent agent) {
        return agent.prioritized(Priorities::of);
    }

    @Override
    public AgentEndpoint before(AgentEndpoint agent) {
        return Priorities.before(agent);
    }

    @Override
    public RunObserver observer() {
        return (agent, request, work) -> {
            durations.observe(agent, request, work);
            if (request.task().isEmpty()) {
                log.answered(agent, request);
            }
        };
    }

    @Override
    public Optional<PersonalData> personalData() {
        return Optional.of(new MeshData(answers, deadlines, views));
    }

    @Override
    public void close() {
        durations.write();
        views.close();
        signatures.close();
    }
}
