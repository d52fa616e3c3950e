package dev.parley.engine.spi;

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

    /** Capitals of other scripts with the shape of another Latin letter than their small forms, or of one where those have none. */
    private static final String CAPITALS = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϺАВЕКМНОРСТУХЅІЈԌԚԜՍՕӀ";

    private static final String LATIN_CAPITALS = "abezhikmnoptyxmabekmhopctyxsijgqwuol";

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
        String letters = Normalizer.normalize(name, Normalizer.Form.NFKD)
                .replaceAll("[\\u0300-\\u036f\\p{Cf}\\p{Cc}\\s\\p{Z}._-]", "");
        // A word with letters of its script only is read in that script, in which case makes no difference.
        String plain = (isLatinByShape(letters) ? replaced(letters, CAPITALS, LATIN_CAPITALS) : letters)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[\\u0300-\\u036f]", "");
        var look = new StringBuilder(plain.length());
        replaced(plain, FOREIGN, LATIN)
                .codePoints()
                .map(c -> Character.isDigit(c) ? '0' + Character.digit(c, 10) : c)
                .forEach(look::appendCodePoint);
        return look.toString()
                .replace('0', 'o')
                .replace('1', 'l')
                .replace('|', 'l')
                .replace('i', 'l')
                .replace('5', 's')
                .replace("rn", "m")
                .replace("vv", "w");
    }

    private static boolean isLatinByShape(String letters) {
        return letters.codePoints()
                .allMatch(
                        c -> c < 0x80 || !Character.isLetter(c) || FOREIGN.indexOf(c) >= 0 || CAPITALS.indexOf(c) >= 0);
    }

    private static String replaced(String text, String letters, String others) {
        var replaced = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int place = c < 0x80 ? -1 : letters.indexOf(c);
            replaced.append(place < 0 ? c : others.charAt(place));
        }
        return replaced.toString();
    }
}
