package dev.parley.dialect.grpc;

import static java.util.Objects.requireNonNull;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.RequestMarks;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionStyle;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.Status.Code;
import io.grpc.protobuf.ProtoUtils;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers calls of gRPC. Safe for any thread.
 *
 * <p>Independent of connections: the server passes each message and sends the answer.
 *
 * <p>Source: A2A specification 1.0, section 10.
 */
public final class GrpcDialect {
    static final String TRACE = "traceparent";

    /** Names an agent where messages cannot. */
    static final String AGENT = "x-a2a-agent";

    private static final String HOST = "host";
    static final String LAST_EVENT_ID = "last-event-id";
    private static final String IDEMPOTENCY_KEY = "idempotency-key";

    /** Messages of extensions that have none of their own. */
    private static final MethodDescriptor<Struct, Struct> FREE = MethodDescriptor.<Struct, Struct>newBuilder()
            .setType(MethodDescriptor.MethodType.UNKNOWN)
            .setFullMethodName("google.protobuf/Struct")
            .setRequestMarshaller(ProtoUtils.marshaller(Struct.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(Struct.getDefaultInstance()))
            .build();

    /** The statuses of errors of one call, as far as it has been read. For one thread. */
    private static final class Statuses {
        private Function<A2AException, Code> of = problem -> V1Rpcs.code(problem.error());

        void use(Function<A2AException, Code> statuses) {
            of = statuses;
        }
    }

    private interface Handler {
        /**
         * Answers a message, or throws.
         *
         * @param statuses receives the statuses of errors, as soon as the request shows them
         */
        GrpcAnswer answer(GrpcRequest request, Function<@Nullable ServedAgent, CallContext> callers, Statuses statuses);
    }

    private final DialectSettings settings;
    private final Function<String, @Nullable ServedAgent> agents;
    private final Function<String, Optional<A2AException>> absent;
    private final BooleanSupplier ready;
    private final Service v1;
    private final Map<String, Handler> handlers = new HashMap<>();

    /**
     * @param agents finds the agent that a tenant is; the empty one is the default agent
     * @param ready health of the server, for health checks
     */
    public GrpcDialect(
            DialectSettings settings, Function<String, @Nullable ServedAgent> agents, BooleanSupplier ready) {
        this(settings, agents, name -> Optional.empty(), ready);
    }

    /** @param absent the reason for which an agent will be hosted, but is not yet */
    public GrpcDialect(
            DialectSettings settings,
            Function<String, @Nullable ServedAgent> agents,
            Function<String, Optional<A2AException>> absent,
            BooleanSupplier ready) {
        this.absent = requireNonNull(absent, "absent");
        this.settings = requireNonNull(settings, "settings");
        this.agents = requireNonNull(agents, "agents");
        this.ready = requireNonNull(ready, "ready");
        this.v1 = V1Rpcs.service(settings);
        serve(v1);
        serve(V03Rpcs.SERVICE);
        V03Rpcs.FORMER_NAMES.forEach((former, now) -> handlers.put(
                dev.parley.dialect.grpc.v03.A2AServiceGrpc.SERVICE_NAME + "/" + former,
                requireNonNull(handlers.get(dev.parley.dialect.grpc.v03.A2AServiceGrpc.SERVICE_NAME + "/" + now))));
        ExtensionRpcs.TYPED.forEach((method, rpc) -> handlers.put(
                method, (request, callers, statuses) -> extension(rpc.method(), request, callers, statuses)));
        handlers.put(GrpcHealth.CHECK, (request, callers, statuses) -> GrpcHealth.check(request.message(), ready));
        handlers.put(GrpcHealth.WATCH, (request, callers, statuses) -> GrpcHealth.watch(request.message(), ready));
        Reflection.METHODS.forEach(
                method -> handlers.put(method, (request, callers, statuses) -> Reflection.answer(request.message())));
    }

    private void serve(Service service) {
        for (Rpc<?, ?, ?, ?> rpc : service.rpcs().values()) {
            handlers.put(
                    rpc.method().getFullMethodName(),
                    (request, callers, statuses) -> answer(service, rpc, request, callers, statuses));
        }
    }

    /** True if every message of a call is answered, and there may be any number; else there is exactly one. */
    public boolean isConversation(String method) {
        return Reflection.METHODS.contains(method);
    }

    /**
     * Answers a message. Never throws: what goes wrong becomes a failure, and is logged once if it is this side's fault.
     *
     * @param callers tells who calls an agent, null for one that there is not, or refuses; dialect, extensions, deadline and trace are filled in from the
     *     request
     */
    public GrpcAnswer answer(GrpcRequest request, Function<@Nullable ServedAgent, CallContext> callers) {
        var statuses = new Statuses();
        try {
            Handler handler = handlers.get(request.method());
            return handler == null
                    ? extension(FREE, request, callers, statuses)
                    : handler.answer(request, callers, statuses);
        } catch (Throwable failure) { // the edge: whatever it is, the peer gets an answer
            return ErrorDetails.toldBy(failure, statuses.of);
        }
    }

    /** Returns how a call ends that reaches no agent, or whose message was refused unread. */
    public static GrpcAnswer.Failure failure(Throwable problem) {
        return ErrorDetails.told(problem, V1Rpcs::code);
    }

    @SuppressWarnings("unchecked") // by the table
    private GrpcAnswer answer(
            Service service,
            Rpc<?, ?, ?, ?> row,
            GrpcRequest request,
            Function<@Nullable ServedAgent, CallContext> callers,
            Statuses statuses) {
        statuses.use(problem -> service.codes().apply(problem.error()));
        service.requireVersion(request.metadata().apply(Service.VERSION), isStrict(service));
        var rpc = (Rpc<Operation, Object, Message, Message>) row;
        Operation read = read(request, () -> rpc.read().apply(parse(rpc.method(), request.message())));
        read.requireShortIds();
        Callee called = callee(read.tenant(), request, callers, service);
        CallContext caller = called.caller().withDialect(service.dialect(), false);
        boolean previews = settings.has(Switch.PREVIEW_1_1) && service.dialect().equals(CallContext.V1);
        Operation operation =
                previews ? RequestMarks.resumed(read, request.metadata().apply(LAST_EVENT_ID)) : read;
        var callee = new Callee(
                called.agent(),
                previews ? RequestMarks.keyed(caller, read, request.metadata().apply(IDEMPOTENCY_KEY)) : caller);
        return exchange(operation, service, ExtensionStyle.A2A, request, callee, statuses, value -> {
            Object shown = value instanceof LoggedEvent event ? event.event() : value;
            Supplier<byte[]> message = () -> {
                Message answer = rpc.answer().apply(shown);
                return (previews ? Generations.numbered(answer, value) : answer).toByteArray();
            };
            return value instanceof LoggedEvent event
                    ? LargeBodies.encode(event, callee.caller(), message)
                    : LargeBodies.encode(value, callee.caller(), message);
        });
    }

    /**
     * Answers an operation of an extension. The agent decides whether it has the method, so its caller is identified first.
     *
     * @param parser of the request's message
     */
    private GrpcAnswer extension(
            MethodDescriptor<? extends Message, ?> parser,
            GrpcRequest request,
            Function<@Nullable ServedAgent, CallContext> callers,
            Statuses statuses) {
        statuses.use(problem -> ExtensionRpcs.code(ExtensionStyle.A2A, problem));
        // Free data has no field for a tenant, and is read only if the agent has the method.
        Message typed = parser.equals(FREE) ? null : read(request, () -> parse(parser, request.message()));
        Callee callee = callee(typed == null ? null : ExtensionRpcs.tenant(typed), request, callers, v1);
        ServedAgent agent = callee.agent();
        ExtensionMethod<?, ?> row = agent.extensions().grpc(request.method()).orElse(null);
        if (row == null) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND);
        }
        ExtensionStyle style = agent.extensions().style(row.name()).orElse(ExtensionStyle.A2A);
        statuses.use(problem -> ExtensionRpcs.code(style, problem));
        Message message = typed == null ? read(request, () -> parse(FREE, request.message())) : typed;
        @SuppressWarnings("unchecked") // the functions of a method meet only what belongs to it
        var method = (ExtensionMethod<Operation.Extension, Object>) row;
        Rpc<Operation.Extension, Object, Message, Message> rpc = ExtensionRpcs.of(row);
        Operation.Extension read = read(request, () -> rpc.read().apply(message));
        read.requireShortIds();
        String last = request.metadata().apply(LAST_EVENT_ID);
        Operation.Extension operation = last == null || last.isBlank() ? read : method.after(read, last.trim());
        Function<Object, byte[]> encode = value -> LargeBodies.encode(
                method.contentOf(value),
                callee.caller(),
                () -> rpc.answer().apply(value).toByteArray());
        return exchange(operation, v1, style, request, callee, statuses, encode);
    }

    /** Has the agent answer. {@code encode} writes a result, or an element of a stream. */
    @SuppressWarnings("unchecked") // an operation of A2A streams events of tasks
    private static GrpcAnswer exchange(
            Operation operation,
            Service service,
            ExtensionStyle style,
            GrpcRequest request,
            Callee callee,
            Statuses statuses,
            Function<Object, byte[]> encode) {
        Set<String> asked = ServedAgent.extensions(request.metadata().apply(service.extensions()));
        ServedAgent agent = callee.agent();
        CallContext context = callee.caller()
                .withDeadline(request.deadline())
                .withExtensions(asked)
                .withTraceparent(request.metadata().apply(TRACE));
        AgentEndpoint endpoint = agent.door().apply(agent.endpoint());
        var metadata = new HashMap<String, String>();
        String activated = agent.activated(asked);
        if (!activated.isEmpty()) {
            metadata.put(service.extensions(), activated);
        }
        agent.traffic().carried(operation, context, request.message().length, 0);
        Function<Object, byte[]> counted = value -> {
            byte[] message = encode.apply(value);
            agent.traffic().carried(operation, context, 0, message.length);
            return message;
        };
        return switch (operation) {
            case Operation.Call<?> call ->
                new GrpcAnswer.Whole(metadata, counted.apply(requireNonNull(endpoint.call(call, context))));
            case Operation.Watch<?> watch -> {
                Feed<?> stream = endpoint.watch(watch, context);
                if (operation instanceof Operation.TaskWatch ofTask) {
                    stream = service.streams().apply((Feed<LoggedEvent>) stream, ofTask);
                } else if (stream.position() != null) {
                    metadata.put(style.positionHeader().toLowerCase(Locale.ROOT), requireNonNull(stream.position()));
                }
                Function<A2AException, Code> codes = statuses.of;
                yield new GrpcAnswer.Events(
                        metadata, stream.as(counted), problem -> ErrorDetails.toldBy(problem, codes));
            }
        };
    }

    /** The agent that is called, and the caller. */
    private record Callee(ServedAgent agent, CallContext caller) {}

    private Callee callee(
            @Nullable String tenant,
            GrpcRequest request,
            Function<@Nullable ServedAgent, CallContext> callers,
            Service service) {
        String named = tenant == null ? request.metadata().apply(AGENT) : tenant;
        ServedAgent agent = named == null ? agentOfHost(request) : agents.apply(named);
        CallContext caller = callers.apply(agent);
        return new Callee(served(agent, named, service), caller);
    }

    /** Parses a message; a large one as work of the client address, because the group is known only after parsing. */
    private static <T> T read(GrpcRequest request, Supplier<T> reading) {
        return LargeBodies.compute(request.message().length, request.client(), reading);
    }

    /** A caller that names no version means 0.3. */
    private boolean isStrict(Service service) {
        return settings.has(Switch.STRICT_VERSION_HEADER) && service.dialect().equals(CallContext.V1);
    }

    /** Reads the array itself: the marshaller of a method copies a stream by pieces of 4 KiB. */
    @SuppressWarnings("unchecked") // a parser makes messages of its prototype's type
    private static <Q extends Message> Q parse(MethodDescriptor<Q, ?> method, byte[] message) {
        var marshaller = (PrototypeMarshaller<Q>) method.getRequestMarshaller();
        try {
            return (Q) requireNonNull(marshaller.getMessagePrototype())
                    .getParserForType()
                    .parseFrom(message);
        } catch (InvalidProtocolBufferException e) {
            throw A2AException.of(
                            A2AError.PARSE_ERROR,
                            "Invalid message (expected: " + method.getServiceName() + ", as its proto file says)")
                    .causedBy(e);
        }
    }

    /** Returns the error for an agent that does not exist or that the caller may not see. */
    public static A2AException noSuchAgent() {
        return A2AException.of(
                A2AError.METHOD_NOT_FOUND, "There is no such agent (expected: a tenant as in its card, or its name)");
    }

    /** Lists services to admitted callers only. */
    private ServedAgent served(@Nullable ServedAgent agent, @Nullable String named, Service service) {
        if (agent == null) {
            if (!ready.getAsBoolean()) {
                throw A2AException.unavailable(
                        "The server is not ready", Duration.ofSeconds(1)); // and the agent may be there then
            }
            throw named == null
                    ? A2AException.of(
                            A2AError.METHOD_NOT_FOUND,
                            "There is no default agent (expected: the name of an agent, as tenant or " + AGENT + ")")
                    : absent.apply(named).orElseGet(GrpcDialect::noSuchAgent);
        }
        if (!agent.dialects().contains(service.dialect())) {
            throw A2AException.of(
                    A2AError.VERSION_NOT_SUPPORTED,
                    A2AError.VERSION_NOT_SUPPORTED.defaultMessage() + " by this agent: " + service.dialect());
        }
        return agent;
    }

    /** The agent that has a host name of its own below the server's, or else the default agent. */
    private @Nullable ServedAgent agentOfHost(GrpcRequest request) {
        String host = Values.orEmpty(request.metadata().apply(HOST));
        ServedAgent agent = host.indexOf('.') <= 0 ? null : agents.apply(host.substring(0, host.indexOf('.')));
        return agent == null ? agents.apply("") : agent;
    }
}
