package dev.parley.registry.vault;

import static dev.parley.registry.vault.ValueRules.anyObject;
import static dev.parley.registry.vault.ValueRules.email;
import static dev.parley.registry.vault.ValueRules.object;
import static dev.parley.registry.vault.ValueRules.optional;
import static dev.parley.registry.vault.ValueRules.required;
import static dev.parley.registry.vault.ValueRules.text;
import static dev.parley.registry.vault.ValueRules.truth;
import static java.util.Map.entry;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireFace;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubParts;
import dev.parley.extension.HubTimers.Timers;
import dev.parley.extension.PersonalData;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.Hmac;
import dev.parley.registry.spi.RegistryEntries;
import dev.parley.registry.spi.RegistryExtension;
import dev.parley.registry.vault.Tokens.Login;
import dev.parley.registry.vault.ValueRules.Rule;
import dev.parley.registry.vault.VaultAccounts.Developer;
import dev.parley.registry.vault.VaultAccounts.Key;
import dev.parley.registry.vault.VaultAccounts.Verification;
import dev.parley.trust.shared.Buckets;
import java.time.InstantSource;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The registry of AgentVault: accounts of developers, and public entries as their cards. Safe for any thread. */
final class AgentVault implements RegistryExtension, PersonalData {
    /** Handlers of the routes, by their names. */
    private static final Map<String, BiFunction<AgentVault, VaultRequest, WireAnswer.Whole>> HANDLERS = Map.ofEntries(
            entry("register", AgentVault::register),
            entry("login", AgentVault::login),
            entry("verify", AgentVault::verify),
            entry("recover", AgentVault::recover),
            entry("set-password", AgentVault::setPassword),
            entry("me", AgentVault::me),
            entry("keys-create", AgentVault::createKey),
            entry("keys-list", AgentVault::listKeys),
            entry("keys-revoke", AgentVault::revokeKey),
            entry("cards-create", AgentVault::createCard),
            entry("cards-list", AgentVault::listCards),
            entry("cards-by-query", AgentVault::getCardByQuery),
            entry("cards-by-id", AgentVault::getCardByHumanId),
            entry("cards-get", AgentVault::getCard),
            entry("cards-update", AgentVault::updateCard),
            entry("cards-delete", AgentVault::deleteCard),
            entry("validate", AgentVault::validateCard),
            entry("build", AgentVault::buildAgent),
            entry("openapi", (vault, request) -> VaultOpenApi.ANSWER));

    private static final String BEARER = "Bearer";

    private static final Rule SECRET = text(1, Passwords.LONGEST);
    private static final Rule REGISTRATION =
            object(required("name", ValueRules.line(3, 100)), required("email", email()), required("password", SECRET));
    private static final Rule LOGIN = object(required("username", text(0, 254)), required("password", SECRET));
    private static final Rule RECOVERY = object(required("email", email()), required("recovery_key", text(0, 200)));
    private static final Rule NEW_PASSWORD = object(required("new_password", SECRET));
    private static final Rule NEW_KEY = object(optional("description", text(0, 500)));
    static final Rule NEW_CARD = object(required("card_data", anyObject()));
    private static final Rule CHANGED_CARD = object(optional("card_data", anyObject()), optional("is_active", truth()));

    private final VaultAccounts accounts;
    private final Tokens tokens;
    private final Passwords passwords = new Passwords();
    private final CallLimiter calls;
    private final VaultCards cards;
    private final Actions actions;
    private final Mail mail;
    private final HubParts hub;

    /** @param mail as of {@link Mail#of}; null for none */
    AgentVault(HubParts hub, RegistryEntries entries, @Nullable String mail, InstantSource clock) {
        this.hub = hub;
        this.mail = Mail.of(mail);
        this.tokens = new Tokens(Hmac.key(hub.key("accounts of the registry")), clock);
        Timers mails =
                hub.timers().named("registry/verification", (id, content) -> sendVerification(Long.parseLong(id)));
        this.accounts = new VaultAccounts(hub.database(), tokens, passwords, clock, mails);
        this.calls = new CallLimiter(clock, Buckets.of(hub.database()));
        this.actions = new Actions(hub.audit());
        this.cards = new VaultCards(hub.database(), entries, accounts, hub.agents());
    }

