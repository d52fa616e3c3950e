package dev.parley.bench;

import dev.parley.dialect.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/** Cards of agents for measurements: texts of offices, trades and sciences, made of a seed. The same number gives the same card. */
public final class MeasuredCards {
    /** A card. */
    public record Card(
            String name,
            String description,
            String provider,
            List<String> tags,
            List<Skill> skills,
            boolean streaming,
            String scheme) {}

    /** A skill of a card. */
    public record Skill(String id, String name, String description, List<String> tags, List<String> examples) {}

    private static final String[] FIELDS = {
        "finance: invoices, ledgers, budgets, expenses, payments, receipts, forecasts, balances, dividends, loans",
        "law: contracts, clauses, patents, lawsuits, licences, statutes, verdicts, wills, trademarks, disclosures",
        "travel: flights, hotels, trains, itineraries, visas, ferries, luggage, cruises, excursions, transfers",
        "health: symptoms, prescriptions, diagnoses, allergies, vaccines, appointments, scans, therapies, vitals, diets",
        "software: code, tests, builds, commits, incidents, logs, containers, queries, schemas, dependencies",
        "language: translations, summaries, transcripts, subtitles, dictionaries, accents, grammar, letters, essays, poems",
        "commerce: orders, carts, refunds, catalogues, prices, coupons, inventories, shipments, suppliers, warranties",
        "weather: forecasts, storms, rainfall, temperatures, winds, tides, pollen, droughts, avalanches, humidity",
        "music: songs, playlists, chords, lyrics, concerts, albums, remixes, scores, rehearsals, instruments",
        "images: photographs, logos, thumbnails, portraits, diagrams, sketches, watermarks, palettes, banners, icons",
        "education: lessons, exams, courses, quizzes, flashcards, grades, tutorials, homework, lectures, curricula",
        "farming: crops, harvests, soils, irrigation, livestock, seeds, pests, tractors, greenhouses, fertilisers",
        "energy: meters, grids, turbines, batteries, tariffs, outages, panels, emissions, pipelines, boilers",
        "logistics: parcels, routes, warehouses, customs, containers, fleets, pallets, drivers, manifests, deliveries",
        "security: passwords, vulnerabilities, certificates, intrusions, firewalls, phishing, audits, secrets, malware, access",
        "science: papers, experiments, proteins, genomes, telescopes, datasets, molecules, citations, equations, samples",
        "people: candidates, resumes, interviews, payrolls, holidays, contracts, trainings, surveys, benefits, shifts",
        "property: apartments, leases, mortgages, valuations, tenants, repairs, floorplans, viewings, deeds, parking",
        "sport: matches, fixtures, scores, workouts, athletes, tickets, leagues, races, coaches, injuries",
        "food: recipes, menus, ingredients, calories, restaurants, groceries, wines, allergens, kitchens, reservations",
        "media: headlines, podcasts, videos, articles, newsletters, interviews, captions, scripts, archives, comments",
        "insurance: claims, policies, premiums, damages, assessments, fraud, renewals, liabilities, accidents, annuities",
        "government: permits, taxes, elections, statistics, registers, tenders, passports, complaints, subsidies, decrees",
        "factory: machines, sensors, defects, drawings, spares, assemblies, robots, tolerances, welds, maintenance"
    };
    private static final String[] VERBS = {
        "translate",
        "summarise",
        "find",
        "compare",
        "book",
        "check",
        "extract",
        "classify",
        "plan",
        "monitor",
        "convert",
        "explain",
        "draft",
        "review",
        "validate",
        "schedule",
        "predict",
        "optimise",
        "track",
        "reconcile",
        "annotate",
        "search",
        "clean",
        "rank",
        "generate",
        "archive",
        "approve",
        "negotiate",
        "label",
        "simulate"
    };
    private static final String[] QUALITIES = {
        "overdue", "international", "scanned", "handwritten", "urgent", "historic", "regional", "seasonal", "encrypted",
        "duplicate", "missing", "cheap", "certified", "confidential", "weekly", "real-time", "multilingual",
                "electronic",
        "small-business", "public", "medical", "industrial", "organic", "vintage", "residential", "academic", "damaged"
    };
    private static final String[] PLACES = {
        "Lisbon", "Nairobi", "Osaka", "Chile", "Bavaria", "Quebec", "Kerala", "Scotland", "Jakarta", "Texas", "Norway",
        "Ghana", "Sicily", "Taiwan", "Peru", "Zurich", "Dubai", "Brittany", "Iceland", "Vietnam", "Poland", "Oaxaca",
        "Crete", "Manila", "Tasmania", "Andalusia", "Prague", "Toronto", "Mumbai", "Helsinki", "Cairo", "Bogota"
    };
    private static final String[] TONGUES = {
        "German",
        "French",
        "Spanish",
        "Japanese",
        "Arabic",
        "Hindi",
        "Portuguese",
        "Swahili",
        "Korean",
        "Polish",
        "Turkish",
        "Italian",
        "Dutch",
        "Greek",
        "Finnish",
        "Vietnamese",
        "Mandarin",
        "Ukrainian",
        "Hebrew",
        "Thai"
    };
    private static final String[] SYSTEMS = {
        "spreadsheets",
        "mail",
        "calendars",
        "PDF",
        "CSV",
        "SQL",
        "REST",
        "XML",
        "chat",
        "voice",
        "maps",
        "barcodes",
        "SAP",
        "forms",
        "dashboards",
        "webhooks",
        "wiki pages",
        "tickets",
        "git",
        "SMS"
    };
    private static final String[] SYLLABLES = {
        "ka", "lo", "mi", "ter", "von", "sa", "ri", "del", "pra", "zen", "tu", "or", "bex", "na", "quo", "fi", "lum",
        "gar"
    };
    private static final String[] KINDS = {"Agent", "Assistant", "Desk", "Service", "Bot", "Advisor", "Worker", "Studio"
    };
    private static final String[] SCHEMES = {"apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"};

