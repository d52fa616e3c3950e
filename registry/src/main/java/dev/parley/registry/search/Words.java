package dev.parley.registry.search;

import java.lang.Character.UnicodeScript;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Words of texts, as the index holds them: lower case without accents, {@code camelCase} as a whole and in parts, endings of English
 * removed, and pairs of characters for scripts without spaces. Both database systems get the same words.
 */
final class Words {
    private static final int MAX_TEXT = 20_000;
    private static final int MAX_WORD = 48;

    /** Scripts that are written without spaces, and Hangul, whose words have many endings. */
    private static final Set<UnicodeScript> UNSPACED = EnumSet.of(
            UnicodeScript.HAN,
            UnicodeScript.HIRAGANA,
            UnicodeScript.KATAKANA,
            UnicodeScript.HANGUL,
            UnicodeScript.THAI,
            UnicodeScript.LAO,
            UnicodeScript.KHMER,
            UnicodeScript.MYANMAR);

    /** Words of requests that say nothing about the subject; only queries leave them out. */
    private static final Set<String> STOP_WORDS =
            Set.copyOf(List.of(("a about an and any are as at be been best by can could did do does for from get"
                            + " give had has have help helps her him his how i if in is it its looking me my need needs of off on or our out please"
                            + " should show so some somebody someone something than that the their them there these they thing things this those to us"
                            + " using want wants was we were what when where which who whom whose why will with within would you your agent agents tool"
                            + " der die das den dem des ein eine einen einem einer fur ich kann mir mit oder und von wer zu zum zur"
                            + " au aux avec ce ces de des du en est et je la le les mon ou par pour qui sur un une"
                            + " al como con del el en es la las los mi o para por que quien se un una y")
                    .split(" ")));

    /** Endings, the longest first, so that {@code translate}, {@code translator} and {@code translations} are one word. */
    private static final List<String> ENDINGS = List.of(
            "isation", "ating", "ation", "ition", "ator", "ated", "ment", "ing", "ion", "ate", "ise", "ed", "er", "or",
            "al", "ly", "e", "y");

    private static final int SHORTEST_STEM = 4;

    private Words() {}

    /** Stems of a text in its order, as the index has them. */
    static List<String> of(String text) {
        return split(text, true, Words::indexed);
    }

    /** Whole words of a text, which prefixes find. */
    static List<String> typed(String text) {
        return split(text, true, word -> word);
    }

    /** Stem of a word, as the index has it. */
    static String indexed(String word) {
        return ascii(stem(word));
    }

    /** A word in characters that the parsers of both database systems take for one word: letters, digits, and an underscore in front. */
    static String ascii(String word) {
        boolean plain = word.chars().allMatch(c -> c >= 'a' && c <= 'z' || c >= '0' && c <= '9');
        return plain ? word : "_" + HexFormat.of().formatHex(word.getBytes(StandardCharsets.UTF_8));
    }

    /** Different words of a query, without those that carry no meaning unless there are only such. */
    static List<String> ofQuery(String text) {
        var all = new LinkedHashSet<String>(split(text, false, word -> word));
        var significant = new LinkedHashSet<String>(all);
        significant.removeAll(STOP_WORDS);
        return List.copyOf(significant.isEmpty() ? all : significant);
    }

    /** @param hasParts whether parts of {@code camelCase} are words besides the whole */
    private static List<String> split(String text, boolean hasParts, UnaryOperator<String> form) {
        String plain = Normalizer.normalize(
                text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text, Normalizer.Form.NFKD);
        var words = new ArrayList<String>();
        var word = new StringBuilder();
        int part = 0;
        var unspaced = new ArrayList<String>();
        int previous = 0;
        for (int i = 0; i < plain.length(); ) {
            int c = plain.codePointAt(i);
            i += Character.charCount(c);
            if (Character.getType(c) == Character.NON_SPACING_MARK && !isUnspaced(previous)) {
                continue;
            }
            boolean taken = Character.isLetterOrDigit(c) || Character.getType(c) == Character.NON_SPACING_MARK;
            boolean runs = taken && isUnspaced(c);
            if (!taken || runs) {
                add(words, word, part, form);
                part = 0;
            } else if (hasParts && Character.isUpperCase(c) && Character.isLowerCase(previous)) {
                add(words, word.substring(part), form);
                part = word.length();
            }
            if (!runs) {
                pairs(words, unspaced, form);
            }
            if (runs) {
                unspaced.add(Character.toString(c));
            } else if (taken) {
                word.appendCodePoint(c);
            }
            previous = c;
        }
        add(words, word, part, form);
        pairs(words, unspaced, form);
        return words;
    }

    private static boolean isUnspaced(int c) {
        return c > 0x0e00 && UNSPACED.contains(UnicodeScript.of(c));
    }

    private static void add(List<String> words, StringBuilder word, int part, UnaryOperator<String> form) {
        if (part > 0) {
            add(words, word.substring(part), form);
        }
        if (!word.isEmpty()) {
            add(words, word.toString(), form);
            word.setLength(0);
        }
    }

    private static void add(List<String> words, String word, UnaryOperator<String> form) {
        String lower = word.toLowerCase(Locale.ROOT);
        words.add(form.apply(
                lower.length() > MAX_WORD ? lower.substring(0, lower.offsetByCodePoints(0, MAX_WORD / 2)) : lower));
    }

    private static void pairs(List<String> words, List<String> characters, UnaryOperator<String> form) {
        if (characters.size() == 1) {
            words.add(form.apply(characters.getFirst()));
        }
        for (int i = 1; i < characters.size(); i++) {
            words.add(form.apply(characters.get(i - 1) + characters.get(i)));
        }
        characters.clear();
    }

    /** Removes an ending of the plural and one other. Words that are not English lose little: their stems stay long. */
    static String stem(String word) {
        String stem = word.replace("yz", "ys").replace("iz", "is");
        if (stem.endsWith("ies") && stem.length() > SHORTEST_STEM) {
            stem = stem.substring(0, stem.length() - 3) + "y";
        } else if (stem.endsWith("s")
                && !stem.endsWith("ss")
                && !stem.endsWith("us")
                && !stem.endsWith("is")
                && stem.length() > 3) {
            stem = stem.substring(0, stem.length() - 1);
        }
        for (String ending : ENDINGS) {
            if (stem.endsWith(ending)
                    && stem.length() - ending.length() >= (ending.length() < 2 ? SHORTEST_STEM - 1 : SHORTEST_STEM)) {
                stem = stem.substring(0, stem.length() - ending.length());
                break;
            }
        }
        int last = stem.length() - 1;
        return last >= SHORTEST_STEM - 1
                        && stem.charAt(last) == stem.charAt(last - 1)
                        && "bdgmnprt".indexOf(stem.charAt(last)) >= 0
                ? stem.substring(0, last)
                : stem;
    }
}
