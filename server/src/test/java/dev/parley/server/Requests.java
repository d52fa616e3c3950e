package dev.parley.server;

/** Requests as bytes. */
final class Requests {
    private Requests() {}

    /** A request of JSON-RPC that sends a message. */
    static String jsonRpc(String method, String text) {
        return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":" + send(text) + "}";
    }

    /** The body of a request of REST that sends a message. */
    static String send(String text) {
        return "{\"message\":{\"messageId\":\"m1\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"" + text + "\"}]}}";
    }

    /** A message of gRPC after its flag and its length. */
    static byte[] frame(byte[] message) {
        var frame = new byte[message.length + 5];
        for (int i = 0; i < 4; i++) {
            frame[i + 1] = (byte) (message.length >> 8 * (3 - i));
        }
        System.arraycopy(message, 0, frame, 5, message.length);
        return frame;
    }
}