    private MeasuredCards() {}

    /** Returns the card with a number. */
    public static Card card(long number) {
        var random = new SplittableRandom(number * 0x9E3779B97F4A7C15L);
        String[] field = field(random);
        var skills = new ArrayList<Skill>();
        for (int i = random.nextInt(1, 6); i > 0; i--) {
            skills.add(skill(field, random));
        }
        String brand = brand(random);
        String verb = one(VERBS, random);
        return new Card(
                capital(brand) + " " + capital(noun(field, random)) + " " + one(KINDS, random),
                "Helps teams to " + verb + " " + one(QUALITIES, random) + " " + noun(field, random) + " and "
                        + noun(field, random) + " in " + one(PLACES, random) + ". Works with " + one(SYSTEMS, random)
                        + " and " + one(SYSTEMS, random) + ", for customers of " + brand + ".",
                capital(brand) + (random.nextBoolean() ? " GmbH" : " Inc"),
                List.of(field[0], verb),
                skills,
                random.nextBoolean(),
                one(SCHEMES, random));
    }

    /** Returns the card with a number as JSON of A2A 1.0. */
    public static byte[] json(long number) {
        Card card = card(number);
        return Json.write(Map.of(
                "name", card.name(),
                "description", card.description(),
                "version", "1.0." + number % 10,
                "provider", Map.of("organization", card.provider(), "url", "https://agents.example"),
                "supportedInterfaces",
                        List.of(Map.of(
                                "url", "https://agents.example/" + number,
                                "protocolBinding", number % 3 == 0 ? "GRPC" : "JSONRPC",
                                "protocolVersion", number % 4 == 0 ? "0.3" : "1.0")),
                "capabilities", Map.of("streaming", card.streaming()),
                "defaultInputModes", List.of("text/plain"),
                "defaultOutputModes", List.of("text/plain"),
                "skills",
                        card.skills().stream()
                                .map(skill -> Map.of(
                                        "id", skill.id(),
                                        "name", skill.name(),
                                        "description", skill.description(),
                                        "tags", skill.tags(),
                                        "examples", skill.examples()))
                                .toList()));
    }

    /** Returns the words of a search as a person would type them. */
    public static String query(long number) {
        var random = new SplittableRandom(number * 0xD1342543DE82EF95L);
        String[] field = field(random);
        return switch (random.nextInt(8)) {
            case 0 -> noun(field, random);
            case 1 -> field[0] + " " + one(VERBS, random);
            case 2 -> one(QUALITIES, random) + " " + noun(field, random) + " " + one(PLACES, random);
            case 3 -> "I need to " + one(VERBS, random) + " " + noun(field, random) + " into " + one(TONGUES, random);
            case 4 -> card(random.nextInt(10_000)).name();
            case 5 ->
                "who can " + one(VERBS, random) + " " + noun(field, random) + " from " + one(SYSTEMS, random) + "?";
            default -> one(VERBS, random) + " " + noun(field, random);
        };
    }

    private static Skill skill(String[] field, SplittableRandom random) {
        String verb = one(VERBS, random);
        String noun = noun(field, random);
        String quality = one(QUALITIES, random);
        String system = one(SYSTEMS, random);
        return new Skill(
                verb + "-" + quality + "-" + noun,
                capital(verb) + " " + quality + " " + noun,
                capital(verb) + "s " + quality + " " + noun + " from " + system + " and reports " + noun(field, random)
                        + " for " + one(PLACES, random) + " as " + one(SYSTEMS, random) + ".",
                List.of(noun, verb, quality),
                List.of(
                        capital(verb) + " the " + noun + " of " + one(PLACES, random),
                        "Which " + noun + " are " + quality + "? Answer in " + one(TONGUES, random)));
    }

    private static String[] field(SplittableRandom random) {
        return one(FIELDS, random).split("[:,] ");
    }

    private static String noun(String[] field, SplittableRandom random) {
        return field[random.nextInt(1, field.length)];
    }

    private static String brand(SplittableRandom random) {
        return one(SYLLABLES, random) + one(SYLLABLES, random) + one(SYLLABLES, random);
    }

    private static String one(String[] choice, SplittableRandom random) {
        return choice[random.nextInt(choice.length)];
    }

    private static String capital(String word) {
        return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1);
    }
}
