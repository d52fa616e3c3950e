package dev.parley.store.connection;

import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import dev.parley.store.spi.StoreException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Failure to open a database of PostgreSQL, with what the operator can do. */
public final class OpeningProblem {
    /** State of a lock that is not available, as PostgreSQL has it. */
    public static final String IN_USE = "55P03";

    private static final String UNREACHABLE = "08001";

    private OpeningProblem() {}

    /** Returns the exception for a database that cannot be opened. */
    public static StoreException of(DataSource source, SQLException problem) {
        String state = String.valueOf(problem.getSQLState());
        String what = "cannot open the database" + (source instanceof PostgresqlUrl url ? ", " + url : "") + ": "
                + problem.getMessage();
        boolean hasDriver = !String.valueOf(problem.getMessage()).contains("No suitable driver");
        // The driver gives its own refusals of parameters the state of a server that does not answer.
        boolean isParameter =
                state.equals("22023") || state.equals(UNREACHABLE) && hasDriver && problem.getCause() == null;
        String advice = switch (state) {
            case UNREACHABLE ->
                !hasDriver
                        ? "add org.postgresql:postgresql to the class path"
                        : isParameter ? "" : "start the server, or name another one; it is tried for 10 s";
            case "08004", "08006" -> "start the server, or name another one";
            case "28000", "28P01" -> "name a user in the URL, and its password there or in ~/.pgpass";
            case "3D000" -> "create it: createdb --encoding UTF8 --template template0 NAME";
            case "42501" -> "the user needs the right to create tables in the schema: GRANT CREATE ON SCHEMA";
            case "3F000" -> "create the schema that the parameter currentSchema names";
            default -> "";
        };
        String cause = problem.getCause() instanceof UnknownHostException unknown
                ? " Unknown host " + unknown.getMessage() + "."
                : "";
        String message = what + cause + (advice.isEmpty() ? "" : " (" + advice + ")");
        return state.equals(IN_USE)
                ? new InUseException(what, problem)
                : new NotOpenedException(isParameter ? Reason.SETTING : Reason.SERVER, message, problem);
    }
}
