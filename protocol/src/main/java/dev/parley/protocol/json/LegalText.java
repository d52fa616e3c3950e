package dev.parley.protocol.json;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One pass over a document that replaces what some programs write into JSON and no reader of JSON may take. */
final class LegalText {
    private static final byte[] REPLACEMENT = {'\\', 'u', 'f', 'f', 'f', 'd'};
    private static final byte[] NULL = {'n', 'u', 'l', 'l'};
    private static final List<byte[]> NO_NUMBERS =
            List.of(new byte[] {'N', 'a', 'N'}, new byte[] {'I', 'n', 'f', 'i', 'n', 'i', 't', 'y'});
    private static final int ESCAPE = 6;

    private final byte[] json;
    /** Made for the first replacement. */
    private @Nullable ByteArrayOutputStream out;

    private int kept;
    private boolean halves;
    private boolean noNumbers;

    LegalText(byte[] json) {
        this.json = json;
    }

    boolean hasHalves() {
        return halves;
    }

    boolean hasNoNumbers() {
        return noNumbers;
    }

    byte[] bytes() {
        boolean inText = false;
        for (int i = 0; i < json.length; i++) {
            byte next = json[i];
            if (next == '"') {
                inText = !inText;
            } else if (inText && next == '\\') {
                i = escape(i) - 1;
            } else if (!inText && (next == 'N' || next == 'I')) {
                i = noNumber(i) - 1;
            }
        }
        if (out == null) {
            return json;
        }
        out.write(json, kept, json.length - kept);
        return out.toByteArray();
    }

    /** Returns where the text goes on after an escape. */
    private int escape(int at) {
        int unit = unit(at);
        if (unit < 0) {
            return at + 2;
        }
        if (Character.isHighSurrogate((char) unit)) {
            int second = unit(at + ESCAPE);
            if (second >= 0 && Character.isLowSurrogate((char) second)) {
                return at + 2 * ESCAPE;
            }
        }
        if (Character.isSurrogate((char) unit)) {
            halves = true;
            replace(at, at + ESCAPE, REPLACEMENT);
        }
        return at + ESCAPE;
    }

    /** The UTF-16 unit that an escape stands for; -1 if there is none. */
    private int unit(int at) {
        if (at + ESCAPE > json.length || json[at] != '\\' || json[at + 1] != 'u') {
            return -1;
        }
        int unit = 0;
        for (int i = at + 2; i < at + ESCAPE; i++) {
            int digit = Character.digit(json[i], 16);
            if (digit < 0) {
                return -1;
            }
            unit = unit << 4 | digit;
        }
        return unit;
    }

    /** Returns where the document goes on after a word outside of texts. */
    private int noNumber(int at) {
        for (byte[] word : NO_NUMBERS) {
            int end = at + word.length;
            if (end <= json.length && Arrays.equals(json, at, end, word, 0, word.length)) {
                int sign = at > 0 && (json[at - 1] == '-' || json[at - 1] == '+') ? 1 : 0;
                noNumbers = true;
                replace(at - sign, end, NULL);
                return end;
            }
        }
        return at + 1;
    }

    private void replace(int from, int to, byte[] by) {
        if (out == null) {
            out = new ByteArrayOutputStream(json.length);
        }
        out.write(json, kept, from - kept);
        out.writeBytes(by);
        kept = to;
    }
}