    private void sendVerification(long id) throws Exception {
        Optional<Developer> developer = accounts.byId(id);
        Optional<String> token = developer.flatMap(accounts::verificationToken);
        if (token.isPresent()) {
            mail.send(
                    developer.get().email(),
                    "Verify your mail address",
                    "An account of the agent registry at " + hub.url() + " was registered with this mail address.\n\n"
                            + "To verify the address, open this link within 24 hours:\n\n"
                            + hub.url() + "/auth/verify-email?token=" + token.get()
                            + "\n\nIf you did not register, ignore this mail.\n");
        }
    }

    @Override
    public Map<String, WireFace> faces() {
        return VaultRoute.ROOTS.stream().collect(Collectors.toMap(root -> root, VaultFace::new));
    }

    /** Handlers of operations that have no rows: only the faces call them. */
    @Override
    public Handlers handlers() {
        AgentEndpoint endpoint = AgentExtension.answering(VaultCall.class, (call, caller) -> answer(call));
        Handlers handlers = Handlers.NONE;
        for (VaultRoute route : VaultRoute.ALL) {
            handlers = handlers.with(route.name(), endpoint);
        }
        return handlers;
    }

    @Override
    public Optional<PersonalData> personalData() {
        return Optional.of(this);
    }

    @Override
    public void unlink(Collection<String> ids, CallContext operator) {
        // accounts refer to no tasks
    }

    @Override
    public Map<String, Object> erase(String principal, boolean withStatements, CallContext operator) {
        long developer = VaultCards.developer(operator.scope().group(), principal);
        return Map.of("registryAccounts", accounts.erase(developer));
    }

    private WireAnswer.Whole answer(VaultCall call) {
        try {
            calls.count(call.request().address(), call.route().name());
            String route = call.route().name().substring(VaultRoute.PREFIX.length());
            return requireNonNull(HANDLERS.get(route), route).apply(this, call.request());
        } catch (VaultException refusal) {
            return refusal.answer();
        }
    }

    WireAnswer.Whole register(VaultRequest request) {
        Map<String, @Nullable Object> body = ValueRules.body(request.http().body(), REGISTRATION);
        String email = requireNonNull(ValueRules.text(body, "email"));
        List<String> recoveryKeys = accounts.register(
                requireNonNull(ValueRules.text(body, "name")),
                email,
                requireNonNull(ValueRules.text(body, "password")),
                request.address());
        accounts.byEmail(email).ifPresent(developer -> actions.done(developer, "registered", "", request));
        String message = !mail.equals(Mail.NONE)
                ? "Registration successful. Please check your email to verify your account."
                : "Registration successful (email verification skipped due to server config). Contact admin if needed.";
        return json(201, Map.of("message", message, "recovery_keys", recoveryKeys));
    }

    WireAnswer.Whole login(VaultRequest request) {
        Map<String, @Nullable Object> form = request.form();
        form.keySet().retainAll(List.of("username", "password")); // all else is not repeated in faults
        ValueRules.checked(form, LOGIN);
        String email = requireNonNull(ValueRules.text(form, "username"));
        Optional<String> token =
                accounts.login(email, requireNonNull(ValueRules.text(form, "password")), request.address());
        note("login", email, token.isPresent(), request);
        return token.map(AgentVault::token)
                .orElseThrow(() -> VaultException.unauthorized("Incorrect email or password", BEARER));
    }

    /** Audits an attempt to get a token; known and unknown accounts take the same time. */
    private void note(String action, String email, boolean isDone, VaultRequest request) {
        Optional<Developer> developer = accounts.byEmail(email);
        if (isDone && developer.isPresent()) {
            actions.done(developer.get(), action, "", request);
        } else {
            actions.denied(developer, action, request);
        }
    }

    private static WireAnswer.Whole token(String token) {
        return json(200, Map.of("access_token", token, "token_type", "bearer"));
    }

