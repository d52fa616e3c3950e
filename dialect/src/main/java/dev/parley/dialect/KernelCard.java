package dev.parley.dialect;

import static dev.parley.dialect.Codecs.BOOLEAN;
import static dev.parley.dialect.Codecs.STRUCT;
import static dev.parley.dialect.Codecs.TEXT;
import static dev.parley.dialect.Codecs.TEXTS;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Capabilities;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.AgentCard.Provider;
import dev.parley.protocol.AgentCard.Skill;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How a card of the Agentic Kernel looks. */
final class KernelCard {
    /** What an interface of a card says that speaks this dialect. */
    static final String VERSION = "kernel";

    private KernelCard() {}

    private static final Codec<Provider> PROVIDER = Shape.<Provider>inSnakeCase()
            .required("name", TEXT, Provider::organization)
            .optional("url", TEXT, "", Provider::url)
            .as(v -> new Provider(v.next(), v.next()));

    private static final Codec<Capabilities> CAPABILITIES = Shape.<Capabilities>inSnakeCase()
            .optional("streaming", BOOLEAN, it -> Boolean.TRUE.equals(it.streaming()))
            .optional("pushNotifications", BOOLEAN, it -> Boolean.TRUE.equals(it.pushNotifications()))
            .optional("stateTransitionHistory", BOOLEAN, it -> true)
            .as(v -> {
                Boolean streaming = v.next();
                Boolean pushNotifications = v.next();
                return new Capabilities(streaming, pushNotifications, List.of(), null);
            });

    private static final Codec<Skill> SKILL = Shape.<Skill>inSnakeCase()
            .required("id", TEXT, Skill::id)
            .required("name", TEXT, Skill::name)
            .optional("description", TEXT, "", Skill::description)
            .optional("tags", TEXTS, List.of(), Skill::tags)
            .optional("examples", TEXTS, List.of(), Skill::examples)
            .optional("inputModes", TEXTS, List.of(), Skill::inputModes)
            .optional("outputModes", TEXTS, List.of(), Skill::outputModes)
            .as(v -> new Skill(v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), List.of()));

    static final Codec<AgentCard> CARD = Shape.<AgentCard>inSnakeCase()
            .required("name", TEXT, AgentCard::name)
            .optional("description", TEXT, "", AgentCard::description)
            .required("url", TEXT, KernelCard::url)
            .optional("provider", PROVIDER, AgentCard::provider)
            .required("version", TEXT, AgentCard::version)
            .optional("documentationUrl", TEXT, AgentCard::documentationUrl)
            .required("capabilities", CAPABILITIES, AgentCard::capabilities)
            .optional("authentication", STRUCT, KernelCard::authentication)
            .required("defaultInputModes", TEXTS, AgentCard::defaultInputModes)
            .required("defaultOutputModes", TEXTS, AgentCard::defaultOutputModes)
            .required("skills", Codecs.list(SKILL), AgentCard::skills)
            .as(v -> card(
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.next(),
                    v.skip().next(),
                    v.next(),
                    v.next()));

    static byte[] write(AgentCard card) {
        return Json.write(new byte[0], CARD, card, new byte[0]);
    }

    private static String url(AgentCard card) {
        return card.supportedInterfaces().getFirst().url() + "/kernel";
    }

    private static @Nullable Map<String, @Nullable Object> authentication(AgentCard card) {
        return card.securitySchemes().isEmpty()
                ? null
                : Map.of("type", card.securitySchemes().keySet().iterator().next(), "required", true);
    }

    private static AgentCard card(
            String name,
            String description,
            String url,
            @Nullable Provider provider,
            String version,
            @Nullable String documentationUrl,
            Capabilities capabilities,
            List<String> inputModes,
            List<String> outputModes,
            List<Skill> skills) {
        return new AgentCard(
                name,
                description,
                List.of(new Interface(url, Interface.JSONRPC, null, VERSION)),
                provider,
                version,
                documentationUrl,
                capabilities,
                Map.of(),
                List.of(),
                inputModes,
                outputModes,
                skills,
                List.of(),
                null);
    }
}
