package dev.parley.server.helidon;

import static dev.parley.server.helidon.Frames.CONTINUATION;
import static dev.parley.server.helidon.Frames.END_HEADERS;
import static dev.parley.server.helidon.Frames.FLAGS;
import static dev.parley.server.helidon.Frames.HEADER;
import static dev.parley.server.helidon.Frames.HEADERS;
import static dev.parley.server.helidon.Frames.PADDED;
import static dev.parley.server.helidon.Frames.TYPE;
import static dev.parley.server.helidon.Frames.WITH_PRIORITY;
import static dev.parley.server.helidon.Frames.length;
import static dev.parley.server.helidon.Frames.stream;

import io.helidon.common.buffers.BufferData;
import io.helidon.http.http2.Http2ErrorCode;
import io.helidon.http.http2.Http2Exception;
import io.helidon.http.http2.Http2HuffmanDecoder;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites HTTP/2 header blocks so that Helidon can read them, at a bounded cost.
 *
 * <p>Names of pseudo-headers may be literal. HPACK allows this, and the C library of most gRPC clients does it; Helidon
 * accepts only their indexes, and ends the connection otherwise. So a literal name is replaced by its index in the static
 * table. The resulting field is the same, also in the dynamic table.
 *
 * <p>One octet may refer to a field of four thousand, which Helidon expands each time. So the number of fields is limited. To
 * count them, the frames of a block are joined, and their number is limited as well.
 *
 * <p>A field larger than the dynamic table empties it when it is inserted. Helidon would search for space without end. No known
 * client sends such fields, and they end the connection.
 *
 * <p>Other frames are passed on unchanged, if the connection begins with the preface.
 *
 * <p>Source: RFC 7541, sections 4.4, 5 and 6; RFC 9113, sections 3.4, 4.1, 6.2 and 6.10.
 */
final class HeaderBlocks {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int LARGEST_FRAME = 16 * 1024;
    private static final int MOST_FRAMES = 100;
    private static final int MOST_FIELDS = 200;
    private static final int FIELD_OVERHEAD = 32;
    private static final int LONGEST_STATIC_NAME = 27;
    private static final int OCTET_BITS = 8;
    private static final int SHORTEST_CODE_BITS = 5;
    private static final Map<String, Integer> NUMBERS =
            Map.of(":authority", 1, ":method", 2, ":path", 4, ":scheme", 6, ":status", 8);

    private final ByteArrayOutputStream frame = new ByteArrayOutputStream();
    private final Http2HuffmanDecoder huffman = Http2HuffmanDecoder.create();
    private int tableSize = 4096;
    private int longestName = LONGEST_STATIC_NAME;
    private int preface;
    private int through;
    private int wanted;

    /** The frames so far of a block that goes on, as one. */
    private byte @Nullable [] begun;

    private int frames;

    /**
     * Returns what to read instead of these bytes; the rest comes with later ones.
     *
     * @throws Http2Exception if it is not HTTP/2, or a block is too much, or damaged; that ends the connection
     */
    byte[] in(byte[] bytes) {
        var out = new ByteArrayOutputStream(bytes.length);
        int at = 0;
        while (at < bytes.length) {
            if (preface < PREFACE.length) {
                // Helidon would tell the log.
                if (bytes[at] != PREFACE[preface++]) {
                    throw new Http2Exception(Http2ErrorCode.PROTOCOL, "Not the preface of HTTP/2");
                }
                out.write(bytes[at++]);
            } else if (through > 0) {
                int length = Math.min(through, bytes.length - at);
                out.write(bytes, at, length);
                through -= length;
                at += length;
            } else {
                int length = Math.min(Math.max(wanted, HEADER) - frame.size(), bytes.length - at);
                frame.write(bytes, at, length);
                at += length;
                take(out);
            }
        }
        return out.toByteArray();
    }

    private void take(ByteArrayOutputStream out) {
        if (frame.size() < HEADER) {
            return;
        }
        var bytes = frame.toByteArray();
        int length = length(bytes);
        if (length > LARGEST_FRAME || !isOfBlock(bytes)) {
            // If a block has begun, Helidon will find that this does not belong here.
            out.writeBytes(begun == null ? new byte[0] : begun);
            begun = null;
            out.writeBytes(bytes);
            through = length;
        } else if (bytes.length < HEADER + length) {
            wanted = HEADER + length;
            return;
        } else {
            block(bytes, out);
        }
        frame.reset();
        wanted = 0;
    }

    private boolean isOfBlock(byte[] bytes) {
        if (begun == null) {
            return bytes[TYPE] == HEADERS;
        }
        return bytes[TYPE] == CONTINUATION && stream(bytes) == stream(begun);
    }

