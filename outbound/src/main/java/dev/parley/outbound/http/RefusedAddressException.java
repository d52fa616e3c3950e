package dev.parley.outbound.http;

import java.net.UnknownHostException;

/** The rule of addresses refuses the host of a request. Nothing was sent. The message names the setting that allows hosts. */
public final class RefusedAddressException extends UnknownHostException {
    private static final long serialVersionUID = 1L;

    public RefusedAddressException(String message) {
        super(message);
    }
}
