package dev.parley.dialect.grpc;

import com.google.protobuf.Message;
import dev.parley.dialect.spi.RequestMarks;
import dev.parley.dialect.spi.Transport;
import dev.parley.dialect.spi.Transport.Broken;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskEvent;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.okhttp.SslSocketFactoryChannelCredentials;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An agent that is called over gRPC. */
final class GrpcRemote implements Transport.Remote {
    private final Service spoken;
    private final @Nullable String tenant;
    private final Transport.Settings settings;
    private final ManagedChannel connection;
    private final Channel channel;

    GrpcRemote(Service spoken, @Nullable String tenant, Transport.Settings settings) {
        this.spoken = spoken;
        this.tenant = tenant;
        this.settings = settings;
        this.connection = OkHttpChannelBuilder.forTarget("dns:///" + settings.authority(), credentials(settings))
                .executor(Executors.newVirtualThreadPerTaskExecutor())
                .maxInboundMessageSize(settings.maxMessageBytes())
                .keepAliveTime(settings.silence().toNanos(), TimeUnit.NANOSECONDS)
                // Repeats only what the peer has surely not begun: a stream that it refuses (once), or that a GOAWAY
                // leaves out (RFC 9113, sections 6.8 and 8.7). The caller decides about all other retries.
                .enableRetry()
                .disableServiceConfigLookUp()
                .build();
        Transport.Listener listener = settings.listener();
        this.channel = listener == null
                ? connection
                : ClientInterceptors.intercept(connection, new CallTap(settings.authority(), listener));
    }

    private static ChannelCredentials credentials(Transport.Settings settings) {
        if (!settings.tls()) {
            return InsecureChannelCredentials.create();
        }
        return settings.sslContext() == null
                ? TlsChannelCredentials.create()
                : SslSocketFactoryChannelCredentials.create(
                        settings.sslContext().getSocketFactory());
    }

    @Override
    @SuppressWarnings("unchecked") // an operation's answer has the type that the operation names
    public <R> R call(Operation.Call<R> operation, CallContext context, Map<String, String> headers) {
        Metadata metadata = metadata(operation, context, headers);
        if (operation instanceof Operation.Extension extension) {
            Rpc<Operation.Extension, Object, Message, Message> rpc = ExtensionRpcs.of(extension, settings.extensions());
            return (R) ask(rpc.method(), rpc.request(operation, tenant), rpc.result(), context, metadata);
        }
        Rpc<Operation, R, Message, Message> rpc = spoken.rpc(operation);
        return ask(rpc.method(), rpc.request(operation, tenant), rpc.result(), context, metadata);
    }

    private <Q extends Message, A extends Message, R> R ask(
            MethodDescriptor<Q, A> method, Q request, Function<A, R> result, CallContext context, Metadata metadata) {
        return connected(context, () -> askNow(method, request, result, context, metadata));
    }

