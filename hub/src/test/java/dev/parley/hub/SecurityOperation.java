package dev.parley.hub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc.A2AServiceBlockingStub;
import dev.parley.dialect.grpc.v1.CancelTaskRequest;
import dev.parley.dialect.grpc.v1.DeleteTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v1.GetExtendedAgentCardRequest;
import dev.parley.dialect.grpc.v1.GetTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v1.GetTaskRequest;
import dev.parley.dialect.grpc.v1.ListTaskPushNotificationConfigsRequest;
import dev.parley.dialect.grpc.v1.ListTasksRequest;
import dev.parley.dialect.grpc.v1.Message;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.Role;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import dev.parley.dialect.grpc.v1.TaskPushNotificationConfig;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.net.http.HttpResponse;
import java.util.UUID;

/** The eleven operations, as any client can ask for them, about a task or its webhook {@code c1}. */
enum SecurityOperation {
    SEND_MESSAGE("POST /message:send", Constants.MESSAGE) {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.sendMessage(message(id));
        }
    },
    SEND_STREAMING_MESSAGE("POST /message:stream", Constants.MESSAGE) {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.sendStreamingMessage(message(id)).next();
        }
    },
    GET_TASK("GET /tasks/ID", "{'id':'ID'}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.getTask(GetTaskRequest.newBuilder().setTenant(AGENT).setId(id).build());
        }
    },
    LIST_TASKS("GET /tasks", "{}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.listTasks(ListTasksRequest.newBuilder().setTenant(AGENT).build());
        }
    },
    CANCEL_TASK("POST /tasks/ID:cancel", "{'id':'ID'}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.cancelTask(
                    CancelTaskRequest.newBuilder().setTenant(AGENT).setId(id).build());
        }
    },
    SUBSCRIBE_TO_TASK("GET /tasks/ID:subscribe", "{'id':'ID'}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.subscribeToTask(SubscribeToTaskRequest.newBuilder()
                            .setTenant(AGENT)
                            .setId(id)
                            .build())
                    .next();
        }
    },
    CREATE_TASK_PUSH_NOTIFICATION_CONFIG(
            "POST /tasks/ID/pushNotificationConfigs", "{'taskId':'ID','id':'c1','url':'https://example.com/hook'}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.createTaskPushNotificationConfig(TaskPushNotificationConfig.newBuilder()
                    .setTenant(AGENT)
                    .setTaskId(id)
                    .setId("c1")
                    .setUrl("https://example.com/hook")
                    .build());
        }
    },
    GET_TASK_PUSH_NOTIFICATION_CONFIG("GET /tasks/ID/pushNotificationConfigs/c1", "{'taskId':'ID','id':'c1'}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.getTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest.newBuilder()
                    .setTenant(AGENT)
                    .setTaskId(id)
                    .setId("c1")
                    .build());
        }
    },
    LIST_TASK_PUSH_NOTIFICATION_CONFIGS("GET /tasks/ID/pushNotificationConfigs", "{'taskId':'ID'}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.listTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest.newBuilder()
                    .setTenant(AGENT)
                    .setTaskId(id)
                    .build());
        }
    },
    DELETE_TASK_PUSH_NOTIFICATION_CONFIG("DELETE /tasks/ID/pushNotificationConfigs/c1", "{'taskId':'ID','id':'c1'}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.deleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest.newBuilder()
                    .setTenant(AGENT)
                    .setTaskId(id)
                    .setId("c1")
                    .build());
        }
    },
    GET_EXTENDED_AGENT_CARD("GET /extendedAgentCard", "{}") {
        @Override
        void overGrpc(A2AServiceBlockingStub stub, String id) {
            stub.getExtendedAgentCard(
                    GetExtendedAgentCardRequest.newBuilder().setTenant(AGENT).build());
        }
    };

    static final String AGENT = "interview";

    private static final Metadata.Key<String> API_KEY = Metadata.Key.of("x-api-key", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    private final String verb;
    private final String path;
    private final String params;

    SecurityOperation(String rest, String params) {
        this.verb = rest.substring(0, rest.indexOf(' '));
        this.path = rest.substring(rest.indexOf(' ') + 1);
        this.params = params;
    }

    /** An answer over whatever binding: how it went, and all that was said, with ID in the place of the task's id. */
    record Answer(String status, String said, String challenge) {}

    Answer overJsonRpc(SecurityTarget target, String id, String... key) {
        var method = new StringBuilder();
        for (String word : name().split("_", -1)) {
            method.append(word.charAt(0)).append(word.substring(1).toLowerCase(java.util.Locale.ROOT));
        }
        return answer(
                target.send(
                        "POST",
                        "/agents/" + AGENT,
                        SecurityTarget.envelope(method.toString(), filled(params, id)),
                        withVersion(key)),
                id);
    }

    Answer overRest(SecurityTarget target, String id, String... key) {
        String body = verb.equals("POST") ? filled(params, id) : "";
        return answer(target.send(verb, "/agents/" + AGENT + filled(path, id), body, withVersion(key)), id);
    }

    Answer overGrpc(ManagedChannel channel, String id, String... key) {
        var metadata = new Metadata();
        if (key.length > 0) {
            metadata.put(API_KEY, key[0]);
        }
        try {
            overGrpc(
                    A2AServiceGrpc.newBlockingStub(channel)
                            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata)),
                    id);
            return new Answer("OK", "", "");
        } catch (StatusRuntimeException e) {
            byte[] details = e.getTrailers() == null ? null : e.getTrailers().get(DETAILS);
            String told = details == null ? "" : new String(details, ISO_8859_1).replace(id, "ID");
            return new Answer(
                    e.getStatus().getCode().name(),
                    String.valueOf(e.getStatus().getDescription()).replace(id, "ID") + told,
                    told);
        }
    }

    abstract void overGrpc(A2AServiceBlockingStub stub, String id);

    private static Answer answer(HttpResponse<String> answer, String id) {
        return new Answer(
                Integer.toString(answer.statusCode()),
                answer.body().replace(id, "ID"),
                answer.headers().firstValue("WWW-Authenticate").orElse(""));
    }

    private static String[] withVersion(String... key) {
        return key.length == 0
                ? new String[] {"A2A-Version", "1.0"}
                : new String[] {"A2A-Version", "1.0", "X-Api-Key", key[0]};
    }

    private static String filled(String template, String id) {
        return template.replace("ID", id).replace("NEW", UUID.randomUUID().toString());
    }

    private static SendMessageRequest message(String id) {
        return SendMessageRequest.newBuilder()
                .setTenant(AGENT)
                .setMessage(Message.newBuilder()
                        .setMessageId(UUID.randomUUID().toString())
                        .setTaskId(id)
                        .setRole(Role.ROLE_USER)
                        .addParts(Part.newBuilder().setText("more")))
                .build();
    }

    private static final class Constants {
        static final String MESSAGE =
                "{'message':{'messageId':'NEW','role':'ROLE_USER','taskId':'ID','parts':[{'text':'more'}]}}";
    }
}
