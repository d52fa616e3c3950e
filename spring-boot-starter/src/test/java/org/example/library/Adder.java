package org.example.library;

import dev.parley.engine.Skill;

/** Without an annotation of the class. */
class Adder {
    private final int addend;

    Adder(int addend) {
        this.addend = addend;
    }

    @Skill(description = "Adds to a number")
    protected String add(String number) {
        return String.valueOf(Integer.parseInt(number) + addend);
    }
}
