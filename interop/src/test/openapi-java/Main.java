import client.ApiClient;
import client.ApiException;
import client.api.A2AApi;
import client.api.AdministrationApi;
import client.api.ExtensionsApi;
import client.model.AdminGatewayAddRequest;
import client.model.AdminGatewayDrainRequest;
import client.model.Message;
import client.model.Part;
import client.model.RegistryEntry;
import client.model.RegistryRegisterRequest;
import client.model.RegistryReviewRequest;
import client.model.RegistrySearch200ResponseResultsInner;
import client.model.SendMessageRequest;
import client.model.Task;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.openapitools.jackson.nullable.JsonNullable;

/**
 * Calls operations by a client that was generated from the OpenAPI document of a hub. Arguments: address of the hub, and the addresses of
 * two agents that are replicas of each other.
 */
public final class Main {
    private static final String VERSION = "1.0";
    private static final String AGENT = "echo";

    public static void main(String[] arguments) {
        var connection = new ApiClient();
        connection.updateBaseUri(arguments[0]);
        var agents = new A2AApi(connection);
        var administration = new AdministrationApi(connection);
        var task = new Task[1];
        check("SendMessage", () -> {
            var text = new Part().text("hello");
            // The generator sends null for members of any type that are not set, and null is data, too.
            text.setData_JsonNullable(JsonNullable.undefined());
            var message = new Message()
                    .messageId(UUID.randomUUID().toString())
                    .role(Message.RoleEnum.ROLE_USER)
                    .addPartsItem(text);
            var answer = agents.sendMessage(AGENT, VERSION, new SendMessageRequest().message(message));
            task[0] = answer.getTask();
            return task[0].getStatus().getState();
        });
        check("GetTask", () -> agents.getTask(AGENT, VERSION, task[0].getId(), null, null)
                .getArtifacts()
                .getFirst()
                .getParts()
                .getFirst()
                .getText());
        check("admin/tasks/unreadable", () -> administration.adminTasksUnreadable().getTasks().size());
        check("admin/knowledge/reviews/list", () -> administration
                .adminKnowledgeReviewsList(null, null)
                .getReviews()
                .size());
        var registry = new ExtensionsApi(connection);
        var entry = new RegistryEntry[1];
        check("registry/register", () -> {
            entry[0] = registry.registryRegister(
                    new RegistryRegisterRequest().url(arguments[0] + "/agents/echo").visibility(
                            RegistryRegisterRequest.VisibilityEnum.PUBLIC));
            return entry[0].getStatus();
        });
        check("registry/search", () -> found(registry).stream()
                .anyMatch(result -> result.getAgent().getId().equals(entry[0].getId())));
        check("registry/show", () -> registry.registryShow(entry[0].getId()).getTrust().getOutcome());
        check("registry/review", () -> registry
                .registryReview(entry[0].getId(), new RegistryReviewRequest().stars(4).text("good"))
                .getReviews()
                .getFirst()
                .getStars());
        check("admin/gateway/add", () -> administration
                .adminGatewayAdd(new AdminGatewayAddRequest()
                        .name("pair")
                        .url(arguments[1])
                        .addReplicasItem(arguments[1])
                        .addReplicasItem(arguments[2]))
                .getState());
        check("admin/gateway/drain", () -> administration
                .adminGatewayDrain("pair", new AdminGatewayDrainRequest().url(arguments[2]))
                .getAvailable());
    }

    /** The entries for a word; all filters are absent. */
    private static List<RegistrySearch200ResponseResultsInner> found(ExtensionsApi registry) throws ApiException {
        return registry.registrySearch(
                        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                        null, null, null, "echo", null)
                .getResults();
    }

    private static void check(String operation, Callable<Object> call) {
        String result = "passed";
        String detail;
        try {
            detail = String.valueOf(call.call());
        } catch (Exception failure) {
            result = "failed";
            detail = failure.toString();
        }
        System.out.printf(
                "{\"client\":\"openapi-generator java\",\"dialect\":\"1.0\",\"binding\":\"HTTP+JSON\",\"operation\":\"%s\","
                        + "\"result\":\"%s\",\"detail\":\"%s\"}%n",
                operation, result, detail.replaceAll("[\"\\\\\\p{Cntrl}]", " "));
    }
}
