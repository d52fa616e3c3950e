package dev.parley.protocol;

/**
 * A value of the model was built from something that the specification forbids.
 *
 * <p>A dialect that reads such a value from the wire reports {@link #field()} to the peer.
 */
public final class InvalidField extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String field;
    private final String problem;

    private InvalidField(String field, String problem) {
        super(field + ": " + problem);
        this.field = field;
        this.problem = problem;
    }

    /** A fault of {@code field}, named as on the wire; {@code problem} names the expected value. */
    public static InvalidField of(String field, String problem) {
        return new InvalidField(field, problem);
    }

    public String field() {
        return field;
    }

    public String problem() {
        return problem;
    }
}
