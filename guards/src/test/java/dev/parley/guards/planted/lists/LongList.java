package dev.parley.guards.planted.lists;

/** A method with eight parameters, a record with as many components, and a method with seven parameters. */
public final class LongList {
    /** A record that is not listed. */
    public record Document(int a, int b, int c, int d, int e, int f, int g, int h) {}

    private LongList() {}

    static int eight(int a, int b, int c, int d, int e, int f, int g, int h) {
        return a + b + c + d + e + f + g + h;
    }

    static int seven(int a, int b, int c, int d, int e, int f, int g) {
        return eight(a, b, c, d, e, f, g, 0);
    }
}
