package dev.parley.client;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The elements of a list that comes in pages, each of which is read when it is needed. For one thread. */
final class Pages<T> implements Iterator<T> {
    /** {@code next} is empty on the last page. */
    record Page<T>(List<T> elements, String next) {}

    private final Function<String, Page<T>> reader;
    private @Nullable String next;
    private Iterator<T> page = List.<T>of().iterator();

    /** @param first the token of the first page, empty for the beginning */
    Pages(String first, Function<String, Page<T>> reader) {
        this.next = first;
        this.reader = reader;
    }

    @Override
    public boolean hasNext() {
        while (!page.hasNext() && next != null) {
            Page<T> read = reader.apply(next);
            if (!read.next().isEmpty() && read.next().equals(next)) {
                // Such a server would be asked for the same page for ever.
                throw A2AException.of(A2AError.INVALID_AGENT_RESPONSE, "The page after " + next + " is the same page");
            }
            next = read.next().isEmpty() ? null : read.next();
            page = read.elements().iterator();
        }
        return page.hasNext();
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return page.next();
    }
}
