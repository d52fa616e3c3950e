/** Thrown where a release of the SDK has no way to ask for something. */
final class NotOffered extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotOffered(String reason) {
        super(reason);
    }
}
