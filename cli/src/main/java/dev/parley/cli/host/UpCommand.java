package dev.parley.cli.host;

import static java.util.Objects.requireNonNull;

import dev.parley.agents.DemoAgents;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.command.Setting;
import dev.parley.cli.command.Settings;
import dev.parley.cli.command.UpSettings;
import dev.parley.cli.connection.CardSignatures;
import dev.parley.cli.connection.Problems;
import dev.parley.cli.output.Logs;
import dev.parley.cli.telemetry.Telemetry;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.ExampleCall;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.hub.HubSettings;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.settings.SettingReader;
import dev.parley.protocol.settings.SettingType;
import dev.parley.protocol.support.Nearest;
import dev.parley.store.StoreSettings;
import dev.parley.store.database.Database;
import dev.parley.store.spi.InUseException;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.ConformanceAgent;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import dev.parley.trust.PolicyFile;
import dev.parley.trust.TrustSettings;
import dev.parley.trust.cards.CardKeys;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** {@code parley up}: a hub in the foreground, until the process is stopped. */
public final class UpCommand {
    private static final String CONFORMANCE = "conformance";
    private static final String ECHO = "echo";
    private static final String AUTHENTICATION = "see docs/authentication.md";

    private UpCommand() {}

    public static Command command() {
        return Command.of(UpCommand::run)
                .hub()
                .footer("Each of these can also be set as PARLEY_… in the environment, or in the --config file.");
    }

    /** Settings, and agents to host by their names, the default one first; null for one that is elsewhere. Read for each start. */
    private record Contents(
            UpSettings settings,
            HubSettings all,
            List<AgentArchives.Contents> archives,
            Map<String, @Nullable Agent> agents) {
        static Contents read(Invocation call, List<AgentArchives.Contents> archives) {
            SettingReader reader = call.settings().reader(Setting.Scope.HUB);
            UpSettings settings = UpSettings.read(reader);
            HubSettings all = hubSettings(reader);
            return new Contents(settings, all, archives, UpCommand.agents(settings, all, archives));
        }
    }

    private static int run(Invocation call) throws InterruptedException {
        UpSettings settings = UpSettings.read(call.settings().reader(Setting.Scope.HUB));
        if (settings.logFormat().equals("json")) {
            Logs.json();
        }
        call.settings()
                .addressesOfServices(Setting.Scope.HUB)
                .forEach(variable -> Logs.note(
                        call.output(),
                        variable + ": ignored, for it is the address of a service of Kubernetes"
                                + " (enableServiceLinks: false keeps it from the container)"));
        Contents first = Contents.read(call, archives(call, settings));
        HubSettings all = first.all();
        Telemetry telemetry =
                Telemetry.start(settings.otlpEndpoint(), call.around().environment());
        var hubs = new HubSuccession(
                ended -> {
                    List<AgentArchives.Contents> archives = archives(call, settings); // with new agents
                    return () -> start(call, Contents.read(call, archives), ended, telemetry);
                },
                text -> Logs.note(call.output(), text));
        var stopped = new CountDownLatch(1);
        call.around().interruption().react(() -> {
            Duration drain = all.server().drain();
            Logs.note(call.output(), "stopping: calls in progress have " + drain.toSeconds() + " s to end");
            hubs.stop();
            if (telemetry != null) {
                telemetry.close(); // sends what is left
            }
            Logs.note(call.output(), "stopped");
            stopped.countDown();
            return 0;
        });
        Hub hub = hubs.begin(() -> start(call, first, null, telemetry));
        if (hub != null) {
            announce(call, settings, all, hub, first.agents());
            OldGeneration.bound();
            hubs.serve();
        }
        stopped.await();
        return 0;
    }

    private static List<AgentArchives.Contents> archives(Invocation call, UpSettings settings) {
        return settings.agents().stream()
                .map(archive -> AgentArchives.read(call.path(archive)))
                .toList();
    }

