package dev.parley.store.audit;

import dev.parley.store.spi.AuditNumbers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A place in the audit up to which all entries were read. Hubs that work at the same time add entries side by side, each to a chain of its
 * own, so a place has a number in each chain that may grow. Chains begin in the order of their numbers: one above the greatest of a place
 * is new, and one below without a number has ended, and was read.
 *
 * @param numbers of the last entries that were read, or those before the first ones, one of each chain, ascending; not empty. One number is
 *     the place in the audit of hubs that work one after the other
 */
public record AuditPosition(List<Long> numbers) {
    /** Before the first entry. */
    public static final AuditPosition BEGINNING = new AuditPosition(List.of(0L));

    public AuditPosition {
        numbers = List.copyOf(numbers);
        if (numbers.isEmpty()) {
            throw new IllegalArgumentException("a place in the audit without a number");
        }
    }

    /** The place after these entries, of which each chain has its last one. */
    static AuditPosition after(Collection<Long> entries) {
        var last = new TreeMap<Long, Long>();
        entries.forEach(number -> last.merge(AuditNumbers.chain(number), number, Math::max));
        return last.isEmpty() ? BEGINNING : new AuditPosition(new ArrayList<>(last.values()));
    }

    /**
     * Reads a place as {@link #toString} writes it.
     *
     * @throws IllegalArgumentException if the text is not one, which {@code expected} describes
     */
    public static AuditPosition read(String text) {
        try {
            List<Long> numbers =
                    Arrays.stream(text.split("\\.", -1)).map(Long::parseLong).toList();
            for (int i = 0; i < numbers.size(); i++) {
                long before = i == 0 ? -1 : AuditNumbers.chain(numbers.get(i - 1));
                if (numbers.get(i) < 0 || AuditNumbers.chain(numbers.get(i)) <= before) {
                    throw new NumberFormatException("not ascending");
                }
            }
            return new AuditPosition(numbers);
        } catch (NumberFormatException wrong) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" (expected: numbers of entries of the audit, separated by dots)", wrong);
        }
    }

    /** The greatest chain that had begun. */
    long newestChain() {
        return AuditNumbers.chain(numbers.getLast());
    }

    /** Whether an entry was read. */
    public boolean includes(long entry) {
        long chain = AuditNumbers.chain(entry);
        return chain <= newestChain()
                && numbers.stream()
                        .filter(number -> AuditNumbers.chain(number) == chain)
                        .allMatch(number -> entry <= number);
    }

    /** The numbers, separated by dots. */
    @Override
    public String toString() {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining("."));
    }
}
