package dev.parley.gateway.route;

import static java.util.Objects.requireNonNull;

import dev.parley.gateway.push.PushRelay;
import dev.parley.gateway.upstream.Upstream;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.PushConfig;
import org.jspecify.annotations.Nullable;

/**
 * Webhooks of the callers of a route.
 *
 * @param relay null if callers may register none
 * @param version of A2A in which the remote agent notifies; empty if the gateway follows its tasks instead
 */
public record RemoteWebhooks(@Nullable PushRelay relay, String route, String version, Upstream upstream) {

    /** A message with the webhook of the gateway, and the relay behind it. */
    record Sent(Send send, String relay) {}

    /** Called when a caller sends a message to a task. */
    void sent(String taskId, CallContext context) {
        if (relay != null) {
            relay.sent(route, context.scope(), taskId);
        }
    }

    PushRelay require() {
        if (relay == null) {
            throw A2AException.of(A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED);
        }
        return relay;
    }

    /** The remote agent for the caller of an operation, at the replica of its task. */
    PushRelay.Remote at(CallContext context, String replica) {
        String only = replica.isEmpty() ? null : replica;
        return new PushRelay.Remote(route, version, call -> {
            var unused = upstream.call(call, context, only);
        });
    }

    /** Puts the webhook of the gateway in the place of that of a message which begins a task. */
    Sent begin(Send send, CallContext context) {
        PushConfig config = requireNonNull(send.configuration().pushConfig());
        PushRelay.Begun begun =
                require().begin(at(context, ""), config, send.message().metadata(), context);
        return new Sent(with(send, version.isEmpty() ? null : begun.config()), begun.id());
    }

    /** The message with another webhook. */
    static Send with(Send send, @Nullable PushConfig config) {
        SendConfiguration now = send.configuration();
        var changed =
                new SendConfiguration(now.acceptedOutputModes(), config, now.historyLength(), now.returnImmediately());
        return with(send, send.message(), changed);
    }

    static Send with(Send send, Message message, SendConfiguration configuration) {
        return switch (send) {
            case SendMessage one -> new SendMessage(null, message, configuration, one.metadata());
            case SendStreamingMessage one -> new SendStreamingMessage(null, message, configuration, one.metadata());
        };
    }

    /**
     * The message without the webhook of the gateway, which the agent refused: the gateway follows the task.
     *
     * @throws A2AException the refusal, if it is one of something else
     */
    Send withoutWebhook(Send send, String id, A2AException refused) {
        if (version.isEmpty() || send.configuration().pushConfig() == null || !PushRelay.refusesWebhook(refused)) {
            throw refused;
        }
        require().follow(id, refused);
        return with(send, null);
    }

    /** Names the task of a message that has begun one, or gives the webhook up if it has not. */
    void settle(String id, @Nullable String taskId, String contextId, String replica) {
        PushRelay known = require();
        if (taskId == null) {
            known.drop(id);
        } else {
            known.bound(id, taskId, contextId, replica);
        }
    }
}
