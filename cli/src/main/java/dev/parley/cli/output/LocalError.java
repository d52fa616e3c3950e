package dev.parley.cli.output;

/**
 * The failures that no agent reports, because they happen before or outside a request, with their exit status.
 *
 * <p>Source: a2a-cli specification 0.2, section 11.6 and appendix D. Those that are not in that table stay out of the
 * reserved namespace with their names.
 */
public enum LocalError {
    USAGE("A2ACLI_ERR_USAGE", 2),
    CARD_NOT_FOUND("A2ACLI_ERR_CARD_NOT_FOUND", 3),
    CARD_INVALID("A2ACLI_ERR_CARD_INVALID", 1),
    UNREACHABLE("A2ACLI_ERR_UNREACHABLE", 3),
    CREDENTIALS_MISSING("A2ACLI_ERR_CREDENTIALS_MISSING", 4),
    AUTH_FAILED("A2ACLI_ERR_AUTH_FAILED", 4),
    TIMEOUT("A2ACLI_ERR_TIMEOUT", 5),
    INTERNAL("A2ACLI_ERR_INTERNAL", 1),
    CARD_UNSIGNED("PARLEY_ERR_CARD_UNSIGNED", 1),
    CARD_UNVERIFIABLE("PARLEY_ERR_CARD_UNVERIFIABLE", 1),
    CARD_TAMPERED("PARLEY_ERR_CARD_TAMPERED", 1),
    ORIGIN_NOT_ALLOWED("PARLEY_ERR_ORIGIN_NOT_ALLOWED", 1),
    PLAIN_HTTP("PARLEY_ERR_PLAIN_HTTP", 1),
    PORT("PARLEY_ERR_PORT", 1),
    DATA_IN_USE("PARLEY_ERR_DATA_IN_USE", 1),
    DATA("PARLEY_ERR_DATA", 1),
    DATABASE("PARLEY_ERR_DATABASE", 1),
    INTERRUPTED("PARLEY_ERR_INTERRUPTED", 130);

    private final String code;
    private final int exitStatus;

    LocalError(String code, int exitStatus) {
        this.code = code;
        this.exitStatus = exitStatus;
    }

    public String code() {
        return code;
    }

    public int exitStatus() {
        return exitStatus;
    }
}
