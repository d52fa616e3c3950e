package dev.parley.dialect;

import dev.parley.dialect.legacy.KernelCard;
import dev.parley.dialect.legacy.LegacyCard;
import dev.parley.dialect.served.CardPayload;
import dev.parley.dialect.v1.V1Card;
import dev.parley.dialect.v1.V1Model;
import dev.parley.dialect.vault.VaultCard;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.DocumentMender;
import dev.parley.protocol.json.JsonText;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The canonical JSON of the model: ProtoJSON as A2A 1.0 defines it. The wire, the log and files use this one form.
 *
 * <p>Reading is strict about JSON (UTF-8 in its one legal form, no key twice, nothing after the value) and generous
 * about the model (unknown members are ignored, null is absent). What strangers send is limited further, see {@link
 * #MAX_REQUEST_DEPTH}; answers and logs nest what requests held, so they are allowed more.
 *
 * <p>Source: A2A specification 1.0, section 5.5.
 */
public final class Json {
    /** Levels to which objects and arrays may be nested in a request. */
    public static final int MAX_REQUEST_DEPTH = JsonText.MAX_REQUEST_DEPTH;

    /** Largest number of names, values and brackets of a request. */
    public static final int MAX_REQUEST_TOKENS = JsonText.MAX_REQUEST_TOKENS;

    private Json() {}

    /**
     * Returns the JSON of any value of the model, or of maps, lists, strings, numbers, booleans and null.
     *
     * @throws IllegalArgumentException if it holds anything else, is nested deeper than 900, or holds a number that could
     *     not be read back
     */
    public static byte[] write(@Nullable Object value) {
        return JsonText.write(Codecs.FREE, value == null ? Codecs.NULL : value);
    }

    /**
     * Reads a value of the model, of one of its sealed interfaces, or ({@code Map.class}) any object.
     *
     * @throws A2AException PARSE_ERROR if it is not JSON, INVALID_PARAMS naming the field if it does not fit {@code type}
     */
    public static <T> T read(byte[] json, Class<T> type) {
        return JsonText.read(json, V1Model.codec(type));
    }

    /**
     * Reads the card of an agent, in whichever dialect it is written.
     *
     * @throws A2AException PARSE_ERROR if it is not JSON, INVALID_PARAMS naming the field if it is not a card
     */
    public static AgentCard readCard(byte[] json) {
        Map<String, @Nullable Object> members = JsonText.read(json, Codecs.STRUCT);
        if (CardPayload.isOfVault(members)) {
            return VaultCard.read(json);
        }
        if (CardPayload.isV1(members)) {
            return JsonText.read(json, V1Card.CARD);
        }
        return JsonText.read(json, members.containsKey("default_input_modes") ? KernelCard.CARD : LegacyCard.V03);
    }

    /**
     * Reads the card of an agent as a client: without the values on it that do not fit.
     *
     * @param blemishes gets the place and the problem of each of them
     * @throws A2AException as {@link #readCard(byte[])}, if the rest is not a card either
     */
    public static AgentCard readCard(byte[] json, Consumer<String> blemishes) {
        byte[] card = DocumentMender.legal(json, blemishes);
        try {
            return readCard(card);
        } catch (A2AException fault) {
            return DocumentMender.read(card, Json::readCard, fault, blemishes);
        }
    }

    /** Returns the JSON of a StreamResponse. */
    public static byte[] writeEvent(TaskEvent event) {
        return V1Model.write(event);
    }

    /**
     * Returns the JSON array of the StreamResponses of {@code events}, each of which carries its own bytes from then on, as
     * {@link #writeEvent} makes them.
     */
    public static byte[] writeEvents(List<LoggedEvent> events) {
        return JsonText.writeEvents(events, V1Model.EVENT);
    }

    /** Reads an array of StreamResponses, as {@link #writeEvent} wrote each of them. */
    public static List<TaskEvent> readEvents(byte[] json) {
        return JsonText.read(json, V1Model.EVENTS);
    }
}
