package dev.parley.cli;

import dev.parley.agents.DemoAgents;
import dev.parley.client.webhooks.WebhookRule;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.TaskLimits;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Nearest;
import dev.parley.store.InUseException;
import dev.parley.store.Sealing;
import dev.parley.store.StoreException;
import dev.parley.testkit.ConformanceAgent;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.CardKeys;
import dev.parley.trust.PolicyFile;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley up}: a hub in the foreground, until the process is stopped. */
final class UpCommand implements Command {
    private static final String CONFORMANCE = "conformance";
    private static final String ECHO = "echo";

    @Override
    public void describe(CommandSpec spec) {
        for (Setting<Boolean> setting : List.of(Setting.VERBOSE, Setting.DEBUG)) {
            spec.addOption(Commands.option(setting, true));
        }
        spec.addOption(Commands.option(Setting.OUTPUT, true));
        spec.usageMessage()
                .footer("", "Each of these can also be set as PARLEY_… in the environment, or in the --config file.");
    }

    @Override
    public Setting.Scope scope() {
        return Setting.Scope.HUB;
    }

    @Override
    public List<Setting<?>> relevant() {
        return Setting.of(Setting.Scope.HUB);
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        if (call.settings().require(Setting.LOG_FORMAT).equals("json")) {
            Logs.json();
        }
        List<AgentArchives.Contents> archives = archives(call);
        List<Agent> agents = agents(call, archives);
        OpenTelemetrySdk telemetry =
                Telemetry.start(call.get(Setting.OTLP_ENDPOINT), call.around().environment());
        Hub hub = start(call, agents, archives, telemetry);
        var stopped = new CountDownLatch(1);
        call.around().interruption().react(() -> {
            Duration drain = call.settings().require(Setting.DRAIN);
            Logs.note(call.output(), "stopping: calls in progress have " + drain.toSeconds() + " s to end");
            hub.close();
            if (telemetry != null) {
                telemetry.close(); // sends what is left
            }
            Logs.note(call.output(), "stopped");
            stopped.countDown();
            return 0;
        });
        announce(call, hub, agents);
        OldGeneration.bound();
        stopped.await();
        return 0;
    }

    private static List<AgentArchives.Contents> archives(Invocation call) {
        return list(call.get(Setting.AGENTS)).stream()
                .map(archive -> AgentArchives.read(call.around().path(archive)))
                .toList();
    }

    /** The agents to host, the default one first. */
    private static List<Agent> agents(Invocation call, List<AgentArchives.Contents> archives) {
        var byName = new LinkedHashMap<String, Agent>();
        archives.forEach(archive -> archive.agents().forEach(agent -> add(byName, agent)));
        if (!call.settings().isOn(Setting.NO_DEMO)) {
            for (Agent demo : DemoAgents.all()) {
                byName.putIfAbsent(demo.name(), demo); // one's own agent of that name is meant to be used
            }
        }
        String wanted = call.get(Setting.DEFAULT_AGENT);
        if (CONFORMANCE.equals(wanted) && !byName.containsKey(CONFORMANCE)) {
            byName.put(CONFORMANCE, ConformanceAgent.create());
        }
        if (byName.isEmpty()) {
            throw CliException.usage("no agents to host", "name a jar with --agents, or leave --no-demo out");
        }
        if (wanted != null && !byName.containsKey(wanted)) {
            throw CliException.usage(
                    "--default-agent: no agent " + wanted + " (expected: one of " + String.join(", ", byName.keySet())
                            + ")",
                    "did you mean " + Nearest.to(wanted, byName.keySet()) + "?");
        }
        return defaultFirst(byName, wanted);
    }

    private static void add(Map<String, Agent> byName, Agent agent) {
        if (byName.putIfAbsent(agent.name(), agent) != null) {
            throw CliException.usage("--agents: two agents are called " + agent.name(), "leave one of them out");
        }
    }

    private static List<Agent> defaultFirst(Map<String, Agent> byName, @Nullable String wanted) {
        String name = wanted != null
                ? wanted
                : byName.containsKey(ECHO) ? ECHO : byName.keySet().iterator().next();
        var ordered = new ArrayList<>(byName.values());
        ordered.removeIf(agent -> agent.name().equals(name));
        Agent first = byName.get(name);
        if (first != null) {
            ordered.addFirst(first);
        }
        return ordered;
    }

    private static Hub start(
            Invocation call,
            List<Agent> agents,
            List<AgentArchives.Contents> archives,
            @Nullable OpenTelemetrySdk telemetry) {
        HubBuilder hub = Hub.builder()
                .agents(agents.toArray(Agent[]::new))
                .defaultAgent(agents.getFirst().name());
        archives.forEach(archive -> hub.extensions(archive.extensions()));
        configure(call, hub);
        if (telemetry != null) {
            hub.openTelemetry(telemetry);
        }
        requireHosted(call.settings(), agents);
        try {
            return hub.start();
        } catch (RuntimeException failure) {
            throw explained(call, failure);
        }
    }

