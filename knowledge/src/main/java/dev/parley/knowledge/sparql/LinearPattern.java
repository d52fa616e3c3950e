package dev.parley.knowledge.sparql;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayDeque;

/**
 * Regular expression of a caller, matched without backtracking: in time linear in the text. Immutable, and safe for any thread.
 *
 * <p>RE2/J has no back-references and no look-around, and writes out repetitions, so their size is bounded before.
 *
 * <p>Source: XQuery and XPath Functions and Operators 3.1, section 5.6.1 "Regular expression syntax", for the flags.
 */
final class LinearPattern {
    /** Characters of an expression, and instructions that it is compiled to. */
    static final int MAX_SIZE = 10_000;

    /** Groups within groups: they are compiled by recursion. */
    private static final int MAX_DEPTH = 200;

    private final Pattern pattern;

    private LinearPattern(Pattern pattern) {
        this.pattern = pattern;
    }

    /**
     * Compiles an expression.
     *
     * @param flags some of {@code smixq}
     * @throws IllegalArgumentException if it is invalid, too long, or needs backtracking
     */
    static LinearPattern of(String expression, String flags) {
        int mask = 0;
        for (int i = 0; i < flags.length(); i++) {
            char flag = flags.charAt(i);
            mask |= switch (flag) {
                case 's' -> Pattern.DOTALL;
                case 'm' -> Pattern.MULTILINE;
                case 'i' -> Pattern.CASE_INSENSITIVE;
                case 'x', 'q' -> 0;
                default -> throw new IllegalArgumentException("flag " + flag + " (expected: some of \"smixq\")");
            };
        }
        boolean literally = flags.indexOf('q') >= 0;
        String plain = flags.indexOf('x') >= 0 && !literally ? withoutBlanks(expression) : expression;
        if (literally ? plain.length() > MAX_SIZE : isTooLarge(plain)) {
            throw new IllegalArgumentException(
                    "a regular expression of more than " + MAX_SIZE + " characters, with repetitions written out");
        }
        try {
            return new LinearPattern(Pattern.compile(literally ? Pattern.quote(plain) : plain, mask));
        } catch (PatternSyntaxException wrong) {
            throw new IllegalArgumentException(
                    String.valueOf(wrong.getMessage()) + " (expected: no back-references, no look-around)", wrong);
        }
    }

    /** True for an expression that is too long, or nested too deeply, with its repetitions written out. */
    static boolean isTooLarge(String expression) {
        return expression.length() > MAX_SIZE || size(expression) > MAX_SIZE;
    }

    Matcher matcher(CharSequence text) {
        return pattern.matcher(text);
    }

    private static String withoutBlanks(String expression) {
        var kept = new StringBuilder();
        boolean inClass = false;
        for (int i = 0; i < expression.length(); i++) {
            char c = expression.charAt(i);
            if (c == '\\' && i + 1 < expression.length()) {
                kept.append(c).append(expression.charAt(++i));
                continue;
            }
            inClass = c == '[' || inClass && c != ']';
            if (inClass || " \t\n\r".indexOf(c) < 0) {
                kept.append(c);
            }
        }
        return kept.toString();
    }

    /** Returns a lower bound of the length of an expression with its repetitions expanded. Does not validate it. */
    private static long size(String expression) {
        var around = new ArrayDeque<Long>();
        long all = 0;
        long last = 0;
        for (int i = 0; i < expression.length() && all <= MAX_SIZE; i++) {
            char c = expression.charAt(i);
            switch (c) {
                case '\\' -> {
                    i++;
                    last = 2;
                    all += last;
                }
                case '[' -> {
                    int end = endOfClass(expression, i);
                    last = (long) end - i + 1;
                    all += last;
                    i = end;
                }
                case '(' -> {
                    around.push(all);
                    if (around.size() > MAX_DEPTH) {
                        return Long.MAX_VALUE;
                    }
                    all = 0;
                    last = 0;
                }
                case ')' -> {
                    last = all + 2;
                    all = last + (around.isEmpty() ? 0 : around.pop());
                }
                case '{' -> {
                    int end = expression.indexOf('}', i);
                    long times = end < 0 ? 1 : times(expression.substring(i + 1, end));
                    all += last * (times - 1);
                    last *= times;
                    i = end < 0 ? i : end;
                }
                default -> {
                    last = 1;
                    all++;
                }
            }
        }
        return all;
    }

    /** A bracket at the beginning of a class is one of its characters. */
    private static int endOfClass(String expression, int begin) {
        int first = expression.startsWith("[^", begin) ? begin + 2 : begin + 1;
        for (int i = first; i < expression.length(); i++) {
            char c = expression.charAt(i);
            if (c == '\\') {
                i++;
            } else if (c == ']' && i > first) {
                return i;
            }
        }
        return expression.length() - 1;
    }

    /** The larger number of a repetition; RE2/J refuses those of more than four digits, and leaves other texts as they are. */
    private static long times(String repetition) {
        long most = 1;
        for (String number : repetition.split(",", -1)) {
            if (number.length() <= 4 && !number.isEmpty() && number.chars().allMatch(Character::isDigit)) {
                most = Math.max(most, Long.parseLong(number));
            }
        }
        return most;
    }
}
