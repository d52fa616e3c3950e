package dev.parley.protocol.json;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Tells requests that say {@code kind} twice, and the same both times, from others in which a name repeats. The Java SDK
 * of 0.2 writes every message and every part so. A key that says two things stays refused: readers would differ in which
 * of them they believe.
 */
final class RepeatedKinds {
    static final String KIND = "kind";

    private RepeatedKinds() {}

    /** Returns false if another name repeats in any object, or a kind differs from the one before it. */
    static boolean areAllThatRepeats(JsonParser in) {
        Deque<Map<String, String>> objects = new ArrayDeque<>();
        boolean only = true;
        for (JsonToken token = in.currentToken(); token != null; token = in.nextToken()) {
            boolean ofKind = KIND.equals(in.currentName());
            switch (token) {
                case START_OBJECT -> {
                    only &= !ofKind;
                    objects.push(new HashMap<>());
                }
                case END_OBJECT -> objects.pop();
                case PROPERTY_NAME -> {
                    String repeated = ofKind ? null : objects.element().put(in.currentName(), "");
                    only &= repeated == null;
                }
                case VALUE_STRING -> {
                    String before = ofKind ? objects.element().put(KIND, in.getString()) : null;
                    only &= before == null || before.equals(in.getString());
                }
                default -> only &= !ofKind;
            }
        }
        return only;
    }
}
