package dev.parley.dialect.vault;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.Envelope;
import dev.parley.dialect.answers.Form;
import dev.parley.dialect.calls.RpcEdge;
import dev.parley.dialect.calls.ServedRequest;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Part;
import java.util.Map;
import java.util.Set;

/** The endpoint of AgentVault: its card, its calls, and the files that its tasks point to. */
public final class Vault extends RpcEdge {
    public static final String SUFFIX = "/agentvault";

    private static final Set<String> CARDS =
            Set.of("/agent-card.json", "/.well-known/agent-card.json", "/.well-known/agent.json");

    private final FileLinks links;

    public Vault(FileLinks links) {
        super(VaultDialect.INSTANCE, VaultDialect.OPERATIONS, SUFFIX);
        this.links = links;
    }

    /** True for files, whose addresses are signed. */
    public static boolean isFile(WireRequest read) {
        return read.path().startsWith(FileLinks.PATH);
    }

    @Override
    public boolean isCard(WireRequest request) {
        return CARDS.contains(request.path())
                || isRoot(request) && request.method().equals("GET");
    }

    @Override
    protected byte[] card(WireRequest request, ServedAgent agent) {
        return VaultCard.write(agent, request.header("Host"));
    }

    @Override
    protected WireAnswer file(WireRequest request, ServedAgent agent) {
        return isFile(request) ? links.answer(request, agent) : super.file(request, agent);
    }

    @Override
    protected WireAnswer answer(Envelope envelope, Dialect spoken, ServedRequest request) {
        ServedAgent agent = request.agent();
        CallContext caller = request.caller();
        Form form = request.framing().form();
        WireOperation row = row(envelope);
        request.framing().use(problem -> {
            if (row.result() == null && Form.readsOnlyStreams(request.http())) {
                return heard(envelope, form.errorInStream(problem));
            }
            return problem.error() == A2AError.TASK_NOT_CANCELABLE
                    ? heard(envelope, form.result(VaultModel.REFUSAL, problem, Map.of()))
                    : form.error(problem);
        });
        String base = VaultCard.url(agent.card(), request.http().header("Host"));
        var endpoint = new VaultEndpoint(agent.endpoint(), (taskId, holder, index, part) -> {
            if (part instanceof Part.Raw raw) { // bytes do not travel in this dialect, their address does
                String url = links.of(base, caller, agent.name(), taskId, holder, index);
                return new Part.Url(url, raw.filename(), raw.mediaType(), raw.metadata());
            }
            return part;
        });
        return heard(
                envelope,
                request.of(caller.withTasksOnly(), agent.with(endpoint)).rpc(spoken, row, envelope));
    }

    /** A request without an id gets no answer. */
    private static WireAnswer heard(Envelope envelope, WireAnswer answer) {
        if (!envelope.anonymous()) {
            return answer;
        }
        if (answer instanceof WireAnswer.Events events) {
            events.frames().close();
        }
        return new WireAnswer.Whole(202, Map.of(), new byte[0]);
    }
}
