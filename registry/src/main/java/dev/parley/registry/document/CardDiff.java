package dev.parley.registry.document;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.registry.Difference;
import dev.parley.registry.Difference.Kind;
import dev.parley.registry.document.CardReader.Reading;
import java.net.URI;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Differences between two versions of a document. Breaking ones take something away from callers, or demand something of them; changes of
 * trust lead callers to another party; all others are safe.
 */
public final class CardDiff {
    private static final int MOST = 200;

    private final List<Difference> differences = new ArrayList<>();

    private CardDiff() {}

    /** The differences, at most {@value #MOST}, the worst first. */
    public static List<Difference> of(Reading before, Reading after) {
        var diff = new CardDiff();
        if (before.card() == null || after.card() == null) {
            diff.members(before.members(), after.members());
        } else {
            diff.cards(before.card(), after.card());
            if (diff.differences.isEmpty()) {
                diff.members(before.members(), after.members());
            }
        }
        return diff.differences.stream()
                .sorted(Comparator.comparing(Difference::kind))
                .limit(MOST)
                .toList();
    }

    private void add(Kind kind, String path, String text) {
        differences.add(new Difference(kind, path, text));
    }

    private void members(Map<String, @Nullable Object> before, Map<String, @Nullable Object> after) {
        var names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        for (String name : names) {
            if (!Objects.equals(before.get(name), after.get(name))) {
                add(
                        Kind.SAFE,
                        name,
                        before.containsKey(name) ? after.containsKey(name) ? "changed" : "removed" : "added");
            }
        }
    }

    private void cards(AgentCard before, AgentCard after) {
        text("name", before.name(), after.name());
        text("description", before.description(), after.description());
        text("version", before.version(), after.version());
        skills(byId(before), byId(after));
        sets("defaultInputModes", before.defaultInputModes(), after.defaultInputModes());
        sets("defaultOutputModes", before.defaultOutputModes(), after.defaultOutputModes());
        capabilities(before, after);
        interfaces(before, after);
        schemes(before, after);
        provider(before, after);
        keys(before, after);
    }

    private void text(String path, String before, String after) {
        if (!before.equals(after)) {
            add(Kind.SAFE, path, "changed");
        }
    }

    private static Map<String, Skill> byId(AgentCard card) {
        var skills = new LinkedHashMap<String, Skill>();
        card.skills().forEach(skill -> skills.put(skill.id(), skill));
        return skills;
    }

    private void skills(Map<String, Skill> before, Map<String, Skill> after) {
        before.forEach((id, skill) -> {
            Skill now = after.get(id);
            String path = "skills." + id;
            if (now == null) {
                add(Kind.BREAKING, path, "skill removed");
                return;
            }
            sets(path + ".inputModes", skill.inputModes(), now.inputModes());
            sets(path + ".outputModes", skill.outputModes(), now.outputModes());
            if (!skill.securityRequirements().equals(now.securityRequirements())) {
                add(Kind.BREAKING, path + ".securityRequirements", "requirements of the skill changed");
            }
            if (!skill.name().equals(now.name())
                    || !skill.description().equals(now.description())
                    || !skill.tags().equals(now.tags())
                    || !skill.examples().equals(now.examples())) {
                add(Kind.SAFE, path, "description of the skill changed");
            }
        });
        added("skills.", before.keySet(), after.keySet(), "skill added");
    }

    private void added(String path, Collection<String> before, Collection<String> after, String text) {
        after.stream().filter(each -> !before.contains(each)).forEach(each -> add(Kind.SAFE, path + each, text));
    }

    /** A smaller set is a breaking change. An empty one of a skill stands for that of the card. */
    private void sets(String path, List<String> before, List<String> after) {
        before.stream()
                .filter(mode -> !after.contains(mode))
                .forEach(mode -> add(Kind.BREAKING, path, "\"" + mode + "\" removed"));
        after.stream()
                .filter(mode -> !before.contains(mode))
                .forEach(mode -> add(Kind.SAFE, path, "\"" + mode + "\" added"));
    }

    private void capabilities(AgentCard before, AgentCard after) {
        capability(
                "streaming",
                before.capabilities().streaming(),
                after.capabilities().streaming());
        capability(
                "pushNotifications",
                before.capabilities().pushNotifications(),
                after.capabilities().pushNotifications());
        capability(
                "extendedAgentCard",
                before.capabilities().extendedAgentCard(),
                after.capabilities().extendedAgentCard());
        Map<String, Boolean> old = extensions(before);
        Map<String, Boolean> now = extensions(after);
        old.keySet().stream()
                .filter(uri -> !ExtensionUri.isAny(now.keySet(), uri))
                .forEach(uri -> add(Kind.BREAKING, "capabilities.extensions." + uri, "extension removed"));
        now.forEach((uri, required) -> {
            if (required && !Boolean.TRUE.equals(old.get(uri))) {
                add(Kind.BREAKING, "capabilities.extensions." + uri, "extension is required now");
            } else if (!ExtensionUri.isAny(old.keySet(), uri)) {
                add(Kind.SAFE, "capabilities.extensions." + uri, "extension added");
            }
        });
    }