    /** Hands the settings to {@code hub}: each one once. */
    static void configure(Invocation call, HubBuilder hub) {
        Settings settings = call.settings();
        hub.port(settings.require(Setting.PORT))
                .bind(settings.require(Setting.BIND))
                .maxBodyBytes(settings.require(Setting.MAX_BODY))
                .taskLimits(limits(settings))
                .mostAgents(settings.require(Setting.MAX_CALL_DEPTH))
                .drain(settings.require(Setting.DRAIN))
                .strictVersionHeader(settings.isOn(Setting.STRICT_VERSION_HEADER))
                .statusesOf100(settings.require(Setting.STATUS_PROFILE).equals("1.0.0"))
                .strictKnowledgeStatuses(
                        settings.require(Setting.KG_HTTP_STATUS).equals("strict"))
                .lenientMethods(settings.isOn(Setting.LENIENT_METHODS))
                .grpcOnCards(settings.isOn(Setting.GRPC_ON_CARDS))
                .lenientBodies(settings.isOn(Setting.LENIENT_BODIES))
                .mergedLegacyAnswers(settings.isOn(Setting.MERGED_LEGACY_ANSWERS))
                .allowedHosts(list(settings.get(Setting.ALLOWED_HOST)))
                .corsOrigins(list(settings.get(Setting.CORS_ORIGIN)))
                .webhookAllow(webhookHosts(settings));
        operators(settings, hub);
        dialects(settings, hub);
        authentication(call, hub);
        cardKeys(call, hub);
        encryption(call, hub);
        String database = settings.get(Setting.DATABASE);
        if (settings.isOn(Setting.IN_MEMORY)) {
            if (database != null) {
                throw CliException.usage("--database and --in-memory together (expected: one of them)", null);
            }
            hub.inMemory();
        } else {
            hub.data(call.around().path(settings.require(Setting.DATA)));
        }
        if (database != null) {
            hub.database(database);
        }
        Duration retention = settings.require(Setting.RETENTION);
        if (!retention.isZero()) {
            hub.retention(retention);
        }
        URI publicUrl = settings.get(Setting.PUBLIC_URL);
        if (publicUrl != null) {
            hub.publicUrl(publicUrl.toString());
        }
        Path certificate = settings.get(Setting.TLS_CERT);
        Path key = settings.get(Setting.TLS_KEY);
        if (certificate != null && key != null) {
            hub.tls(call.around().path(certificate), call.around().path(key));
            Path authorities = settings.get(Setting.TLS_CLIENT_CA);
            if (authorities != null) {
                hub.clientAuthorities(call.around().path(authorities));
            }
        } else if (certificate != null || key != null) {
            throw CliException.usage(
                    "TLS needs both a certificate and its key", "give --tls-cert and --tls-key together");
        }
    }

    private static TaskLimits limits(Settings settings) {
        try {
            return new TaskLimits(
                    settings.require(Setting.MAX_TURNS),
                    settings.require(Setting.MAX_EVENTS),
                    settings.require(Setting.MAX_TASK));
        } catch (IllegalArgumentException tooMuch) { // the others are counts, which are good from 1 on
            throw settings.invalid(Setting.MAX_TASK, "a size from 1B to 1GB");
        }
    }

    private static List<String> webhookHosts(Settings settings) {
        List<String> hosts = list(settings.get(Setting.WEBHOOK_ALLOW));
        try {
            WebhookRule.allowing(hosts);
        } catch (IllegalArgumentException wrong) {
            throw settings.invalid(Setting.WEBHOOK_ALLOW, "host names, addresses, or ranges such as 10.1.0.0/16");
        }
        return hosts;
    }

    private static void operators(Settings settings, HubBuilder hub) {
        Integer port = settings.get(Setting.ADMIN_PORT);
        if (port == null) {
            if (settings.source(Setting.ADMIN_BIND) != Settings.Source.DEFAULT) {
                throw CliException.usage(
                        "--admin-bind without --admin-port (expected: both, or neither)",
                        "a separate port for operators needs --admin-port");
            }
            return;
        }
        if (port != 0 && port.equals(settings.require(Setting.PORT))) {
            throw CliException.usage(
                    "--port and --admin-port are both " + port + " (expected: two ports)",
                    "leave --admin-port out, and operators are answered at --port");
        }
        hub.adminPort(port).adminBind(settings.require(Setting.ADMIN_BIND));
    }

