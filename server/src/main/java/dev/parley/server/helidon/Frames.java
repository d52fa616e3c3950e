package dev.parley.server.helidon;

/** Layout of the frames of HTTP/2. Source: RFC 9113, sections 4.1 and 6. */
final class Frames {
    /** Octets before the payload. */
    static final int HEADER = 9;

    /** Index of the type. */
    static final int TYPE = 3;

    /** Index of the flags. */
    static final int FLAGS = 4;

    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int PRIORITY = 2;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;

    static final int END_STREAM = 0x1;
    static final int END_HEADERS = 0x4;
    static final int PADDED = 0x8;
    static final int WITH_PRIORITY = 0x20;

    private Frames() {}

    /** The length of the payload. */
    static int length(byte[] frame) {
        return (frame[0] & 0xff) << 16 | (frame[1] & 0xff) << 8 | (frame[2] & 0xff);
    }

    /** The stream, without the highest bit, which is reserved. */
    static int stream(byte[] frame) {
        return (frame[5] & 0x7f) << 24 | (frame[6] & 0xff) << 16 | (frame[7] & 0xff) << 8 | (frame[8] & 0xff);
    }
}
