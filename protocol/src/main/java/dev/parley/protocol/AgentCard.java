package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Lists;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Description of an agent: identity, skills, interfaces and security.
 *
 * <p>Source: A2A specification 1.0, section 4.4.
 *
 * @param supportedInterfaces where and how it is reached, preferred first; at least one
 * @param version of the agent, not of the protocol
 * @param securityRequirements any one of the entries suffices
 * @param others members that this version of the protocol does not know, as in the JSON; they are written again
 *     with the card
 */
public record AgentCard(
        String name,
        String description,
        List<Interface> supportedInterfaces,
        @Nullable Provider provider,
        String version,
        @Nullable String documentationUrl,
        Capabilities capabilities,
        Map<String, SecurityScheme> securitySchemes,
        List<SecurityRequirement> securityRequirements,
        List<String> defaultInputModes,
        List<String> defaultOutputModes,
        List<Skill> skills,
        List<Signature> signatures,
        @Nullable String iconUrl,
        Map<String, @Nullable Object> others) {
    public AgentCard {
        requireNonNull(name, "name");
        requireNonNull(description, "description");
        requireNonNull(version, "version");
        requireNonNull(capabilities, "capabilities");
        supportedInterfaces = Lists.copy(supportedInterfaces);
        securitySchemes = Lists.copy(securitySchemes);
        securityRequirements = Lists.copy(securityRequirements);
        defaultInputModes = Lists.copy(defaultInputModes);
        defaultOutputModes = Lists.copy(defaultOutputModes);
        skills = Lists.copy(skills);
        signatures = Lists.copy(signatures);
        others = Lists.copy(others);
        if (supportedInterfaces.isEmpty()) {
            throw InvalidField.of("supportedInterfaces", "must have at least one interface");
        }
    }

    /** A card without further members. */
    public AgentCard(
            String name,
            String description,
            List<Interface> supportedInterfaces,
            @Nullable Provider provider,
            String version,
            @Nullable String documentationUrl,
            Capabilities capabilities,
            Map<String, SecurityScheme> securitySchemes,
            List<SecurityRequirement> securityRequirements,
            List<String> defaultInputModes,
            List<String> defaultOutputModes,
            List<Skill> skills,
            List<Signature> signatures,
            @Nullable String iconUrl) {
        this(
                name,
                description,
                supportedInterfaces,
                provider,
                version,
                documentationUrl,
                capabilities,
                securitySchemes,
                securityRequirements,
                defaultInputModes,
                defaultOutputModes,
                skills,
                signatures,
                iconUrl,
                Map.of());
    }

    /** Returns this card with other skills. */
    public AgentCard withSkills(List<Skill> skills) {
        return with(securitySchemes, securityRequirements, skills);
    }

    /** Returns this card with other interfaces, and without signatures, which do not hold for them. */
    public AgentCard at(List<Interface> interfaces) {
        return new AgentCard(
                name,
                description,
                interfaces,
                provider,
                version,
                documentationUrl,
                capabilities,
                securitySchemes,
                securityRequirements,
                defaultInputModes,
                defaultOutputModes,
                skills,
                List.of(),
                iconUrl,
                others);
    }

    /** Returns this card with other security. */
    public AgentCard withSecurity(Map<String, SecurityScheme> schemes, List<SecurityRequirement> requirements) {
        return with(schemes, requirements, skills);
    }

    private AgentCard with(
            Map<String, SecurityScheme> schemes, List<SecurityRequirement> requirements, List<Skill> skills) {
        return new AgentCard(
                name,
                description,
                supportedInterfaces,
                provider,
                version,
                documentationUrl,
                capabilities,
                schemes,
                requirements,
                defaultInputModes,
                defaultOutputModes,
                skills,
                signatures,
                iconUrl,
                others);
    }

    /**
     * One address of the agent.
     *
     * @param protocolBinding {@code JSONRPC}, {@code HTTP+JSON}, {@code GRPC} or the URI of another binding
     * @param tenant to be repeated in every request to this interface
     * @param protocolVersion major.minor, such as {@code 1.0}
     */
    public record Interface(
            String url, String protocolBinding, @Nullable String tenant, String protocolVersion) {
        public static final String JSONRPC = "JSONRPC";
        public static final String HTTP_JSON = "HTTP+JSON";
        public static final String GRPC = "GRPC";

        public Interface {
            requireNonNull(url, "url");
            requireNonNull(protocolBinding, "protocolBinding");
            requireNonNull(protocolVersion, "protocolVersion");
        }
    }

    /** Provider of the agent. */
    public record Provider(String organization, String url) {
        public Provider {
            requireNonNull(organization, "organization");
            requireNonNull(url, "url");
        }
    }

    /** Optional capabilities of the agent; null means unspecified, which callers treat as no. */
    public record Capabilities(
            @Nullable Boolean streaming,
            @Nullable Boolean pushNotifications,
            List<Extension> extensions,
            @Nullable Boolean extendedAgentCard) {
        public Capabilities {
            extensions = Lists.copy(extensions);
        }
    }

    /** An extension of the protocol that the agent supports, or ({@code required}) insists on. */
    public record Extension(
            String uri, @Nullable String description, boolean required, Map<String, @Nullable Object> params) {
        public Extension {
            requireNonNull(uri, "uri");
            params = Lists.copy(params);
        }
    }

    /** Skill of an agent. Empty modes mean the card's default modes; {@code others} are as those of a card. */
    public record Skill(
            String id,
            String name,
            String description,
            List<String> tags,
            List<String> examples,
            List<String> inputModes,
            List<String> outputModes,
            List<SecurityRequirement> securityRequirements,
            Map<String, @Nullable Object> others) {
        public Skill {
            requireNonNull(id, "id");
            requireNonNull(name, "name");
            requireNonNull(description, "description");
            tags = Lists.copy(tags);
            examples = Lists.copy(examples);
            inputModes = Lists.copy(inputModes);
            outputModes = Lists.copy(outputModes);
            securityRequirements = Lists.copy(securityRequirements);
            others = Lists.copy(others);
        }

        /** Returns this skill with other requirements. */
        public Skill withSecurity(List<SecurityRequirement> requirements) {
            return new Skill(id, name, description, tags, examples, inputModes, outputModes, requirements, others);
        }

        /**
         * Returns this skill, restricted to callers with all of these scopes. The server of the agent adds the schemes by which
         * callers prove them.
         */
        public Skill withScopes(String... scopes) {
            return withSecurity(List.of(new SecurityRequirement(Map.of("", List.of(scopes)))));
        }

        /** A skill without further members. */
        public Skill(
                String id,
                String name,
                String description,
                List<String> tags,
                List<String> examples,
                List<String> inputModes,
                List<String> outputModes,
                List<SecurityRequirement> securityRequirements) {
            this(id, name, description, tags, examples, inputModes, outputModes, securityRequirements, Map.of());
        }
    }

    /** A detached JWS over the card; {@code protectedHeader} is the member {@code protected} of the wire. */
    public record Signature(String protectedHeader, String signature, Map<String, @Nullable Object> header) {
        public Signature {
            requireNonNull(protectedHeader, "protected");
            requireNonNull(signature, "signature");
            header = Lists.copy(header);
        }
    }

    /** Schemes that must all be satisfied, each with the scopes it needs (none for schemes without scopes). */
    public record SecurityRequirement(Map<String, List<String>> schemes) {
        public SecurityRequirement {
            schemes = Lists.copy(schemes);
        }
    }
}