    /** Callers by this scheme are known only to an issuer. */
    private static void requireIssuer(Settings settings) {
        for (Setting<List<String>> setting : List.of(Setting.AUTH, Setting.AGENT_AUTH)) {
            boolean wanted = list(settings.get(setting)).stream()
                    .anyMatch(named -> named.matches("(.*[=+])?openIdConnect(\\+.*)?"));
            if (wanted && list(settings.get(Setting.ISSUER)).isEmpty()) {
                throw CliException.usage(
                        setting.flag() + ": openIdConnect without --issuer (expected: the issuer of the tokens)",
                        "such as --issuer https://login.example.com; see docs/authentication.md");
            }
        }
    }

    private static void dialects(Settings settings, HubBuilder hub) {
        try {
            hub.dialects(settings.require(Setting.DIALECTS));
            byAgent(settings, Setting.AGENT_DIALECTS).forEach(hub::dialects);
        } catch (IllegalArgumentException unknown) {
            throw CliException.usage(String.valueOf(unknown.getMessage()), "see parley up --help");
        }
    }

    private static void authentication(Invocation call, HubBuilder hub) {
        Settings settings = call.settings();
        requireIssuer(settings);
        try {
            hub.service(settings.require(Setting.AUTH_SERVICE))
                    .callers(callers(call))
                    .authentication(Authentication.named(settings.require(Setting.AUTH))
                            .withScopes(list(settings.get(Setting.AUTH_SCOPES))));
            Path policy = settings.get(Setting.POLICY);
            if (policy != null) {
                hub.policy(PolicyFile.read(call.around().path(policy)));
            }
            list(settings.get(Setting.ISSUER)).forEach(hub::issuer);
            hub.audiences(list(settings.get(Setting.AUDIENCE)));
            String groupClaim = settings.get(Setting.GROUP_CLAIM);
            if (groupClaim != null) {
                hub.groupClaim(groupClaim);
            }
            hub.protectCards(settings.isOn(Setting.PROTECT_CARDS));
            hub.apiKeyHeader(settings.require(Setting.API_KEY_HEADER));
            hub.auditCalls("all".equals(settings.get(Setting.AUDIT)));
            Map<String, List<String>> scopes = byAgent(settings, Setting.AGENT_AUTH_SCOPES);
            byAgent(settings, Setting.AGENT_AUTH)
                    .forEach((agent, schemes) -> hub.authentication(
                            agent, Authentication.named(schemes).withScopes(list(scopes.remove(agent)))));
            if (!scopes.isEmpty()) {
                throw new IllegalArgumentException("agent-auth-scopes: "
                        + scopes.keySet().iterator().next() + " (expected: an agent of --agent-auth)");
            }
        } catch (IllegalArgumentException | UncheckedIOException wrong) {
            throw CliException.usage(String.valueOf(wrong.getMessage()), "see docs/authentication.md");
        }
    }

    private static void encryption(Invocation call, HubBuilder hub) {
        Settings settings = call.settings();
        List<String> keys = list(settings.get(Setting.ENCRYPTION_KEY));
        Path file = settings.get(Setting.ENCRYPTION_KEY_FILE);
        if (!keys.isEmpty() && file != null) {
            throw CliException.usage(
                    "--encryption-key and --encryption-key-file together (expected: one of them)", null);
        }
        try {
            if (!keys.isEmpty()) {
                hub.encryption(Sealing.of(keys));
            } else if (file != null) {
                hub.encryption(Sealing.read(call.around().path(file)));
            }
        } catch (IOException | IllegalArgumentException wrong) {
            throw CliException.usage(
                    "invalid encryption key: " + wrong.getMessage(), "openssl rand -base64 32 makes one");
        }
        hub.encryptTasks(settings.isOn(Setting.ENCRYPT_TASKS));
    }

    private static void cardKeys(Invocation call, HubBuilder hub) {
        List<String> files = list(call.get(Setting.CARD_KEY));
        if (!files.isEmpty()) {
            hub.cardKeys(CardSignCommand.keys(call, files));
        }
    }

    /** A misspelt name would leave the agent that is meant unguarded. */
    private static void requireHosted(Settings settings, List<Agent> agents) {
        List<String> names = agents.stream().map(Agent::name).toList();
        for (String guarded : byAgent(settings, Setting.AGENT_AUTH).keySet()) {
            if (!names.contains(guarded)) {
                throw CliException.usage(
                        "--agent-auth: no agent " + guarded + " (expected: one of " + String.join(", ", names) + ")",
                        "did you mean " + Nearest.to(guarded, names) + "?");
            }
        }
    }

    private static Callers callers(Invocation call) {
        Callers.Builder callers = Callers.builder().environment(call.around().environment());
        Path file = call.settings().get(Setting.CALLERS);
        if (file != null) {
            callers.file(call.around().path(file));
        }
        return callers.build();
    }

