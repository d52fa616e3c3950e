package dev.parley.store.connection;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connections to a database that is named as {@code postgresql://user:password@host:port,host:port/database?parameter=value}, with the
 * parameters of the JDBC driver. Without a password the driver looks into {@code ~/.pgpass}. The parameter {@code direct=host:port}
 * names the server itself where the hosts are those of a pooler.
 */
public final class PostgresqlUrl implements DataSource {
    private static final String FILE = "database.url";

    private static final String FORM = "postgresql://user@host/database";

    private static final int LOGIN_SECONDS = 10;

    private static final int MAX_PORT = 65_535;

    /** Parameter of Parley: the server itself, where the hosts of the URL are those of a pooler. */
    private static final String DIRECT = "direct";

    private static final String TARGET = "targetServerType";

    private static final Pattern URL =
            Pattern.compile("([^:/?#]*)://(?:([^@/?#]*)@)?([^@/?#]*)/([^/?#]+)(?:\\?([^#]*))?");

    private static final Pattern HOST = Pattern.compile("(?:[\\p{Alnum}._-]+|\\[[\\p{XDigit}:.]+])(?::(\\d{1,5}))?");

    private final String jdbc;
    private final Properties properties = new Properties();
    /** The URL without credentials. */
    private final String place;
    /** Connections to the server itself; null if these are. */
    private final @Nullable PostgresqlUrl direct;

    /** @throws NotOpenedException if it is not one */
    public PostgresqlUrl(String url) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw wrong("the URL of the database has no scheme, no host or no name"); // its text may contain a password
        }
        String scheme = parts.group(1);
        if (!scheme.equals("postgresql") && !scheme.equals("postgres")) {
            throw wrong("the database has the scheme \"" + scheme + "\"");
        }
        var parameters = new LinkedHashMap<String, String>();
        for (String each :
                parts.group(5) == null ? new String[0] : parts.group(5).split("&")) {
            String[] pair = each.split("=", 2);
            parameters.put(pair[0], pair.length == 2 ? pair[1] : "");
        }
        String user = parts.group(2);
        if (user != null) {
            String[] words = user.split(":", 2);
            properties.setProperty("user", decoded(words[0]));
            if (words.length == 2) {
                properties.setProperty("password", decoded(words[1]));
            }
        }
        properties.setProperty("ApplicationName", "parley");
        properties.setProperty("loginTimeout", Integer.toString(LOGIN_SECONDS));
        properties.setProperty("tcpKeepAlive", "true");
        String itself = parameters.remove(DIRECT);
        String hosts = requireHosts(parts.group(3));
        this.direct = itself == null
                ? null
                : new PostgresqlUrl(requireHosts(decoded(itself)), parts.group(4), parameters, properties);
        this.place = place(hosts, parts.group(4));
        if (direct != null) {
            properties.setProperty(
                    "prepareThreshold", "0"); // statements of a pooled connection may be of another server's session
        }
        this.jdbc = jdbc(hosts, parts.group(4), parameters);
    }

    private PostgresqlUrl(String hosts, String name, Map<String, String> parameters, Properties like) {
        this.place = place(hosts, name);
        this.properties.putAll(like);
        this.jdbc = jdbc(hosts, name, parameters);
        this.direct = null;
    }

    private static String place(String hosts, String name) {
        return "PostgreSQL at " + hosts + "/" + name;
    }

    /** Of several hosts the primary is meant, unless a parameter says otherwise. */
    private static String jdbc(String hosts, String name, Map<String, String> given) {
        var parameters = new LinkedHashMap<>(given);
        if (hosts.contains(",")) {
            parameters.putIfAbsent(TARGET, "primary");
        }
        String query = parameters.entrySet().stream()
                .map(each -> each.getKey() + (each.getValue().isEmpty() ? "" : "=" + each.getValue()))
                .collect(Collectors.joining("&"));
        return "jdbc:postgresql://" + hosts + "/" + name + (query.isEmpty() ? "" : "?" + query);
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException malformed) {
            throw wrong("the URL of the database has a \"%\" that is not one of a character");
        }
    }

    private static String requireHosts(String hosts) {
        for (String host : hosts.split(",", -1)) {
            Matcher parts = HOST.matcher(host);
            if (!parts.matches()) {
                throw wrong("the URL of the database has no host, or an invalid one");
            }
            int port = parts.group(1) == null ? 1 : Integer.parseInt(parts.group(1));
            if (port == 0 || port > MAX_PORT) {
                throw wrong("the URL of the database has the port " + port);
            }
        }
        return hosts;
    }

    /** Connections to the server itself, for what a pooler breaks: these, unless the URL names it. */
    public DataSource direct() {
        return direct == null ? this : direct;
    }

    /** True if the hosts are those of a pooler. */
    public boolean isPooled() {
        return direct != null;
    }

    private static NotOpenedException wrong(String problem) {
        return new NotOpenedException(Reason.SETTING, problem + " (expected: " + FORM + ")");
    }

    /** Returns the database that a data directory names; null if it has one of SQLite, or none. */
    public static @Nullable PostgresqlUrl in(Path directory) {
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
        if (Files.exists(directory.resolve(DataFiles.DATABASE))) {
            throw new NotOpenedException(
                    Reason.SETTING,
                    "directory " + directory + " has a database of SQLite (expected: one without, or no other"
                            + " database; parley migrate --to URL moves its data)");
        }
        return read;
    }

    /**
     * Writes the URL of a database into a data directory, readable by its owner only.
     *
     * @throws NotOpenedException if it has one of SQLite, or cannot be written
     */
    public static void name(Path directory, String url) {
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
