package dev.parley.dialect.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.util.JsonFormat;
import dev.parley.dialect.spi.Transport;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Tells a listener what calls send and get. */
final class CallTap implements ClientInterceptor {
    private final String authority;
    private final Transport.Listener listener;

    CallTap(String authority, Transport.Listener listener) {
        this.authority = authority;
        this.listener = listener;
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        boolean stream = !method.getType().serverSendsOneMessage();
        return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
            private Metadata sent = new Metadata();
            private volatile long exchange;

            @Override
            public void start(Listener<A> responses, Metadata headers) {
                sent = headers;
                super.start(
                        new SimpleForwardingClientCallListener<>(responses) {
                            private final Metadata got = new Metadata();
                            private String answer = "";

                            @Override
                            public void onHeaders(Metadata headers) {
                                got.merge(headers);
                                super.onHeaders(headers);
                            }

                            @Override
                            public void onMessage(A message) {
                                if (stream) {
                                    listener.event(exchange, json(message));
                                } else {
                                    answer = json(message);
                                }
                                super.onMessage(message);
                            }

                            @Override
                            public void onClose(Status status, Metadata trailers) {
                                got.merge(trailers);
                                listener.received(exchange, status.getCode().value(), shown(got, status), answer);
                                super.onClose(status, trailers);
                            }
                        },
                        headers);
            }

            @Override
            public void sendMessage(Q message) {
                exchange = listener.sending(
                        authority + "/" + method.getFullMethodName(), shown(sent, null), json(message));
                super.sendMessage(message);
            }
        };
    }

    private static String json(Object message) {
        try {
            return message instanceof MessageOrBuilder proto
                    ? JsonFormat.printer().omittingInsignificantWhitespace().print(proto)
                    : "";
        } catch (InvalidProtocolBufferException e) {
            return "a message that JSON cannot show";
        }
    }

    /** Shows a binary value by its name only. */
    private static Map<String, List<String>> shown(Metadata metadata, @Nullable Status status) {
        var shown = new LinkedHashMap<String, List<String>>();
        if (status != null) {
            shown.put("grpc-status", List.of(status.getCode().name()));
            if (status.getDescription() != null) {
                shown.put("grpc-message", List.of(status.getDescription()));
            }
        }
        for (String name : metadata.keys()) {
            var values = new ArrayList<String>();
            if (name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
                values.add("(bytes)");
            } else {
                Iterable<String> all = metadata.getAll(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
                if (all != null) {
                    all.forEach(values::add);
                }
            }
            shown.put(name, values);
        }
        return shown;
    }
}
