package dev.parley.outbound;

/** The rule of addresses refuses the host of a request. Nothing was sent. The message names the setting that allows hosts. */
public final class RefusedAddressException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RefusedAddressException(String message, AddressRule.RefusedHost cause) {
        super(message, cause);
    }
}
