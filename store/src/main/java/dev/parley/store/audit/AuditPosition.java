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

    /** The place after an entry in the audit of hubs that work one after the other. */
    public static AuditPosition of(long number) {
        return new AuditPosition(List.of(number));
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
        return entry <= reached(AuditNumbers.chain(entry));
    }

    /** The number of a chain up to which all entries were read. */
    long reached(long chain) {
        for (long number : numbers) { // they are few
            if (AuditNumbers.chain(number) == chain) {
                return number;
            }
        }
        return chain > newestChain() ? AuditNumbers.beginning(chain) : AuditNumbers.beginning(chain + 1) - 1;
    }

    /** Whether all entries were read that were at another place. May be false for one that differs in chains that have ended. */
    public boolean includes(AuditPosition other) {
        if (equals(other)) {
            return true;
        }
        long missing = other.newestChain() - 1; // the newest chain that ended before the other place
        while (missing >= 0 && other.hasNumber(missing)) {
            missing--;
        }
        return missing <= newestChain()
                && other.numbers.stream().allMatch(number -> number <= reached(AuditNumbers.chain(number)))
                && numbers.stream()
                        .map(AuditNumbers::chain)
                        .allMatch(chain -> chain >= other.newestChain() || other.hasNumber(chain));
    }

    private boolean hasNumber(long chain) {
        return numbers.stream().anyMatch(number -> AuditNumbers.chain(number) == chain);
    }

    /** The place up to which the entries of this one and of another one were read. */
    public AuditPosition with(AuditPosition other) {
        if (equals(other)) {
            return this;
        }
        long newest = Math.max(newestChain(), other.newestChain());
        var both = new TreeMap<Long, Long>();
        for (AuditPosition each : List.of(this, other)) {
            for (long number : each.numbers) {
                long chain = AuditNumbers.chain(number);
                both.put(chain, Math.max(reached(chain), other.reached(chain)));
            }
        }
        both.values()
                .removeIf(number -> number == AuditNumbers.beginning(AuditNumbers.chain(number) + 1) - 1
                        && AuditNumbers.chain(number) < newest); // read to its end in one of them
        return new AuditPosition(new ArrayList<>(both.values()));
    }

    /** Number of entries from another place to this one, without those of chains that have ended since then. */
    public long since(AuditPosition other) {
        long entries = 0;
        for (long number : numbers) {
            entries += Math.max(0, number - other.reached(AuditNumbers.chain(number)));
        }
        return entries;
    }

    /** The numbers, separated by dots. */
    @Override
    public String toString() {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining("."));
    }
}
