package dev.parley.server;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Lets Helidon read requests whose pseudo-header names are spelt out. HPACK allows that, and the C library below most
 * clients of gRPC does it; Helidon knows these names by their numbers only, and ends the whole connection.
 *
 * <p>Replaces such a name by its number in the static table. What the field then is, also for the dynamic table, is the
 * same. Anything that is not understood goes through as it came, for Helidon to judge.
 *
 * <p>Source: RFC 7541, sections 5 and 6; RFC 9113, sections 4.1 and 6.2.
 */
final class PseudoHeaderNames {
    private static final int PREFACE = 24;
    private static final int FRAME_HEADER = 9;
    private static final int HEADERS = 1;
    private static final int PADDED = 0x8;
    private static final int PRIORITY = 0x20;
    private static final int LARGEST_FRAME = 16 * 1024;
    private static final Map<String, Integer> NUMBERS =
            Map.of(":authority", 1, ":method", 2, ":path", 4, ":scheme", 6, ":status", 8);

    private final ByteArrayOutputStream frame = new ByteArrayOutputStream();
    private int through = PREFACE;
    private int wanted;

    /** Returns what to read instead of these bytes; the rest comes with later ones. */
    byte[] in(byte[] bytes) {
        var out = new ByteArrayOutputStream(bytes.length);
        int at = 0;
        while (at < bytes.length) {
            if (through > 0) {
                int length = Math.min(through, bytes.length - at);
                out.write(bytes, at, length);
                through -= length;
                at += length;
            } else {
                int length = Math.min(Math.max(wanted, FRAME_HEADER) - frame.size(), bytes.length - at);
                frame.write(bytes, at, length);
                at += length;
                take(out);
            }
        }
        return out.toByteArray();
    }

    private void take(ByteArrayOutputStream out) {
        if (frame.size() < FRAME_HEADER) {
            return;
        }
        var bytes = frame.toByteArray();
        int length = (bytes[0] & 0xff) << 16 | (bytes[1] & 0xff) << 8 | (bytes[2] & 0xff);
        if (bytes[3] != HEADERS || length > LARGEST_FRAME) {
            out.writeBytes(bytes);
            through = length;
        } else if (bytes.length < FRAME_HEADER + length) {
            wanted = FRAME_HEADER + length;
            return;
        } else {
            out.writeBytes(rewritten(bytes));
        }
        frame.reset();
        wanted = 0;
    }

    private static byte[] rewritten(byte[] frame) {
        int from = FRAME_HEADER + ((frame[4] & PADDED) == 0 ? 0 : 1) + ((frame[4] & PRIORITY) == 0 ? 0 : 5);
        var out = new ByteArrayOutputStream(frame.length);
        out.write(frame, 0, Math.min(from, frame.length));
        try {
            new Block(frame, from, out).rewrite();
        } catch (IndexOutOfBoundsException cut) {
            // The block goes on in another frame, or is damaged: either way not to be touched.
            return frame;
        }
        var bytes = out.toByteArray();
        int length = bytes.length - FRAME_HEADER;
        bytes[0] = (byte) (length >> 16);
        bytes[1] = (byte) (length >> 8);
        bytes[2] = (byte) length;
        return bytes;
    }

    /** One pass over the fields of a header block. */
    private static final class Block {
        private final byte[] bytes;
        private final ByteArrayOutputStream out;
        private int at;

        Block(byte[] bytes, int from, ByteArrayOutputStream out) {
            this.bytes = bytes;
            this.at = from;
            this.out = out;
        }

        void rewrite() {
            while (at < bytes.length) {
                int start = at;
                int first = bytes[at] & 0xff;
                if (first >= 0x80) {
                    number(0x7f);
                } else if (first >= 0x20 && first < 0x40) {
                    number(0x1f);
                } else {
                    int form = first >= 0x40 ? 0x40 : first & 0x10;
                    start = name(start, form);
                    text();
                }
                out.write(bytes, start, at - start);
            }
        }

        /** Reads a name; returns where to go on copying, which is behind the name if it was replaced. */
        private int name(int start, int form) {
            if (number(form == 0x40 ? 0x3f : 0x0f) != 0) {
                return start;
            }
            boolean huffman = (bytes[at] & 0x80) != 0;
            int length = number(0x7f);
            at += length;
            // A string in Huffman's code is not looked into: nobody has been seen to write these names in it.
            var name = huffman ? "" : new String(bytes, at - length, length, StandardCharsets.ISO_8859_1);
            Integer number = NUMBERS.get(name);
            if (number == null) {
                return start;
            }
            out.write(form | number);
            return at;
        }

        private void text() {
            int length = number(0x7f);
            at = Math.addExact(at, length);
            if (at > bytes.length) {
                throw new IndexOutOfBoundsException(at);
            }
        }

        private int number(int mask) {
            int number = bytes[at++] & mask;
            if (number < mask) {
                return number;
            }
            for (int shift = 0; shift <= 14; shift += 7) {
                int next = bytes[at++];
                number += (next & 0x7f) << shift;
                if (next >= 0) {
                    return number;
                }
            }
            throw new IndexOutOfBoundsException(number);
        }
    }
}
