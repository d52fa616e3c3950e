package dev.parley.dialect.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import dev.parley.dialect.Json;
import dev.parley.protocol.AgentCard;
import java.nio.charset.StandardCharsets;

/**
 * Agent cards as messages. They are rarely asked for here and have no part that their JSON could not tell, so they go
 * by way of it.
 */
final class Cards {
    private static final JsonFormat.Parser READER = JsonFormat.parser().ignoringUnknownFields();
    private static final JsonFormat.Printer WRITER = JsonFormat.printer();

    private Cards() {}

    static dev.parley.dialect.grpc.v1.AgentCard v1(AgentCard card) {
        return parse(Json.write(card), dev.parley.dialect.grpc.v1.AgentCard.newBuilder())
                .build();
    }

    static AgentCard v1(dev.parley.dialect.grpc.v1.AgentCard card) {
        return Json.read(print(card), AgentCard.class);
    }

    private static <B extends Message.Builder> B parse(byte[] json, B builder) {
        try {
            READER.merge(new String(json, StandardCharsets.UTF_8), builder);
            return builder;
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("what this program has written", e);
        }
    }

    private static byte[] print(Message message) {
        try {
            return WRITER.print(message).getBytes(StandardCharsets.UTF_8);
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException("a message without extensions", e);
        }
    }
}
