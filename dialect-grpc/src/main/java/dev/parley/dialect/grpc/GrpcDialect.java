package dev.parley.dialect.grpc;

import static java.util.Objects.requireNonNull;

import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.LargeBodies;
import dev.parley.dialect.ServedAgent;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionStyle;
import io.grpc.MethodDescriptor;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
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
    private static final String LAST_EVENT_ID = "last-event-id";

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
    private final BooleanSupplier ready;
    private final Service v1;
    private final Map<String, Handler> handlers = new HashMap<>();

    /**
     * @param agents finds the agent that a tenant is; the empty one is the default agent
     * @param ready health of the server, for health checks
     */
    public GrpcDialect(
            DialectSettings settings, Function<String, @Nullable ServedAgent> agents, BooleanSupplier ready) {
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
        handlers.put(Health.CHECK, (request, callers, statuses) -> Health.check(request.message(), ready));
        handlers.put(Health.WATCH, (request, callers, statuses) -> Health.watch(request.message(), ready));
        Reflection.METHODS.forEach(
                method -> handlers.put(method, (request, callers, statuses) -> Reflection.answer(request.message())));
    }

    private void serve(Service service) {
        for (Rpc<?, ?, ?, ?> rpc : service.rpcs()) {
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
            return Problem.toldBy(failure, statuses.of);
        }
    }

    /** Returns how a call ends that reaches no agent, or whose message was refused unread. */
    public static GrpcAnswer.Failure failure(Throwable problem) {
        return Problem.told(problem, V1Rpcs::code);
    }

    private <O extends Operation, R, Q extends Message, A extends Message> GrpcAnswer answer(
            Service service,
            Rpc<O, R, Q, A> rpc,
            GrpcRequest request,
            Function<@Nullable ServedAgent, CallContext> callers,
            Statuses statuses) {
        statuses.use(problem -> service.codes().apply(problem.error()));
        service.requireVersion(request.metadata().apply(Service.VERSION), isStrict(service));
        O operation = read(request, () -> rpc.read().apply(parse(rpc.method(), request.message())));
        operation.requireShortIds();
        String named = named(operation.tenant(), request);
        ServedAgent meant = agent(named, request);
        CallContext caller = callers.apply(meant);
        ServedAgent agent = served(meant, named, service);
        Set<String> asked = extensions(request.metadata().apply(service.extensions()));
        CallContext context = caller.withDialect(service.dialect(), false)
                .withDeadline(request.deadline())
                .withExtensions(asked)
                .withTraceparent(request.metadata().apply(TRACE));
        Map<String, String> metadata = activated(service, asked, agent.card());
        return switch (operation) {
            case Operation.Call<?> call -> {
                @SuppressWarnings("unchecked") // by the table
                R result =
                        (R) requireNonNull(agent.door().apply(agent.endpoint()).call(call, context));
                yield new GrpcAnswer.Whole(
                        metadata,
                        LargeBodies.encode(
                                result, caller, () -> rpc.answer().apply(result).toByteArray()));
            }
            case Operation.TaskWatch watch -> {
                Feed<LoggedEvent> events = agent.door().apply(agent.endpoint()).watch(watch, context);
                @SuppressWarnings("unchecked") // by the table
                var answer = (Function<TaskEvent, Message>) (Function<?, ?>) rpc.answer();
                yield new GrpcAnswer.Events(
                        metadata,
                        service.streams()
                                .apply(events)
                                .as(event -> LargeBodies.encode(
                                        event,
                                        caller,
                                        () -> answer.apply(event.event()).toByteArray())),
                        problem -> Problem.told(problem, service.codes()));
            }
            default -> throw new IllegalStateException("an operation is a call or a watch");
        };
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
        String named = named(typed == null ? null : ExtensionRpcs.tenant(typed), request);
        ServedAgent meant = agent(named, request);
        CallContext caller = callers.apply(meant);
        ServedAgent agent = served(meant, named, v1);
        ExtensionMethod<?, ?> row = agent.extensions().grpc(request.method()).orElse(null);
        if (row == null) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND);
        }
        ExtensionStyle style = agent.extensions().style(row.name()).orElse(ExtensionStyle.A2A);
        statuses.use(problem -> ExtensionRpcs.code(style, problem));
        Message message = typed == null ? read(request, () -> parse(FREE, request.message())) : typed;
        return extension(row, style, message, request, agent, caller);
    }

    private GrpcAnswer extension(
            ExtensionMethod<?, ?> row,
            ExtensionStyle style,
            Message message,
            GrpcRequest request,
            ServedAgent agent,
            CallContext caller) {
        @SuppressWarnings("unchecked") // the functions of a method meet only what belongs to it
        var method = (ExtensionMethod<Operation.Extension, Object>) row;
        Rpc<Operation.Extension, Object, Message, Message> rpc = ExtensionRpcs.of(row);
        Set<String> asked = extensions(request.metadata().apply(v1.extensions()));
        CallContext context = caller.withDeadline(request.deadline())
                .withExtensions(asked)
                .withTraceparent(request.metadata().apply(TRACE));
        Operation.Extension read = read(request, () -> rpc.read().apply(message));
        read.requireShortIds();
        String last = request.metadata().apply(LAST_EVENT_ID);
        Operation.Extension operation = last == null || last.isBlank() ? read : method.after(read, last.trim());
        AgentEndpoint endpoint = agent.door().apply(agent.endpoint());
        Map<String, String> metadata = activated(v1, asked, agent.card());
        return switch (operation) {
            case Operation.ExtensionCall<?> call -> {
                Object result = requireNonNull(endpoint.call(call, context));
                yield new GrpcAnswer.Whole(
                        metadata,
                        LargeBodies.encode(
                                method.contentOf(result),
                                caller,
                                () -> rpc.answer().apply(result).toByteArray()));
            }
            case Operation.ExtensionWatch<?> watch -> {
                Feed<?> feed = endpoint.watch(watch, context);
                var begun = new HashMap<>(metadata);
                String position = feed.position();
                if (position != null) {
                    begun.put(style.positionHeader().toLowerCase(Locale.ROOT), position);
                }
                yield new GrpcAnswer.Events(
                        begun,
                        feed.as(element -> LargeBodies.encode(
                                method.contentOf(element),
                                caller,
                                () -> rpc.answer().apply(element).toByteArray())),
                        problem -> Problem.toldBy(problem, told -> ExtensionRpcs.code(style, told)));
            }
        };
    }

    /** Parses a message; a large one as work of the client address, because the group is known only after parsing. */
    private static <T> T read(GrpcRequest request, Supplier<T> reading) {
        return LargeBodies.compute(request.message().length, request.client(), reading);
    }

    /** A caller that names no version means 0.3. */
    private boolean isStrict(Service service) {
        return settings.has(Switch.STRICT_VERSION_HEADER) && service.dialect().equals(CallContext.V1);
    }

    private static <Q extends Message> Q parse(MethodDescriptor<Q, ?> method, byte[] message) {
        try {
            return method.parseRequest(new ByteArrayInputStream(message));
        } catch (StatusRuntimeException e) {
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

    private static @Nullable String named(@Nullable String tenant, GrpcRequest request) {
        return tenant == null ? request.metadata().apply(AGENT) : tenant;
    }

    private @Nullable ServedAgent agent(@Nullable String named, GrpcRequest request) {
        return named == null ? agentOfHost(request) : agents.apply(named);
    }

    /** Only who may call hears what there is to be called. */
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
                    : noSuchAgent();
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

    private static Set<String> extensions(@Nullable String named) {
        if (named == null) {
            return Set.of();
        }
        var uris = new LinkedHashSet<String>();
        for (String uri : named.split(",", -1)) {
            if (!uri.isBlank()) {
                uris.add(uri.trim());
            }
        }
        return uris;
    }

    /** The extensions that the caller asked for and the agent has, as the metadata that tells the caller so. */
    private static Map<String, String> activated(Service service, Set<String> asked, AgentCard card) {
        var activated = card.capabilities().extensions().stream()
                .map(AgentCard.Extension::uri)
                .filter(asked::contains)
                .toList();
        return activated.isEmpty() ? Map.of() : Map.of(service.extensions(), String.join(", ", activated));
    }
}
