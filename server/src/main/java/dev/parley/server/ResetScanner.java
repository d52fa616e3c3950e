package dev.parley.server;

import java.util.function.IntConsumer;

/**
 * Finds the RST_STREAM frames in what a client of HTTP/2 sends. Helidon acts on them, but does not tell the thread that
 * writes the stream, which would go on until the end.
 *
 * <p>Source: RFC 9113, sections 3.4 and 4.1. Whether the frames are right is for Helidon to judge.
 */
final class ResetScanner {
    private static final int PREFACE = 24;
    private static final int HEADER = 9;
    private static final int RST_STREAM = 3;

    private final IntConsumer reset;
    private int skip = PREFACE;
    private int inHeader;
    private int length;
    private int type;
    private int stream;

    ResetScanner(IntConsumer reset) {
        this.reset = reset;
    }

    void scan(byte[] bytes, int from, int to) {
        var at = from;
        while (at < to) {
            if (skip > 0) {
                var skipped = Math.min(skip, to - at);
                skip -= skipped;
                at += skipped;
            } else {
                header(bytes[at++] & 0xff);
            }
        }
    }

    private void header(int octet) {
        if (inHeader < 3) {
            length = (length << 8 | octet) & 0xffffff;
        } else if (inHeader == 3) {
            type = octet;
        } else if (inHeader > 4) {
            stream = stream << 8 | octet;
        }
        if (++inHeader == HEADER) {
            if (type == RST_STREAM) {
                reset.accept(stream & 0x7fffffff);
            }
            skip = length;
            inHeader = 0;
        }
    }
}
