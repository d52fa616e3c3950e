package dev.parley.agenttools;

import java.util.HashSet;
import java.util.Set;

/** Names of tools in the characters that all models accept, each one once. */
final class ToolNames {
    private static final int LONGEST = 64;

    /** Longest description that all models accept. */
    private static final int LONGEST_DESCRIPTION = 1_024;

    private final Set<String> names = new HashSet<>();

    /** Returns a name for a tool; one that exists already gets a number. */
    String add(String tool) {
        String base = ToolTexts.cut(tool.replaceAll("[^A-Za-z0-9_-]", "_"), LONGEST);
        String name = base.isEmpty() ? "tool" : base;
        for (int number = 2; !names.add(name); number++) {
            name = ToolTexts.cut(base, LONGEST - 1 - Integer.toString(number).length()) + "_" + number;
        }
        return name;
    }

    static String description(String text) {
        return ToolTexts.cut(text, LONGEST_DESCRIPTION);
    }
}