    /** The values of a setting that names an agent in each: {@code echo=A+B}. */
    private static Map<String, List<String>> byAgent(Settings settings, Setting<List<String>> setting) {
        var byAgent = new LinkedHashMap<String, List<String>>();
        for (String entry : list(settings.get(setting))) {
            int equals = entry.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException(
                        setting.name() + ": " + entry + " (expected: " + setting.label() + ")");
            }
            byAgent.put(
                    entry.substring(0, equals),
                    List.of(entry.substring(equals + 1).split("\\+", -1)));
        }
        return byAgent;
    }

    private static List<String> list(@Nullable List<String> values) {
        return values == null ? List.of() : values;
    }

    private static RuntimeException explained(Invocation call, RuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException) {
                Integer adminPort = call.get(Setting.ADMIN_PORT);
                boolean admin = adminPort != null
                        && String.valueOf(failure.getMessage()).contains(":" + adminPort + ":");
                int port = call.settings().require(admin ? Setting.ADMIN_PORT : Setting.PORT);
                String address = call.settings().require(admin ? Setting.ADMIN_BIND : Setting.BIND);
                return new CliException(
                        Problem.local(
                                LocalError.PORT,
                                "port " + port + " of " + address + " cannot be opened: " + cause.getMessage(),
                                "another hub may be running; stop it, or take another port with "
                                        + (admin ? "--admin-port " : "--port ") + (port + 1) + " (0: any free one)"),
                        failure);
            }
        }
        if (failure instanceof StoreException store) {
            Problem problem = Problems.of(store);
            Problem started = store instanceof InUseException
                    ? problem.withHint("another hub may be running; stop it, or name another directory with --data")
                    : problem;
            return new CliException(started.prefixed("the hub did not start: "), failure);
        }
        boolean settings = failure instanceof IllegalArgumentException;
        return new CliException(
                Problem.local(
                        settings ? LocalError.USAGE : LocalError.INTERNAL,
                        "the hub did not start: " + failure.getMessage(),
                        settings ? "parley config show tells each setting and where it comes from" : null),
                failure);
    }

    /** The URL, the agents, and three things to try. */
    private static void announce(Invocation call, Hub hub, List<Agent> agents) {
        String url = hub.url();
        String first = agents.getFirst().name();
        call.output().result(() -> json(hub, agents), page -> {
            page.field("URL", url);
            if (!hub.adminUrl().equals(url)) {
                page.field("Admin-URL", hub.adminUrl());
            }
            List<String> auth = call.settings().require(Setting.AUTH);
            if (!auth.equals(List.of("none"))) {
                page.field("Authentication", String.join(", ", auth));
            }
            hub.bootstrapKey().ifPresent(key -> page.field("Bootstrap-Key", key + " (scope admin; shown this once)"));
            if (!list(call.get(Setting.CARD_KEY)).isEmpty()) {
                page.field("Card-Keys", url + CardKeys.PATH);
            }
            for (Agent agent : agents) {
                page.field("Agent", agent.name() + " - " + description(agent) + " - " + card(url, agent));
            }
        });
        if (call.output().isJson()) {
            return;
        }
        boolean byKey = call.settings().require(Setting.AUTH).stream()
                .anyMatch(scheme -> scheme.equals("required") || scheme.equals("apiKey"));
        String body = "{\"message\":{\"messageId\":\"1\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello\"}]}}";
        call.output()
                .print("\nTry, in another terminal:\n"
                        + (byKey ? "  export A2ACLI_API_KEY=…   # of a caller\n" : "")
                        + "  parley send -a " + url + "/agents/" + first + " \"hello\"\n"
                        + "  curl -s " + url + "/agents/" + first
                        + "/message:send -H 'Content-Type: application/json' -H 'A2A-Version: 1.0'"
                        + (byKey ? " -H \"X-Api-Key: $A2ACLI_API_KEY\"" : "") + " -d '" + body + "'\n"
                        + "  parley task list -a " + url + "/agents/" + first + "\n");
    }

    private static byte[] json(Hub hub, List<Agent> agents) {
        String url = hub.url();
        var shown = agents.stream()
                .map(agent -> {
                    Map<String, Object> one = new LinkedHashMap<>();
                    one.put("name", agent.name());
                    one.put("description", description(agent));
                    one.put("card", card(url, agent));
                    return one;
                })
                .toList();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("url", url);
        if (!hub.adminUrl().equals(url)) {
            all.put("adminUrl", hub.adminUrl());
        }
        hub.bootstrapKey().ifPresent(key -> all.put("bootstrapKey", key));
        all.put("agents", shown);
        return Json.write(all);
    }

    private static String description(Agent agent) {
        var nowhere = new AgentCard.Interface("", AgentCard.Interface.JSONRPC, null, "1.0");
        return agent.card(List.of(nowhere)).description();
    }

    private static String card(String url, Agent agent) {
        return url + "/agents/" + agent.name() + "/.well-known/agent-card.json";
    }
}