    WireAnswer.Whole verify(VaultRequest request) {
        String token = request.requiredText("token");
        Verification verification = accounts.verify(token);
        if (verification == Verification.VERIFIED) {
            accounts.byVerification(token).ifPresent(developer -> actions.done(developer, "verified", "", request));
        }
        return new WireAnswer.Whole(303, Map.of("Location", "/ui/" + verification.page), new byte[0]);
    }

    WireAnswer.Whole recover(VaultRequest request) {
        Map<String, @Nullable Object> body = ValueRules.body(request.http().body(), RECOVERY);
        String email = requireNonNull(ValueRules.text(body, "email"));
        Optional<String> token = accounts.recover(email, requireNonNull(ValueRules.text(body, "recovery_key")));
        note("recovery", email, token.isPresent(), request);
        return token.map(AgentVault::token).orElseThrow(() -> VaultException.of(400, "Invalid email or recovery key."));
    }

    WireAnswer.Whole setPassword(VaultRequest request) {
        String token = request.bearer();
        if (token == null) {
            throw VaultException.unauthorized("Not authenticated", BEARER);
        }
        Supplier<VaultException> invalid = () -> VaultException.unauthorized(
                "Invalid or expired password recovery token", "Bearer error=\"invalid_token\"");
        Optional<Login> login = tokens.read(token);
        if (login.map(Login::recoveryKey).isEmpty()) {
            throw invalid.get();
        }
        String password =
                requireNonNull(ValueRules.text(ValueRules.body(request.http().body(), NEW_PASSWORD), "new_password"));
        if (!accounts.setPassword(token, password, request.address())) {
            throw invalid.get();
        }
        accounts.byId(login.get().developer())
                .ifPresent(developer -> actions.done(developer, "password.set", "", request));
        return json(200, Map.of("message", "Password updated successfully."));
    }

    WireAnswer.Whole me(VaultRequest request) {
        return json(200, developer(request).json());
    }

    WireAnswer.Whole createKey(VaultRequest request) {
        Developer developer = loggedIn(request);
        String description = request.http().hasNoBody()
                ? null
                : ValueRules.text(ValueRules.body(request.http().body(), NEW_KEY), "description");
        String key = Tokens.newKey();
        Key added = accounts.addKey(developer, key, description);
        actions.done(developer, "key.created", Long.toString(added.id()), request);
        return json(201, Map.of("plain_api_key", key, "api_key_info", added.json()));
    }

    WireAnswer.Whole listKeys(VaultRequest request) {
        return json(
                200, accounts.keys(developer(request)).stream().map(Key::json).toList());
    }

    WireAnswer.Whole revokeKey(VaultRequest request) {
        Developer developer = loggedIn(request);
        if (!request.variable().matches("-?\\d{1,18}")) {
            var faults = ValueRules.Faults.at("path").below("key_id");
            faults.add(
                    "int_parsing",
                    "Input should be a valid integer, unable to parse string as an integer",
                    request.variable());
            faults.refuse();
        }
        if (!accounts.revokeKey(developer, Long.parseLong(request.variable()))) {
            throw VaultException.of(404, "API Key not found or not owned by the current user.");
        }
        actions.done(developer, "key.revoked", request.variable(), request);
        return none();
    }

    WireAnswer.Whole createCard(VaultRequest request) {
        Developer developer = developer(request);
        Map<String, @Nullable Object> body = ValueRules.body(request.http().body(), NEW_CARD);
        Map<String, Object> card = cards.create(developer, ValueRules.members(body.get("card_data")));
        actions.done(developer, "card.created", String.valueOf(card.get("id")), request);
        return json(201, card);
    }

    WireAnswer.Whole listCards(VaultRequest request) {
        Optional<Developer> developer = optionalDeveloper(request);
        var query = new VaultCards.Query(
                request.number(request.http().query().containsKey("skip") ? "skip" : "offset", 0, 0, Integer.MAX_VALUE),
                request.number("limit", 100, 1, 250),
                requireNonNullElse(request.truth("active_only"), true),
                request.text("search", 100),
                request.texts("tags"),
                request.truth("has_tee"),
                request.text("tee_type", 50),
                Boolean.TRUE.equals(request.truth("owned_only"))
                        ? developer.map(Developer::id).orElse(-1L)
                        : null);
        request.queryFaults().refuse();
        if (query.owner() != null && developer.isEmpty()) {
            throw VaultException.of(401, "Authentication required to list owned agent cards.");
        }
        return json(200, cards.list(query, request.address()));
    }

