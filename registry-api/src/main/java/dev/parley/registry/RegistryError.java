package dev.parley.registry;

import dev.parley.protocol.ErrorKind;

/** Errors of a registry beside those of A2A. */
public enum RegistryError implements ErrorKind {
    ENTRY_NOT_FOUND(-32040, 404, "NOT_FOUND", "Entry not found"),
    NOT_OWNER(-32041, 403, "PERMISSION_DENIED", "Only the owner may do this"),
    /** The difference to the published version is of a kind that the publisher refuses. */
    REFUSED_CHANGE(-32042, 409, "ABORTED", "The publication has a change that is refused"),
    /** A card that cannot be fetched. */
    NOT_FETCHED(-32043, 400, "FAILED_PRECONDITION", "The document cannot be fetched"),
    /** A document with a value that looks like a secret. */
    SECRET_FOUND(-32044, 400, "INVALID_ARGUMENT", "The document has a secret"),
    /** The entry, or its document, was revoked. */
    REVOKED(-32045, 409, "FAILED_PRECONDITION", "The entry was revoked"),
    /** The hub has no key to sign with. */
    NOT_SIGNED(-32046, 404, "NOT_FOUND", "This hub signs nothing"),
    /** A peer with this name does not exist, or cannot be used. */
    NO_PEER(-32047, 404, "NOT_FOUND", "Peer not found");

    @SuppressWarnings("ImmutableEnumChecker") // a record of numbers and texts
    private final Row row;

    RegistryError(int code, int httpStatus, String grpcStatus, String defaultMessage) {
        this.row = new Row(code, httpStatus, grpcStatus, defaultMessage);
    }

    @Override
    public Row row() {
        return row;
    }
}
