package dev.parley.protocol.support;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Immutable collections for records, with an append that costs the same for the ten-thousandth element. */
public final class Lists {
    private Lists() {}

    /** Returns an unmodifiable list of the same elements; {@code list} itself if it is one already. */
    public static <T> List<T> copy(List<? extends T> list) {
        if (list instanceof Appended<? extends T> appended) {
            @SuppressWarnings("unchecked") // an immutable List<? extends T> is a List<T>
            var same = (List<T>) appended;
            return same;
        }
        return List.copyOf(list);
    }

    /**
     * Returns an unmodifiable copy that allows null values, as JSON objects do, and keeps the order, so that a card is the
     * same bytes after every start.
     */
    public static <V extends @Nullable Object> Map<String, V> copy(Map<String, V> map) {
        return map.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }

    /** Returns {@code base} with {@code more} after it, in amortised constant time per added element. */
    public static <T> List<T> append(List<T> base, List<? extends T> more) {
        if (more.isEmpty()) {
            return base;
        }
        Appended<T> head = base instanceof Appended<T> appended ? appended : Appended.copyOf(base, more.size());
        return head.with(more);
    }

    /**
     * Returns {@code base} with {@code next} after it, in amortised constant time. If the last {@code most} elements of {@code base} are all of
     * a kind, the oldest of these gives way.
     *
     * @param next of the kind
     */
    public static <T> List<T> appendBounded(List<T> base, T next, int most, Predicate<T> isOfKind) {
        Appended<T> head = base instanceof Appended<T> appended ? appended : Appended.copyOf(base, 1);
        int oldest = base.size() - most;
        boolean isFull = oldest >= 0
                && (head.skipsAt(oldest)
                        || base.subList(oldest, base.size()).reversed().stream().allMatch(isOfKind));
        return (isFull ? head.without(oldest) : head).with(List.of(next));
    }

    /**
     * A view of slots of an array that several views share: of the first {@code head}, and of those from {@code start} to {@code end}.
     *
     * <p>The newest view may write after its end, because no other view looks there; an older one that is appended to
     * gets an array of its own. {@code used} marks the newest view's end, guarded by the array's owner.
     */
    private static final class Appended<T> extends AbstractList<T> implements RandomAccess {
        private static final class Slots {
            final @Nullable Object[] elements;
            int used;

            Slots(@Nullable Object[] elements, int used) {
                this.elements = elements;
                this.used = used;
            }
        }

        private final Slots slots;
        private final int head;
        private final int start;
        private final int end;

        private Appended(Slots slots, int head, int start, int end) {
            this.slots = slots;
            this.head = head;
            this.start = start;
            this.end = end;
        }

        /** All slots. */
        private static <T> Appended<T> of(Slots slots) {
            return new Appended<>(slots, 0, 0, slots.used);
        }

        static <T> Appended<T> copyOf(List<T> base, int room) {
            @Nullable Object[] elements = Arrays.copyOf(base.toArray(), Math.max(8, (base.size() + room) * 2));
            return of(new Slots(elements, base.size()));
        }

        /** Whether the newest change was that an element gave way at this index: those after it are of one kind then. */
        boolean skipsAt(int index) {
            return head < start && head == index;
        }

        /** This view without one element. A view skips one range, so one that skips another range already gets its own array. */
        Appended<T> without(int index) {
            if (head == start) {
                return new Appended<>(slots, index, index + 1, end);
            }
            return index == head
                    ? new Appended<>(slots, head, start + 1, end)
                    : copyOf(this, 1).without(index);
        }

        Appended<T> with(List<? extends T> more) {
            synchronized (slots) {
                if (slots.used == end && end + more.size() <= slots.elements.length) {
                    write(slots, more);
                    return new Appended<>(slots, head, start, slots.used);
                }
            }
            Appended<T> larger = copyOf(this, more.size());
            write(larger.slots, more);
            return of(larger.slots);
        }

        private static void write(Slots slots, List<?> more) {
            for (Object element : more) {
                slots.elements[slots.used++] = Objects.requireNonNull(element);
            }
        }

        @Override
        @SuppressWarnings("unchecked") // only elements of type T are written below the end
        public T get(int index) {
            int slot = Objects.checkIndex(index, size());
            return (T) Objects.requireNonNull(slots.elements[slot < head ? slot : slot - head + start]);
        }

        @Override
        public @Nullable Object[] toArray() {
            @Nullable Object[] all = Arrays.copyOf(slots.elements, size());
            System.arraycopy(slots.elements, start, all, head, end - start);
            return all;
        }

        @Override
        public int size() {
            return head + end - start;
        }
    }
}
