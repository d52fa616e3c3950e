package dev.parley.mesh.hub;

import dev.parley.store.audit.AuditPosition;
import dev.parley.store.spi.AuditNumbers;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A place among events up to which all were read: the numbers of the last ones, one for each chain of the audit that may grow, as in {@link
 * AuditPosition}. One number is the place among events of hubs that work one after the other.
 *
 * @param numbers ascending, not empty
 */
record EventPlace(List<Long> numbers) {
    /** Numbers for the events of a row of the audit. */
    static final int OF_ROW = 4;

    static final EventPlace BEGINNING = new EventPlace(List.of(0L));

    /** The greatest number that a reader of JSON may have as a double. */
    private static final long GREATEST = (1L << 53) - 1;

    private static final Pattern TEXT = Pattern.compile("\\d{1,18}(\\.\\d{1,18})*");

    EventPlace {
        numbers = List.copyOf(numbers);
    }

    /** The place after all events of the rows up to a position. */
    static EventPlace of(AuditPosition rows) {
        return new EventPlace(rows.numbers().stream().map(EventPlace::lastOf).toList());
    }

    /**
     * Reads a place as {@link #toString} writes it.
     *
     * @throws IllegalArgumentException if the text is not one
     */
    static EventPlace read(String text) {
        if (!TEXT.matcher(text).matches()) {
            throw new IllegalArgumentException("no place among events: " + text);
        }
        return of(Arrays.stream(text.split("\\.", -1)).map(Long::parseLong).toList());
    }

    private static EventPlace of(Collection<Long> events) {
        var last = new TreeMap<Long, Long>();
        events.forEach(number -> last.merge(chain(number), number, Math::max));
        return new EventPlace(List.copyOf(last.values()));
    }

    private static long lastOf(long row) {
        return row * OF_ROW + OF_ROW - 1;
    }

    private static long chain(long event) {
        return AuditNumbers.chain(event / OF_ROW);
    }

    /** The rows of which all events were read. */
    AuditPosition rows() {
        return new AuditPosition(numbers.stream()
                .map(number -> {
                    long row = number / OF_ROW;
                    boolean isRead = number == lastOf(row) || row == AuditNumbers.beginning(AuditNumbers.chain(row));
                    return isRead ? row : row - 1;
                })
                .toList());
    }

    /** Whether an event was read. */
    boolean includes(long event) {
        long chain = chain(event);
        return chain <= chain(numbers.getLast())
                && numbers.stream().filter(number -> chain(number) == chain).allMatch(number -> event <= number);
    }

    /** The place after a further event, whose chain counts from now on. */
    EventPlace after(long event) {
        return with(List.of(event));
    }

    /** This place, and the beginnings of chains that a later one has. */
    EventPlace beginning(EventPlace later) {
        long newest = chain(numbers.getLast());
        return with(later.numbers.stream()
                .filter(number -> chain(number) > newest)
                .map(number -> AuditNumbers.beginning(chain(number)) * OF_ROW)
                .toList());
    }

    /** A later place, which is not before this one. */
    EventPlace upTo(EventPlace later) {
        return later.with(numbers.stream()
                .filter(number -> later.numbers.stream().anyMatch(each -> chain(each) == chain(number)))
                .toList());
    }

    private EventPlace with(List<Long> more) {
        return of(Stream.concat(numbers.stream(), more.stream()).toList());
    }

    /** Whether it is one number, which readers of JSON keep as it is. */
    boolean isNumber() {
        return numbers.size() == 1 && numbers.getFirst() <= GREATEST;
    }

    /** The numbers, separated by dots. */
    @Override
    public String toString() {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining("."));
    }
}
