package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.spi.KnowledgeStoreException;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.KnowledgeOperation.Query;
import dev.parley.protocol.KnowledgeOperation.Update;
import dev.parley.protocol.Patch;
import dev.parley.protocol.Statement;
import dev.parley.protocol.Term.Literal;
import dev.parley.store.Database;
import dev.parley.store.StoreException;
import dev.parley.testkit.Faults;
import dev.parley.testkit.Faults.Fault;
import dev.parley.testkit.Faults.Side;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;

/** A graph does all of this in a database whose disk has failed before, in the middle of questions and of changes. */
class FaultyGraphTest extends GraphContract {
    private static final CallContext OTHER = CallContext.of("other", new Scope("faulty", "other"));
    private static final List<Fault> FAULTS = List.of(Fault.FULL, Fault.IO, Fault.CORRUPT, Fault.BUSY);
    private static final int CALLS = 40;

    private final Faults faults = new Faults();
    private final Random random = new Random(1);
    private final List<String> subjects = new ArrayList<>();
    private final List<String> written = new ArrayList<>();
    private int rounds;
    private int changes;
    private int refusals;

    @Override
    Database database(Path directory) {
        return Database.open(directory, faults::wrap);
    }

    @BeforeEach
    void haveTheDiskFail() {
        Fault fault = FAULTS.get(++rounds % FAULTS.size());
        int call = 1 + random.nextInt(CALLS);
        switch (random.nextInt(3)) {
            case 0 -> faults.at(call, fault, Side.ALL);
            case 1 -> faults.from(call, fault, Side.ALL);
            default -> faults.at(call, fault, Side.READS);
        }
        change();
        read();
        faults.pass();
        awaitWriting();
        assertThat(read()).as("subjects whose change was acknowledged").isEqualTo(written);
        written.clear();
        subjects.clear();
    }

    /** Two statements about a subject: both are there, or none is. */
    private void change() {
        String subject = "ex:s" + ++changes;
        subjects.add(subject);
        try {
            graph().update(
                            Update.of(
                                    Patch.add(Statement.of(subject, "ex:first", Literal.of("1"))),
                                    Patch.add(Statement.of(subject, "ex:second", Literal.of("2")))),
                            OTHER);
            written.add(subject);
        } catch (A2AException | KnowledgeStoreException | StoreException refused) {
            refusals++;
        }
    }

    private List<String> read() {
        var found = new ArrayList<String>();
        try {
            for (String subject : subjects) {
                Object data = graph().query(
                                Query.graphql(
                                        "query($id:ID!){ entity(id:$id){ statements { nodes { object { value } } } } }",
                                        Map.of("id", subject)),
                                OTHER)
                        .data();
                String text = String.valueOf(data);
                assertThat(text.contains("value=1")).as(text).isEqualTo(text.contains("value=2"));
                if (text.contains("value=1")) {
                    found.add(subject);
                }
            }
        } catch (A2AException | KnowledgeStoreException | StoreException refused) {
            refusals++;
        }
        return found;
    }

    private void awaitWriting() {
        for (int tries = 0; tries < 3_000; tries++) {
            int before = written.size();
            change();
            if (written.size() > before) {
                return;
            }
            LockSupport.parkNanos(10_000_000);
        }
        throw new AssertionError("the database is not written again");
    }

    @AfterAll
    void faultsHaveStruck() {
        assertThat(refusals).isGreaterThan(20);
    }
}
