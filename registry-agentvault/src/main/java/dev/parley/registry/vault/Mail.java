package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.mail.Message;
import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Delivery of mails. Safe for any thread. */
@FunctionalInterface
interface Mail {
    /** @throws Exception to be called again later */
    void send(String to, String subject, String text) throws Exception;

    /** Drops mails. */
    Mail NONE = (to, subject, text) -> {};

    /**
     * Mails as a setting says.
     *
     * @param setting {@code smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS}, {@code smtps://…}, a directory for files, {@code log}, or null:
     *     mails are dropped
     * @throws IllegalArgumentException for any other text
     */
    static Mail of(@Nullable String setting) {
        if (setting == null) {
            return NONE;
        }
        if (setting.equals("log")) {
            Logger log = System.getLogger("dev.parley.registry");
            return (to, subject, text) -> log.log(Level.WARNING, "mail to {0}: {1}\n{2}", to, subject, text);
        }
        if (setting.matches("smtps?:.*")) {
            return Smtp.of(URI.create(setting));
        }
        Path directory = Path.of(setting);
        return (to, subject, text) -> write(directory, "To: " + to + "\nSubject: " + subject + "\n\n" + text);
    }

    private static void write(Path directory, String mail) throws IOException {
        Files.createDirectories(directory);
        Path unfinished = Files.createTempFile(directory, "mail", ".part");
        Files.writeString(unfinished, mail);
        Files.move(unfinished, directory.resolve(UUID.randomUUID() + ".eml"));
    }

    /**
     * A server of SMTP. Passwords are sent over TLS only.
     *
     * @param from address of the sender
     */
    record Smtp(
            Session session,
            @Nullable String user,
            @Nullable String password,
            String from) implements Mail {
        private static final String TIMEOUT_MS = "15000";
        private static final int SUBMISSION = 587;
        private static final int SUBMISSION_TLS = 465;

        static Smtp of(URI url) {
            String from = url.getRawQuery() == null || !url.getRawQuery().startsWith("from=")
                    ? ""
                    : URLDecoder.decode(url.getRawQuery().substring("from=".length()), UTF_8);
            if (url.getHost() == null || !from.matches("[^@\\s]+@[^@\\s]+")) {
                throw new IllegalArgumentException(
                        "registry-mail: invalid (expected: smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS)");
            }
            String protocol = url.getScheme();
            String[] login = url.getRawUserInfo() == null
                    ? new String[0]
                    : url.getRawUserInfo().split(":", 2);
            boolean hasLogin = login.length == 2;
            var properties = new Properties();
            String prefix = "mail." + protocol + ".";
            int port = protocol.equals("smtps") ? SUBMISSION_TLS : SUBMISSION;
            properties.setProperty("mail.transport.protocol", protocol);
            properties.setProperty(prefix + "host", url.getHost());
            properties.setProperty(prefix + "port", Integer.toString(url.getPort() < 0 ? port : url.getPort()));
            properties.setProperty(prefix + "auth", Boolean.toString(hasLogin));
            properties.setProperty(prefix + "starttls.enable", "true");
            properties.setProperty(prefix + "starttls.required", Boolean.toString(hasLogin));
            properties.setProperty(prefix + "ssl.checkserveridentity", "true");
            for (String timeout : new String[] {"connectiontimeout", "timeout", "writetimeout"}) {
                properties.setProperty(prefix + timeout, TIMEOUT_MS);
            }
            return new Smtp(
                    Session.getInstance(properties),
                    hasLogin ? URLDecoder.decode(login[0], UTF_8) : null,
                    hasLogin ? URLDecoder.decode(login[1], UTF_8) : null,
                    from);
        }

        @Override
        public String toString() {
            return "smtp"; // without the password
        }

        @Override
        public void send(String to, String subject, String text) throws MessagingException {
            var message = new MimeMessage(session);
            message.setFrom(new InternetAddress(from, true));
            message.setRecipient(Message.RecipientType.TO, new InternetAddress(to, true));
            message.setSubject(subject, "UTF-8");
            message.setText(text, "UTF-8");
            Transport.send(message, user, password);
        }
    }
}