    private static Map<String, @Nullable Agent> agents(
            UpSettings settings, HubSettings all, List<AgentArchives.Contents> archives) {
        var byName = new LinkedHashMap<String, @Nullable Agent>();
        archives.forEach(archive -> archive.agents().forEach(agent -> add(byName, agent)));
        if (!settings.noDemo()) {
            for (Agent demo : DemoAgents.all()) {
                byName.putIfAbsent(demo.name(), demo); // an agent of the user wins over a demo agent of its name
            }
        }
        String named = settings.defaultAgent();
        if (CONFORMANCE.equals(named) && !byName.containsKey(CONFORMANCE)) {
            byName.put(CONFORMANCE, ConformanceAgent.create());
        }
        Set<String> builtIn = atPaths(all, archives);
        for (HubExtensionSource extension : all.extensions()) {
            for (String remote : extension.agents()) {
                boolean isTaken = byName.containsKey(remote) || builtIn.contains(remote);
                if (isTaken && !extension.isOptional()) {
                    throw CommandException.usage(
                            "--remote: " + remote + ": an agent of the hub has this name", "take another name");
                }
                if (!isTaken) {
                    byName.put(remote, null);
                }
            }
        }
        var guarded = new HashSet<>(all.trust().ofAgents().keySet());
        guarded.removeAll(byName.keySet());
        if (byName.isEmpty() || named != null && !byName.containsKey(named) || !builtIn.containsAll(guarded)) {
            inDatabase(all).forEach(route -> byName.putIfAbsent(route, null));
        }
        if (named != null && !byName.containsKey(named)) {
            throw CommandException.usage(
                    "--default-agent: no agent " + named + " (expected: one of " + String.join(", ", byName.keySet())
                            + ")",
                    byName.isEmpty()
                            ? "leave --no-demo out"
                            : "did you mean " + Nearest.to(named, byName.keySet()) + "?");
        }
        if (!byName.isEmpty()) {
            String first = named != null
                    ? named
                    : byName.containsKey(ECHO) ? ECHO : byName.sequencedKeySet().getFirst();
            byName.putFirst(first, byName.get(first));
        }
        return byName;
    }

    /** Names of agents that extensions have in the database; none if there is no database. */
    private static Set<String> inDatabase(HubSettings all) {
        var names = new LinkedHashSet<String>();
        StoreSettings store = all.store();
        if (store.inMemory()) {
            return names;
        }
        try (Database database = Database.openForReading(store.data(), store.database())) {
            all.extensions().forEach(source -> names.addAll(source.agents(database)));
        } catch (NotOpenedException none) {
            if (none.reason() != NotOpenedException.Reason.DIRECTORY) {
                throw explained(all, none);
            }
        } catch (IllegalArgumentException unreadable) {
            throw explained(all, unreadable);
        }
        return names;
    }

    private static void add(Map<String, @Nullable Agent> byName, Agent agent) {
        if (byName.putIfAbsent(agent.name(), agent) != null) {
            throw CommandException.usage(
                    "agent \"" + agent.name() + "\": duplicate name in --agents", "leave one of them out");
        }
    }

    /** @param ended hub that this one replaces; null for the first one */
    private static Hub start(Invocation call, Contents contents, @Nullable Hub ended, @Nullable Telemetry telemetry) {
        HubSettings all = contents.all();
        Map<String, @Nullable Agent> agents = contents.agents();
        List<AgentArchives.Contents> archives = contents.archives();
        HubBuilder hub = Hub.builder()
                .settings(call.settings().reader(Setting.Scope.HUB))
                .program(UpSettings::read)
                .onWaiting(reason -> Logs.note(call.output(), reason))
                .agents(agents.values().stream().filter(Objects::nonNull).toArray(Agent[]::new));
        agents.keySet().stream().findFirst().ifPresent(hub::defaultAgent);
        archives.forEach(archive -> hub.extensions(archive.extensions()));
        AgentArchives.ofHub(archives).forEach(hub::extension);
        requireTogether(call.settings(), all);
        requireIssuer(all.trust());
        configure(call, contents.settings(), all, hub);
        if (telemetry != null) {
            hub.openTelemetry(telemetry.sdk());
        }
        if (ended != null) {
            hub.replaces(ended);
        }
        requireHosted(all, agents.keySet(), archives);
        try {
            Hub started = hub.start();
            if (telemetry != null) {
                telemetry.show(started);
            }
            return started;
        } catch (RuntimeException failure) {
            throw explained(all, failure);
        }
    }

    /** Reads the settings of the hub, each once to be refused with its source. */
    private static HubSettings hubSettings(SettingReader reader) {
        var unused = CommandException.reading("", AUTHENTICATION, () -> TrustSettings.read(reader));
        return CommandException.reading("", "see parley up --help", () -> HubSettings.read(reader));
    }

