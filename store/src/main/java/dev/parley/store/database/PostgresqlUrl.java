package dev.parley.store.database;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connections to a database that is named as {@code postgresql://user:password@host:port/database?parameter=value}, with the
 * parameters of the JDBC driver. Without a password the driver looks into {@code ~/.pgpass}.
 */
public final class PostgresqlUrl implements DataSource {
    private static final String FILE = "database.url";

    private static final String FORM = "postgresql://user@host/database";

    private static final int LOGIN_SECONDS = 10;

    private static final int MAX_PORT = 65_535;

    private final String jdbc;
    private final Properties properties = new Properties();
    /** The URL without credentials. */
    private final String place;

    /** @throws NotOpenedException if it is not one */
    PostgresqlUrl(String url) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException wrong) {
            throw wrong("the database is no URL: " + wrong.getReason()); // its text may contain a password
        }
        String path = uri.getRawPath();
        String scheme = String.valueOf(uri.getScheme());
        if (!scheme.equals("postgresql") && !scheme.equals("postgres")) {
            throw wrong("the database has the scheme \"" + scheme + "\"");
        }
        if (uri.getHost() == null || path == null || path.length() < 2) {
            throw wrong("the URL of the database has no host or no name");
        }
        if (uri.getPort() == 0 || uri.getPort() > MAX_PORT) {
            throw wrong("the URL of the database has the port " + uri.getPort());
        }
        this.place = "PostgreSQL at " + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort()) + path;
        this.jdbc = "jdbc:postgresql://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort()) + path
                + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
        String user = uri.getRawUserInfo();
        if (user != null) {
            String[] parts = user.split(":", 2);
            properties.setProperty("user", URLDecoder.decode(parts[0].replace("+", "%2B"), UTF_8));
            if (parts.length == 2) {
                properties.setProperty("password", URLDecoder.decode(parts[1].replace("+", "%2B"), UTF_8));
            }
        }
        properties.setProperty("ApplicationName", "parley");
        properties.setProperty("loginTimeout", Integer.toString(LOGIN_SECONDS));
        properties.setProperty("tcpKeepAlive", "true");
    }

    private static NotOpenedException wrong(String problem) {
        return new NotOpenedException(Reason.SETTING, problem + " (expected: " + FORM + ")");
    }

    /** Returns the database that a data directory names; null if it has one of SQLite, or none. */
    static @Nullable PostgresqlUrl in(Path directory) {
        Path file = directory.resolve(FILE);
        if (Files.notExists(file)) {
            return null;
        }
        try {
            return new PostgresqlUrl(Files.readString(file).strip());
        } catch (IOException failure) {
            throw NotOpenedException.directory(directory, failure);
        } catch (NotOpenedException wrong) {
            throw new NotOpenedException(Reason.DIRECTORY, "file " + file + ": " + wrong.getMessage(), wrong);
        }
    }

    /**
     * Reads the URL of a database for a data directory.
     *
     * @throws NotOpenedException if it is not one, or the directory has a database of SQLite
     */
    public static PostgresqlUrl of(String url, Path directory) {
        var read = new PostgresqlUrl(url);
        if (Files.exists(SqliteFile.in(directory))) {
            throw new NotOpenedException(
                    Reason.SETTING,
                    "directory " + directory + " has a database of SQLite (expected: one without, or no other"
                            + " database; Parley does not move tasks from one to the other)");
        }
        return read;
    }

    /**
     * Writes the URL of a database into a data directory, readable by its owner only.
     *
     * @throws NotOpenedException if it has one of SQLite, or cannot be written
     */
    static void name(Path directory, String url) {
        of(url, directory);
        try {
            OwnersOnly.directory(directory);
            OwnersOnly.replace(directory.resolve(FILE), (url + "\n").getBytes(UTF_8));
        } catch (IOException failure) {
            throw NotOpenedException.directory(directory, failure);
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        return DriverManager.getConnection(jdbc, properties);
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return DriverManager.getConnection(jdbc, user, password);
    }

    /** The URL without credentials. */
    @Override
    public String toString() {
        return place;
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return LOGIN_SECONDS;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("wraps nothing");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
