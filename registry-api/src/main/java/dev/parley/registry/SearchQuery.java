package dev.parley.registry;

/**
 * A request for entries.
 *
 * @param text words of the caller, which are data: nothing in them is an operator
 * @param isTyping the last word is the beginning of one
 * @param filter conditions of the entries
 */
public record SearchQuery(String text, boolean isTyping, EntryFilter filter) {
    /** Limit of the characters of a query. */
    public static final int MAX_TEXT = 10_000;

    public static SearchQuery of(String text) {
        return new SearchQuery(text, false, EntryFilter.NONE);
    }
}
