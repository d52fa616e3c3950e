package dev.parley.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class KnowledgeTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final String STREAM = "HTTP/1.1 200 X\nContent-Type: text/event-stream\nConnection: close\n\n";
    private static final String FIRST = "3f0c1a52-9c1e-4a53-8f6e-7f2b8f6f0a11";
    private static final String BEGIN = "3f0c1a52-9c1e-4a53-8f6e-7f2b8f6f0a10";
    private static final String SECOND = "3f0c1a52-9c1e-4a53-8f6e-7f2b8f6f0a12";

    private static String card(TestAgent agent, boolean streaming) {
        return "{\"name\":\"old\",\"url\":\"" + agent.url() + "\",\"version\":\"1\",\"skills\":[],"
                + "\"capabilities\":{\"streaming\":" + streaming + ",\"knowledgeGraph\":true,"
                + "\"knowledgeGraphQueryLanguages\":[\"graphql\"]}}";
    }

    private static String change(String id) {
        return "data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"op\":\"add\",\"statement\":{"
                + "\"subject\":{\"id\":\"ex:p1\"},\"predicate\":{\"id\":\"ex:is\"},\"object\":{\"value\":1}},"
                + "\"changeId\":\"" + id + "\",\"timestamp\":\"2026-01-05T10:00:03\"}}\n\n";
    }

    @Test
    void kg26WithoutTheCapabilityNothingIsSent() throws IOException {
        try (var agent = new TestAgent((request, connection) -> connection.answer(200, "{}"));
                AgentClient client = agent.client()) {

            assertThatThrownBy(() -> KnowledgeExtension.endpoint(client, client.card()))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refused -> assertThat(refused.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION))
                    .hasMessageContaining("test offers no knowledge graph");
            assertThat(agent.calls).isEmpty();
        }
    }

    @Test
    void kg26WhatTheCardDoesNotOfferIsNotSentEither() throws IOException {
        try (var agent = new TestAgent((request, connection) -> connection.answer(200, "{}"))) {
            agent.with(card(agent, false));
            try (AgentClient client = agent.client()) {
                KnowledgeEndpoint graph = KnowledgeExtension.endpoint(client, client.card());

                assertThatThrownBy(() -> graph.query(Query.sparql("ASK {}"), CALLER))
                        .hasMessageContaining("knows no sparql (expected: graphql)");
                assertThatThrownBy(() -> graph.subscribe(Subscribe.graphql("subscription { x }", Map.of()), CALLER))
                        .hasMessageContaining("does not stream changes");
                assertThat(agent.calls).isEmpty();
            }
        }
    }

    @Test
    void kg25AnAgentOfTheFirstPublicationIsAskedAndChanged() throws IOException {
        try (var agent = new TestAgent((request, connection) -> connection.answer(
                200,
                request.text().contains("knowledge/query")
                        ? "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"data\":{\"x\":[1]}}}"
                        : "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"success\":true,\"statementsAffected\":1}}",
                "Content-Type: application/json"))) {
            agent.with(card(agent, true));
            try (AgentClient client = agent.client()) {
                KnowledgeEndpoint graph = KnowledgeExtension.endpoint(client, client.card());

                assertThat(graph.query(Query.graphql("{ x }", Map.of()), CALLER).data())
                        .isEqualTo(Map.of("x", List.of(1)));
                assertThat(graph.update(Update.of(Patch.add(Statement.of("ex:p1", "ex:is", Literal.of(1)))), CALLER)
                                .statementsAffected())
                        .isEqualTo(1);
            }
        }
    }

    @Test
    void anErrorOfTheFirstPublicationKeepsItsData() throws IOException {
        try (var agent = new TestAgent((request, connection) -> connection.answer(
                200,
                "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-32013,\"message\":\"Operation violates alignment"
                        + " constraints\",\"data\":{\"constraint_id\":\"c1\"}}}",
                "Content-Type: application/json"))) {
            agent.with(card(agent, true));
            try (AgentClient client = agent.client()) {
                assertThatThrownBy(() -> KnowledgeExtension.endpoint(client, client.card())
                                .query(Query.graphql("{ x }", Map.of()), CALLER))
                        .isInstanceOfSatisfying(A2AException.class, refused -> {
                            assertThat(refused.error()).isEqualTo(KnowledgeError.ALIGNMENT_VIOLATION);
                            assertThat(refused.metadata()).containsEntry("constraint_id", "c1");
                        });
            }
        }
    }

    @Test
    void aSubscriptionGoesOnBehindTheLastChangeSeen() throws IOException, InterruptedException {
        try (var agent = new TestAgent((request, connection) -> {
            connection.write(STREAM);
            connection.write(change(request.text().contains(FIRST) ? SECOND : FIRST));
            if (!request.text().contains(FIRST)) {
                connection.cut();
            } else {
                connection.awaitClose();
            }
        })) {
            agent.with(card(agent, true));
            try (AgentClient client = agent.client();
                    Feed<KnowledgeOperation.Change> changes = KnowledgeExtension.endpoint(client, client.card())
                            .subscribe(Subscribe.graphql("subscription { x }", Map.of()), CALLER)) {

                assertThat(next(changes)).isEqualTo(FIRST);
                assertThat(next(changes)).isEqualTo(SECOND);

                assertThat(agent.calls).hasSize(2);
                assertThat(requireNonNull(agent.calls.poll()).text()).doesNotContain("afterChangeId");
                assertThat(requireNonNull(agent.calls.poll()).text()).contains("\"afterChangeId\":\"" + FIRST + "\"");
            }
        }
    }

    /** Cut after {@code first}; then tells of the second change. */
    private static void cutOnce(RawServer.Connection connection, int calls, String first) throws IOException {
        connection.write(STREAM.replace("Connection: close", "Connection: close\nKnowledge-Position: " + BEGIN));
        if (calls == 1) {
            connection.write(first);
            connection.cut();
        } else {
            connection.write(change(SECOND));
            connection.awaitClose();
        }
    }

    @Test
    void aSubscriptionThatSawNothingGoesOnBehindWhereItBegan() throws IOException, InterruptedException {
        var calls = new AtomicInteger();
        try (var agent =
                new TestAgent((request, connection) -> cutOnce(connection, calls.incrementAndGet(), ": nothing\n\n"))) {
            agent.with(card(agent, true));
            try (AgentClient client = agent.client();
                    Feed<KnowledgeOperation.Change> changes = KnowledgeExtension.endpoint(client, client.card())
                            .subscribe(Subscribe.graphql("subscription { x }", Map.of()), CALLER)) {

                assertThat(changes.position()).isEqualTo(BEGIN);
                assertThat(next(changes)).isEqualTo(SECOND);

                assertThat(requireNonNull(agent.calls.poll()).text()).doesNotContain("afterChangeId");
                assertThat(requireNonNull(agent.calls.poll()).text()).contains("\"afterChangeId\":\"" + BEGIN + "\"");
            }
        }
    }

    @Test
    void aSubscriptionThatIsCutBeforeItsFirstChangeShowsWhatIsThereAnew() throws IOException, InterruptedException {
        var calls = new AtomicInteger();
        String there = change(FIRST).replace("}}\n\n", ",\"changeMetadata\":{\"snapshot\":true}}}\n\n");
        try (var agent = new TestAgent((request, connection) -> cutOnce(connection, calls.incrementAndGet(), there))) {
            agent.with(card(agent, true));
            Subscribe subscription =
                    Subscribe.graphql("subscription { x }", Map.of()).with(Map.of("snapshot", true));
            try (AgentClient client = agent.client();
                    Feed<KnowledgeOperation.Change> changes =
                            KnowledgeExtension.endpoint(client, client.card()).subscribe(subscription, CALLER)) {

                assertThat(next(changes)).isEqualTo(FIRST);
                assertThat(next(changes)).isEqualTo(SECOND);

                agent.calls.forEach(
                        call -> assertThat(call.text()).contains("snapshot").doesNotContain("afterChangeId"));
            }
        }
    }

    @Test
    void anErrorFrameEndsTheSubscription() throws IOException {
        try (var agent = new TestAgent((request, connection) -> {
            connection.write(STREAM);
            connection.write("data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-32012,"
                    + "\"message\":\"Knowledge subscription failed\",\"data\":{\"reason\":\"revoked\"}}}\n\n");
            connection.awaitClose();
        })) {
            agent.with(card(agent, true));
            try (AgentClient client = agent.client();
                    Feed<KnowledgeOperation.Change> changes = KnowledgeExtension.endpoint(client, client.card())
                            .subscribe(Subscribe.graphql("subscription { x }", Map.of()), CALLER)) {
                assertThatThrownBy(() -> next(changes)).isInstanceOfSatisfying(A2AException.class, refused -> {
                    assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_SUBSCRIPTION);
                    assertThat(refused.metadata()).containsEntry("reason", "revoked");
                });
            }
        }
    }

    private static String next(Feed<KnowledgeOperation.Change> changes) throws InterruptedException {
        var next = changes.next(Duration.ofSeconds(20));
        assertThat(next).hasSize(1);
        return next.getFirst().changeId();
    }
}
