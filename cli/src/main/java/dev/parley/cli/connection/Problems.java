package dev.parley.cli.connection;

import dev.parley.cli.command.Invocation;
import dev.parley.client.spi.ClientException;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.ErrorKind;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.StoreException;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Maps errors of agents and of the client to the codes and hints of this program.
 *
 * <p>Source: a2a-cli specification 0.2, sections 11.4 and 11.6; A2A specification 1.0, section 3.3.2.
 */
public final class Problems {
    static final String NO_CARD_HINT =
            "name the agent with -a: its address or the URL of its card; a hub lists its agents at /agents";

    /** Names of errors that are not their own in camel case. */
    private static final Map<ErrorKind, String> NAMES = Map.of(
            A2AError.PARSE_ERROR, "JSONParseError",
            A2AError.METHOD_NOT_ALLOWED, "InvalidRequestError",
            A2AError.PAYLOAD_TOO_LARGE, "InvalidRequestError",
            A2AError.RATE_LIMITED, "InternalError",
            A2AError.QUOTA_EXCEEDED, "InternalError",
            A2AError.UNAVAILABLE, "InternalError");

    /** Where the failure happened, as far as the wording depends on it. */
    public record Place(String agent, @Nullable String binding, boolean credentialSent) {}

    private Problems() {}

    /** Returns the problem that is printed for {@code failure}. */
    public static CommandException of(Throwable failure, Place place) {
        return switch (failure) {
            case CommandException known -> known;
            case A2AException refused -> of(refused, place);
            case ClientException failed -> of(failed, place);
            case StoreException failed -> of(failed);
            default ->
                CommandException.of(
                        Kind.INTERNAL,
                        "unexpected: " + failure,
                        "this is a fault of parley; repeat the command with --debug to see where",
                        failure);
        };
    }

    private static CommandException of(A2AException refused, Place place) {
        ErrorKind error = refused.error();
        String message = String.valueOf(refused.getMessage());
        Object wireCode = code(error, place.binding());
        if (error == A2AError.UNAUTHENTICATED || error == A2AError.PERMISSION_DENIED) {
            Kind local = place.credentialSent() ? Kind.AUTH_FAILED : Kind.CREDENTIALS_MISSING;
            String what = place.credentialSent()
                    ? place.agent() + " does not accept the credentials: "
                    : place.agent() + " wants credentials: ";
            return new CommandException(
                    local.code(),
                    local.exitStatus(),
                    what + message,
                    "set A2ACLI_BEARER or A2ACLI_API_KEY, or keep a key: parley keys set --help; the schemes are"
                            + " listed by: parley card get -a "
                            + Invocation.quoted(place.agent()),
                    wireCode,
                    refused);
        }
        String name = NAMES.getOrDefault(error, camelCase(error.name()) + "Error");
        return new CommandException(name, 1, explained(refused, message), hint(refused, place), wireCode, refused);
    }

    /** Some messages are fixed by a specification, so the details stand in the metadata. */
    private static String explained(A2AException refused, String message) {
        var text = new StringBuilder(message);
        if (refused.error().hasFixedMessage()) {
            refused.metadata()
                    .forEach((name, value) ->
                            text.append("; ").append(name).append(": ").append(value));
        }
        return text.toString();
    }

    private static @Nullable String hint(A2AException refused, Place place) {
        if (refused.retryAfter() != null) {
            return "try again in " + Math.max(1, refused.retryAfter().toSeconds()) + " s";
        }
        String agent = Invocation.quoted(place.agent());
        return switch (refused.error()) {
            case A2AError.TASK_NOT_FOUND ->
                "list the tasks: parley task list -a " + agent + "; the wire messages: --debug";
            case A2AError.TASK_NOT_CANCELABLE -> "it has ended already: parley task get -a " + agent + " TASK-ID";
            case A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED ->
                "follow the task instead: parley task subscribe -a " + agent;
            case A2AError.UNSUPPORTED_OPERATION -> "see what the agent can do: parley card get -a " + agent;
            case A2AError.CONTENT_TYPE_NOT_SUPPORTED -> "see the agent's input modes: parley card get -a " + agent;
            case A2AError.VERSION_NOT_SUPPORTED ->
                "see the agent's versions: parley card get -a " + agent + "; signal another one with --a2a-version";
            case A2AError.QUOTA_EXCEEDED -> "see what groups keep, and their limits: parley group usage";
            case A2AError.PAYLOAD_TOO_LARGE -> "pass large files by URL: --file https://…";
            default ->
                CommandSources.hint(refused.error(), agent)
                        .orElse("repeat the command with --debug to see the wire messages");
        };
    }

