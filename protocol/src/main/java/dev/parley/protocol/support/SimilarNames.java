package dev.parley.protocol.support;

import java.text.Normalizer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Finds names of agents that a reader may take for each other, such as {@code echo} and {@code ech0}. For one thread. */
public final class SimilarNames {
    /** Letters of other scripts, and what they look like. Source: Unicode Technical Standard 39, those of one letter. */
    private static final String FOREIGN = "аеорсухіѕјһԁԛԝкмтвнгӏαονρικτυχεηγσօսհոıłøđɑɡ";

    private static final String LATIN = "aeopcyxisjhdqwkmtbhrlaovpiktuxenyoouhnilodag";

    private final Map<String, String> byLook = new HashMap<>();

    /** Adds a name, and returns one that was added before and looks like it. */
    public Optional<String> add(String name) {
        String other = byLook.putIfAbsent(look(name), name);
        return Optional.ofNullable(other).filter(known -> !known.equals(name));
    }

    /**
     * Skeleton of a name, without differences that are easily overlooked: of case, width, accents, invisible characters, and letters of
     * other scripts with the same shape.
     */
    public static String look(String name) {
        String plain = Normalizer.normalize(name, Normalizer.Form.NFKD)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[\\u0300-\\u036f\\p{Cf}\\p{Cc}\\s\\p{Z}._-]", "");
        var look = new StringBuilder(plain.length());
        for (int i = 0; i < plain.length(); i++) {
            char c = plain.charAt(i);
            int foreign = c < 0x80 ? -1 : FOREIGN.indexOf(c);
            look.append(foreign < 0 ? c : LATIN.charAt(foreign));
        }
        return look.toString()
                .replace('0', 'o')
                .replace('1', 'l')
                .replace('|', 'l')
                .replace('i', 'l')
                .replace('5', 's')
                .replace("rn", "m")
                .replace("vv", "w");
    }
}
