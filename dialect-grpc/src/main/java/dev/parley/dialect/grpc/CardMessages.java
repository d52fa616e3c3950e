package dev.parley.dialect.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import dev.parley.dialect.Json;
import dev.parley.dialect.grpc.v03.Security;
import dev.parley.dialect.grpc.v03.StringList;
import dev.parley.dialect.grpc.v1.SecurityRequirement;
import dev.parley.protocol.AgentCard;
import java.nio.charset.StandardCharsets;

/**
 * Agent cards as messages. They are rarely asked for here and have no part that their JSON could not tell, so they go
 * by way of it.
 */
final class CardMessages {
    private static final JsonFormat.Parser READER = JsonFormat.parser().ignoringUnknownFields();
    private static final JsonFormat.Printer WRITER = JsonFormat.printer();

    private CardMessages() {}

    static dev.parley.dialect.grpc.v1.AgentCard v1(AgentCard card) {
        return parse(Json.write(card), dev.parley.dialect.grpc.v1.AgentCard.newBuilder())
                .build();
    }

    static AgentCard v1(dev.parley.dialect.grpc.v1.AgentCard card) {
        return Json.read(print(card), AgentCard.class);
    }

    /**
     * The card as 0.3 had it: an address of its own with others besides, no versions of them, other names for a few
     * members. Signatures are left out, because what they sign is the card as it was.
     */
    static dev.parley.dialect.grpc.v03.AgentCard v03(AgentCard card) {
        var written = parse(Json.write(card), dev.parley.dialect.grpc.v03.AgentCard.newBuilder())
                .clearSignatures()
                .setProtocolVersion("0.3.0")
                .setSupportsAuthenticatedExtendedCard(
                        Boolean.TRUE.equals(card.capabilities().extendedAgentCard()));
        var current = v1(card);
        current.getSecurityRequirementsList().forEach(required -> written.addSecurity(v03(required)));
        for (int i = 0; i < current.getSkillsCount(); i++) {
            for (var required : current.getSkills(i).getSecurityRequirementsList()) {
                written.getSkillsBuilder(i).addSecurity(v03(required));
            }
        }
        var older = card.supportedInterfaces().stream()
                .filter(agent -> agent.protocolVersion().startsWith("0.3"))
                .toList();
        if (!older.isEmpty()) {
            written.setUrl(older.getFirst().url())
                    .setPreferredTransport(older.getFirst().protocolBinding());
            older.stream()
                    .skip(1)
                    .forEach(agent ->
                            written.addAdditionalInterfaces(dev.parley.dialect.grpc.v03.AgentInterface.newBuilder()
                                    .setUrl(agent.url())
                                    .setTransport(agent.protocolBinding())));
        }
        return written.build();
    }

    private static Security v03(SecurityRequirement required) {
        var written = Security.newBuilder();
        required.getSchemesMap()
                .forEach((scheme, scopes) -> written.putSchemes(
                        scheme,
                        StringList.newBuilder().addAllList(scopes.getListList()).build()));
        return written.build();
    }

    static AgentCard v03(dev.parley.dialect.grpc.v03.AgentCard card) {
        var read = parse(print(card), dev.parley.dialect.grpc.v1.AgentCard.newBuilder());
        read.addSupportedInterfacesBuilder()
                .setUrl(card.getUrl())
                .setProtocolBinding(card.getPreferredTransport().isEmpty() ? "JSONRPC" : card.getPreferredTransport())
                .setProtocolVersion("0.3");
        card.getAdditionalInterfacesList()
                .forEach(agent -> read.addSupportedInterfacesBuilder()
                        .setUrl(agent.getUrl())
                        .setProtocolBinding(agent.getTransport())
                        .setProtocolVersion("0.3"));
        read.getCapabilitiesBuilder().setExtendedAgentCard(card.getSupportsAuthenticatedExtendedCard());
        card.getSecurityList().forEach(required -> read.addSecurityRequirements(v1(required)));
        return v1(read.build());
    }

    private static SecurityRequirement v1(Security required) {
        var read = SecurityRequirement.newBuilder();
        required.getSchemesMap()
                .forEach((scheme, scopes) -> read.putSchemes(
                        scheme,
                        dev.parley.dialect.grpc.v1.StringList.newBuilder()
                                .addAllList(scopes.getListList())
                                .build()));
        return read.build();
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
