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
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Signed, expiring addresses of files, for dialects without bytes. An address contains the owner of the task and the expiry, under a
 * signature. Safe for any thread.
 */
public final class FileLinks {
    static final String PATH = "/files/";

    /** Time for which an address is valid. */
    private static final Duration LIFE = Duration.ofHours(1);

    private static final String ALGORITHM = "HmacSHA256";
    private static final String MEDIA_TYPE = "[\\w!#$&^.+-]{1,60}/[\\w!#$&^.+-]{1,60}";

    private final SecretKeySpec key;
    private final BiPredicate<String, String> welcome;
    private final InstantSource clock;

    /**
     * @param key at least 16 secret bytes
     * @param welcome whether a caller of a group may still call
     */
    public FileLinks(byte[] key, BiPredicate<String, String> welcome, InstantSource clock) {
        this.key = new SecretKeySpec(key, ALGORITHM);
        this.welcome = welcome;
        this.clock = clock;
    }

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
     * @throws A2AException if the address is not, or no longer, good, or there is nothing at it
     */
    public WireAnswer.Whole answer(WireRequest request, ServedAgent agent) {
        if (!request.method().equals("GET")) {
            throw A2AException.notAllowed(request.method(), "GET, HEAD");
        }
        String[] path = request.path().substring(PATH.length()).split("/", -1);
        var scope = new Scope(parameter(request, "group"), parameter(request, "owner"));
        String expires = parameter(request, "expires");
        if (path.length != 3 || !isSigned(request, scope, agent.name(), path, expires)) {
            throw unsigned();
        }
        long left = Long.parseLong(expires) - clock.instant().getEpochSecond();
        // An address with a later expiry was not made by this hub, even if it is signed.
        if (left < 0 || left > LIFE.toSeconds()) {
            throw A2AException.of(A2AError.PERMISSION_DENIED, "This address has expired: ask for the task again");
        }
        if (!welcome.test(scope.group(), parameter(request, "caller"))) {
            throw unsigned();
        }
        Task task = agent.endpoint().call(GetTask.of(path[0]), CallContext.of(scope.owner(), scope));
        if (part(task, path[1], Integer.parseInt(path[2])) instanceof Part.Raw raw) {
            return new WireAnswer.Whole(200, headers(raw), raw.raw());
        }
        throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is no file at this address");
    }

    /** The error for an address that is not signed. */
    public static A2AException unsigned() {
        return A2AException.of(A2AError.PERMISSION_DENIED, "This address was not made here");
    }

    private static Map<String, String> headers(Part.Raw raw) {
        String type = raw.mediaType();
        String file = raw.filename() == null ? "" : plain(raw.filename());
        var headers = new LinkedHashMap<String, String>();
        headers.put("Content-Type", type != null && type.matches(MEDIA_TYPE) ? type : "application/octet-stream");
        // Whatever agents make, a browser must not run it in this origin.
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox");
        headers.put(
                "Content-Disposition",
                "attachment" + (file.isEmpty() ? "" : "; filename*=UTF-8''" + PathTemplate.encode(file)));
        headers.put("Cache-Control", "private, max-age=60");
        return headers;
    }

    /** The last segment of a name, without what is special to a terminal, a shell's options or hidden files. */
    private static String plain(String name) {
        return name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
                .replaceAll("[\\p{Cntrl}\\p{Cf}\\p{Cs}\"*:<>?|]", "")
                .replaceFirst("^[.\\s-]+", "")
                .strip();
    }

    private static @Nullable Part part(Task task, String holder, int index) {
        for (Artifact artifact : task.artifacts()) {
            if (artifact.artifactId().equals(holder)) {
                return at(artifact.parts(), index);
            }
        }
        for (Message message : VaultModel.messages(task)) {
            if (message.messageId().equals(holder)) {
                return at(message.parts(), index);
            }
        }
        return null;
    }

    private static @Nullable Part at(List<Part> parts, int index) {
        return index < parts.size() ? parts.get(index) : null;
    }

    private boolean isSigned(WireRequest request, Scope scope, String agent, String[] path, String expires) {
        String made = signature(scope, parameter(request, "caller"), agent, path[0], path[1], path[2], expires);
        return MessageDigest.isEqual(
                made.getBytes(UTF_8), parameter(request, "signature").getBytes(UTF_8));
    }

    private String signature(
            Scope scope, String caller, String agent, String taskId, String holder, String index, String expires) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            for (String text : List.of(scope.group(), scope.owner(), caller, agent, taskId, holder, index, expires)) {
                byte[] bytes = text.getBytes(UTF_8);
                mac.update((bytes.length + ":").getBytes(UTF_8)); // or a piece could move from one to the next
                mac.update(bytes);
            }
            return HexFormat.of().formatHex(mac.doFinal());
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError("every Java platform has " + ALGORITHM, impossible);
        }
    }

    private static String parameter(WireRequest request, String name) {
        List<String> values = request.query().getOrDefault(name, List.of());
        return values.isEmpty() ? "" : values.getFirst();
    }
}