    private static Map<String, Boolean> extensions(AgentCard card) {
        var extensions = new LinkedHashMap<String, Boolean>();
        card.capabilities().extensions().forEach(each -> extensions.put(each.uri(), each.required()));
        return extensions;
    }

    private void capability(String name, @Nullable Boolean before, @Nullable Boolean after) {
        boolean had = Boolean.TRUE.equals(before);
        boolean has = Boolean.TRUE.equals(after);
        if (had != has) {
            add(
                    has ? Kind.SAFE : Kind.BREAKING,
                    "capabilities." + name,
                    has ? "capability added" : "capability removed");
        }
    }

    private void interfaces(AgentCard before, AgentCard after) {
        Function<Interface, String> kind = each -> each.protocolBinding() + " " + each.protocolVersion();
        Set<String> kinds = after.supportedInterfaces().stream().map(kind).collect(Collectors.toSet());
        Set<String> old = before.supportedInterfaces().stream().map(kind).collect(Collectors.toSet());
        for (String each : new TreeSet<>(old)) {
            if (!kinds.contains(each)) {
                add(Kind.BREAKING, "supportedInterfaces", each + " removed");
            }
        }
        added("supportedInterfaces.", old, kinds, "interface added");
        Set<String> hosts = hosts(before);
        hosts(after).stream()
                .filter(host -> !hosts.contains(host))
                .forEach(host -> add(Kind.TRUST, "supportedInterfaces", "calls go to " + host));
        Set<String> tenants = new HashSet<>();
        before.supportedInterfaces().forEach(each -> tenants.add(kind.apply(each) + " " + each.tenant()));
        for (Interface each : after.supportedInterfaces()) {
            if (old.contains(kind.apply(each)) && !tenants.contains(kind.apply(each) + " " + each.tenant())) {
                add(Kind.BREAKING, "supportedInterfaces", kind.apply(each) + ": tenant changed");
            }
        }
        Set<String> urls =
                before.supportedInterfaces().stream().map(Interface::url).collect(Collectors.toSet());
        after.supportedInterfaces().stream()
                .map(Interface::url)
                .filter(url -> !urls.contains(url) && hosts.contains(origin(url)))
                .distinct()
                .forEach(url -> add(Kind.SAFE, "supportedInterfaces", "address " + url));
    }

    private static Set<String> hosts(AgentCard card) {
        return card.supportedInterfaces().stream()
                .map(each -> origin(each.url()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Scheme, host and port of an address: a change from https to http is one of trust, too. */
    public static String origin(String url) {
        try {
            URI uri = URI.create(url);
            return uri.getScheme() + "://" + uri.getRawAuthority();
        } catch (IllegalArgumentException none) {
            return url;
        }
    }

    private void schemes(AgentCard before, AgentCard after) {
        Map<String, SecurityScheme> now = after.securitySchemes();
        before.securitySchemes().forEach((name, scheme) -> {
            SecurityScheme other = now.get(name);
            String path = "securitySchemes." + name;
            if (other == null) {
                add(Kind.BREAKING, path, "security scheme removed");
                add(Kind.TRUST, path, "security scheme removed");
            } else if (!other.equals(scheme)) {
                add(Kind.TRUST, path, "security scheme changed");
            }
        });
        now.keySet().stream()
                .filter(name -> !before.securitySchemes().containsKey(name))
                .forEach(name -> add(Kind.TRUST, "securitySchemes." + name, "security scheme added"));
        if (!before.securityRequirements().equals(after.securityRequirements())) {
            boolean isLooser = after.securityRequirements().containsAll(before.securityRequirements())
                    && !before.securityRequirements().isEmpty();
            add(isLooser ? Kind.TRUST : Kind.BREAKING, "securityRequirements", "requirements changed");
        }
    }

    private void provider(AgentCard before, AgentCard after) {
        if (!Objects.equals(before.provider(), after.provider())) {
            add(Kind.TRUST, "provider", "provider changed");
        }
    }

    /** Signatures change with each version, but the keys that make them do not. */
    private void keys(AgentCard before, AgentCard after) {
        Set<String> old = signers(before);
        Set<String> now = signers(after);
        if (!old.equals(now)) {
            add(
                    Kind.TRUST,
                    "signatures",
                    now.isEmpty() ? "no longer signed" : old.isEmpty() ? "signed" : "signed by other keys");
        }
    }

    private static String key(String header) {
        try {
            Map<?, ?> members = Json.read(Base64.getUrlDecoder().decode(header), Map.class);
            return members.get("kid") + " " + members.get("jku");
        } catch (IllegalArgumentException | A2AException unreadable) {
            return header;
        }
    }

    private static Set<String> signers(AgentCard card) {
        return card.signatures().stream()
                .map(each -> key(each.protectedHeader()))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
