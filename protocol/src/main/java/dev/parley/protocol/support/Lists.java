package dev.parley.protocol.support;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.RandomAccess;
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
     * A view of the first {@code size} slots of an array that several views share.
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
        private final int size;

        private Appended(Slots slots, int size) {
            this.slots = slots;
            this.size = size;
        }

        static <T> Appended<T> copyOf(List<T> base, int room) {
            @Nullable Object[] elements = Arrays.copyOf(base.toArray(), Math.max(8, (base.size() + room) * 2));
            return new Appended<>(new Slots(elements, base.size()), base.size());
        }

        Appended<T> with(List<? extends T> more) {
            synchronized (slots) {
                if (slots.used == size && size + more.size() <= slots.elements.length) {
                    write(slots, more);
                    return new Appended<>(slots, slots.used);
                }
            }
            Slots larger = new Slots(Arrays.copyOf(slots.elements, (size + more.size()) * 2), size);
            write(larger, more);
            return new Appended<>(larger, larger.used);
        }

        private static void write(Slots slots, List<?> more) {
            for (Object element : more) {
                slots.elements[slots.used++] = Objects.requireNonNull(element);
            }
        }

        @Override
        @SuppressWarnings("unchecked") // only elements of type T are written below size
        public T get(int index) {
            return (T) Objects.requireNonNull(slots.elements[Objects.checkIndex(index, size)]);
        }

        @Override
        public int size() {
            return size;
        }
    }
}