    private <Q extends Message, A extends Message, R> R askNow(
            MethodDescriptor<Q, A> method, Q request, Function<A, R> result, CallContext context, Metadata metadata) {
        A answer;
        try {
            answer = ClientCalls.blockingUnaryCall(
                    ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(metadata)),
                    method,
                    options(context),
                    request);
        } catch (StatusRuntimeException e) {
            boolean cancels = "CancelTask".equals(method.getBareMethodName());
            A2AError unmet = cancels ? A2AError.TASK_NOT_CANCELABLE : A2AError.UNSUPPORTED_OPERATION;
            throw Refusal.of(e.getStatus(), e.getTrailers(), unmet, errors());
        }
        try {
            return GrpcMender.read(answer, result);
        } catch (InvalidField e) {
            throw invalid(e, GrpcMender.taskId(answer));
        }
    }

    @Override
    @SuppressWarnings("unchecked") // an operation's answer has the type that the operation names
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context, Map<String, String> headers) {
        Metadata metadata = metadata(operation, context, headers);
        return (Feed<E>) connected(
                context,
                () -> operation instanceof Operation.Extension extension
                        ? elements(extension, context, metadata)
                        : events(operation, context, metadata));
    }

    private Feed<LoggedEvent> events(Operation.Watch<?> operation, CallContext context, Metadata metadata) {
        Rpc<Operation, TaskEvent, Message, Message> rpc = spoken.rpc(operation);
        // In 0.3, and after a cursor, a subscription may begin with what happens next, rather than with the task as it
        // stands.
        boolean mayBeSilent = operation instanceof Operation.SubscribeToTask subscribe
                && (spoken.named() == null || subscribe.after() != null);
        var call = channel.newCall(rpc.method(), options(context));
        Message request = rpc.request(operation, tenant);
        Function<Message, LoggedEvent> event =
                message -> new LoggedEvent(Generations.of(message), GrpcMender.read(message, rpc.result()));
        return mayBeSilent
                ? GrpcFeed.openUnheard(call, metadata, request, event)
                : GrpcFeed.open(call, metadata, request, event, settings.firstEvent());
    }

    private Feed<Object> elements(Operation.Extension operation, CallContext context, Metadata metadata) {
        Rpc<Operation.Extension, Object, Message, Message> rpc = ExtensionRpcs.of(operation, settings.extensions());
        return GrpcFeed.openQuiet(
                channel.newCall(rpc.method(), options(context)),
                metadata,
                rpc.request(operation, tenant),
                rpc.result(),
                settings.firstEvent(),
                ExtensionRpcs.positionHeader(operation, settings.extensions()),
                errors());
    }

    private List<ErrorKind> errors() {
        return settings.extensions().stream()
                .flatMap(extension -> extension.errors().stream())
                .toList();
    }

    /** Asks when there is a connection; what failed for want of one was never sent, and says so. */
    private <T> T connected(CallContext context, Supplier<T> asked) {
        AtomicBoolean reached = connect(context);
        try {
            return asked.get();
        } catch (Broken broken) {
            if (broken.kind() == Broken.Kind.LOST && !reached.get()) {
                throw new Broken(Broken.Kind.UNREACHABLE, String.valueOf(broken.getMessage()), broken.getCause());
            }
            throw broken;
        }
    }

    /** Waits until connecting has come to something. Returns whether there is a connection, or has been since. */
    private AtomicBoolean connect(CallContext context) {
        Instant deadline = context.deadline();
        Duration left = deadline == null ? settings.connectTimeout() : Duration.between(Instant.now(), deadline);
        Duration patience = left.compareTo(settings.connectTimeout()) < 0 ? left : settings.connectTimeout();
        long end = System.nanoTime() + patience.toNanos();
        ConnectivityState state = connection.getState(true);
        while (state == ConnectivityState.IDLE || state == ConnectivityState.CONNECTING) {
            var changed = new CountDownLatch(1);
            connection.notifyWhenStateChanged(state, changed::countDown);
            try {
                if (!changed.await(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    throw new Broken(Broken.Kind.UNREACHABLE, "no connection within " + patience, null);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Broken(Broken.Kind.INTERRUPTED, "interrupted while connecting", e);
            }
            state = connection.getState(true);
        }
        boolean failed = state == ConnectivityState.TRANSIENT_FAILURE;
        var reached = new AtomicBoolean(!failed);
        if (failed) {
            connection.notifyWhenStateChanged(state, () -> reached.set(true));
        }
        return reached;
    }

    static A2AException invalid(InvalidField fault, @Nullable String taskId) {
        String problem =
                A2AError.INVALID_AGENT_RESPONSE.defaultMessage() + ": " + fault.field() + ": " + fault.problem();
        return A2AException.of(
                A2AError.INVALID_AGENT_RESPONSE,
                taskId == null ? problem : problem + " (task " + taskId + ")",
                taskId == null ? Map.of() : Map.of("taskId", taskId));
    }

    private static CallOptions options(CallContext context) {
        Instant deadline = context.deadline();
        return deadline == null
                ? CallOptions.DEFAULT
                : CallOptions.DEFAULT.withDeadlineAfter(Duration.between(Instant.now(), deadline));
    }

    private Metadata metadata(Operation operation, CallContext context, Map<String, String> headers) {
        Metadata metadata = metadata(context, headers);
        put(metadata, GrpcDialect.LAST_EVENT_ID, RequestMarks.lastEventId(operation));
        // 0.3 has no tenants in its messages, and free data none either
        if (spoken.named() == null || operation instanceof Operation.Extension) {
            put(metadata, GrpcDialect.AGENT, operation.tenant() == null ? tenant : operation.tenant());
        }
        return metadata;
    }

    private Metadata metadata(CallContext context, Map<String, String> headers) {
        var metadata = new Metadata();
        headers.forEach((name, value) -> put(metadata, name, value));
        put(metadata, Service.VERSION, spoken.named());
        if (!context.extensions().isEmpty()) {
            put(metadata, spoken.extensions(), String.join(",", context.extensions()));
        }
        put(metadata, GrpcDialect.TRACE, context.traceparent());
        put(metadata, CallChain.HEADER, context.chain().baggage());
        return metadata;
    }

    private static void put(Metadata metadata, String name, @Nullable String value) {
        if (value != null) {
            metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
        }
    }

    @Override
    public void close() {
        connection.shutdownNow();
    }
}