    /** Configures {@code hub} from the files and the environment of this program. */
    private static void configure(Invocation call, UpSettings settings, HubSettings all, HubBuilder hub) {
        TrustSettings trust = all.trust();
        Callers.Builder callers = Callers.builder().environment(call.around().environment());
        hub.callers(CommandException.reading(
                "", AUTHENTICATION, () -> (trust.callers() == null ? callers : callers.file(trust.callers())).build()));
        Path policy = trust.policy();
        if (policy != null) {
            hub.policy(CommandException.reading("", "see docs/authorization.md", () -> PolicyFile.read(policy)));
        }
        if (!settings.cardKeys().isEmpty()) {
            hub.cardKeys(CardSignatures.keys(call, settings.cardKeys()));
        }
        CommandException.reading(
                        "invalid encryption key: ",
                        "openssl rand -base64 32 makes one",
                        () -> Optional.ofNullable(all.store().encryption()))
                .ifPresent(hub::encryption);
    }

    /** Refuses settings that need or exclude each other. */
    private static void requireTogether(Settings settings, HubSettings all) {
        StoreSettings store = all.store();
        if (store.inMemory() && store.database() != null) {
            throw CommandException.usage("--database and --in-memory together (expected: one of them)", null);
        }
        if ((all.server().tlsCertificate() == null) != (all.server().tlsKey() == null)) {
            throw CommandException.usage(
                    "TLS needs both a certificate and its key", "give --tls-cert and --tls-key together");
        }
        Integer port = all.adminPort();
        if (port == null && settings.source(Setting.hub("admin-bind")) != Settings.Source.DEFAULT) {
            throw CommandException.usage(
                    "--admin-bind without --admin-port (expected: both, or neither)",
                    "a separate port for operators needs --admin-port");
        }
        if (port != null && port != 0 && port == all.server().port()) {
            throw CommandException.usage(
                    "--port and --admin-port are both " + port + " (expected: two ports)",
                    "leave --admin-port out, and operators are answered at --port");
        }
    }

    /** Refuses authentication by OpenID Connect without an issuer. */
    private static void requireIssuer(TrustSettings trust) {
        if (!trust.issuers().isEmpty()) {
            return;
        }
        boolean ofAgent = trust.ofAgents().values().stream()
                .anyMatch(authentication -> authentication.schemes().contains(Scheme.OPEN_ID));
        if (ofAgent || trust.authentication().schemes().contains(Scheme.OPEN_ID)) {
            throw CommandException.usage(
                    (trust.authentication().schemes().contains(Scheme.OPEN_ID) ? "--auth" : "--agent-auth")
                            + ": openIdConnect without --issuer (expected: the issuer of the tokens)",
                    "such as --issuer https://login.example.com; see docs/authentication.md");
        }
    }

    /** Refuses names of agents that are not hosted: a misspelt one would leave an agent unguarded. */
    private static void requireHosted(HubSettings all, Set<String> agents, List<AgentArchives.Contents> archives) {
        var names = new LinkedHashSet<String>(agents);
        names.addAll(atPaths(all, archives));
        for (String guarded : all.trust().ofAgents().keySet()) {
            if (!names.contains(guarded)) {
                throw CommandException.usage(
                        "--agent-auth: no agent " + guarded + " (expected: one of " + String.join(", ", names)
                                + ", or of --remote)",
                        "did you mean " + Nearest.to(guarded, names) + "?");
            }
        }
    }

    /** Names of agents of extensions. */
    private static Set<String> atPaths(HubSettings all, List<AgentArchives.Contents> archives) {
        var names = new LinkedHashSet<String>();
        Stream.concat(all.extensions().stream(), AgentArchives.ofHub(archives).stream())
                .forEach(source -> names.addAll(source.paths().values()));
        return names;
    }

