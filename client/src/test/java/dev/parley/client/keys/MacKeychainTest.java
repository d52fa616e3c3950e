package dev.parley.client.keys;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands for macOS, against a stand-in for its program: a keychain of files, and a list of what it was told. */
class MacKeychainTest extends KeyringContract {
    private static final String PROGRAM = """
            #!/bin/bash
            cd "$(dirname "$0")"
            echo "$@" >>arguments
            if [ "$1" = -i ]; then
                read -r line
                eval "set -- $line"
            fi
            verb=$1
            while [ $# -gt 0 ]; do
                case $1 in
                -s) service=$2 ;;
                -a) user=$2 ;;
                -X) secret=$2 ;;
                esac
                shift
            done
            item=item-${service//\\//_}-$user
            case $verb in
            add-generic-password)
                for ((i = 0; i < ${#secret}; i += 2)); do printf "\\\\x${secret:i:2}"; done >"$item"
                ;;
            find-generic-password)
                [ -f "$item" ] || exit 44
                cat "$item"
                echo
                ;;
            delete-generic-password)
                [ -f "$item" ] || exit 44
                rm "$item"
                ;;
            esac
            """;

    @TempDir
    Path directory;

    @BeforeEach
    void install() throws IOException {
        Path program = Files.writeString(directory.resolve("security"), PROGRAM);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }

    @Override
    Keyring keyring() {
        return new MacKeychain(directory.resolve("security").toString(), new Subprocess(Map.of()));
    }

    @Test
    void noSecretIsOnACommandLine() throws IOException {
        keyring().write("service", "user", "s3cret");

        assertThat(directory.resolve("arguments"))
                .content()
                .startsWith("-i\n")
                .doesNotContain("s3cret", "733363726574");
    }
}
