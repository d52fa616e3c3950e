package dev.parley.server.helidon;

import static dev.parley.server.helidon.Frames.DATA;
import static dev.parley.server.helidon.Frames.END_STREAM;
import static dev.parley.server.helidon.Frames.FLAGS;
import static dev.parley.server.helidon.Frames.GOAWAY;
import static dev.parley.server.helidon.Frames.HEADER;
import static dev.parley.server.helidon.Frames.HEADERS;
import static dev.parley.server.helidon.Frames.PADDED;
import static dev.parley.server.helidon.Frames.PING;
import static dev.parley.server.helidon.Frames.PRIORITY;
import static dev.parley.server.helidon.Frames.RST_STREAM;
import static dev.parley.server.helidon.Frames.SETTINGS;
import static dev.parley.server.helidon.Frames.TYPE;
import static dev.parley.server.helidon.Frames.WINDOW_UPDATE;
import static dev.parley.server.helidon.Frames.WITH_PRIORITY;
import static dev.parley.server.helidon.Frames.length;
import static dev.parley.server.helidon.Frames.stream;

import io.helidon.http.http2.Http2ErrorCode;
import io.helidon.http.http2.Http2Exception;
import java.io.ByteArrayOutputStream;

/**
 * Follows the frames that a client of HTTP/2 sends, and tells {@link Http2Streams} of what they do to its streams.
 *
 * <p>All bytes go on to Helidon, which judges whether they are right, except resets of streams that are over; and data of streams
 * that were reset goes on as an unknown frame. A reset comes by itself, so that Helidon asks for it only after it has handled
 * everything before. Ends a connection with a flood, or with a frame that is shorter than the lengths in it, beyond which Helidon reads.
 *
 * <p>Source: RFC 9113, sections 3.4, 4.1 and 6.
 */
final class ClientFrames {
    private static final int PREFACE = 24;
    private static final int RST_STREAM_LENGTH = 4;
    private static final int SETTING_LENGTH = 6;
    private static final int INITIAL_WINDOW_SIZE = 4;
    private static final int UNKNOWN = 0xfe; // a type of frames that Helidon ignores

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
     * Returns the next bytes to read; empty if more bytes have to come first.
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
                streams.spend(Http2Streams.RESET);
                if (streams.reset(stream(start))) {
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
        return start[TYPE] == RST_STREAM && length(start) == RST_STREAM_LENGTH;
    }

    private void frame() {
        through = length(start);
        if (through < shortest()) {
            throw new Http2Exception(Http2ErrorCode.FRAME_SIZE, "A frame is too short");
        }
        settingOctets = 0;
        boolean end = (start[FLAGS] & END_STREAM) != 0;
        if (start[TYPE] == HEADERS) {
            streams.headers(stream(start), end);
        } else if (start[TYPE] == DATA && end) {
            streams.requestEnds(stream(start));
        }
        if (start[TYPE] == DATA && streams.drops(stream(start), through)) {
            start[TYPE] = (byte) UNKNOWN;
        }
        // Padding may be all that there is of data.
        if (start[TYPE] == HEADERS || start[TYPE] == DATA && through > 0 && (start[FLAGS] & PADDED) == 0) {
            streams.earn();
        } else {
            streams.spend(1);
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
            case HEADERS -> padding() + ((start[FLAGS] & WITH_PRIORITY) == 0 ? 0 : 5);
            case PRIORITY -> 5;
            case RST_STREAM, WINDOW_UPDATE -> 4;
            case PING, GOAWAY -> 8;
            default -> 0;
        };
    }

    private int padding() {
        return (start[FLAGS] & PADDED) == 0 ? 0 : 1;
    }
}