    private static RuntimeException explained(HubSettings all, RuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException) {
                Integer adminPort = all.adminPort();
                boolean admin = adminPort != null
                        && String.valueOf(failure.getMessage()).contains(":" + adminPort + ":");
                int port = admin ? requireNonNull(adminPort) : all.server().port();
                String address = admin ? all.adminBind() : all.server().bind();
                return CommandException.of(
                        Kind.PORT,
                        "port " + port + " of " + address + " cannot be opened: " + cause.getMessage(),
                        "another hub may be running; stop it, or take another port with "
                                + (admin ? "--admin-port " : "--port ") + (port + 1) + " (0: any free one)",
                        failure);
            }
        }
        if (failure instanceof StoreException store) {
            CommandException problem = Problems.of(store);
            CommandException started = problem.withMessage("the hub did not start: " + problem.message());
            return store instanceof InUseException ? started.withHint(advice(all)) : started;
        }
        boolean settings = failure instanceof IllegalArgumentException
                || failure instanceof UncheckedIOException; // a file of a setting that cannot be read
        return CommandException.of(
                settings ? Kind.USAGE : Kind.INTERNAL,
                "the hub did not start: " + failure.getMessage(),
                settings ? "parley config show prints each setting and its source" : null,
                failure);
    }

    /** Returns what the operator can do about a database that another hub has open. */
    private static String advice(HubSettings all) {
        if (!Database.isNamed(all.store().data()) && all.store().database() == null) {
            return "another hub may be running; stop it, or name another directory with --data";
        }
        return all.store().cluster()
                ? "stop that hub, or start it with --cluster, too"
                : "stop that hub, name another database with --database, or start both with --cluster";
    }

    /** Prints the URL, the agents, and commands to try. */
    private static void announce(
            Invocation call, UpSettings settings, HubSettings all, Hub hub, Map<String, @Nullable Agent> agents) {
        List<String> auth =
                SettingType.LIST.parser().apply(String.join(",", call.settings().texts(Setting.hub("auth"))));
        String url = hub.url();
        call.output().result(() -> json(hub, agents), page -> {
            page.field("URL", url);
            if (!hub.adminUrl().equals(url)) {
                page.field("Admin-URL", hub.adminUrl());
            }
            if (!auth.equals(List.of("none"))) {
                page.field("Authentication", String.join(", ", auth));
            }
            hub.bootstrapKey().ifPresent(key -> page.field("Bootstrap-Key", key + " (scope admin; shown this once)"));
            if (!settings.cardKeys().isEmpty()) {
                page.field("Card-Keys", url + CardKeys.PATH);
            }
            agents.forEach(
                    (name, agent) -> page.field("Agent", name + " - " + description(agent) + " - " + card(url, name)));
        });
        if (call.output().isJson()) {
            return;
        }
        if (agents.isEmpty()) {
            call.output()
                    .print("\nNo agents yet. A route to an agent elsewhere:\n  parley gateway add NAME URL --url " + url
                            + "\n");
            return;
        }
        String first = agents.keySet().iterator().next();
        boolean byKey = auth.contains("required") || auth.contains("apiKey");
        String agent = url + "/agents/" + first;
        Optional<ExampleCall> example =
                ExampleCall.of(agent, all.dialectsOfAgents().getOrDefault(first, all.dialects()));
        call.output()
                .print("\nTry, in another terminal:\n"
                        + (byKey ? "  export A2ACLI_API_KEY=…   # of a caller\n" : "")
                        + "  parley send -a " + agent + " \"hello\"\n"
                        + example.map(it -> "  " + it.command() + (byKey ? " -H \"X-Api-Key: $A2ACLI_API_KEY\"" : "")
                                        + "\n")
                                .orElse("")
                        + (example.isPresent() && example.get().listsTasks()
                                ? "  parley task list -a " + agent + "\n"
                                : ""));
    }

    private static byte[] json(Hub hub, Map<String, @Nullable Agent> agents) {
        String url = hub.url();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("url", url);
        if (!hub.adminUrl().equals(url)) {
            all.put("adminUrl", hub.adminUrl());
        }
        hub.bootstrapKey().ifPresent(key -> all.put("bootstrapKey", key));
        var shown = new ArrayList<Map<String, Object>>();
        agents.forEach((name, agent) -> {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("name", name);
            members.put("description", description(agent));
            members.put("card", card(url, name));
            shown.add(members);
        });
        all.put("agents", shown);
        return Json.write(all);
    }

    private static String description(@Nullable Agent agent) {
        var nowhere = new AgentCard.Interface("", AgentCard.Interface.JSONRPC, null, "1.0");
        return agent == null ? "a remote agent" : agent.card(List.of(nowhere)).description();
    }

    private static String card(String url, String agent) {
        return url + "/agents/" + agent + "/.well-known/agent-card.json";
    }
}
