package dev.parley.server.helidon;

import io.helidon.http.http2.Http2ErrorCode;
import io.helidon.http.http2.Http2Exception;
import java.io.ByteArrayOutputStream;

/**
 * Follows the frames that a client of HTTP/2 sends, and tells {@link Http2Streams} of what they do to its streams.
 *
 * <p>All bytes go on to Helidon, which judges whether they are right, except resets of streams that are over. A reset
 * comes alone, so that Helidon asks for it only when it is through with everything before. Floods end here, and frames that
 * are too short for what they say they hold, which Helidon would read beyond.
 *
 * <p>Source: RFC 9113, sections 3.4, 4.1 and 6.
 */
final class ClientFrames {
    private static final int PREFACE = 24;
    static final int HEADER = 9;
    /** Where in a frame its type is. */
    static final int TYPE = 3;
    /** Where its flags are. */
    static final int FLAGS = 4;

    static final int DATA = 0;
    static final int HEADERS = 1;
    private static final int PRIORITY = 2;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int WINDOW_UPDATE = 8;
    private static final int RST_STREAM_LENGTH = 4;
    static final int END_STREAM = 0x1;
    private static final int PADDED = 0x8;
    private static final int WITH_PRIORITY = 0x20;
    private static final int SETTING_LENGTH = 6;
    private static final int INITIAL_WINDOW_SIZE = 4;

    private final Http2Streams streams;
    private final byte[] start = new byte[HEADER + RST_STREAM_LENGTH];
    private int started;
    private int through = PREFACE;
    private long setting;
    private int settingOctets;
    private byte[] bytes = {};
    private int at;

    ClientFrames(Http2Streams streams) {
        this.streams = streams;
    }

    /** Takes more bytes, after those before have all been read. */
    void add(byte[] more) {
        bytes = more;
        at = 0;
    }

    /**
     * Returns what is to be read next; empty if more bytes have to come first.
     *
     * @param heads at most so many heads of requests, at least one
     * @throws Http2Exception if the client floods the connection, or a frame is too short
     */
    byte[] next(int heads) {
        int left = heads;
        var out = new ByteArrayOutputStream(started + bytes.length - at);
        while (true) {
            if (started == start.length) {
                if (out.size() > 0) {
                    break;
                }
                started = 0;
                streams.spendReset();
                if (streams.reset(stream())) {
                    return start.clone();
                }
            } else if (at == bytes.length) {
                break;
            } else if (through > 0) {
                int length = Math.min(through, bytes.length - at);
                out.write(bytes, at, length);
                if (start[TYPE] == SETTINGS) {
                    settings(length);
                }
                through -= length;
                at += length;
            } else if (left == 0 && out.size() > 0) {
                break;
            } else {
                start[started++] = bytes[at++];
                if (started == HEADER && !isReset()) {
                    frame();
                    if (start[TYPE] == HEADERS) {
                        left--;
                    }
                    out.write(start, 0, HEADER);
                    started = 0;
                }
            }
        }
        return out.toByteArray();
    }

    private boolean isReset() {
        return start[TYPE] == RST_STREAM && length() == RST_STREAM_LENGTH;
    }

    private void frame() {
        through = length();
        if (through < shortest()) {
            throw new Http2Exception(Http2ErrorCode.FRAME_SIZE, "A frame is too short");
        }
        settingOctets = 0;
        boolean end = (start[FLAGS] & END_STREAM) != 0;
        if (start[TYPE] == HEADERS) {
            streams.headers(stream(), end);
        } else if (start[TYPE] == DATA && end) {
            streams.requestEnds(stream());
        }
        // Padding may be all that there is of data.
        if (start[TYPE] == HEADERS || start[TYPE] == DATA && through > 0 && (start[4] & PADDED) == 0) {
            streams.earn();
        } else {
            streams.spend();
        }
    }

    /** Reads the next octets of settings. */
    private void settings(int length) {
        for (int i = at; i < at + length; i++) {
            setting = setting << 8 | (bytes[i] & 0xff);
            if (++settingOctets == SETTING_LENGTH) {
                if ((setting >> 32 & 0xffff) == INITIAL_WINDOW_SIZE) {
                    streams.window((int) Math.min(setting & 0xffffffffL, Integer.MAX_VALUE));
                }
                settingOctets = 0;
            }
        }
    }

    private int shortest() {
        return switch (start[TYPE]) {
            case DATA -> padding();
            case HEADERS -> padding() + ((start[4] & WITH_PRIORITY) == 0 ? 0 : 5);
            case PRIORITY -> 5;
            case RST_STREAM, WINDOW_UPDATE -> 4;
            case PING, GOAWAY -> 8;
            default -> 0;
        };
    }

    private int padding() {
        return (start[4] & PADDED) == 0 ? 0 : 1;
    }

    private int length() {
        return (start[0] & 0xff) << 16 | (start[1] & 0xff) << 8 | (start[2] & 0xff);
    }

    private int stream() {
        // The highest bit is reserved and means nothing.
        return (start[5] & 0x7f) << 24 | (start[6] & 0xff) << 16 | (start[7] & 0xff) << 8 | (start[8] & 0xff);
    }
}