    private void block(byte[] bytes, ByteArrayOutputStream out) {
        byte[] whole;
        if (begun == null) {
            whole = withoutPadding(bytes);
            frames = 1;
        } else {
            whole = Arrays.copyOf(begun, begun.length + bytes.length - HEADER);
            System.arraycopy(bytes, HEADER, whole, begun.length, bytes.length - HEADER);
            whole[FLAGS] |= (byte) (bytes[FLAGS] & END_HEADERS);
            frames++;
        }
        if (frames > MOST_FRAMES || whole.length > HEADER + LARGEST_FRAME) {
            throw new Http2Exception(Http2ErrorCode.ENHANCE_YOUR_CALM, "Headers without end");
        }
        begun = (whole[FLAGS] & END_HEADERS) == 0 ? whole : null;
        if (begun == null) {
            out.writeBytes(rewritten(whole));
        }
    }

    private static byte[] withoutPadding(byte[] frame) {
        if ((frame[FLAGS] & PADDED) == 0) {
            return frame;
        }
        int end = frame.length == HEADER ? 0 : frame.length - (frame[HEADER] & 0xff);
        if (end <= HEADER) {
            throw new Http2Exception(Http2ErrorCode.PROTOCOL, "Padding beyond the frame");
        }
        byte[] shorter = Arrays.copyOf(frame, end - 1);
        System.arraycopy(frame, HEADER + 1, shorter, HEADER, end - 1 - HEADER);
        shorter[FLAGS] &= ~PADDED;
        return shorter;
    }

    private byte[] rewritten(byte[] frame) {
        int from = Math.min(frame.length, HEADER + ((frame[FLAGS] & WITH_PRIORITY) == 0 ? 0 : 5));
        var out = new ByteArrayOutputStream(frame.length);
        out.write(frame, 0, from);
        try {
            new Block(frame, from, out).rewrite();
        } catch (IndexOutOfBoundsException cut) {
            throw new Http2Exception(Http2ErrorCode.COMPRESSION, "Damaged headers", cut);
        }
        var bytes = out.toByteArray();
        int length = bytes.length - HEADER;
        bytes[0] = (byte) (length >> 16);
        bytes[1] = (byte) (length >> 8);
        bytes[2] = (byte) length;
        return bytes;
    }

    /** One pass over the fields of a header block. */
    private final class Block {
        private final byte[] bytes;
        private final ByteArrayOutputStream out;
        private int at;

        /** Length of the last name; for a name of the dynamic table its greatest possible length. */
        private int name;

        Block(byte[] bytes, int from, ByteArrayOutputStream out) {
            this.bytes = bytes;
            this.at = from;
            this.out = out;
        }

        void rewrite() {
            for (int fields = 0; at < bytes.length; fields++) {
                if (fields == MOST_FIELDS) {
                    throw new Http2Exception(Http2ErrorCode.ENHANCE_YOUR_CALM, "Too many headers");
                }
                int start = at;
                int first = bytes[at] & 0xff;
                if (first >= 0x80) {
                    number(0x7f);
                } else if (first >= 0x20 && first < 0x40) {
                    tableSize = number(0x1f);
                } else {
                    int form = first >= 0x40 ? 0x40 : first & 0x10;
                    start = name(start, form);
                    int value = text();
                    if (form == 0x40 && name + value + FIELD_OVERHEAD > tableSize) {
                        throw new Http2Exception(Http2ErrorCode.COMPRESSION, "A header larger than the table for it");
                    }
                }
                out.write(bytes, start, at - start);
            }
        }

        /** Reads a name; returns where to go on copying, which is after the name if it was replaced. */
        private int name(int start, int form) {
            if (number(form == 0x40 ? 0x3f : 0x0f) != 0) {
                name = longestName;
                return start;
            }
            boolean coded = (bytes[at] & 0x80) != 0;
            int from = at;
            name = text();
            longestName = Math.max(longestName, name);
            // Huffman-coded strings are not decoded: no known client encodes these names so.
            Integer number =
                    coded ? null : NUMBERS.get(new String(bytes, from + 1, at - from - 1, StandardCharsets.ISO_8859_1));
            if (number == null) {
                return start;
            }
            out.write(form | number);
            return at;
        }

        /** Reads a string; returns how many characters it has, or as many as it may have if a table has room for two such. */
        private int text() {
            boolean coded = (bytes[at] & 0x80) != 0;
            int length = number(0x7f);
            at = Math.addExact(at, length);
            if (at > bytes.length) {
                throw new IndexOutOfBoundsException(at);
            }
            int most = coded ? length * OCTET_BITS / SHORTEST_CODE_BITS : length;
            return coded && most > (tableSize - FIELD_OVERHEAD) / 2
                    ? huffman.decodeString(BufferData.create(bytes, at - length, length), length)
                            .length()
                    : most;
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
