package dev.parley.registry;

import java.util.Locale;

/** Cards of agents, as JSON. */
public final class Cards {
    private Cards() {}

    /** A card of A2A 1.0 with skills, each of which has a tag of its name. */
    public static String v1(String name, String... skills) {
        var list = new StringBuilder();
        for (String skill : skills) {
            list.append(list.isEmpty() ? "" : ",")
                    .append("{'id':'%s','name':'%s','description':'Does %s','tags':['%s']}"
                            .formatted(skill, skill, skill, skill));
        }
        return """
                {'name':'%s','description':'An agent','version':'1.0.0',
                 'supportedInterfaces':[{'url':'https://%s.example/a2a','protocolBinding':'JSONRPC','protocolVersion':'1.0'}],
                 'capabilities':{'streaming':true},'defaultInputModes':['text/plain'],'defaultOutputModes':['text/plain'],
                 'skills':[%s]}""".formatted(name, name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", ""), list)
                .replace('\'', '"');
    }

    /** A request to register such a card. */
    public static String registration(String card, String visibility) {
        return "{\"card\":" + card + ",\"visibility\":\"" + visibility + "\"}";
    }
}
