package dev.parley.dialect;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import java.util.Map;
import java.util.Set;

/** The endpoint of AgentVault: its card, its calls, and the files that its tasks point to. */
final class Vault implements Edge {
    static final String SUFFIX = "/agentvault";

    private static final VaultDialect DIALECT = VaultDialect.INSTANCE;
    private static final Set<String> CARDS =
            Set.of("/agent-card.json", "/.well-known/agent-card.json", "/.well-known/agent.json");

    private final FileLinks links;

    Vault(FileLinks links) {
        this.links = links;
    }

    /** True for files, whose addresses are signed. */
    static boolean isFile(WireRequest read) {
        return read.path().startsWith(FileLinks.PATH);
    }

    @Override
    public String dialect() {
        return VaultDialect.NAME;
    }

    @Override
    public String suffix() {
        return SUFFIX;
    }

    @Override
    public WireAnswer.Whole refusal(WireRequest request, A2AException problem) {
        return Form.rpc(DIALECT, Envelope.idOf(request.body())).error(problem);
    }

    @Override
    public boolean isCard(WireRequest request) {
        return CARDS.contains(request.path())
                || isRoot(request) && request.method().equals("GET");
    }

    private static boolean isRoot(WireRequest request) {
        return request.path().isEmpty() || request.path().equals("/");
    }

    @Override
    public WireAnswer answer(WireRequest request, ServedAgent agent, CallContext caller, Framing framing) {
        Form form = framing.use(Form.rpc(DIALECT, Envelope.NO_ID));
        if (isCard(request)) {
            return CardFile.answer(request, VaultCard.write(agent, request.header("Host")));
        }
        if (request.path().startsWith(FileLinks.PATH)) {
            return links.answer(request, agent);
        }
        if (!isRoot(request)) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        Dialects.requirePost(request);
        if (!Dialects.isJson(request.header("Content-Type"))) {
            return Dialects.wrongContentType(form, request);
        }
        Envelope envelope = Envelope.read(request, caller);
        form = framing.use(Form.rpc(DIALECT, envelope.id()));
        if (envelope.problem() != null && !envelope.anonymous()) {
            throw envelope.problem();
        }
        WireAnswer answer = answer(envelope, form, request, agent, caller);
        // A request without an id gets no answer.
        return envelope.anonymous() ? silent(answer) : answer;
    }

    private WireAnswer answer(
            Envelope envelope, Form form, WireRequest request, ServedAgent agent, CallContext caller) {
        WireOperation asked = DIALECT.operations().named(envelope.method());
        if (asked == null) {
            throw A2AException.of(
                    A2AError.METHOD_NOT_FOUND, A2AError.METHOD_NOT_FOUND.defaultMessage() + ": " + envelope.method());
        }
        try {
            Operation operation = envelope.params(asked.request(), request, caller);
            return WireCall.of(DIALECT, asked, operation, form, request)
                    .exchange(linked(agent, caller, request), caller.withTasksOnly());
        } catch (A2AException refused) {
            if (asked.result() == null && Dialects.readsOnlyStreams(request)) {
                return form.errorInStream(refused);
            }
            if (refused.error() != A2AError.TASK_NOT_CANCELABLE) {
                throw refused;
            }
            var canceled = new VaultModel.Canceled(false, refused.getMessage());
            return form.result(VaultModel.CANCELED, canceled, Map.of());
        }
    }

    private ServedAgent linked(ServedAgent agent, CallContext caller, WireRequest request) {
        String base = VaultCard.url(agent.card(), request.header("Host"));
        var endpoint = new VaultEndpoint(
                agent.endpoint(),
                (taskId, holder, index) -> links.of(base, caller, agent.name(), taskId, holder, index));
        return new ServedAgent(
                agent.name(), endpoint, agent.served(), agent.dialects(), ExtensionTable.EMPTY, agent.door());
    }

    private static WireAnswer.Whole silent(WireAnswer answer) {
        if (answer instanceof WireAnswer.Events events) {
            events.frames().close();
        }
        return new WireAnswer.Whole(202, Map.of(), new byte[0]);
    }
}
