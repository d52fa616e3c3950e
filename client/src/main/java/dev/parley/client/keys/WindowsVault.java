package dev.parley.client.keys;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.keys.Subprocess.Ended;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The Credential Manager of Windows (its web credentials), through the PowerShell that every Windows has; {@code cmdkey}
 * writes credentials, but cannot read them. Names and secrets go in and out as Base64 lines.
 */
record WindowsVault(Subprocess child) implements Keyring {
    private static final int NOT_FOUND = 3;

    private static final String BEGIN = """
            $ErrorActionPreference = 'Stop'
            function Next { [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String([Console]::In.ReadLine())) }
            $service = Next; $user = Next
            [void][Windows.Security.Credentials.PasswordVault,Windows.Security.Credentials,ContentType=WindowsRuntime]
            $vault = New-Object Windows.Security.Credentials.PasswordVault
            """;
    private static final String FIND =
            BEGIN + "try { $found = $vault.Retrieve($service, $user) } catch { exit " + NOT_FOUND + " }\n";
    private static final String READ = FIND + """
            $found.RetrievePassword()
            [Console]::Out.Write([Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($found.Password)))
            """;
    private static final String WRITE = BEGIN + """
            $secret = Next
            $vault.Add((New-Object Windows.Security.Credentials.PasswordCredential($service, $user, $secret)))
            """;
    private static final String REMOVE = FIND + "$vault.Remove($found)\n";

    @Override
    public Optional<String> read(String service, String user) {
        Ended ended = run(READ, service, user);
        if (ended.status() == NOT_FOUND) {
            return Optional.empty();
        }
        if (ended.status() != 0) {
            throw Subprocess.failure("be read", ended);
        }
        return Optional.of(new String(Base64.getDecoder().decode(ended.out().strip()), UTF_8));
    }

    @Override
    public void write(String service, String user, String secret) {
        Ended ended = run(WRITE, service, user, secret);
        if (ended.status() != 0) {
            throw Subprocess.failure("be written", ended);
        }
    }

    @Override
    public boolean remove(String service, String user) {
        Ended ended = run(REMOVE, service, user);
        if (ended.status() != 0 && ended.status() != NOT_FOUND) {
            throw Subprocess.failure("be changed", ended);
        }
        return ended.status() == 0;
    }

    private Ended run(String script, String... lines) {
        var input = new StringBuilder();
        for (String line : lines) {
            input.append(Base64.getEncoder().encodeToString(line.getBytes(UTF_8)))
                    .append('\n');
        }
        return child.run(
                List.of("powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", script),
                input.toString());
    }
}
