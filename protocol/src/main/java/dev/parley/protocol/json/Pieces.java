package dev.parley.protocol.json;

import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes that are written one after the other and taken as one array. Unlike a {@code ByteArrayOutputStream} it copies none of
 * them while it grows, which would be garbage of several times their size.
 */
final class Pieces extends OutputStream {
    private static final int LARGEST = 1 << 20;

    private final List<byte[]> full = new ArrayList<>(0);
    private byte[] last;
    private int used;
    private int before;

    /** Creates an empty one; {@code first} is the size of the first piece, 0 for that of the first write. */
    Pieces(int first) {
        last = new byte[first];
    }

    int size() {
        return before + used;
    }

    @Override
    public void write(int octet) {
        if (used == last.length) {
            add(1);
        }
        last[used++] = (byte) octet;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        int from = offset;
        for (int left = length; left > 0; ) {
            if (used == last.length) {
                add(left);
            }
            int count = Math.min(left, last.length - used);
            System.arraycopy(bytes, from, last, used, count);
            used += count;
            from += count;
            left -= count;
        }
    }

    @Override
    public void write(byte[] bytes) {
        write(bytes, 0, bytes.length);
    }

    /** Adds a piece: the first one of just the size that is needed, later ones of the size of all before. */
    private void add(int needed) {
        if (last.length == 0) {
            last = new byte[Math.min(needed, LARGEST)];
            return;
        }
        full.add(last);
        before = Math.addExact(before, used);
        used = 0;
        last = new byte[Math.clamp(before, 64, LARGEST)];
    }

    /** Returns all bytes, after which no more can be written: one full piece is given away without a copy. */
    byte[] bytes() {
        if (full.isEmpty() && used == last.length) {
            return last;
        }
        byte[] all = new byte[Math.addExact(before, used)];
        int to = 0;
        for (byte[] piece : full) {
            System.arraycopy(piece, 0, all, to, piece.length);
            to += piece.length;
        }
        System.arraycopy(last, 0, all, to, used);
        return all;
    }
}
