/** Commands that extensions add to the program {@code parley}. */
module dev.parley.command {
    requires static transitive org.jspecify;
    requires transitive dev.parley.client;
    requires transitive info.picocli;

    exports dev.parley.command;
}
