package dev.parley.guards.planted.forbidden;

import io.grpc.Status;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.xml.parsers.DocumentBuilderFactory;

/** A method for each use that a rule forbids. */
public final class Forbidden {
    private Forbidden() {}

    static HeaderName seesHelidon() {
        return HeaderNames.ACCEPT;
    }

    static Status seesGrpc() {
        return Status.OK;
    }

    static ObjectInputStream readsObjects(InputStream in) throws IOException {
        return new ObjectInputStream(in);
    }

    static DocumentBuilderFactory readsXml() {
        return DocumentBuilderFactory.newInstance();
    }

    static ProcessBuilder buildsAProcess() {
        return new ProcessBuilder("true");
    }

    static Process executes(String... command) throws IOException {
        return Runtime.getRuntime().exec(command);
    }

    static Class<?> loadsAClass(String name) throws ClassNotFoundException {
        return Class.forName(name);
    }

    static synchronized void waitsForAMonitor() throws InterruptedException {
        while (true) {
            Forbidden.class.wait();
        }
    }

    static String readsAText(ResultSet rows) throws SQLException {
        return rows.getString(1);
    }
}
