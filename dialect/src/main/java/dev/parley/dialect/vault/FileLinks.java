package dev.parley.dialect.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.operations.PathTemplate;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.support.Hmac;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signed, expiring addresses of files, for dialects without bytes. An address contains the owner of the task and the expiry, under a
 * signature. Safe for any thread.
 *
 * @param key at least 16 secret bytes
 * @param welcome whether a caller of a group may still call
 */
public record FileLinks(SecretKeySpec key, BiPredicate<String, String> welcome, InstantSource clock) {
    static final String PATH = "/files/";

    /** Time for which an address is valid. */
    private static final Duration LIFE = Duration.ofHours(1);

    /** Media types that browsers run in a page that names the file. Source: WHATWG MIME Sniffing, section 4.6. */
    private static final String SCRIPT = "(?i)(text|application)/(x-)?(java|ecma|j|live)script.*";

    private static final String OTHER = "application/octet-stream";
    private static final String MEDIA_TYPE = "[\\w!#$&^.+-]{1,60}/[\\w!#$&^.+-]{1,60}";

    /**
     * Returns the address of a part.
     *
     * @param base the agent's address in the dialect
     * @param holder id of the artifact or message that has the part
     */
    public String of(String base, CallContext caller, String agent, String taskId, String holder, int index) {
        Scope scope = caller.scope();
        String expires = Long.toString(clock.instant().plus(LIFE).getEpochSecond());
        return base + PATH + PathTemplate.encode(taskId) + "/" + PathTemplate.encode(holder) + "/" + index
                + "?group=" + PathTemplate.encode(scope.group()) + "&owner=" + PathTemplate.encode(scope.owner())
                + "&caller=" + PathTemplate.encode(caller.caller()) + "&expires=" + expires + "&signature="
                + signature(scope, caller.caller(), agent, taskId, holder, Integer.toString(index), expires);
    }

    /**
     * Answers a request for such an address.
     *
     * @throws A2AException if the address is invalid or has expired, or the file does not exist
     */
    public WireAnswer.Whole answer(WireRequest request, ServedAgent agent) {
        request.requireGet();
        String[] path = request.path().substring(PATH.length()).split("/", -1);
        var scope = new Scope(request.parameter("group"), request.parameter("owner"));
        String caller = request.parameter("caller");
        String expires = request.parameter("expires");
        byte[] given = request.parameter("signature").getBytes(UTF_8);
        if (path.length != 3
                || !MessageDigest.isEqual(
                        given,
                        signature(scope, caller, agent.name(), path[0], path[1], path[2], expires)
                                .getBytes(UTF_8))) {
            throw unsigned();
        }
        long left = Long.parseLong(expires) - clock.instant().getEpochSecond();
        // An address with a later expiry was not made by this hub, even if it is signed.
        if (left < 0 || left > LIFE.toSeconds()) {
            throw A2AException.of(A2AError.PERMISSION_DENIED, "This address has expired: ask for the task again");
        }
        if (!welcome.test(scope.group(), caller)) {
            throw unsigned();
        }
        CallContext context = CallContext.of(scope.owner(), scope).withLiteralIds();
        Task task = agent.endpoint().call(GetTask.of(path[0]), context);
        List<Part> parts = parts(task, path[1]);
        int index = Integer.parseInt(path[2]);
        if (index < parts.size() && parts.get(index) instanceof Part.Raw raw) {
            return new WireAnswer.Whole(200, headers(raw), raw.raw());
        }
        throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is no file at this address");
    }

    /** Returns the error for an address without a valid signature. */
    public static A2AException unsigned() {
        return A2AException.of(A2AError.PERMISSION_DENIED, "This address was not made here");
    }

    private static Map<String, String> headers(Part.Raw raw) {
        String type = raw.mediaType();
        String file = raw.filename() == null ? "" : plain(raw.filename());
        var headers = new LinkedHashMap<String, String>();
        // A browser must not run files of agents in this origin, neither as pages nor as scripts of its pages.
        String shown = type != null && type.matches(MEDIA_TYPE) && !type.matches(SCRIPT) ? type : OTHER;
        headers.put("Content-Type", shown);
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox");
        String name = file.isEmpty() ? "" : "; filename*=UTF-8''" + PathTemplate.encode(file);
        headers.put("Content-Disposition", "attachment" + name);
        headers.put("Cache-Control", "private, max-age=60");
        return headers;
    }

    /** Returns the last segment of a name, without characters special to a terminal, a shell's options or hidden files. */
    private static String plain(String name) {
        return name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
                .replaceAll("[\\p{Cntrl}\\p{Cf}\\p{Cs}\"*:<>?|]", "")
                .replaceFirst("^[.\\s-]+", "")
                .strip();
    }

    private static List<Part> parts(Task task, String holder) {
        Stream<List<Part>> artifacts = task.artifacts().stream()
                .filter(artifact -> artifact.artifactId().equals(holder))
                .map(Artifact::parts);
        Stream<List<Part>> messages = VaultModel.messages(task).stream()
                .filter(message -> message.messageId().equals(holder))
                .map(Message::parts);
        return Stream.concat(artifacts, messages).findFirst().orElse(List.of());
    }

    private String signature(Scope scope, String caller, String... others) {
        // With lengths, or a piece could move from one to the next.
        byte[][] pieces = Stream.concat(Stream.of(scope.group(), scope.owner(), caller), Stream.of(others))
                .flatMap(text -> Stream.of(text.getBytes(UTF_8).length + ":", text))
                .map(text -> text.getBytes(UTF_8))
                .toArray(byte[][]::new);
        return HexFormat.of().formatHex(Hmac.of(key, pieces));
    }
}
