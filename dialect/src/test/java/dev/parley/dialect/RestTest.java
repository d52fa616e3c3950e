package dev.parley.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.dialect.operations.Rest;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RestTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "POST   | /message:send                             | SendMessage                      | {}",
                "POST   | /message:stream                           | SendStreamingMessage             | {}",
                "GET    | /tasks                                    | ListTasks                        | {}",
                "GET    | /tasks/t-1                                | GetTask                          | {id=t-1}",
                "GET    | /tasks/a:b                                | GetTask                          | {id=a:b}",
                "GET    | /tasks/a%2Fb                              | GetTask                          | {id=a/b}",
                "GET    | /tasks/tasks                              | GetTask                          | {id=tasks}",
                "POST   | /tasks/t-1:cancel                         | CancelTask                       | {id=t-1}",
                "POST   | /tasks/a:b:cancel                         | CancelTask                       | {id=a:b}",
                "POST   | /tasks/t-1:subscribe                      | SubscribeToTask                  | {id=t-1}",
                "GET    | /tasks/t-1:subscribe                      | SubscribeToTask                  | {id=t-1}",
                "POST   | /tasks/t-1/pushNotificationConfigs        | CreateTaskPushNotificationConfig | {taskId=t-1}",
                "GET    | /tasks/t-1/pushNotificationConfigs        | ListTaskPushNotificationConfigs  | {taskId=t-1}",
                "GET    | /tasks/t-1/pushNotificationConfigs/p      | GetTaskPushNotificationConfig    | {taskId=t-1,"
                        + " id=p}",
                "DELETE | /tasks/t-1/pushNotificationConfigs/p      | DeleteTaskPushNotificationConfig | {taskId=t-1,"
                        + " id=p}",
                "GET    | /extendedAgentCard                        | GetExtendedAgentCard             | {}",
                "POST   | /acme/message:send                        | SendMessage                      | {tenant=acme}",
                "GET    | /acme/tasks                               | ListTasks                        | {tenant=acme}",
                "GET    | /acme/tasks/t-1                           | GetTask                          | {id=t-1,"
                        + " tenant=acme}",
                "POST   | /acme/tasks/t-1:cancel                    | CancelTask                       | {id=t-1,"
                        + " tenant=acme}",
                "GET    | /acme/tasks/t/pushNotificationConfigs/p   | GetTaskPushNotificationConfig    | {taskId=t,"
                        + " id=p, tenant=acme}",
                "GET    | /acme/extendedAgentCard                   | GetExtendedAgentCard             | {tenant=acme}",
                "GET    | /v1/tasks/t-1                             | GetTask                          | {id=t-1}",
                "GET    | /v1/acme/tasks/t-1                        | GetTask                          | {id=t-1,"
                        + " tenant=acme}"
            })
    void everyPathLeadsToItsOperation(String verb, String path, String method, String variables) {
        Rest<WireOperation> route = Rest.of(V1Operations.TABLE.all(), verb, path);

        assertThat(route.operation().method()).isEqualTo(method);
        assertThat(route.variables()).hasToString(variables);
    }

    @ParameterizedTest
    @CsvSource({
        "PUT,    /message:send,                          POST",
        "GET,    /message:send,                          POST",
        "DELETE, /tasks/t-1,                             GET",
        "POST,   /tasks,                                 GET",
        "GET,    /tasks/t-1:cancel,                      POST",
        "PUT,    /tasks/t-1:subscribe,                   'POST, GET'",
        "DELETE, /tasks/t-1/pushNotificationConfigs,     'POST, GET'",
        "PATCH,  /tasks/t-1/pushNotificationConfigs/p,   'GET, DELETE'",
        "HEAD,   /extendedAgentCard,                     GET"
    })
    void theWrongVerbIsToldTheRightOnes(String verb, String path, String allowed) {
        var answer = new Exchange().with("A2A-Version", "1.0").rest(verb, path);

        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.headers()).containsEntry("Allow", allowed);
        assertThat(Tree.of(answer).at("error", "details", 0, "reason").text()).isEqualTo("METHOD_NOT_ALLOWED");
    }

    @ParameterizedTest
    @CsvSource({
        "/nothing",
        "/tasks/",
        "/tasks/:cancel",
        "/tasks/a/b",
        "/acme/beta/tasks",
        "/tasks/tasks/t-1",
        "//tasks",
        "/v1",
        "/.well-known/tasks",
        "/message",
        "/tasks/t/pushNotificationConfigs/"
    })
    void anyOtherPathIsNotFound(String path) {
        var refused = catchThrowableOfType(A2AException.class, () -> Rest.of(V1Operations.TABLE.all(), "GET", path));
        var answer = new Exchange().with("A2A-Version", "1.0").rest("GET", path);

        assertThat(refused.error()).isEqualTo(A2AError.METHOD_NOT_FOUND);
        assertThat(answer.status()).isEqualTo(404);
    }
}
