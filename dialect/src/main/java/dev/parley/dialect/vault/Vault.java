package dev.parley.dialect.vault;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.ResponseFraming;
import dev.parley.dialect.answers.RpcEnvelope;
import dev.parley.dialect.calls.CardFile;
import dev.parley.dialect.calls.RpcEdge;
import dev.parley.dialect.calls.ServedRequest;
import dev.parley.dialect.legacy.FormedTasks;
import dev.parley.dialect.legacy.TaskForm;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.Part;
import java.util.Map;

/** The endpoint of AgentVault: its card, its calls, and the files that its tasks point to. */
public final class Vault extends RpcEdge {
    public static final String SUFFIX = "/agentvault";

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
        String path = request.path();
        return CardFile.isAt(path)
                || path.equals("/agent-card.json")
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
    protected WireAnswer answer(RpcEnvelope envelope, Dialect spoken, ServedRequest request) {
        ResponseFraming framed = request.framing().form();
        WireOperation row = row(envelope);
        request.framing().use(problem -> {
            if (row.result() == null && ResponseFraming.readsOnlyStreams(request.http())) {
                return heard(envelope, framed.errorInStream(problem));
            }
            if (problem.error() != A2AError.TASK_NOT_CANCELABLE) {
                return framed.error(problem);
            }
            return heard(envelope, framed.result(VaultModel.REFUSAL, problem, Map.of()));
        });
        ServedAgent agent = request.agent();
        String base = VaultCard.url(agent.card(), request.http().header("Host"));
        // Bytes do not travel in this dialect, their address does.
        var form = new TaskForm(
                null,
                (taskId, holder, index, part) -> part instanceof Part.Raw raw
                        ? new Part.Url(
                                links.of(base, request.caller(), agent.name(), taskId, holder, index),
                                raw.filename(),
                                raw.mediaType(),
                                raw.metadata())
                        : part);
        ServedAgent shown = agent.with(new FormedTasks(agent.endpoint(), form));
        return heard(
                envelope, request.of(request.caller().withTasksOnly(), shown).rpc(spoken, row, envelope));
    }

    /** A request without an id gets no answer. */
    private static WireAnswer heard(RpcEnvelope envelope, WireAnswer answer) {
        if (!envelope.anonymous()) {
            return answer;
        }
        if (answer instanceof WireAnswer.Events events) {
            events.frames().close();
        }
        return new WireAnswer.Whole(202, Map.of(), new byte[0]);
    }
}