    private static CommandException of(ClientException failed, Place place) {
        Kind kind = switch (failed.problem()) {
            case UNREACHABLE, LOST, CLOSED, REDIRECTED, STREAM_CUT, NO_TOKEN -> Kind.UNREACHABLE;
            case TIMED_OUT -> Kind.TIMEOUT;
            case CARD_NOT_FOUND -> Kind.CARD_NOT_FOUND;
            case CARD_INVALID -> Kind.CARD_INVALID;
            case CARD_NOT_VERIFIED -> Kind.CARD_UNVERIFIABLE;
            case NO_INTERFACE, ANSWER_TOO_LARGE -> Kind.INTERNAL;
            case ORIGIN_NOT_ALLOWED -> Kind.ORIGIN_NOT_ALLOWED;
            case PLAIN_HTTP -> Kind.PLAIN_HTTP;
            case AUTHENTICATION_FAILED, LOGIN_EXPIRED -> Kind.AUTH_FAILED;
            case KEYS -> Kind.CREDENTIALS_MISSING;
            case INTERRUPTED -> Kind.INTERRUPTED;
        };
        String agent = Invocation.quoted(place.agent());
        String hint = switch (failed.problem()) {
            case UNREACHABLE -> Requests.unreachableHint(place.agent());
            case LOST, CLOSED, REDIRECTED -> "repeat the command with --debug to see how far it came";
            case STREAM_CUT -> "the task goes on: parley task get --wait TASK-ID";
            case TIMED_OUT -> "allow more time with --timeout";
            case CARD_NOT_FOUND -> NO_CARD_HINT;
            case CARD_INVALID -> "list its faults: parley card validate -a " + agent;
            case CARD_NOT_VERIFIED -> "see docs/signatures.md";
            case NO_INTERFACE -> "see the agent's interfaces: parley card get -a " + agent;
            case ORIGIN_NOT_ALLOWED -> "if it may have your credentials: --allow-origin ORIGIN";
            case PLAIN_HTTP -> Requests.PLAIN_HTTP_HINT;
            case AUTHENTICATION_FAILED ->
                "see which client is used: parley keys get SERVICE; the secret may be a wrong or an old one";
            case LOGIN_EXPIRED -> "log in again: parley auth login -a " + agent;
            case NO_TOKEN -> "the address comes from the agent's card: parley card get -a " + agent;
            case KEYS -> "see docs/keys.md";
            case ANSWER_TOO_LARGE, INTERRUPTED -> null;
        };
        String message = String.valueOf(failed.getMessage());
        return failed.problem() == ClientException.Problem.ANSWER_TOO_LARGE
                ? new CommandException("InvalidAgentResponseError", 1, message, null, null, failed)
                : CommandException.of(kind, message, hint, failed);
    }

    /** Returns the problem of a data directory or a database that cannot be used. */
    public static CommandException of(StoreException failed) {
        NotOpenedException.Reason reason = failed instanceof NotOpenedException refused ? refused.reason() : null;
        Kind kind = switch (reason) {
            case SETTING -> Kind.USAGE;
            case SERVER -> Kind.DATABASE;
            case DIRECTORY, SECRETS -> Kind.DATA;
            case null -> failed instanceof InUseException ? Kind.DATA_IN_USE : Kind.DATA;
        };
        String hint = switch (reason) {
            case SETTING -> "see PostgreSQL in docs/deployment.md for --database";
            case SERVER -> "check the URL of --database, else the one that database.url in the data directory keeps";
            case DIRECTORY -> "name another directory with --data, or see: parley doctor";
            case SECRETS -> "see Secrets of several hubs in docs/deployment.md";
            case null ->
                failed instanceof InUseException
                        ? "stop the hub that runs, or ask it by --url with a key that has the scope admin"
                        : "see: parley doctor";
        };
        return CommandException.of(kind, String.valueOf(failed.getMessage()), hint, failed);
    }

    private static @Nullable Object code(ErrorKind error, @Nullable String binding) {
        if (binding == null) {
            return null;
        }
        return binding.equals(AgentCard.Interface.JSONRPC) ? error.code() : error.httpStatus();
    }

    private static String camelCase(String constant) {
        var name = new StringBuilder();
        for (String word : constant.split("_", -1)) {
            name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        return name.toString();
    }
}