    WireAnswer.Whole getCard(VaultRequest request) {
        return json(200, cards.get(VaultCards.id(request.variable())));
    }

    WireAnswer.Whole getCardByHumanId(VaultRequest request) {
        return json(200, cards.byHumanId(request.decodedVariable()));
    }

    WireAnswer.Whole getCardByQuery(VaultRequest request) {
        return json(200, cards.byHumanId(request.requiredText("hri")));
    }

    WireAnswer.Whole updateCard(VaultRequest request) {
        Developer developer = developer(request);
        String id = VaultCards.id(request.variable());
        Map<String, @Nullable Object> body = ValueRules.body(request.http().body(), CHANGED_CARD);
        Map<String, Object> card = cards.update(
                developer,
                id,
                body.get("card_data") == null ? null : ValueRules.members(body.get("card_data")),
                body.get("is_active") instanceof Boolean active ? active : null);
        actions.done(developer, "card.changed", id, request);
        return json(200, card);
    }

    WireAnswer.Whole deleteCard(VaultRequest request) {
        Developer developer = developer(request);
        String id = VaultCards.id(request.variable());
        cards.delete(developer, id);
        actions.done(developer, "card.deleted", id, request);
        return none();
    }

    WireAnswer.Whole validateCard(VaultRequest request) {
        Object card = ValueRules.body(request.http().body(), NEW_CARD).get("card_data");
        Optional<String> problem = CardForm.problem(card);
        var answer = new LinkedHashMap<String, @Nullable Object>();
        answer.put("is_valid", problem.isEmpty());
        answer.put("detail", problem.orElse(null));
        answer.put("validated_card_data", problem.isEmpty() ? card : null);
        return json(200, answer);
    }

    WireAnswer.Whole buildAgent(VaultRequest request) {
        return Builder.answer(request.http().body(), developer(request).name());
    }

    /**
     * The account of a login or a key.
     *
     * @throws VaultException if the request has neither
     */
    private Developer developer(VaultRequest request) {
        String key = request.http().header("X-Api-Key");
        if (key == null || request.bearer() != null) {
            return loggedIn(request);
        }
        if (key.isBlank()) {
            throw VaultException.of(403, "Not authenticated: X-Api-Key header missing or empty");
        }
        return accounts.byKey(key)
                .orElseThrow(() -> VaultException.unauthorized("Invalid or inactive API Key", BEARER));
    }

    /** The account of a login: a stolen key makes no other keys, which would outlast it. */
    private Developer loggedIn(VaultRequest request) {
        String token = request.bearer();
        if (token == null) {
            throw VaultException.unauthorized("Not authenticated", BEARER);
        }
        Login login = tokens.read(token)
                .filter(read -> read.recoveryKey() == null)
                .orElseThrow(() -> VaultException.unauthorized("Could not validate credentials", BEARER));
        Developer developer = accounts.byId(login.developer())
                .orElseThrow(() -> VaultException.unauthorized("User associated with token not found", BEARER));
        return accounts.current(login)
                .map(current -> developer)
                .orElseThrow(() -> VaultException.unauthorized("Could not validate credentials", BEARER));
    }

    private Optional<Developer> optionalDeveloper(VaultRequest request) {
        try {
            return Optional.of(developer(request));
        } catch (VaultException none) {
            return Optional.empty();
        }
    }

    static WireAnswer.Whole json(int status, Object body) {
        return new WireAnswer.Whole(
                status, Map.of("Content-Type", Headers.JSON, "Cache-Control", "no-store"), Json.write(body));
    }

    private static WireAnswer.Whole none() {
        return new WireAnswer.Whole(204, Map.of(), new byte[0]);
    }

    @Override
    public void close() {
        passwords.close();
        cards.close();
    }
}
